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

use crate::asking::Client;
use crate::served::{Ground, KEY, Reference, Served};

const CLIENTS: usize = 100;
const BITS: u64 = 2;
const AUTHORIZED: &[(&str, &str)] = &[("x-api-key", KEY)];

/// Minimum number of operations of the clients between two crashes.
const PROGRESS: u64 = 50;

/// Random numbers (xorshift64*), from a seed that is printed.
struct Random(u64);

impl Random {
    fn seed() -> u64 {
        let given = std::env::var("PLIMSOLL_TEST_SEED").ok();
        given.and_then(|seed| seed.parse().ok()).unwrap_or_else(|| {
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
struct Memory {
    /// Each index that it got, and the statuses that it may have now: more than one if an update
    /// got no response.
    given: Vec<(Reference, Vec<u64>)>,
    acknowledged: u64,
}

/// Shared by all clients.
struct Crowd {
    url: String,
    over: AtomicBool,
    /// Number of acknowledged updates.
    progress: AtomicU64,
    memories: Mutex<Vec<Memory>>,
}

impl Crowd {
    fn live(&self, seed: u64) {
        let mut random = Random(seed | 1);
        let mut client = Client::new(&self.url);
        let mut memory = Memory::default();
        while !self.over.load(Relaxed) {
            if memory.given.is_empty() || random.below(3) == 0 {
                let path = format!("/pools/a/new-references?amount={}", 1 + random.below(5));
                if let Ok(answer) = client.ask("POST", &path, AUTHORIZED, None)
                    && answer.status == 200
                {
                    let given = Reference::all(&answer).into_iter();
                    memory.given.extend(given.map(|one| (one, vec![0])));
                }
            } else {
                let place = random.below(memory.given.len() as u64) as usize;
                let (reference, statuses) = &mut memory.given[place];
                // An update whose response was lost may still be in progress in the store; after
                // another one, the order would be unknown.
                if statuses.len() > 1 {
                    continue;
                }
                let status = random.below(1 << BITS);
                let body = reference.update(status);
                let answer = client.ask("PATCH", "/status-lists/update", AUTHORIZED, Some(&body));
                match answer {
                    Ok(answer) if answer.status == 204 => {
                        *statuses = vec![status];
                        memory.acknowledged += 1;
                        self.progress.fetch_add(1, Relaxed);
                    }
                    _ => statuses.push(status),
                }
            }
            thread::sleep(Duration::from_millis(random.below(10)));
        }
        self.memories.lock().unwrap().push(memory);
    }

    /// Waits until the clients have made progress, and for a random time longer.
    fn get_on(&self, random: &mut Random) {
        let begun = Instant::now();
        let before = self.progress.load(Relaxed);
        while self.progress.load(Relaxed) < before + PROGRESS {
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "the clients make no progress"
            );
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(random.below(150)));
    }
}

/// The results at the end.
#[derive(Debug, Default)]
struct Found {
    handed_out: usize,
    twice: Vec<Reference>,
    acknowledged: u64,
    lost: Vec<(Reference, Vec<u64>, u64)>,
}

impl Found {
    fn nothing_wrong(&self, seed: u64) {
        println!(
            "{} indices issued, {} statuses acknowledged",
            self.handed_out, self.acknowledged
        );
        let seed = format!("again with PLIMSOLL_TEST_SEED={seed}");
        assert!(self.handed_out > 1000 && self.acknowledged > 500, "{seed}");
        assert!(
            self.twice.is_empty(),
            "issued twice: {:?}; {seed}",
            self.twice
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
    fn go(mut self, seed: u64) -> Found {
        let ground = Ground::new(json!({
            "a": {
                "size": 2000,
                "bits": BITS,
                "prefetch": {"threshold": 50, "capacity": 500},
                "precreation": {"lists": 1, "check-delay": "100ms"},
            },
        }));
        self.flags.push(ground.pools());
        if self.store.is_none() {
            self.flags.push(ground.sqlite());
        }
        let mut served = self.start("127.0.0.1:0");
        let address = served.url.trim_start_matches("http://").to_owned();
        let crowd = Crowd {
            url: served.url.clone(),
            over: AtomicBool::new(false),
            progress: AtomicU64::new(0),
            memories: Mutex::default(),
        };
        let mut random = Random(seed);
        let served = thread::scope(|scope| {
            let crowd = &crowd;
            for client in 0..CLIENTS as u64 {
                let seed = seed.wrapping_add(client.wrapping_mul(0x9E37_79B9_7F4A_7C15));
                scope.spawn(move || crowd.live(seed));
            }
            // Runs even after a panic, so that the clients end and the test can fail.
            let _over = Over(&crowd.over);
            for turn in 0..self.kills.max(self.crashes) {
                if turn < self.kills {
                    crowd.get_on(&mut random);
                    served.kill();
                    served = self.start(&address);
                }
                if turn < self.crashes
                    && let Some(store) = &mut self.store
                {
                    crowd.get_on(&mut random);
                    store.kill();
                    thread::sleep(Duration::from_millis(random.below(100)));
                    store.restart();
                }
            }
            crowd.get_on(&mut random);
            served
        });
        look(&served, crowd.memories.into_inner().unwrap())
    }

    fn start(&self, address: &str) -> Served {
        let listen = format!("--listen={address}");
        let mut flags: Vec<&str> = self.flags.iter().map(String::as_str).collect();
        flags.push(&listen);
        Served::start(&flags)
    }
}

struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

fn look(served: &Served, memories: Vec<Memory>) -> Found {
    let mut found = Found::default();
    let mut seen = HashSet::new();
    let mut lists: HashMap<String, Vec<u8>> = HashMap::new();
    let mut client = served.client();
    for memory in memories {
        found.acknowledged += memory.acknowledged;
        for (reference, statuses) in memory.given {
            found.handed_out += 1;
            let packed = lists
                .entry(reference.path())
                .or_insert_with_key(|path| unpacked(&mut client, path));
            let place = reference.index as usize * BITS as usize;
            let status = packed
                .get(place / 8)
                .map_or(u64::MAX, |byte| u64::from(byte >> (place % 8)) & 3);
            if !statuses.contains(&status) {
                found.lost.push((reference.clone(), statuses, status));
            }
            if !seen.insert(reference.clone()) {
                found.twice.push(reference);
            }
        }
    }
    found
}

/// The statuses of a list; empty if the list no longer exists.
fn unpacked(client: &mut Client, path: &str) -> Vec<u8> {
    let answer = client.get(path, &[("accept", "application/statuslist+json")]);
    if answer.status == 404 {
        return Vec::new();
    }
    let compressed = URL_SAFE_NO_PAD
        .decode(answer.json()["lst"].as_str().unwrap())
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
    run.go(seed).nothing_wrong(seed);
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
    run.go(seed).nothing_wrong(seed);
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
    run.go(seed).nothing_wrong(seed);
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
    let found = run.go(seed);
    assert!(
        !found.lost.is_empty(),
        "again with PLIMSOLL_TEST_SEED={seed}"
    );
}
