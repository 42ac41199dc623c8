//! The upper limit for any client: sends fixed bytes, counts fixed-length responses, and does nothing else.
//!
//! ```text
//! bare-client --port 8080 [--connections 100] [--seconds 10] [--length 150] [--cpu 1]
//!             [--websocket 100] [--in-flight 1]
//! ```
//!
//! With `--websocket N` it opens WebSockets, sends messages of N bytes, at most 125, and expects
//! replies of the same length.
//!
//! Each connection has `--in-flight` requests in flight. Requests that can be sent together go out
//! in one write. It prints one JSON object: requests, seconds, CPU
//! seconds, and CPU microseconds per request. It parses nothing, so it only works with a
//! server whose responses all have the given length.

use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use plimsoll_bench::arguments::Arguments;
use plimsoll_bench::syscalls::{self, Poll};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(io::stderr(), "bare-client: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let known = [
        "port",
        "connections",
        "seconds",
        "length",
        "cpu",
        "websocket",
        "in-flight",
    ];
    let arguments = Arguments::parse(std::env::args().skip(1), &known)?;
    let port: u16 = arguments.value("port")?.ok_or("--port is missing")?;
    let count: usize = arguments.value("connections")?.unwrap_or(100);
    let seconds: f64 = arguments.value("seconds")?.unwrap_or(10.0);
    let length: usize = arguments.value("length")?.unwrap_or(150).max(1);
    let in_flight: usize = arguments.value("in-flight")?.unwrap_or(1).max(1);
    let script = match arguments.value::<u8>("websocket")? {
        Some(size) => Script::websocket(size.min(125), in_flight),
        None => Script {
            opening: Vec::new(),
            requests: REQUEST.repeat(in_flight),
            request_length: REQUEST.len(),
            length,
        },
    };
    let limit =
        Duration::try_from_secs_f64(seconds).map_err(|error| format!("--seconds: {error}"))?;
    if let Some(cpu) = arguments.value("cpu")? {
        syscalls::pin_to_cpu(cpu).map_err(|error| format!("--cpu {cpu}: {error}"))?;
    }
    syscalls::raise_descriptor_limit();
    let measured = exchange(port, count, limit, &script).map_err(|error| error.to_string())?;
    writeln!(io::stdout(), "{measured}").map_err(|error| error.to_string())
}

/// The bytes that every connection sends and receives.
struct Script {
    /// Sent first; the response is headers that end with an empty line.
    opening: Vec<u8>,
    /// Sent repeatedly: as many requests as may be in flight.
    requests: Vec<u8>,
    request_length: usize,
    /// Length of each response.
    length: usize,
}

impl Script {
    fn websocket(size: u8, in_flight: usize) -> Script {
        let head = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n\
                    Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
                    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        // RFC 6455, section 5.2: a complete text message, masked with zeros, which do not change
        // it.
        let mut request = vec![0x81, 0x80 | size, 0, 0, 0, 0];
        request.resize(request.len() + usize::from(size), b'm');
        Script {
            opening: head.as_bytes().to_vec(),
            requests: request.repeat(in_flight),
            request_length: request.len(),
            length: 2 + usize::from(size),
        }
    }
}

/// Runs the loop and returns the results as JSON.
fn exchange(port: u16, count: usize, limit: Duration, script: &Script) -> io::Result<String> {
    let mut poll = Poll::new()?;
    let mut sockets = Vec::with_capacity(count);
    for token in 0..count {
        let socket = syscalls::connect(Ipv4Addr::LOCALHOST, port)?;
        open(&socket, &script.opening)?;
        poll.watch(socket.as_raw_fd(), token as u64)?;
        sockets.push(socket);
    }
    // How much of the current response each connection has received.
    let mut received = vec![0_usize; count];
    let mut buffer = vec![0_u8; 65_536];
    let mut requests = 0_u64;
    let started = Instant::now();
    for socket in &sockets {
        syscalls::send(socket.as_raw_fd(), &script.requests)?;
    }
    let mut ready = Vec::with_capacity(1024);
    while started.elapsed() < limit {
        ready.clear();
        ready.extend(poll.wait(Some(limit))?);
        for &token in &ready {
            let token = token as usize;
            let (Some(socket), Some(received)) = (sockets.get(token), received.get_mut(token))
            else {
                continue;
            };
            match syscalls::receive(socket.as_raw_fd(), &mut buffer)? {
                None => continue,
                Some(0) => {
                    let message = "the server closed a connection";
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, message));
                }
                Some(bytes) => *received += bytes,
            }
            let responses = *received / script.length;
            if responses > 0 {
                *received %= script.length;
                requests += responses as u64;
                let next = script.requests.get(..responses * script.request_length);
                syscalls::send(socket.as_raw_fd(), next.unwrap_or(&script.requests))?;
            }
        }
    }
    let elapsed = started.elapsed().as_secs_f64();
    let cpu = syscalls::cpu_time().as_secs_f64();
    Ok(format!(
        "{{\"requests\":{requests},\"seconds\":{elapsed:.6},\"requests_per_second\":{:.1},\"cpu_seconds\":{cpu:.6},\"cpu_us_per_request\":{:.4}}}",
        requests as f64 / elapsed,
        cpu * 1e6 / (requests as f64).max(1.0),
    ))
}

/// Sends the opening, if any, and waits for the end of its response.
fn open(socket: &OwnedFd, opening: &[u8]) -> io::Result<()> {
    if opening.is_empty() {
        return Ok(());
    }
    syscalls::send(socket.as_raw_fd(), opening)?;
    let (mut response, mut byte) = (Vec::new(), [0]);
    while !response.ends_with(b"\r\n\r\n") {
        match syscalls::receive(socket.as_raw_fd(), &mut byte)? {
            None => std::thread::yield_now(),
            Some(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Some(_) => response.extend_from_slice(&byte),
        }
    }
    Ok(())
}
