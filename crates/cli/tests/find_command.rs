//! `plimsoll find` on servers whose capacity is known by construction.

mod plimsoll;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::program::Ended;

/// A server that answers each request once `admit` has let it through.
fn server(admit: impl Fn() + Send + Sync + 'static) -> SocketAddr {
    server_that(Duration::ZERO, admit)
}

/// The same; the first answer on a connection takes so much longer.
fn server_that(begins_in: Duration, admit: impl Fn() + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let admit = Arc::new(admit);
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let admit = Arc::clone(&admit);
            thread::spawn(move || serve(connection, begins_in, &*admit));
        }
    });
    address
}

fn serve(mut connection: TcpStream, begins_in: Duration, admit: &dyn Fn()) {
    let mut begins_in = Some(begins_in);
    let _ = connection.set_nodelay(true);
    let mut buffer = [0; 4_096];
    let mut held = 0;
    while let Ok(count @ 1..) = connection.read(&mut buffer[held..]) {
        held += count;
        if !buffer[..held].ends_with(b"\r\n\r\n") {
            continue;
        }
        held = 0;
        thread::sleep(begins_in.take().unwrap_or_default());
        admit();
        if connection
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
            .is_err()
        {
            return;
        }
    }
}

/// Lets `per_second` through, evenly: each waits for its turn.
fn token_bucket(per_second: u32) -> impl Fn() + Send + Sync {
    let gap = Duration::from_secs(1) / per_second;
    let next = Mutex::new(Instant::now());
    move || {
        let turn = {
            let mut next = next.lock().expect("not poisoned");
            let turn = (*next).max(Instant::now());
            *next = turn + gap;
            turn
        };
        thread::sleep(turn.saturating_duration_since(Instant::now()));
    }
}

/// So many workers, each of which takes `time` for a request. When each is free is reckoned
/// and not slept, so that a late waking takes nothing from what they carry.
fn pool(workers: usize, time: Duration) -> impl Fn() + Send + Sync {
    let free = Mutex::new(vec![Instant::now(); workers]);
    move || {
        let done = {
            let mut free = free.lock().expect("not poisoned");
            let first = free.iter_mut().min().expect("a worker");
            *first = (*first).max(Instant::now()) + time;
            *first
        };
        thread::sleep(done.saturating_duration_since(Instant::now()));
    }
}

fn find(address: SocketAddr, flags: &[&str]) -> Ended {
    let url = format!("http://{address}/");
    search(&["http", "-c", "20", &url], flags)
}

fn search(command: &[&str], flags: &[&str]) -> Ended {
    let arguments = [
        &[
            "find",
            "--trial",
            "2s",
            "--warm-up",
            "0s",
            "--soak",
            "2s",
            "--repeats",
            "2",
            "--precision",
            "3%",
            "--trials",
            "40",
        ],
        flags,
        &["--"],
        command,
    ]
    .concat();
    plimsoll::plimsoll(&arguments)
        .limit(Duration::from_secs(120))
        .run()
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"))
}

/// Searches until the answer is right, twice at most: a machine that does other things gets in the way of the
/// generator. An answer that is not right must say so itself, and must not be confirmed.
fn until_right(search: impl Fn() -> Ended, is_right: impl Fn(&Value) -> bool) {
    for _ in 0..2 {
        let ended = search();
        let answer = json(&ended);
        if is_right(&answer) {
            return;
        }
        let trials = answer["trials"].as_array().expect("trials");
        let is_excused = trials.iter().any(|trial| {
            let reasons = trial["reasons"].as_array().expect("reasons");
            let by_client =
                |reason: &Value| reason.as_str().is_some_and(|r| r.starts_with("client"));
            trial["verdict"] != "valid" && reasons.iter().any(by_client)
        });
        assert!(is_excused && ended.status == Some(3), "{ended:?}");
        assert_eq!(answer["confirmed"], false, "{ended:?}");
    }
}

/// Never finds more than there is, and what there is where the machine lets it.
fn finds(capacity: f64, search: impl Fn() -> Ended) {
    until_right(search, |answer| {
        let rate = |key: &str| answer[key].as_f64();
        if let Some(kept) = rate("kept") {
            assert!(kept <= 1.05 * capacity, "{answer:#}");
        }
        let (Some(kept), Some(broken)) = (rate("kept"), rate("broken")) else {
            return false;
        };
        assert!(kept < broken, "{answer:#}");
        answer["confirmed"] == true && kept >= 0.95 * capacity && broken <= 1.1 * capacity
    });
}

#[test]
fn the_rate_of_a_token_bucket_is_found() {
    let address = server(token_bucket(500));
    finds(500.0, || {
        let flags = ["--objective", "p95<40ms", "--start", "200", "--json"];
        find(address, &flags)
    });
}

#[test]
fn the_rate_of_a_pool_of_workers_is_found() {
    // Four workers of 10 ms carry 400 a second. Larger ones are searched in bench/run.py.
    let address = server(pool(4, Duration::from_millis(10)));
    finds(400.0, || {
        let flags = ["--objective", "p95<60ms", "--start", "100", "--json"];
        find(address, &flags)
    });
}

#[test]
fn opening_connections_is_no_part_of_a_trial() {
    let address = server_that(Duration::from_millis(400), || ());
    let url = format!("http://{address}/");
    let is_kept = |warm_up| {
        let ended = plimsoll::plimsoll(&[
            "find",
            "--objective",
            "p90<200ms",
            "--start",
            "50",
            "--trials",
            "1",
            "--trial",
            "1s",
            "--warm-up",
            warm_up,
            "--json",
            "--",
            "http",
            "-c",
            "20",
            &url,
        ])
        .run();
        let told: Value =
            serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"));
        told["trials"][0]["kept"].as_bool().expect("an outcome")
    };
    // Of fifty requests twenty are the first on their connection.
    assert!(!is_kept("0s"));
    assert!(is_kept("2s"));
}

#[test]
fn a_script_is_searched_by_its_iterations_and_the_search_is_shown() {
    let address = server(pool(2, Duration::from_millis(20)));
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("script.js");
    // Its own executor, and the name of its function, are not what finds the limit.
    std::fs::write(
        &script,
        "import http from 'k6/http';
         export const options = { scenarios: { one: {
           executor: 'per-vu-iterations', vus: 1, iterations: 1, exec: 'visit', env: { PATH_: 'x' } } } };
         export function visit() { http.get(`${__ENV.BASE}/${__ENV.PATH_}`); }",
    )
    .expect("written");
    let base = format!("BASE=http://{address}");
    let command = [
        "run",
        "-u",
        "20",
        "-e",
        &base,
        script.to_str().expect("plain"),
    ];
    let ended = search(&command, &["--objective", "p95<200ms", "--start", "20"]);
    // Not confirmed where the machine was busy.
    assert!(matches!(ended.status, Some(0 | 3)), "{ended:?}");
    // Two workers of 20 ms carry 100 a second.
    let mut words = ended.stdout.split_ascii_whitespace();
    let kept = words.find_map(|word| word.strip_suffix("/s")?.parse().ok());
    let kept: f64 = kept.expect("a rate");
    // How near it comes is shown above, where nothing stands in the way of a second try.
    assert!((30.0..=105.0).contains(&kept), "{}", ended.stdout);
    for part in [
        "It carries ",
        "p95 of response time, ms; │ is the limit of 200 ms",
        "● kept",
        "offered/s   served/s",
        "soak: kept",
        "knee",
        "calability",
        "Little's law in the soak:",
    ] {
        assert!(ended.stdout.contains(part), "{part}\n{}", ended.stdout);
    }
}

#[test]
fn what_the_generator_cannot_make_is_no_limit_of_the_service() {
    let address = server(|| {});
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("script.js");
    // The script itself needs a processor for 20 ms.
    std::fs::write(
        &script,
        "import http from 'k6/http';
         export default function () {
           for (const until = Date.now() + 20; Date.now() < until; );
           http.get(__ENV.BASE);
         }",
    )
    .expect("written");
    let base = format!("BASE=http://{address}");
    let flags = "find --trial 1s --warm-up 0s --soak 2s --repeats 1 --precision 60% --start 10 --objective p95<100ms --";
    let command = ["run", "-e", &base, script.to_str().expect("plain")];
    let arguments: Vec<&str> = flags.split(' ').chain(command).collect();
    let ended = plimsoll::plimsoll(&arguments)
        .limit(Duration::from_secs(120))
        .run();
    assert_eq!(ended.status, Some(3), "{}\n{}", ended.stdout, ended.stderr);
    for part in [
        "the generator reached its own limit",
        "It carries at least",
        "/s was held for",
    ] {
        assert!(ended.stdout.contains(part), "{part}\n{}", ended.stdout);
    }
}

#[test]
fn too_few_users_are_no_limit_of_the_service() {
    // Any number of requests at once, 200 ms each: four users make twenty a second.
    let address = server(|| thread::sleep(Duration::from_millis(200)));
    let url = format!("http://{address}/");
    let command = ["http", "-c", "2", "--max-users", "4", &url];
    let flags = ["--objective", "p95<2s", "--start", "5", "--json"];
    until_right(
        || search(&command, &flags),
        |answer| {
            assert_eq!(answer["confirmed"], false, "{answer:#}");
            assert_eq!(answer["broken"], Value::Null, "{answer:#}");
            let kept = answer["kept"].as_f64().unwrap_or(0.0);
            assert!(kept <= 21.0, "{answer:#}");
            let text = answer["answer"].as_str().expect("text");
            kept >= 17.0
                && answer["generator_limit"].as_f64() > Some(kept)
                && text.contains("It carries at least")
                && text.contains("users were busy")
        },
    );
}

#[cfg(target_os = "linux")]
#[test]
fn users_are_added_as_the_objective_needs_them() {
    // This process and the program have a file open for each connection.
    bench::syscalls::raise_descriptor_limit();
    let address = server(|| thread::sleep(Duration::from_secs(1)));
    let url = format!("http://{address}/");
    // 1,100 a second, of a second each: the command itself allows a thousand users.
    let ended = plimsoll::plimsoll(&[
        "find",
        "--objective",
        "p95<3s",
        "--start",
        "1100",
        "--most",
        "1100",
        "--trials",
        "1",
        "--trial",
        "2s",
        "--warm-up",
        "0s",
        "--json",
        "--",
        "http",
        "-c",
        "20",
        &url,
    ])
    .limit(Duration::from_secs(120))
    .run();
    let answer = json(&ended);
    let users = answer["trials"][0]["users"].as_u64().expect("a number");
    assert!(users > 1_000, "{answer:#}");
}

#[test]
fn an_objective_that_no_rate_keeps_is_told_in_a_sentence() {
    until_right(
        || {
            let address = server(|| thread::sleep(Duration::from_millis(30)));
            let flags = ["--objective", "p50<10ms", "--start", "4", "--json"];
            let ended = find(address, &flags);
            assert!(ended.stderr.contains("not p50<10ms"), "{ended:?}");
            ended
        },
        |answer| {
            let text = answer["answer"].as_str().expect("text");
            assert_eq!(answer["kept"], Value::Null, "{answer:#}");
            answer["confirmed"] == true && text.contains("does not keep p50<10ms at any rate")
        },
    );
}

#[test]
fn mistakes_are_told_before_any_load_is_made() {
    for (flags, expected) in [
        (
            &[
                "--objective",
                "p94<10ms",
                "--",
                "http",
                "http://127.0.0.1:9/",
            ][..],
            "is p90 meant?",
        ),
        (
            &[
                "--objective",
                "p95<10ms",
                "--",
                "htp",
                "http://127.0.0.1:9/",
            ],
            "cannot search with",
        ),
        (
            &[
                "--objective",
                "p95<10ms",
                "--",
                "http",
                "--rate=5",
                "http://127.0.0.1:9/",
            ],
            "leave it out",
        ),
        (
            &[
                "--objective",
                "p95<10ms",
                "--",
                "http",
                "--no-such",
                "http://127.0.0.1:9/",
            ],
            "gave no result",
        ),
    ] {
        let ended = plimsoll::plimsoll(&[&["find"], flags].concat()).run();
        assert_eq!(ended.stdout, "");
        assert!(!matches!(ended.status, Some(0 | 1 | 3)), "{flags:?}");
        assert!(
            ended.stderr.contains(expected),
            "{flags:?}: {}",
            ended.stderr
        );
    }
}
