//! Tests `plimsoll-serve zanzibar` with PostgreSQL: round trips counted on the wire, and what
//! happens when the database disappears.

#[allow(dead_code, reason = "other tests use the rest")]
mod client;
mod relay;
mod zanzibar_served;

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use client::Client;
use plimsoll_testground::Postgres;
use relay::Relay;
use serde_json::{Value, json};
use zanzibar_served::{Served, serve, tuple};

/// A server for the tests that do not disturb it.
static SERVER: LazyLock<Postgres> = LazyLock::new(Postgres::start);

fn post(client: &mut Client, method: &str, text: &str) -> (u16, Value) {
    let path = format!("/zanzigo.v1.ZanzigoService/{method}");
    let body = json!({"tuple": tuple(text)}).to_string();
    let response = client
        .post(&path, "application/json", body.as_bytes())
        .unwrap();
    (
        response.status,
        serde_json::from_slice(&response.body).unwrap(),
    )
}

fn connect(served: &Served) -> Client {
    Client::connect(&served.url, "", false, false).unwrap()
}

/// The tuples of the benchmark, for a few numbers.
fn seed(client: &mut Client) {
    for number in 0..10 {
        for text in [
            format!("group:mygroup{number}#member@user:myuser{number}"),
            format!("doc:mydoc{number}#parent@folder:myfolder{number}"),
            format!("folder:myfolder{number}#viewer@group:mygroup{number}#member"),
        ] {
            assert_eq!(post(client, "Write", &text), (200, json!({})));
        }
    }
}

#[test]
fn round_trips_are_three_with_queries_and_one_with_functions() {
    for (backend, trips) in [("pgquery", 3), ("pgfunc", 1)] {
        let relay = Relay::start(SERVER.address());
        let database = relay.through(&SERVER.database(), SERVER.address());
        let served = serve(&[
            "--backend",
            backend,
            "--database",
            &database,
            "--connections=1",
        ]);
        let mut client = connect(&served);
        seed(&mut client);
        let granted = "doc:mydoc7#viewer@user:myuser7";
        let right = (200, json!({"result": true}));
        // The first check on a connection prepares its query.
        assert_eq!(post(&mut client, "Check", granted), right);
        let queries = "plimsoll_serve_zanzibar_check_queries_total";
        let (counted, expected) = (relay.round_trips(), served.metric(queries));
        for number in 0..10 {
            let text = format!("doc:mydoc{number}#viewer@user:myuser{number}");
            assert_eq!(post(&mut client, "Check", &text), right);
        }
        assert_eq!(relay.round_trips() - counted, 10 * trips, "{backend}");
        assert_eq!(served.metric(queries) - expected, 10 * trips, "{backend}");
        // A denied check needs the same number of round trips.
        let counted = relay.round_trips();
        let denied = post(&mut client, "Check", "doc:mydoc7#viewer@user:myuser8");
        assert_eq!(denied, (200, json!({})));
        assert_eq!(relay.round_trips() - counted, trips, "{backend}");
        assert_eq!(served.metric("plimsoll_serve_zanzibar_prepared_total"), 1);
        assert_eq!(served.end().status, Some(0));
    }
}

#[test]
fn reading_listing_and_deleting_are_as_with_sqlite() {
    let served = serve(&["--backend=pgquery", "--database", &SERVER.database()]);
    let mut client = connect(&served);
    seed(&mut client);
    // A second time changes nothing.
    seed(&mut client);
    let mut list = |pagination: Value| -> Value {
        let body = json!({"filter": {"objectType": "doc"}, "pagination": pagination});
        let path = "/zanzigo.v1.ZanzigoService/List";
        let response = client.post(path, "application/json", body.to_string().as_bytes());
        serde_json::from_slice(&response.unwrap().body).unwrap()
    };
    let first = list(json!({"limit": 6}));
    assert_eq!(first["tuples"].as_array().unwrap().len(), 6);
    let second = list(json!({"limit": 6, "cursor": first["cursor"]}));
    assert_eq!(second["tuples"].as_array().unwrap().len(), 4);
    assert_eq!(second["tuples"][0]["objectId"], "mydoc6");
    assert_eq!(second["cursor"], Value::Null);
    let one = "doc:mydoc1#parent@folder:myfolder1";
    let (_, read) = post(&mut client, "Read", one);
    assert_eq!(read["uuid"].as_str().unwrap().len(), 36);
    assert_eq!(post(&mut client, "Delete", one), (200, json!({})));
    assert_eq!(post(&mut client, "Delete", one).0, 404);
    assert_eq!(post(&mut client, "Read", one).0, 404);
    let gone = post(&mut client, "Check", "doc:mydoc1#viewer@user:myuser1");
    assert_eq!(gone, (200, json!({})));
}

#[test]
fn servers_that_start_side_by_side_make_the_tables_once() {
    let database = SERVER.database();
    let starts: Vec<_> = ["pgquery", "pgfunc", "pgfunc", "pgquery"]
        .map(|backend| {
            let database = database.clone();
            std::thread::spawn(move || serve(&["--backend", backend, "--database", &database]))
        })
        .into();
    for start in starts {
        let served = start.join().unwrap();
        assert_eq!(served.get("/healthz").0, 200);
    }
    let versions = "SELECT count(*) = max(steps) FROM zanzibar.version";
    assert_eq!(SERVER.sql(&database, versions), "t");
    // The server does not touch tables that a newer version created.
    SERVER.sql(&database, "INSERT INTO zanzibar.version VALUES (99)");
    let ended = zanzibar_served::program()
        .args(["zanzibar", "--listen=127.0.0.1:0", "--backend=pgquery"])
        .args(["--database", &database])
        .run();
    assert_eq!(ended.status, Some(1));
    assert!(ended.stderr.contains("version 99"), "{}", ended.stderr);
}

#[test]
fn a_database_that_dies_is_reported_and_its_return_is_noticed() {
    let mut postgres = Postgres::start();
    for backend in ["pgquery", "pgfunc"] {
        let database = postgres.database().replace("plimsoll@", "plimsoll:secret@");
        let served = serve(&["--backend", backend, "--database", &database]);
        let mut client = connect(&served);
        seed(&mut client);
        let request = "doc:mydoc3#viewer@user:myuser3";
        let right = (200, json!({"result": true}));
        assert_eq!(post(&mut client, "Check", request), right);
        postgres.kill();
        for method in ["Check", "Write", "Read", "Delete"] {
            let text = "doc:mydoc3#parent@folder:myfolder3";
            let (status, error) = post(&mut client, method, text);
            assert_eq!(
                (status, &error["code"]),
                (503, &json!("unavailable")),
                "{method}"
            );
        }
        assert_eq!(served.get("/healthz").0, 503);
        postgres.restart();
        let deadline = Instant::now() + Duration::from_secs(10);
        // The server notices on its own, without requests.
        while served.get("/healthz").0 != 200 {
            assert!(Instant::now() < deadline, "it does not come back");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(post(&mut client, "Check", request), right);
        let ended = served.end();
        assert_eq!(ended.status, Some(0));
        assert!(ended.stderr.contains("out of reach"), "{}", ended.stderr);
        assert!(!ended.stderr.contains("secret"), "{}", ended.stderr);
    }
}

#[test]
fn a_database_that_hangs_is_not_waited_for_forever() {
    let postgres = Postgres::start();
    let served = serve(&["--backend=pgfunc", "--database", &postgres.database()]);
    let mut client = connect(&served);
    let request = "doc:mydoc3#viewer@user:myuser3";
    assert_eq!(post(&mut client, "Check", request), (200, json!({})));
    postgres.suspend();
    let started = Instant::now();
    let (status, error) = post(&mut client, "Check", request);
    assert_eq!((status, &error["code"]), (503, &json!("unavailable")));
    assert!(started.elapsed() < Duration::from_secs(10));
    postgres.resume();
    let deadline = Instant::now() + Duration::from_secs(10);
    while post(&mut client, "Check", request) != (200, json!({})) {
        assert!(Instant::now() < deadline, "it does not come back");
        std::thread::sleep(Duration::from_millis(20));
    }
}
