//! `plimsoll throughput`: iperf3's client and server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_iperf::client::{Family, From};
use plimsoll_iperf::server::{Serve, Server};
use plimsoll_iperf::{Direction, End, Error, Protocol, Report, Test, TestRequest, client, json};
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::messages::{complain, put};
use plimsoll_terminal::signals;
use plimsoll_units::BitRate;

use crate::args::ThroughputArgs;

/// How long to wait for a peer's next message.
const PATIENCE: Duration = Duration::from_secs(30);
/// A server cannot serve others meanwhile.
const PATIENCE_OF_SERVERS: Duration = Duration::from_secs(10);

/// Runs a test as the client, or serves tests until a signal arrives.
pub fn throughput(args: &ThroughputArgs) -> Exit {
    let stop = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&stop);
    let listening = signals::on_signals(
        move |_| told.store(true, Ordering::Relaxed),
        |_| {},
        Exit::SIGNAL.code(),
    );
    if let Err(text) = listening {
        complain(&text);
        return Exit::NO_RESULT;
    }
    match &args.client {
        Some(host) => ask(args, host, &stop),
        None => serve(args, &stop),
    }
}

fn ask(args: &ThroughputArgs, host: &str, stop: &AtomicBool) -> Exit {
    let ask = match description(args, host) {
        Ok(ask) => ask,
        Err(text) => {
            complain(&text);
            return Exit::INVALID_CONFIG;
        }
    };
    let report = client::run(&ask, stop, &mut |line| put(line.as_bytes()));
    show(args, &report);
    match report.error {
        None => Exit::SUCCESS,
        Some(Error::Interrupted(_)) => Exit::SIGNAL,
        Some(_) => Exit::NO_RESULT,
    }
}

fn serve(args: &ThroughputArgs, stop: &AtomicBool) -> Exit {
    let serve = Serve {
        address: args.bind,
        port: args.port,
        family: family(args),
        once: args.one_off,
        interval: (!args.interval.is_zero()).then_some(args.interval),
        format: args.format.unwrap_or_default(),
        json: args.json,
        patience: PATIENCE_OF_SERVERS,
    };
    let mut last = None;
    let mut done = |report: &Report| {
        show(args, report);
        last.clone_from(&report.error);
    };
    let served = Server::bind(serve)
        .and_then(|server| server.run(stop, &mut |line| put(line.as_bytes()), &mut done));
    match (served, last) {
        (Err(error), _) => {
            complain(&error.to_string());
            Exit::NO_RESULT
        }
        // With --one-off the exit status is that of the test.
        (Ok(()), Some(_)) if args.one_off => Exit::NO_RESULT,
        (Ok(()), _) => Exit::SUCCESS,
    }
}

fn show(args: &ThroughputArgs, report: &Report) {
    if args.json {
        put(format!("{:#}\n", json::document(report)).as_bytes());
    } else if let Some(error) = &report.error {
        complain(&error.to_string());
    }
}

fn family(args: &ThroughputArgs) -> Family {
    match (args.version4, args.version6) {
        (true, _) => Family::V4,
        (_, true) => Family::V6,
        _ => Family::Any,
    }
}

fn description(args: &ThroughputArgs, host: &str) -> Result<TestRequest, String> {
    let protocol = if args.udp {
        Protocol::Udp
    } else {
        Protocol::Tcp
    };
    let (rate, burst) = args.bitrate.unwrap_or(match protocol {
        Protocol::Udp => (1_000_000, 0),
        Protocol::Tcp => (0, 0),
    });
    // What does not fit is above the limits that `check` enforces.
    let length = args
        .length
        .map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    let window = args
        .window
        .map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX));
    let test = Test {
        protocol,
        direction: match (args.bidir, args.reverse) {
            (true, _) => Direction::Both,
            (_, true) => Direction::Reverse,
            _ => Direction::Forward,
        },
        end: match (args.bytes, args.blockcount) {
            (Some(bytes), _) => End::Bytes(bytes),
            (_, Some(blocks)) => End::Blocks(blocks),
            _ => End::Time(Duration::from_secs(args.time.unwrap_or(10).into())),
        },
        omit: Duration::from_secs(args.omit.unwrap_or(0).into()),
        parallel: args.parallel.unwrap_or(1),
        length: length.unwrap_or(1460),
        rate: BitRate::new(rate),
        burst,
        window,
        segment: args.set_mss,
        no_delay: args.no_delay,
        congestion: args.congestion.clone(),
        tos: args.tos.unwrap_or(0),
        server_output: args.get_server_output,
        wide_counters: args.udp_counters_64bit,
        title: args.title.clone(),
        extra_data: args.extra_data.clone(),
    };
    test.check()?;
    Ok(TestRequest {
        host: host.to_owned(),
        port: args.port,
        family: family(args),
        from: From {
            address: args.bind,
            port: args.cport,
        },
        patience: args.connect_timeout.map_or(PATIENCE, Duration::from_millis),
        test,
        length,
        interval: (!args.interval.is_zero()).then_some(args.interval),
        format: args.format.unwrap_or_default(),
        json: args.json,
    })
}
