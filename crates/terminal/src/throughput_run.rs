//! Runs a throughput test or server and prints its reports.

use std::sync::atomic::AtomicBool;

use plimsoll_iperf::server::{Server, ServerSettings};
use plimsoll_iperf::{Error, Report, TestRequest, client, json};

use crate::exit::Exit;
use crate::messages::{print_error, print_stdout};
use crate::signals;

/// What to run: a test as the client, or a server.
pub enum ThroughputRun {
    Test(Box<TestRequest>),
    Server(ServerSettings),
}

/// Runs until the end or until a signal arrives.
pub fn run(what: &ThroughputRun) -> Exit {
    let stop = match signals::flag() {
        Ok(stop) => stop,
        Err(text) => {
            print_error(&text);
            return Exit::NO_RESULT;
        }
    };
    match what {
        ThroughputRun::Test(test) => run_client(test, &stop),
        ThroughputRun::Server(server) => serve(server, &stop),
    }
}

fn run_client(test: &TestRequest, stop: &AtomicBool) -> Exit {
    let report = client::run(test, stop, &mut |line| print_stdout(line.as_bytes()));
    show(test.json, &report);
    match report.error {
        None => Exit::SUCCESS,
        Some(Error::Interrupted(_)) => Exit::SIGNAL,
        Some(_) => Exit::NO_RESULT,
    }
}

fn serve(server: &ServerSettings, stop: &AtomicBool) -> Exit {
    let mut last = None;
    let mut done = |report: &Report| {
        show(server.json, report);
        last.clone_from(&report.error);
    };
    let served = Server::bind(server.clone())
        .and_then(|bound| bound.run(stop, &mut |line| print_stdout(line.as_bytes()), &mut done));
    match (served, last) {
        (Err(error), _) => {
            print_error(&error.to_string());
            Exit::NO_RESULT
        }
        // With --one-off, the exit status is that of the test.
        (Ok(()), Some(_)) if server.once => Exit::NO_RESULT,
        (Ok(()), _) => Exit::SUCCESS,
    }
}

fn show(is_json: bool, report: &Report) {
    if is_json {
        print_stdout(format!("{:#}\n", json::document(report)).as_bytes());
    } else if let Some(error) = &report.error {
        print_error(&error.to_string());
    }
}
