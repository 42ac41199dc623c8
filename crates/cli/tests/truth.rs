//! Compares reported latencies with the actual delays of a server, in the open model.
//!
//! The bounds are for a busy test machine. `bench/run.py truth` checks bounds of 2 % and 30 µs on a quiet machine.
#![cfg(target_os = "linux")]

use std::error::Error;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::process::Command;
use std::thread;

use plimsoll_bench::delays::Delay;
use plimsoll_bench::quantiles::quantile;
use plimsoll_bench::server::Server;
use serde_json::Value;

type Outcome = Result<(), Box<dyn Error>>;

/// Tolerance of a figure in milliseconds, in addition to 2 %. It covers the effect of scheduling while other tests run.
const SLACK_MS: f64 = 1.5;

/// How often to repeat a run that the generator itself reports as unreliable.
const AGAIN: usize = 3;

/// Runs `plimsoll http` at 400/s with a server with this delay. Returns the reported response times, and the server's
/// own sorted record in nanoseconds. A run that is unreliable by its own verdict is repeated. The last run counts in
/// any case.
fn measure(delay: &str) -> Result<(Value, Vec<u64>), Box<dyn Error>> {
    for _ in 0..AGAIN {
        let (claimed, given) = run(delay)?;
        if claimed["generator"]["verdict"] == "valid" {
            return Ok((claimed["response_time"].clone(), given));
        }
    }
    let (claimed, given) = run(delay)?;
    Ok((claimed["response_time"].clone(), given))
}

/// One run: its complete report, and the server's record.
fn run(delay: &str) -> Result<(Value, Vec<u64>), Box<dyn Error>> {
    let (stopped, mut stop) = std::io::pipe()?;
    let delay = Some(Delay::parse(delay)?);
    let mut server = Server::start(0, delay, 0, OwnedFd::from(stopped))?;
    let url = format!("http://127.0.0.1:{}/", server.port());
    let serving = thread::spawn(move || server.run().map(|()| server.given().to_vec()));
    let printed = ["http", "--rate", "400", "-d", "3s", "--json", &url];
    let run = Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .args(printed)
        .output();
    stop.write_all(b"stop")?;
    let mut given = serving.join().map_err(|_| "the server panicked")??;
    given.sort_unstable();
    Ok((serde_json::from_slice(&run?.stdout)?, given))
}

#[track_caller]
fn assert_near(claimed: &Value, name: &str, given: &[u64], q: f64) {
    let truth = quantile(given, q) / 1e6;
    let claimed = claimed[name].as_f64().unwrap_or(f64::NAN);
    let bound = truth * 0.02 + SLACK_MS;
    assert!(
        (claimed - truth).abs() <= bound,
        "{name} is reported as {claimed} ms and was {truth} ms (allowed: ±{bound:.3})"
    );
}

#[test]
fn a_fixed_delay_is_reported_accurately() -> Outcome {
    let (claimed, given) = measure("fixed=5ms")?;
    assert!(
        given.len() >= 1_150,
        "only {} requests arrived",
        given.len()
    );
    assert_near(&claimed, "p50", &given, 0.5);
    assert_near(&claimed, "p95", &given, 0.95);
    Ok(())
}

#[test]
fn both_modes_of_a_bimodal_delay_are_reported() -> Outcome {
    let (claimed, given) = measure("bimodal=2ms,40ms@10%")?;
    assert_near(&claimed, "p50", &given, 0.5);
    assert_near(&claimed, "p95", &given, 0.95);
    Ok(())
}

/// The server does not respond for a fifth of the time. A closed loop hides that, and so does a clock that starts when
/// a request could be sent. In the open model, the quantiles must show it.
#[test]
fn a_stall_is_not_hidden() -> Outcome {
    let (claimed, given) = measure("stall=200ms/1s+1ms")?;
    assert_near(&claimed, "p50", &given, 0.5);
    let p95 = claimed["p95"].as_f64().unwrap_or(f64::NAN);
    let truth = quantile(&given, 0.95) / 1e6;
    assert!(truth > 100.0, "the server stalled for only {truth} ms");
    assert!(
        (p95 - truth).abs() <= 0.1 * truth,
        "p95 is reported as {p95} ms and was {truth} ms"
    );
    Ok(())
}
