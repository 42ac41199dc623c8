//! Responds to every HTTP/1.1 request with the same 150 bytes, on one thread, as fast as epoll
//! allows.
//!
//! ```text
//! fixed-server [--port 0] [--cpu 0] [--delay fixed=1ms|bimodal=1ms,20ms@10%|stall=1s/5s+1ms]
//!              [--capacity rate=2000/s|pool=8x5ms] [--mark 10000]
//! ```
//!
//! It prints `listening on 127.0.0.1:PORT`, and on SIGTERM or SIGINT one JSON object: the number of
//! responses and, with a delay, the actual and the configured delays.
//! `--capacity` limits the rate of responses by construction. `--mark N` also reports when the N-th distinct connection sent its
//! first request.
//! Requests with a body are not supported.

use std::io::{self, Write};
use std::process::ExitCode;

use plimsoll_bench::arguments::Arguments;
use plimsoll_bench::capacity::Capacity;
use plimsoll_bench::delays::Delay;
use plimsoll_bench::server::Server;
use plimsoll_bench::syscalls;

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(io::stderr(), "fixed-server: {message}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> Result<(), String> {
    let arguments = Arguments::parse(
        std::env::args().skip(1),
        &["port", "cpu", "delay", "capacity", "mark"],
    )?;
    let cpu = arguments.value("cpu")?;
    if let Some(cpu) = cpu {
        syscalls::pin_to_cpu(cpu).map_err(|error| format!("--cpu {cpu}: {error}"))?;
    }
    let delay = arguments.text("delay").map(Delay::parse).transpose()?;
    let capacity = arguments
        .text("capacity")
        .map(Capacity::parse)
        .transpose()?;
    let mark = arguments.value("mark")?.unwrap_or(0);
    let port = arguments.value("port")?.unwrap_or(0);
    let stop = syscalls::stop_signal().map_err(|error| error.to_string())?;
    let mut server = Server::start(port, delay, mark, stop)
        .map_err(|error| format!("--port {port}: {error}"))?;
    if let Some(capacity) = capacity {
        server.limit(capacity);
    }
    if cpu.is_some() {
        server.stay_awake();
    }
    let mut stdout = io::stdout();
    writeln!(stdout, "listening on 127.0.0.1:{}", server.port())
        .and_then(|()| stdout.flush())
        .map_err(|error| error.to_string())?;
    server.run().map_err(|error| error.to_string())?;
    writeln!(stdout, "{}", server.report()).map_err(|error| error.to_string())
}
