//! Tests `plimsoll-serve zanzibar` as its users run it, with its embedded store.

#[allow(dead_code, reason = "other tests use the rest")]
mod client;
mod zanzibar_served;

use std::io::{Read, Write};
use std::net::TcpStream;

use client::Client;
use serde_json::{Value, json};
use zanzibar_served::{CHECK, Served, field, program, serve, tuple, tuple_message};

fn connect(served: &Served, h2: bool) -> Client {
    Client::connect(&served.url, "", false, h2).unwrap()
}

fn post(client: &mut Client, method: &str, body: &Value) -> (u16, Value) {
    let path = format!("/zanzigo.v1.ZanzigoService/{method}");
    let response = client
        .post(&path, "application/json", body.to_string().as_bytes())
        .unwrap();
    let body = String::from_utf8(response.body).unwrap();
    let read = serde_json::from_str(&body).unwrap_or_else(|_| panic!("{body}"));
    (response.status, read)
}

const TUPLES: [&str; 3] = [
    "group:g#member@user:u",
    "doc:d#parent@folder:f",
    "folder:f#viewer@group:g#member",
];

#[test]
fn both_versions_and_both_protocols_reach_the_same_service() {
    let served = serve(&[]);
    for h2 in [false, true] {
        let mut client = connect(&served, h2);
        for text in TUPLES {
            // Storing it a second time also succeeds.
            for _ in 0..2 {
                let body = json!({"tuple": tuple(text)});
                assert_eq!(post(&mut client, "Write", &body), (200, json!({})));
            }
        }
        let check = |client: &mut Client, text: &str| {
            let body = json!({"tuple": tuple(text)}).to_string();
            let response = client.post(CHECK, "application/json; charset=utf-8", body.as_bytes());
            let response = response.unwrap();
            assert_eq!((response.status, response.h2), (200, h2));
            String::from_utf8(response.body).unwrap()
        };
        assert_eq!(
            check(&mut client, "doc:d#viewer@user:u"),
            r#"{"result":true}"#
        );
        assert_eq!(check(&mut client, "doc:d#viewer@user:v"), "{}");
        assert_eq!(check(&mut client, "doc:d#editor@user:u"), "{}");
        // The same message in protobuf's binary format.
        let request = field(1, &tuple_message("doc:d#viewer@user:u"));
        let response = client.post(CHECK, "application/proto", &request).unwrap();
        assert_eq!(
            (response.status, response.body.as_slice()),
            (200, &b"\x08\x01"[..])
        );
    }
    let mut client = connect(&served, true);
    let request = field(1, &tuple_message("doc:d#viewer@user:u"));
    let reply = client.call(CHECK, &request).unwrap();
    assert_eq!(
        (reply.status.as_str(), reply.message.as_slice()),
        ("0", &b"\x08\x01"[..])
    );
    let request = field(1, &tuple_message("doc:d#viewer@user:v"));
    let reply = client.call(CHECK, &request).unwrap();
    assert_eq!(
        (reply.status.as_str(), reply.message.as_slice()),
        ("0", &b""[..])
    );
    // INVALID_ARGUMENT, NOT_FOUND, UNIMPLEMENTED.
    let request = field(1, &tuple_message("doc:d#veiwer@user:v"));
    assert_eq!(client.call(CHECK, &request).unwrap().status, "3");
    let request = field(1, &tuple_message("doc:d#viewer@user:v"));
    let path = "/zanzigo.v1.ZanzigoService/Read";
    assert_eq!(client.call(path, &request).unwrap().status, "5");
    let path = "/zanzigo.v1.ZanzigoService/None";
    assert_eq!(client.call(path, &request).unwrap().status, "12");
    assert_eq!(served.end().status, Some(0));
}

#[test]
fn tuples_are_read_deleted_and_listed_in_pages() {
    let served = serve(&[]);
    let mut client = connect(&served, false);
    let mut written = Vec::new();
    for number in 0..25 {
        let text = format!("doc:{number}#owner@user:{}", number % 2);
        post(&mut client, "Write", &json!({"tuple": tuple(&text)}));
        written.push(tuple(&text));
    }
    let mut listed = Vec::new();
    let mut cursor = Value::Null;
    let mut pages = 0;
    loop {
        let pagination = json!({"limit": 10, "cursor": cursor});
        let (status, page) = post(&mut client, "List", &json!({"pagination": pagination}));
        assert_eq!(status, 200, "{page}");
        listed.extend(page["tuples"].as_array().unwrap().clone());
        pages += 1;
        cursor = page["cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!((pages, listed), (3, written));
    let odd = json!({"filter": {"subject_type": "user", "subject_id": "1"}});
    let (_, page) = post(&mut client, "List", &odd);
    assert_eq!(page["tuples"].as_array().unwrap().len(), 12);

    let one = json!({"tuple": tuple("doc:3#owner@user:1")});
    let (_, read) = post(&mut client, "Read", &one);
    let uuid = read["uuid"].as_str().unwrap().to_owned();
    assert_eq!(uuid.len(), 36, "{uuid}");
    post(&mut client, "Write", &one);
    assert_eq!(
        post(&mut client, "Read", &one),
        (200, json!({"uuid": uuid}))
    );
    assert_eq!(post(&mut client, "Delete", &one), (200, json!({})));
    for method in ["Read", "Delete"] {
        let (status, error) = post(&mut client, method, &one);
        assert_eq!((status, &error["code"]), (404, &json!("not_found")));
    }
    assert_eq!(post(&mut client, "Check", &one), (200, json!({})));
}

#[test]
fn errors_have_connects_codes() {
    let served = serve(&["--max-body=1000"]);
    let mut client = connect(&served, false);
    for (method, body, expected) in [
        ("Check", json!({}), "tuple: it is missing"),
        (
            "Check",
            json!({"tuple": {"objectType": "dok"}}),
            "did you mean 'doc'?",
        ),
        (
            "Write",
            json!({"tuple": tuple("doc:d#viewr@user:u")}),
            "tuple.object_relation",
        ),
        ("Check", json!({"tupel": {}}), "unknown field `tupel`"),
        ("Check", json!([]), "the body: "),
        (
            "List",
            json!({"pagination": {"cursor": "x"}}),
            "pagination.cursor",
        ),
        (
            "List",
            json!({"pagination": {"limit": 1001}}),
            "at most 1000",
        ),
    ] {
        let (status, error) = post(&mut client, method, &body);
        assert_eq!(
            (status, &error["code"]),
            (400, &json!("invalid_argument")),
            "{body}"
        );
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(expected), "{body}: {message}");
    }
    let (status, error) = post(&mut client, "Chek", &json!({}));
    assert_eq!((status, &error["code"]), (404, &json!("unimplemented")));
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("did you mean 'Check'?")
    );
    assert_eq!(client.get(CHECK).unwrap().status, 405);
    assert_eq!(client.post(CHECK, "text/plain", b"{}").unwrap().status, 415);
    assert_eq!(
        client.post(CHECK, "application/json", b"{").unwrap().status,
        400
    );
    let large = json!({"tuple": {"objectId": "x".repeat(2000)}});
    let (status, error) = post(&mut connect(&served, true), "Check", &large);
    assert_eq!(
        (status, &error["code"]),
        (413, &json!("resource_exhausted"))
    );
    let reply = connect(&served, true).call(CHECK, &[0; 2000]).unwrap();
    assert_eq!(reply.status, "8");

    // A body without a length.
    let mut stream = TcpStream::connect(served.address()).unwrap();
    let head = format!(
        "POST {CHECK} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream
        .write_all(format!("7d0\r\n{}\r\n0\r\n\r\n", " ".repeat(2000)).as_bytes())
        .unwrap();
    let mut response = [0; 12];
    stream.read_exact(&mut response).unwrap();
    assert_eq!(&response, b"HTTP/1.1 429");
}

#[test]
fn requests_above_the_limit_are_rejected() {
    let served = serve(&["--max-requests=2"]);
    let head = format!(
        "POST {CHECK} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n"
    );
    let pending: Vec<_> = (0..2)
        .map(|_| {
            let mut stream = TcpStream::connect(served.address()).unwrap();
            stream.write_all(head.as_bytes()).unwrap();
            stream
        })
        .collect();
    while served.metric("plimsoll_serve_requests_under_way") < 2 {}
    let (status, error) = post(&mut connect(&served, false), "Check", &json!({}));
    assert_eq!((status, &error["code"]), (503, &json!("unavailable")));
    // UNAVAILABLE.
    assert_eq!(
        connect(&served, true).call(CHECK, b"").unwrap().status,
        "14"
    );
    assert_eq!(served.metric("plimsoll_serve_requests_overloaded_total"), 2);
    for mut stream in pending {
        stream.write_all(b"{}").unwrap();
        let mut response = [0; 12];
        stream.read_exact(&mut response).unwrap();
        assert_eq!(&response, b"HTTP/1.1 400");
    }
    assert_eq!(
        post(&mut connect(&served, false), "Check", &json!({})).0,
        400
    );
}

#[test]
fn tuples_in_a_file_survive_a_crash() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("tuples");
    let flag = format!("--database={}", database.display());
    let request = json!({"tuple": tuple("doc:d#viewer@user:u")});
    for round in 0..2 {
        let served = serve(&[&flag]);
        let mut client = connect(&served, false);
        if round == 0 {
            for text in TUPLES {
                post(&mut client, "Write", &json!({"tuple": tuple(text)}));
            }
        }
        assert_eq!(
            post(&mut client, "Check", &request),
            (200, json!({"result": true}))
        );
        assert_eq!(served.metric("plimsoll_serve_zanzibar_checks_total"), 1);
        assert_eq!(
            served.metric("plimsoll_serve_zanzibar_check_queries_total"),
            3
        );
        served.kill();
    }
}

#[test]
fn a_custom_model_is_used() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.yaml");
    let flag = format!("--model={}", path.display());
    std::fs::write(
        &path,
        "types:\n  user: {}\n  ship:\n    captain: this\n    crew: {computed_userset: captain}\n",
    )
    .unwrap();
    let served = serve(&[&flag]);
    let mut client = connect(&served, false);
    post(
        &mut client,
        "Write",
        &json!({"tuple": tuple("ship:s#captain@user:u")}),
    );
    let request = json!({"tuple": tuple("ship:s#crew@user:u")});
    assert_eq!(
        post(&mut client, "Check", &request),
        (200, json!({"result": true}))
    );
    assert_eq!(post(&mut client, "Write", &request).0, 400);

    std::fs::write(
        &path,
        "types:\n  user: {}\n  ship:\n    captain: this\n    crew: {computed_userset: captian}\n",
    )
    .unwrap();
    let ended = program().args(["zanzibar", &flag]).run();
    assert_eq!(ended.status, Some(1));
    let expected = format!(
        "{}:5: 'ship' has no relation 'captian'; did you mean 'captain'?",
        path.display()
    );
    assert!(ended.stderr.contains(&expected), "{}", ended.stderr);
}

#[test]
fn wrong_flags_are_explained_and_passwords_are_not_repeated() {
    let closed = plimsoll_testkit::ports::closed();
    let unreachable = format!("postgres://me:secret@{closed}/db");
    for (flags, expected) in [
        (&["--backend=pgquery"][..], "PostgreSQL needs an address"),
        (
            &["--backend=pgquery", "--database", &unreachable],
            "cannot reach PostgreSQL at 127.0.0.1:",
        ),
        (
            &["--backend=pgfunc", "--database", "me:secret@host"],
            "postgres://USER",
        ),
        (
            &["--database", &unreachable],
            "add --backend pgquery or pgfunc",
        ),
        (
            &["--database", "/nowhere/at/all"],
            "cannot open the database /nowhere/at/all",
        ),
        (&["--model", "/nowhere"], "cannot read the model /nowhere"),
        (&["--backend=mysql"], "sqlite, pgquery, pgfunc"),
    ] {
        let ended = program()
            .args(["zanzibar", "--listen=127.0.0.1:0"])
            .args(flags)
            .run();
        assert!(ended.status.is_some_and(|status| status != 0), "{flags:?}");
        assert!(
            ended.stderr.contains(expected),
            "{flags:?}: {}",
            ended.stderr
        );
        assert!(!ended.stderr.contains("secret"), "{}", ended.stderr);
        assert_eq!(ended.stdout, "");
    }
    // The help shows a variable's name, not its value.
    let help = program()
        .env("PLIMSOLL_ZANZIBAR_DATABASE", &unreachable)
        .args(["zanzibar", "--help"])
        .run();
    assert!(
        help.stdout.contains("PLIMSOLL_ZANZIBAR_DATABASE"),
        "{}",
        help.stdout
    );
    assert!(!help.stdout.contains(":secret@127"), "{}", help.stdout);
}
