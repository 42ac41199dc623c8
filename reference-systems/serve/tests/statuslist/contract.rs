//! Routes, responses and errors.

use std::collections::HashSet;

use serde_json::json;

use crate::http_client::Client;
use crate::served::{KEY, ProblemResponse, Reference, Served, TestFolder, program};

const AUTHORIZED: &[(&str, &str)] = &[("x-api-key", KEY)];

fn folder() -> TestFolder {
    TestFolder::new(json!({
        "a": {"size": 100, "bits": 2, "prefetch": {"threshold": 5, "capacity": 50}},
        "slow": {"size": 100, "prefetch": {"threshold": 1, "capacity": 10, "on-underflow": "fail"}},
    }))
}

fn take(client: &mut Client, path: &str) -> Vec<Reference> {
    Reference::all(&client.send("POST", path, AUTHORIZED, None).unwrap())
}

#[test]
fn indexes_are_assigned_in_both_shapes() {
    let folder = folder();
    let served = folder.start();
    let mut client = served.client();
    let mut all = take(&mut client, "/pools/a/new-references?amount=20");
    all.extend(take(&mut client, "/pools/a/new-references"));
    all.extend(take(&mut client, "/api/a/new-references/30"));
    let one = client
        .send("POST", "/api/a/new-reference", AUTHORIZED, Some("{}"))
        .unwrap();
    assert_eq!(one.status, 200);
    all.push(Reference::of(&one.json()));
    assert_eq!(all.len(), 52);
    assert!(all.iter().all(|reference| {
        reference.index < 100 && reference.uri.starts_with(&format!("{}/", served.url))
    }));
    // Shuffled: the chance of 20 in ascending order is less than one in 10^18.
    assert!(!all[..20].is_sorted_by_key(|reference| reference.index));
    let different: HashSet<_> = all.iter().collect();
    assert_eq!(different.len(), 52);

    let aggregation = client.get("/aggregation/a", &[]).json();
    let lists = aggregation["status_lists"].as_array().unwrap();
    assert!(
        all.iter()
            .all(|one| lists.contains(&one.uri.as_str().into()))
    );
    // A list that was created in advance is not listed before it is used.
    assert!(lists.len() <= 2, "{lists:?}");
}

#[test]
fn invalid_requests_for_indices_are_reported() {
    let folder = folder();
    let served = folder.start();
    let mut client = served.client();
    let mut post =
        |path: &str, headers: &[(&str, &str)]| client.send("POST", path, headers, None).unwrap();
    for amount in ["0", "-1", "x", "51", "99999999999999999999", ""] {
        let path = format!("/pools/a/new-references?amount={amount}");
        let detail = post(&path, AUTHORIZED).problem(400);
        assert!(detail.contains("1 to 50"), "{detail}");
    }
    for path in ["/api/a/new-references/0", "/api/a/new-references/x"] {
        post(path, AUTHORIZED).problem(400);
    }
    for headers in [&[][..], &[("x-api-key", "wrong")], &[("x-api-key", "")]] {
        let response = post("/pools/a/new-references?amount=x", headers);
        response.problem(401);
        assert!(response.header("www-authenticate").is_some());
        post("/api/a/new-reference", headers).problem(401);
    }
    post("/pools/none/new-references", AUTHORIZED).problem(404);
    post("/api/none/new-reference", AUTHORIZED).problem(404);
    client
        .send("GET", "/pools/a/new-references", &[], None)
        .unwrap()
        .problem(405);
    client.get("/no/such/place", &[]).problem(404);
    client.get("/aggregation/none", &[]).problem(404);
}

#[test]
fn underflow_is_reported_where_the_pool_says_so() {
    let folder = folder();
    let served = folder.start();
    let mut client = served.client();
    let mut refused = 0;
    for _ in 0..200 {
        let response = client
            .send(
                "POST",
                "/pools/slow/new-references?amount=10",
                AUTHORIZED,
                None,
            )
            .unwrap();
        match response.status {
            200 => {}
            _ => {
                response.problem(429);
                assert_eq!(response.header("retry-after"), Some("1"));
                refused += 1;
            }
        }
    }
    assert!(
        refused > 0,
        "requests for ten of ten indices must exhaust the pool"
    );
}

#[test]
fn statuses_are_set_in_both_shapes_and_seen_at_once() {
    let folder = folder();
    let served = folder.start();
    let mut client = served.client();
    let references = take(&mut client, "/pools/a/new-references?amount=4");
    let json = ("accept", "application/statuslist+json");
    let mut last = client.get(&references[0].path(), &[json]).json();
    let shapes = [
        ("PATCH", "/status-lists/update"),
        ("POST", "/api/update-status"),
    ];
    for (turn, reference) in (0..).zip(&references) {
        let (method, path) = shapes[turn % 2];
        let body = reference.update(turn as u64);
        let response = client.send(method, path, AUTHORIZED, Some(&body)).unwrap();
        assert_eq!(response.status, 204, "{response:?}");
        assert!(response.body.is_empty());
        let now = client.get(&reference.path(), &[json]).json();
        // The first one sets the value that is already set.
        assert_eq!(now == last, turn == 0);
        last = now;
    }
    assert_eq!(last["bits"], 2);
    assert_eq!(
        last["aggregation_uri"],
        format!("{}/aggregation/a", served.url)
    );
}

#[test]
fn invalid_updates_are_reported() {
    let folder = folder();
    let served = folder.start();
    let mut client = served.client();
    let reference = take(&mut client, "/pools/a/new-references").remove(0);
    let mut update = |headers: &[(&str, &str)], body: &str| {
        client
            .send("PATCH", "/status-lists/update", headers, Some(body))
            .unwrap()
    };
    let mut rejects = |body: String, reason: &str| {
        let detail = update(AUTHORIZED, &body).problem(400);
        assert!(detail.contains(reason), "{detail}");
    };
    rejects(reference.update(4), "largest is 3");
    rejects(reference.update(u64::MAX), "largest is 3");
    let beyond = Reference {
        index: 100,
        ..reference.clone()
    };
    rejects(beyond.update(1), "last is 99");
    for uri in [
        "http://127.0.0.1/00000000-0000-4000-8000-000000000000",
        "nothing",
        "",
    ] {
        let unknown = Reference {
            uri: uri.to_owned(),
            index: 1,
        };
        rejects(unknown.update(1), "no such list");
    }
    for body in [
        "",
        "{}",
        "[]",
        "{\"uri\":1}",
        "\u{0}",
        &reference.update(1).replace('1', "-1"),
    ] {
        rejects(body.to_owned(), "not understood");
    }
    update(&[], &reference.update(1)).problem(401);
    update(&[("x-api-key", "wrong")], &reference.update(1)).problem(401);
    let large = " ".repeat(2 << 20);
    update(AUTHORIZED, &large).problem(413);
}

#[test]
fn lists_have_the_accepted_format() {
    let folder = folder();
    let served = folder.start();
    let mut client = served.client();
    let path = take(&mut client, "/pools/a/new-references")[0].path();
    let mut get = |accept: Option<&str>| {
        let headers: Vec<_> = accept
            .map(|accept| ("accept", accept))
            .into_iter()
            .collect();
        client.get(&path, &headers)
    };
    for (accept, kind) in [
        (None, "application/statuslist+jwt"),
        (Some("*/*"), "application/statuslist+jwt"),
        (
            Some("application/statuslist+jwt"),
            "application/statuslist+jwt",
        ),
        (
            Some("application/statuslist+cwt"),
            "application/statuslist+cwt",
        ),
        (
            Some("application/statuslist+json"),
            "application/statuslist+json",
        ),
    ] {
        let response = get(accept);
        assert_eq!(response.status, 200);
        assert_eq!(response.header("content-type"), Some(kind));
        assert_eq!(response.header("vary"), Some("Accept"));
        assert!(
            response
                .header("etag")
                .is_some_and(|tag| tag.starts_with('"'))
        );
    }
    get(Some("text/html")).problem(406);
    client
        .get("/00000000-0000-4000-8000-000000000000", &[])
        .problem(404);
    client.get("/not-a-list", &[]).problem(404);
}

#[test]
fn cached_lists_are_not_sent_again() {
    let folder = folder();
    let served = folder.start();
    let mut client = served.client();
    let reference = take(&mut client, "/pools/a/new-references").remove(0);
    let path = reference.path();
    let first = client.get(&path, &[]);
    let tag = first.header("etag").unwrap().to_owned();
    let again = client.get(&path, &[("if-none-match", &tag)]);
    assert_eq!(again.status, 304);
    assert_eq!(again.header("etag"), Some(tag.as_str()));
    assert_eq!(again.header("vary"), Some("Accept"));
    // Each format has its own tag.
    let cwt = ("accept", "application/statuslist+cwt");
    let other = client.get(&path, &[cwt, ("if-none-match", &tag)]);
    assert_eq!(other.status, 200);
    assert_ne!(other.header("etag"), Some(tag.as_str()));
    let head = client.send("HEAD", &path, &[], None).unwrap();
    assert_eq!(head.header("etag"), Some(tag.as_str()));
    // The tag also changes with the list.
    let body = reference.update(1);
    client
        .send("PATCH", "/status-lists/update", AUTHORIZED, Some(&body))
        .unwrap();
    let changed = client.get(&path, &[("if-none-match", &tag)]);
    assert_eq!(changed.status, 200);
    assert_ne!(changed.body, first.body);
}

#[test]
fn another_servers_changes_are_seen_in_time() {
    let folder = folder();
    let one = folder.start();
    let other = Served::start(&[
        "--listen=127.0.0.1:0",
        "--refresh=50",
        &folder.pools(),
        &folder.sqlite(),
    ]);
    let reference = take(&mut one.client(), "/pools/a/new-references").remove(0);
    let before = other.client().get(&reference.path(), &[]);
    let body = reference.update(1);
    let response = one
        .client()
        .send("PATCH", "/status-lists/update", AUTHORIZED, Some(&body))
        .unwrap();
    assert_eq!(response.status, 204);
    std::thread::sleep(std::time::Duration::from_millis(60));
    let after = other.client().get(&reference.path(), &[]);
    assert_ne!(before.body, after.body);
    // An unchanged list is not signed again, although it was read again.
    std::thread::sleep(std::time::Duration::from_millis(60));
    let again = other.client().get(&reference.path(), &[]);
    assert_eq!(again.body, after.body);
}

#[test]
fn health_metrics_and_shutdown_are_as_in_the_other_systems() {
    let folder = folder();
    let served = folder.start();
    let mut client = served.client();
    assert_eq!(client.get("/healthz", &[]).status, 200);
    let metrics = client.get("/metrics", &[]);
    let metrics = String::from_utf8(metrics.body).unwrap();
    assert!(
        metrics.contains("plimsoll_statuslist_indices_ready_a 50\n"),
        "{metrics}"
    );
    assert_eq!(client.get("/.well-known/jwks.json", &[]).status, 200);
    let ended = served.end();
    assert_eq!(ended.status, Some(0));
    assert!(!ended.stderr.contains(KEY), "{}", ended.stderr);
}

#[test]
fn one_command_starts_it_with_a_public_key() {
    let directory = tempfile::tempdir().unwrap();
    let mut running = program(&["--listen=127.0.0.1:0"])
        .inside(directory.path())
        .start();
    let places: serde_json::Value = serde_json::from_str(&running.line()).unwrap();
    let mut client = Client::new(places["url"].as_str().unwrap());
    for pool in ["tests", "tests-fail"] {
        let path = format!("/pools/{pool}/new-references");
        let key = [("x-api-key", "plimsoll")];
        let response = client.send("POST", &path, &key, None).unwrap();
        assert_eq!(Reference::all(&response).len(), 1);
    }
}
