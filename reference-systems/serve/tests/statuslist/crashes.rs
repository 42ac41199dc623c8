//! Crashes at random moments, with a hundred clients: no index is issued twice, and no acknowledged
//! status is lost.

// The output of a test is shown when it fails.
#![allow(clippy::print_stdout)]

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use plimsoll_testground::{Append, Postgres, Redis, Server};
use serde_json::json;

use crate::http_client::Client;
use crate::served::{KEY, Reference, Served, TestFolder};

const CLIENTS: usize = 100;
const BITS: u64 = 2;
const AUTHORIZED: &[(&str, &str)] = &[("x-api-key", KEY)];

/// Minimum number of operations of the clients between two crashes.
const PROGRESS: u64 = 50;

/// Random numbers (xorshift64*), from a seed that is printed.
struct Random(u64);

impl Random {
    fn seed() -> u64 {
        let seed = std::env::var("PLIMSOLL_TEST_SEED").ok();
        seed.and_then(|seed| seed.parse().ok()).unwrap_or_else(|| {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            now.unwrap().as_nanos() as u64 | 1
        })
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) % bound
    }
}

/// What one client expects of the server.
#[derive(Default)]
struct Expectations {
    /// Each index that it got, and the statuses that it may have now: more than one if an update
    /// got no response.
    issued: Vec<(Reference, Vec<u64>)>,
    acknowledged: u64,
}

/// Shared by all clients.
struct Clients {
    url: String,
    stopped: AtomicBool,
    /// Number of acknowledged updates.
    progress: AtomicU64,
    expectations: Mutex<Vec<Expectations>>,
}

impl Clients {
    fn run_client(&self, seed: u64) {
        let mut random = Random(seed | 1);
        let mut client = Client::new(&self.url);
        let mut expected = Expectations::default();
        while !self.stopped.load(Relaxed) {
            if expected.issued.is_empty() || random.below(3) == 0 {
                let path = format!("/pools/a/new-references?amount={}", 1 + random.below(5));
                if let Ok(response) = client.send("POST", &path, AUTHORIZED, None)
                    && response.status == 200
                {
                    let issued = Reference::all(&response).into_iter();
                    expected.issued.extend(issued.map(|one| (one, vec![0])));
                }
            } else {
                let position = random.below(expected.issued.len() as u64) as usize;
                let (reference, statuses) = &mut expected.issued[position];
                // An update whose response was lost may still be in progress in the store; after
                // another one, the order would be unknown.
                if statuses.len() > 1 {
                    continue;
                }
                let status = random.below(1 << BITS);
                let body = reference.update(status);
                let response =
                    client.send("PATCH", "/status-lists/update", AUTHORIZED, Some(&body));
                match response {
                    Ok(response) if response.status == 204 => {
                        *statuses = vec![status];
                        expected.acknowledged += 1;
                        self.progress.fetch_add(1, Relaxed);
                    }
                    _ => statuses.push(status),
                }
            }
            thread::sleep(Duration::from_millis(random.below(10)));
        }
        self.expectations.lock().unwrap().push(expected);
    }

    /// Waits until the clients have made progress, and for a random time longer.
    fn wait_for_progress(&self, random: &mut Random) {
        let started = Instant::now();
        let before = self.progress.load(Relaxed);
        while self.progress.load(Relaxed) < before + PROGRESS {
            assert!(
                started.elapsed() < Duration::from_secs(60),
                "the clients make no progress"
            );
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(random.below(150)));
    }
}

/// The results at the end.
#[derive(Debug, Default)]
struct Results {
    issued: usize,
    issued_twice: Vec<Reference>,
    acknowledged: u64,
    lost: Vec<(Reference, Vec<u64>, u64)>,
}

impl Results {
    fn assert_correct(&self, seed: u64) {
        println!(
            "{} indices issued, {} statuses acknowledged",
            self.issued, self.acknowledged
        );
        let seed = format!("again with PLIMSOLL_TEST_SEED={seed}");
        assert!(self.issued > 1000 && self.acknowledged > 500, "{seed}");
        assert!(
            self.issued_twice.is_empty(),
            "issued twice: {:?}; {seed}",
            self.issued_twice
        );
        assert!(self.lost.is_empty(), "lost: {:?}; {seed}", self.lost);
    }
}

/// A run against a server that is killed `kills` times, and a store that is crashed `crashes` times, alternately.
struct Run<'a> {
    flags: Vec<String>,
    kills: usize,
    crashes: usize,
    store: Option<&'a mut Server>,
}

impl Run<'_> {
    fn run_with_seed(mut self, seed: u64) -> Results {
        let folder = TestFolder::new(json!({
            "a": {
                "size": 2000,
                "bits": BITS,
                "prefetch": {"threshold": 50, "capacity": 500},
                "precreation": {"lists": 1, "check-delay": "100ms"},
            },
        }));
        self.flags.push(folder.pools());
        if self.store.is_none() {
            self.flags.push(folder.sqlite());
        }
        let mut served = self.start("127.0.0.1:0");
        let address = served.url.trim_start_matches("http://").to_owned();
        let clients = Clients {
            url: served.url.clone(),
            stopped: AtomicBool::new(false),
            progress: AtomicU64::new(0),
            expectations: Mutex::default(),
        };
        let mut random = Random(seed);
        let served = thread::scope(|scope| {
            let clients = &clients;
            for client in 0..CLIENTS as u64 {
                let seed = seed.wrapping_add(client.wrapping_mul(0x9E37_79B9_7F4A_7C15));
                scope.spawn(move || clients.run_client(seed));
            }
            // Runs even after a panic, so that the clients end and the test can fail.
            let _stop = StopOnDrop(&clients.stopped);
            for turn in 0..self.kills.max(self.crashes) {
                if turn < self.kills {
                    clients.wait_for_progress(&mut random);
                    served.kill();
                    served = self.start(&address);
                }
                if turn < self.crashes
                    && let Some(store) = &mut self.store
                {
                    clients.wait_for_progress(&mut random);
                    store.kill();
                    thread::sleep(Duration::from_millis(random.below(100)));
                    store.restart();
                }
            }
            clients.wait_for_progress(&mut random);
            served
        });
        compare(&served, clients.expectations.into_inner().unwrap())
    }

    fn start(&self, address: &str) -> Served {
        let listen = format!("--listen={address}");
        let mut flags: Vec<&str> = self.flags.iter().map(String::as_str).collect();
        flags.push(&listen);
        Served::start(&flags)
    }
}

struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

fn compare(served: &Served, expectations: Vec<Expectations>) -> Results {
    let mut results = Results::default();
    let mut seen = HashSet::new();
    let mut lists: HashMap<String, Vec<u8>> = HashMap::new();
    let mut client = served.client();
    for expected in expectations {
        results.acknowledged += expected.acknowledged;
        for (reference, statuses) in expected.issued {
            results.issued += 1;
            let packed = lists
                .entry(reference.path())
                .or_insert_with_key(|path| unpacked(&mut client, path));
            let position = reference.index as usize * BITS as usize;
            let status = packed
                .get(position / 8)
                .map_or(u64::MAX, |byte| u64::from(byte >> (position % 8)) & 3);
            if !statuses.contains(&status) {
                results.lost.push((reference.clone(), statuses, status));
            }
            if !seen.insert(reference.clone()) {
                results.issued_twice.push(reference);
            }
        }
    }
    results
}

/// The statuses of a list; empty if the list no longer exists.
fn unpacked(client: &mut Client, path: &str) -> Vec<u8> {
    let response = client.get(path, &[("accept", "application/statuslist+json")]);
    if response.status == 404 {
        return Vec::new();
    }
    let compressed = URL_SAFE_NO_PAD
        .decode(response.json()["lst"].as_str().unwrap())
        .unwrap();
    let mut statuses = Vec::new();
    flate2::read::ZlibDecoder::new(&compressed[..])
        .read_to_end(&mut statuses)
        .unwrap();
    statuses
}

fn seed(of: &str) -> u64 {
    let seed = Random::seed();
    println!("{of}: PLIMSOLL_TEST_SEED={seed}");
    seed
}

// 56 crashes in total: 36 of the server, 10 of Redis, 10 of PostgreSQL.

#[test]
fn sqlite_16_kills_of_the_server() {
    let seed = seed("sqlite");
    let run = Run {
        flags: Vec::new(),
        kills: 16,
        crashes: 0,
        store: None,
    };
    run.run_with_seed(seed).assert_correct(seed);
}

#[test]
fn redis_10_kills_of_the_server_and_10_of_redis() {
    let seed = seed("redis");
    let mut redis = Redis::start(Append::Always);
    let run = Run {
        flags: vec![format!("--store={}", redis.url())],
        kills: 10,
        crashes: 10,
        store: Some(&mut redis),
    };
    run.run_with_seed(seed).assert_correct(seed);
}

#[test]
fn postgres_10_kills_of_the_server_and_10_of_postgres() {
    let seed = seed("postgres");
    let mut postgres = Postgres::start();
    let run = Run {
        flags: vec![format!("--store={}", postgres.database())],
        kills: 10,
        crashes: 10,
        store: Some(&mut postgres),
    };
    run.run_with_seed(seed).assert_correct(seed);
}

/// The tests above do detect errors: here, on a store that loses data.
#[test]
fn a_store_that_forgets_is_noticed() {
    let seed = seed("forgetful");
    let mut redis = Redis::start(Append::Never);
    let run = Run {
        flags: vec![
            format!("--store={}", redis.url()),
            "--redis-durability=none".to_owned(),
        ],
        kills: 0,
        crashes: 1,
        store: Some(&mut redis),
    };
    let results = run.run_with_seed(seed);
    assert!(
        !results.lost.is_empty(),
        "again with PLIMSOLL_TEST_SEED={seed}"
    );
}
