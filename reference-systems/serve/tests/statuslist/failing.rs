//! Stores that are unavailable, at the start and later.

use std::time::{Duration, Instant};

use plimsoll_testground::{Append, Postgres, Redis, Server};
use serde_json::json;

use crate::served::{KEY, ProblemResponse, Reference, Served, TestFolder, program};

const AUTHORIZED: &[(&str, &str)] = &[("x-api-key", KEY)];

fn folder() -> TestFolder {
    TestFolder::new(json!({
        "a": {"size": 1000, "prefetch": {"threshold": 5, "capacity": 10}},
        "b": {"size": 1000, "prefetch": {"threshold": 1, "capacity": 10, "on-underflow": "fail"}},
    }))
}

#[test]
fn a_missing_store_prevents_the_start() {
    let folder = folder();
    for store in [
        "postgres://me:hidden@127.0.0.1:1/db",
        "redis://:hidden@127.0.0.1:1/0",
        "sqlite:/nowhere/lists.db",
    ] {
        let ended = program(&["--listen=127.0.0.1:0", &folder.pools()])
            .args(["--store", store])
            .run();
        assert_eq!(ended.status, Some(1), "{}", ended.stderr);
        assert!(
            ended.stderr.contains("cannot open the store"),
            "{}",
            ended.stderr
        );
        assert!(!ended.stderr.contains("hidden"), "{}", ended.stderr);
        assert_eq!(ended.stdout, "");
    }
}

#[test]
fn invalid_flags_are_reported() {
    let folder = folder();
    for (flags, message) in [
        (["--store=mysql://x", "--refresh=1"], "redis://"),
        (["--pools=/nowhere.yaml", "--refresh=1"], "/nowhere.yaml"),
        (["--pools=/nowhere.ini", "--refresh=1"], ".toml"),
        (["--api-key=", "--refresh=1"], "--api-key"),
    ] {
        let ended = program(&["--listen=127.0.0.1:0"])
            .inside(std::env::temp_dir())
            .args(flags)
            .run();
        assert_eq!(ended.status, Some(1), "{}", ended.stderr);
        assert!(ended.stderr.contains(message), "{}", ended.stderr);
    }
    drop(folder);
}

/// Kills the store, checks the responses, and starts it again.
fn survives_store_failures(store: &str, server: &mut Server) {
    let folder = folder();
    let store = format!("--store={store}");
    let served = Served::start(&["--listen=127.0.0.1:0", &folder.pools(), &store]);
    let mut client = served.client();
    let mut post = |path: &str| client.send("POST", path, AUTHORIZED, None).unwrap();
    let reference = Reference::all(&post("/pools/a/new-references")).remove(0);
    let update = |value| {
        let body = reference.update(value);
        served
            .client()
            .send("PATCH", "/status-lists/update", AUTHORIZED, Some(&body))
            .unwrap()
    };
    assert_eq!(update(1).status, 204);

    server.kill();
    let started = Instant::now();
    let message = update(0);
    message.problem(503);
    assert_eq!(message.header("retry-after"), Some("1"));
    // Reserved indices are still issued; then there are none left.
    for pool in ["a", "b"] {
        let path = format!("/pools/{pool}/new-references?amount=3");
        assert_eq!(post(&path).status, 200);
        // Until an attempt to reserve more indices has failed, the status is 429 (too few available).
        let mut last = post(&path);
        while matches!(last.status, 200 | 429) {
            assert!(
                started.elapsed() < Duration::from_secs(20),
                "{pool}: {last:?}"
            );
            std::thread::sleep(Duration::from_millis(5));
            last = post(&path);
        }
        last.problem(503);
        assert!(started.elapsed() < Duration::from_secs(20));
    }
    let mut health = served.client();
    while health.get("/healthz", &[]).status != 503 {
        assert!(started.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "responses must arrive soon"
    );

    server.restart();
    let started = Instant::now();
    while update(1).status != 204 || health.get("/healthz", &[]).status != 200 {
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "it must recover"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    let path = "/pools/b/new-references?amount=3";
    while post(path).status != 200 {
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "it must recover"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(served.client().get(&reference.path(), &[]).status, 200);

    // The server does not wait for a store that hangs.
    server.suspend();
    let started = Instant::now();
    update(0).problem(503);
    assert!(
        started.elapsed() < Duration::from_secs(12),
        "it must not wait"
    );
    server.resume();
    let started = Instant::now();
    while update(1).status != 204 {
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "it must recover"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    let ended = served.end();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
}

#[test]
fn redis_may_stop_and_start_again() {
    let mut redis = Redis::start(Append::Always);
    let url = redis.url();
    survives_store_failures(&url, &mut redis);
}

#[test]
fn postgres_may_stop_and_start_again() {
    let mut postgres = Postgres::start();
    let url = postgres.database();
    survives_store_failures(&url, &mut postgres);
}
