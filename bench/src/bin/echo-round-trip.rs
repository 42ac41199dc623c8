//! Measures the round trip of small messages to an echo server, at a given rate.
//!
//! ```text
//! echo-round-trip --serve 0                            echoes over TCP and UDP; prints its port
//! echo-round-trip --connect 127.0.0.1:9000 [--protocol udp|tcp] [--rate 10000] [--seconds 3] [--size 64]
//! ```
//!
//! The client prints one JSON object: how many messages were sent and returned, and quantiles of their round trip in
//! milliseconds. Messages are sent on schedule, independently of earlier ones.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use plimsoll_bench::arguments::Arguments;
use plimsoll_bench::quantiles::milliseconds_json;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(io::stderr(), "echo-round-trip: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let known = ["serve", "connect", "protocol", "rate", "seconds", "size"];
    let arguments = Arguments::parse(std::env::args().skip(1), &known)?;
    if let Some(port) = arguments.value("serve")? {
        return serve(port).map_err(|error| error.to_string());
    }
    let address = arguments
        .text("connect")
        .ok_or("--serve PORT or --connect ADDRESS is missing")?;
    let rate: f64 = arguments.value("rate")?.unwrap_or(10_000.0);
    let seconds: f64 = arguments.value("seconds")?.unwrap_or(3.0);
    let size: usize = arguments.value("size")?.unwrap_or(64).clamp(8, 1_400);
    let limit =
        Duration::try_from_secs_f64(seconds).map_err(|error| format!("--seconds: {error}"))?;
    let every =
        Duration::try_from_secs_f64(1.0 / rate).map_err(|error| format!("--rate: {error}"))?;
    let output = match arguments.text("protocol").unwrap_or("udp") {
        "udp" => {
            let socket = UdpSocket::bind("0.0.0.0:0")
                .and_then(|socket| socket.connect(address).map(|()| socket));
            let socket = socket.map_err(|error| error.to_string())?;
            measure(
                |message| socket.send(message).map(drop),
                |message| socket.recv(message).map(drop),
                |wait| socket.set_read_timeout(Some(wait)),
                (limit, every, size),
            )
        }
        "tcp" => {
            let socket = TcpStream::connect(address).map_err(|error| error.to_string())?;
            socket
                .set_nodelay(true)
                .map_err(|error| error.to_string())?;
            measure(
                |message| (&socket).write_all(message),
                |message| (&socket).read_exact(message),
                |wait| socket.set_read_timeout(Some(wait)),
                (limit, every, size),
            )
        }
        other => return Err(format!("--protocol {other}: udp or tcp")),
    };
    let output = output.map_err(|error| error.to_string())?;
    writeln!(io::stdout(), "{output}").map_err(|error| error.to_string())
}

/// Sends on this thread and records the replies on another.
fn measure(
    mut send: impl FnMut(&[u8]) -> io::Result<()>,
    mut receive: impl FnMut(&mut [u8]) -> io::Result<()> + Send,
    set_wait: impl Fn(Duration) -> io::Result<()>,
    (limit, every, size): (Duration, Duration, usize),
) -> io::Result<String> {
    // Longer than any measured round trip, so that the last replies are included.
    set_wait(Duration::from_millis(800))?;
    let base = Instant::now();
    let over = AtomicBool::new(false);
    let mut sent = 0_u32;
    let mut times = thread::scope(|scope| {
        let receiver = scope.spawn(|| {
            let mut times = Vec::new();
            let mut message = vec![0; size];
            loop {
                match receive(&mut message) {
                    Ok(()) => {
                        let now = base.elapsed().as_nanos() as u64;
                        let started = message
                            .first_chunk()
                            .map_or(0, |bytes| u64::from_le_bytes(*bytes));
                        times.push(now.saturating_sub(started));
                    }
                    Err(_) if over.load(Ordering::Relaxed) => return times,
                    Err(_) => {}
                }
            }
        });
        let mut message = vec![0; size];
        while every * sent < limit {
            let due = every * sent;
            if let Some(early) = due.checked_sub(base.elapsed()) {
                thread::sleep(early);
            }
            let now = base.elapsed().as_nanos() as u64;
            message[..8].copy_from_slice(&now.to_le_bytes());
            if send(&message).is_err() {
                break;
            }
            sent += 1;
        }
        over.store(true, Ordering::Relaxed);
        receiver.join().unwrap_or_default()
    });
    let back = times.len();
    Ok(format!(
        "{{\"sent\":{sent},\"back\":{back},\"round_trip\":{}}}",
        milliseconds_json(&mut times)
    ))
}

fn serve(port: u16) -> io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    let address = listener.local_addr()?;
    let datagrams = UdpSocket::bind(address)?;
    writeln!(io::stdout(), "{{\"port\":{}}}", address.port())?;
    thread::spawn(move || {
        let mut message = [0; 2_048];
        loop {
            if let Ok((count, from)) = datagrams.recv_from(&mut message) {
                let _ = datagrams.send_to(&message[..count], from);
            }
        }
    });
    for stream in listener.incoming().flatten() {
        thread::spawn(move || {
            let _ = stream.set_nodelay(true);
            let (mut from, mut to) = (&stream, &stream);
            let mut bytes = [0; 16_384];
            while let Ok(count @ 1..) = from.read(&mut bytes) {
                if to.write_all(&bytes[..count]).is_err() {
                    break;
                }
            }
        });
    }
    Ok(())
}
