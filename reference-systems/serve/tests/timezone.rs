//! Tests `plimsoll-serve timezone` as its users run it: as a program over HTTP, with polygons in
//! memory and in PostGIS.

mod http_client;

use std::time::{Duration, Instant};

use http_client::{Client, Response};
use plimsoll_testground::Postgres;
use plimsoll_testkit::program::{Program, Running, Signal};
use serde_json::{Value, json};

fn program(flags: &[&str]) -> Program {
    Program::at(env!("CARGO_BIN_EXE_plimsoll-serve"))
        .args(["timezone", "--listen=127.0.0.1:0", "--api-key=one,two"])
        .args(flags)
        .limit(Duration::from_secs(180))
}

fn start(flags: &[&str]) -> (Running, Client) {
    let mut running = program(flags).start();
    let places: Value = serde_json::from_str(&running.line()).unwrap();
    assert_eq!(places["system"], "timezone");
    let client = Client::new(places["url"].as_str().unwrap());
    (running, client)
}

fn error_message(response: &Response, status: u16) -> String {
    assert_eq!(response.status, status, "{response:?}");
    assert_eq!(response.header("content-type"), Some("application/json"));
    response.json()["error"].as_str().unwrap().to_owned()
}

/// Tests for both stores.
fn check_responses(client: &mut Client) {
    let mut send = |query: &str| client.get(&format!("/time_zone?{query}"), &[]);
    let paris = send("lat=48.8566&lng=2.3522&api_key=one");
    assert_eq!(paris.status, 200);
    assert_eq!(paris.header("content-type"), Some("application/json"));
    assert_eq!(paris.body, br#"{"time_zone_id":"Europe/Paris"}"#);
    let ushuaia = send("api_key=two&lng=-68.303&lat=%2D54.8019");
    assert_eq!(
        ushuaia.json(),
        json!({"time_zone_id": "America/Argentina/Ushuaia"})
    );
    for query in [
        "lat=1&lng=1",
        "lat=1&lng=1&api_key=",
        "lat=x&api_key=three",
        "",
    ] {
        assert!(error_message(&send(query), 401).contains("api_key"));
    }
    for (query, named) in [
        ("lng=1", "lat is missing"),
        ("lat=1", "lng is missing"),
        ("lat=91&lng=1", "lat must be a number from -90 to 90"),
        ("lat=1&lng=-180.5", "lng must be a number from -180 to 180"),
        ("lat=NaN&lng=1", "lat must be"),
        ("lat=1&lng=1e999", "lng must be"),
    ] {
        let response = send(&format!("{query}&api_key=one"));
        assert!(
            error_message(&response, 400).contains(named),
            "{response:?}"
        );
    }
    // The middle of the Atlantic.
    error_message(&send("lat=30&lng=-40&api_key=one"), 404);

    let status = client.get("/status", &[]);
    assert_eq!((status.status, &status.body[..]), (200, &b"OK"[..]));
    assert_eq!(client.get("/healthz", &[]).status, 200);
    error_message(&client.get("/elsewhere", &[]), 404);
    error_message(&client.send("POST", "/time_zone", &[], None).unwrap(), 405);
}

#[test]
fn the_embedded_polygons_are_used() {
    let (running, mut client) = start(&[]);
    check_responses(&mut client);
    running.signal(Signal::TERM);
    let ended = running.wait();
    assert_eq!(ended.status, Some(0));
    assert!(!ended.stderr.contains("three"), "{}", ended.stderr);
}

#[test]
fn zones_of_the_sea_are_returned_on_request() {
    let (_running, mut client) = start(&["--oceans"]);
    let response = client.get("/time_zone?lat=30&lng=-40&api_key=one", &[]);
    assert_eq!(response.json(), json!({"time_zone_id": "Etc/GMT+3"}));
}

#[test]
fn postgis_can_stop_and_restart() {
    Postgres::require_postgis();
    let mut postgres = Postgres::start();
    let store = format!("--store={}", postgres.database());
    let (running, mut client) = start(&[&store]);
    check_responses(&mut client);

    postgres.kill();
    let paris = "/time_zone?lat=48.8566&lng=2.3522&api_key=one";
    let started = Instant::now();
    let gone = client.get(paris, &[]);
    error_message(&gone, 503);
    assert_eq!(gone.header("retry-after"), Some("1"));
    while client.get("/healthz", &[]).status != 503 {
        assert!(started.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(20));
    }
    postgres.restart();
    let started = Instant::now();
    while client.get(paris, &[]).status != 200 || client.get("/healthz", &[]).status != 200 {
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "it must recover"
        );
        std::thread::sleep(Duration::from_millis(20));
    }

    // The server does not wait for a store that hangs.
    postgres.suspend();
    let started = Instant::now();
    error_message(&client.get(paris, &[]), 503);
    assert!(
        started.elapsed() < Duration::from_secs(12),
        "it must not wait"
    );
    postgres.resume();
    let started = Instant::now();
    while client.get(paris, &[]).status != 200 {
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "it must recover"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    running.signal(Signal::TERM);
    assert_eq!(running.wait().status, Some(0));
}

#[test]
fn a_missing_store_prevents_the_start() {
    for (store, named) in [
        (
            "postgres://me:hidden@127.0.0.1:1/db",
            "cannot open the store",
        ),
        ("mysql://me:hidden@127.0.0.1:1/db", "postgres://"),
    ] {
        let ended = program(&["--store", store]).run();
        assert_eq!(ended.status, Some(1), "{}", ended.stderr);
        assert!(ended.stderr.contains(named), "{}", ended.stderr);
        assert!(!ended.stderr.contains("hidden"), "{}", ended.stderr);
    }
}
