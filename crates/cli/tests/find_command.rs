//! `plimsoll find` with servers whose capacity is known.

mod plimsoll;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;
use std::time::{Duration, Instant};

use plimsoll_testkit::program::Ended;
use serde_json::Value;

/// Time after which a search counts as stuck. The number of trials limits its duration; on a busy machine, a trial can
/// take twice as long.
const NO_END: Duration = Duration::from_secs(600);

/// Held by each search. Most searches mostly wait and can run at the same time, but not next to a search that uses all
/// processors.
static PROCESSORS: RwLock<()> = RwLock::new(());

fn share_processors() -> RwLockReadGuard<'static, ()> {
    PROCESSORS.read().unwrap_or_else(PoisonError::into_inner)
}

fn take_all_processors() -> RwLockWriteGuard<'static, ()> {
    PROCESSORS.write().unwrap_or_else(PoisonError::into_inner)
}

/// A server that responds to each request as soon as `admit` returns.
fn server(admit: impl Fn() + Send + Sync + 'static) -> SocketAddr {
    server_that(Duration::ZERO, admit)
}

/// A server whose first response on each connection takes this much longer.
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

/// The number of delayed requests, and the number of those that were delayed much longer than intended, because the
/// server had no processor.
#[derive(Clone, Default)]
struct Lateness(Arc<Mutex<(u64, u64)>>);

impl Lateness {
    fn sleep_until(&self, done: Instant) {
        thread::sleep(done.saturating_duration_since(Instant::now()));
        let is_late = done.elapsed() > Duration::from_millis(5);
        let mut counts = self.0.lock().expect("not poisoned");
        counts.0 += 1;
        counts.1 += u64::from(is_late);
    }

    /// Whether that happened often enough to reduce the server's capacity.
    fn is_frequent(&self) -> bool {
        let (all, late) = *self.0.lock().expect("not poisoned");
        late * 100 > all
    }
}

/// Admits `per_second` requests at even intervals.
fn token_bucket(per_second: u32, lateness: &Lateness) -> impl Fn() + Send + Sync + use<> {
    let gap = Duration::from_secs(1) / per_second;
    let next = Mutex::new(Instant::now());
    let lateness = lateness.clone();
    move || {
        let turn = {
            let mut next = next.lock().expect("not poisoned");
            let turn = (*next).max(Instant::now());
            *next = turn + gap;
            turn
        };
        lateness.sleep_until(turn);
    }
}

/// A pool of workers that each take `time` per request. Their availability is computed instead of slept, so that late
/// wake-ups do not reduce the capacity.
fn pool(workers: usize, time: Duration, lateness: &Lateness) -> impl Fn() + Send + Sync + use<> {
    let free = Mutex::new(vec![Instant::now(); workers]);
    let lateness = lateness.clone();
    move || {
        let done = {
            let mut free = free.lock().expect("not poisoned");
            let first = free.iter_mut().min().expect("a worker");
            *first = (*first).max(Instant::now()) + time;
            *first
        };
        lateness.sleep_until(done);
    }
}

fn find(address: SocketAddr, flags: &[&str]) -> Ended {
    let url = format!("http://{address}/");
    search(&["http", "-c", "20", &url], "3%", flags)
}

/// A search with exactly these flags.
fn find_with(address: SocketAddr, flags: &str) -> Ended {
    let url = format!("http://{address}/");
    let command = ["http", "-c", "20", &url];
    let arguments: Vec<&str> = flags.split(' ').chain(command).collect();
    let _shared = share_processors();
    plimsoll::plimsoll(&arguments).limit(NO_END).run()
}

fn search(command: &[&str], precision: &str, flags: &[&str]) -> Ended {
    let _shared = share_processors();
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
            precision,
            "--trials",
            "40",
        ],
        flags,
        &["--"],
        command,
    ]
    .concat();
    plimsoll::plimsoll(&arguments).limit(NO_END).run()
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"))
}

fn trials(result: &Value) -> &[Value] {
    result["trials"].as_array().expect("trials")
}

fn is_valid(trial: &Value) -> bool {
    trial["verdict"] == "valid"
}

/// Checks the result for a server with a capacity of `capacity` requests per second. Other programs may delay the
/// generator or the server. In that case, the result must report this and must not be confirmed.
fn check(capacity: f64, ended: &Ended, lateness: &Lateness) {
    let result = json(ended);
    let rate = |value: &Value| value.as_f64().expect("a rate");
    // The server never serves more than its capacity, whatever else the machine does.
    for trial in trials(&result) {
        let is_kept = trial["kept"] == true;
        assert!(
            !is_kept || rate(&trial["rate"]) <= 1.05 * capacity,
            "{result:#}"
        );
        let is_missed = trial["counts_as"] == "missed" && is_valid(trial);
        let is_below_capacity = rate(&trial["rate"]) <= 0.95 * capacity;
        assert!(
            !(is_missed && is_below_capacity) || lateness.is_frequent(),
            "a valid miss below the server's capacity: {result:#}"
        );
    }
    if result["confirmed"] == true {
        let (kept, broken) = (rate(&result["kept"]), rate(&result["broken"]));
        assert!(kept < broken && broken <= 1.1 * capacity, "{result:#}");
        assert!(
            kept >= 0.95 * capacity || lateness.is_frequent(),
            "{result:#}"
        );
        let deciding = |trial: &&Value| [kept, broken].contains(&rate(&trial["rate"]));
        let at_ends: Vec<&Value> = trials(&result).iter().filter(deciding).collect();
        for (end, outcome) in [(kept, "met"), (broken, "missed")] {
            let is_sure = |trial: &&&Value| {
                rate(&trial["rate"]) == end && trial["counts_as"] == outcome && is_valid(trial)
            };
            // A missed soak counts like the two repeats.
            let weight = |trial: &&Value| match outcome {
                "missed" if trial["soak"] == true => 2,
                _ => 1,
            };
            let times: usize = at_ends.iter().filter(is_sure).map(weight).sum();
            assert!(times >= 2, "{result:#}");
        }
        assert_eq!(ended.status, Some(0), "{ended:?}");
    } else {
        assert_eq!(ended.status, Some(3), "{ended:?}");
        let is_doubted = trials(&result).iter().any(|trial| !is_valid(trial));
        assert!(is_doubted || lateness.is_frequent(), "{result:#}");
    }
}

#[test]
fn the_rate_of_a_token_bucket_is_found() {
    let lateness = Lateness::default();
    let address = server(token_bucket(500, &lateness));
    let flags = ["--objective", "p95<40ms", "--start", "200", "--json"];
    check(500.0, &find(address, &flags), &lateness);
}

#[test]
fn the_rate_of_a_pool_of_workers_is_found() {
    // Four workers of 10 ms have a capacity of 400 per second. bench/run.py searches larger ones.
    let lateness = Lateness::default();
    let address = server(pool(4, Duration::from_millis(10), &lateness));
    let flags = ["--objective", "p95<60ms", "--start", "100", "--json"];
    check(400.0, &find(address, &flags), &lateness);
}

#[test]
fn a_service_that_becomes_slower_with_each_request_has_no_steady_limit() {
    // Each thousand requests add 60 ms. After the first few thousand, the server misses the objective at every rate.
    let served = Mutex::new(0_u32);
    let address = server(move || {
        let before = {
            let mut served = served.lock().expect("not poisoned");
            *served += 1;
            *served - 1
        };
        thread::sleep(Duration::from_micros(60) * before);
    });
    let flags = "find --trial 2s --warm-up 0s --soak 2s --repeats 2 --trials 14 --start 100 --objective p95<60ms --json --";
    let ended = find_with(address, flags);
    let result = json(&ended);
    let text = result["answer"].as_str().expect("text");
    let rate = |trial: &Value| trial["rate"].as_u64().expect("a rate");
    // The earlier capacity no longer exists, so it is not a limit, even if other programs leave the trials valid.
    assert_eq!(result["confirmed"], false, "{result:#}");
    assert_eq!(ended.status, Some(3), "{result:#}");
    let met = trials(&result).iter().enumerate();
    let highest = met
        .filter(|(_, trial)| trial["counts_as"] == "met")
        .max_by_key(|(at, trial)| (rate(trial), *at));
    let Some((at, highest)) = highest else {
        // The generator was delayed from the first trial on, and reports this.
        assert!(!is_valid(&trials(&result)[0]), "{result:#}");
        return;
    };
    let is_sure_and_lower = |trial: &&Value| {
        trial["counts_as"] == "missed" && is_valid(trial) && 12 * rate(trial) <= 10 * rate(highest)
    };
    let lower = trials(&result)[at..].iter().filter(is_sure_and_lower);
    if lower.count() >= 2 {
        assert_eq!(result["drift"]["slower"], true, "{result:#}");
        assert!(
            text.starts_with("The service drifted: it became slower"),
            "{text}"
        );
    } else {
        let is_doubted = trials(&result).iter().any(|trial| !is_valid(trial));
        assert!(is_doubted, "{result:#}");
    }
}

#[test]
fn opening_connections_does_not_count_in_a_trial() {
    let address = server_that(Duration::from_millis(400), || ());
    let is_kept = |warm_up| {
        let flags = format!(
            "find --objective p90<200ms --start 50 --trials 1 --trial 1s --soak 1s --warm-up {warm_up} --json --"
        );
        let ended = find_with(address, &flags);
        let printed: Value =
            serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"));
        printed["trials"][0]["kept"].as_bool().expect("an outcome")
    };
    // Twenty of fifty requests are the first on their connections.
    assert!(!is_kept("0s"));
    assert!(is_kept("2s"));
}

#[test]
fn a_script_is_searched_by_its_iterations_and_the_search_is_shown() {
    let address = server(pool(2, Duration::from_millis(20), &Lateness::default()));
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("script.js");
    // The script's own executor and function name must not affect the search.
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
    let flags = ["--objective", "p95<200ms", "--start", "20"];
    let ended = search(&command, "20%", &flags);
    // The result is not confirmed if the machine was busy.
    assert!(matches!(ended.status, Some(0 | 3)), "{ended:?}");
    // Two workers of 20 ms have a capacity of 100 per second.
    let sentence = ended.stdout.split_once("The service handles ");
    let kept: Option<f64> = sentence.and_then(|(_, text)| {
        let mut words = text.split_ascii_whitespace();
        words.find_map(|word| word.strip_suffix("/s")?.parse().ok())
    });
    let always = ["offered/s   served/s", "knee", "calability"];
    // If other programs delayed the generator, the search may find a lower rate than the capacity, but never a higher
    // one.
    let is_doubted = ["(invalid)", "(suspect)"]
        .iter()
        .any(|verdict| ended.stderr.contains(verdict));
    let if_undoubted = [
        "The service handles ",
        "p95 of response time, ms; │ is the limit of 200 ms",
        "● met",
        "soak: met",
        "Little's law in the soak:",
    ];
    match kept {
        Some(kept) => assert!(kept <= 105.0 && (kept >= 30.0 || is_doubted), "{ended:?}"),
        None => assert!(is_doubted && ended.status == Some(3), "{ended:?}"),
    }
    let expected = always
        .iter()
        .chain(if_undoubted.iter().filter(|_| !is_doubted));
    for part in expected {
        assert!(ended.stdout.contains(part), "{part}\n{ended:?}");
    }
}

#[test]
fn the_generators_limit_is_not_reported_as_that_of_the_service() {
    let address = server(|| {});
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("script.js");
    // The script itself uses 20 ms of processor time.
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
    // A trial of two seconds shows that the script falls behind. With shorter trials, the search would continue to rates
    // whose iterations take minutes to end.
    let flags = "find --trial 2s --warm-up 0s --soak 2s --repeats 1 --precision 60% --start 10 --objective p95<100ms --";
    let command = ["run", "-e", &base, script.to_str().expect("plain")];
    let arguments: Vec<&str> = flags.split(' ').chain(command).collect();
    let _all = take_all_processors();
    let ended = plimsoll::plimsoll(&arguments).limit(NO_END).run();
    assert_eq!(ended.status, Some(3), "{}\n{}", ended.stdout, ended.stderr);
    for part in [
        "the generator could not load it reliably",
        "The service handles at least",
        "/s was held for",
    ] {
        assert!(ended.stdout.contains(part), "{part}\n{}", ended.stdout);
    }
}

#[test]
fn too_few_users_do_not_limit_the_service() {
    // A request takes 200 ms, with any number of parallel requests. So four users can send 20 per second.
    let address = server(|| thread::sleep(Duration::from_millis(200)));
    let url = format!("http://{address}/");
    let command = ["http", "-c", "2", "--max-users", "4", &url];
    let flags = ["--objective", "p95<2s", "--start", "5", "--json"];
    let result = json(&search(&command, "20%", &flags));
    assert_eq!(result["confirmed"], false, "{result:#}");
    assert_eq!(result["broken"], Value::Null, "{result:#}");
    let kept = result["kept"].as_f64().unwrap_or(0.0);
    assert!(kept <= 21.0, "{result:#}");
    assert!(
        result["generator_limit"].as_f64() > Some(kept),
        "{result:#}"
    );
    let text = result["answer"].as_str().expect("text");
    assert!(
        text.contains("the generator could not load it reliably"),
        "{text}"
    );
    let is_short = |trial: &Value| trial["counts_as"] == "generator limit";
    assert!(trials(&result).iter().any(is_short), "{result:#}");
}

#[cfg(target_os = "linux")]
#[test]
fn too_few_file_descriptors_do_not_limit_the_service() {
    // Each user has a connection and each request takes 200 ms, so 64 open files allow less than 320 requests per
    // second.
    let address = server(|| thread::sleep(Duration::from_millis(200)));
    let flags = "--trial 2s --warm-up 0s --soak 2s --repeats 1 --precision 20% --trials 20 --start 20 --objective 'p95<2s'";
    let limited = format!(
        "ulimit -n 64; exec {} find {flags} --json -- http -c 200 http://{address}/",
        env!("CARGO_BIN_EXE_plimsoll")
    );
    let _shared = share_processors();
    let ended = plimsoll_testkit::program::Program::at("sh")
        .args(["-c", &limited])
        .limit(NO_END)
        .run();
    let result = json(&ended);
    assert_eq!(result["confirmed"], false, "{result:#}");
    assert_eq!(result["broken"], Value::Null, "{result:#}");
    assert_eq!(ended.status, Some(3), "{result:#}");
    assert!(result["generator_limit"].is_u64(), "{result:#}");
    let failed = |trial: &&Value| trial["failed_share"].as_f64() > Some(0.0);
    let failing: Vec<&Value> = trials(&result).iter().filter(failed).collect();
    assert!(!failing.is_empty(), "{result:#}");
    for trial in failing {
        assert_ne!(trial["counts_as"], "missed", "{result:#}");
        assert_ne!(trial["verdict"], "valid", "{result:#}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn users_are_added_as_the_objective_needs_them() {
    // This process and the program each have an open file per connection.
    plimsoll_bench::syscalls::raise_descriptor_limit();
    let address = server(|| thread::sleep(Duration::from_secs(1)));
    let url = format!("http://{address}/");
    let _all = take_all_processors();
    // At 1,100 requests per second of one second each, the command's own limit of 1,000 users is too low.
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
    .limit(NO_END)
    .run();
    let result = json(&ended);
    let trial = &result["trials"][0];
    let users = trial["users"].as_u64().expect("a number");
    if users <= 1_000 {
        // The generator had too little processor time to start the requests, and reports this.
        assert!(users > 20, "{result:#}");
        assert_eq!(trial["counts_as"], "generator limit", "{result:#}");
        assert_eq!(trial["verdict"], "invalid", "{result:#}");
        let cause = trial["reasons"][0].as_str().expect("a reason");
        assert!(cause.starts_with("client: "), "{result:#}");
        // Each user sends at most one request per second.
        assert!(
            trial["requests_per_second"].as_f64() <= Some(1_000.0),
            "{result:#}"
        );
        assert_eq!(result["broken"], Value::Null, "{result:#}");
        assert_eq!(ended.status, Some(3), "{result:#}");
    }
}

#[test]
fn an_objective_that_no_rate_meets_is_reported() {
    let address = server(|| thread::sleep(Duration::from_millis(30)));
    // Ten requests show that a percentile is missed, and at one request per second they take ten seconds.
    let flags = "find --trial 2s --warm-up 0s --soak 11s --repeats 2 --start 2 --objective p50<10ms --json --";
    let ended = find_with(address, flags);
    assert!(ended.stderr.contains("not p50<10ms"), "{ended:?}");
    let result = json(&ended);
    let text = result["answer"].as_str().expect("text");
    assert_eq!(result["kept"], Value::Null, "{result:#}");
    let misses_all = text.contains("does not meet p50<10ms at any rate");
    let is_doubted = trials(&result).iter().any(|trial| !is_valid(trial));
    assert_eq!(result["confirmed"] == true, misses_all, "{result:#}");
    assert!(misses_all || is_doubted, "{result:#}");
}

#[test]
fn a_percentile_of_too_few_requests_confirms_nothing() {
    let address = server(|| {});
    let flags = "find --trial 1s --warm-up 0s --soak 2s --repeats 1 --start 20 --most 20 --trials 2 --objective p95<10s --";
    let ended = find_with(address, flags);
    assert_eq!(ended.status, Some(3), "{ended:?}");
    let why = "This is not confirmed: p95 needs 200 requests, and a trial at 20/s had 40. Use at least --soak 11s.";
    assert!(ended.stdout.contains(why), "{ended:?}");
    assert!(ended.stderr.contains("ms?  "), "{ended:?}");
    let legend = "? fewer than 10 requests above this percentile: not reliable";
    assert!(ended.stdout.contains(legend), "{ended:?}");
}

#[test]
fn mistakes_are_reported_before_any_load_is_generated() {
    for (flags, expected) in [
        (
            &[
                "--objective",
                "p94<10ms",
                "--",
                "http",
                "http://127.0.0.1:9/",
            ][..],
            "did you mean p90?",
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
            "remove it",
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
            "produced no result",
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
