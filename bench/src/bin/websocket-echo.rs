//! Sends WebSocket messages back, a thread for each connection: the server that generators of
//! WebSocket load are measured against.
//!
//! ```text
//! websocket-echo [--port 0] [--cpu 0]
//! ```
//!
//! It prints `listening on 127.0.0.1:PORT` and serves until it is killed. Messages are unmasked
//! where they lie and written as one frame each; fragments and compression are not understood.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;

use bench::arguments::Arguments;
use bench::syscalls;
use sha1::{Digest, Sha1};

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(io::stderr(), "websocket-echo: {message}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> Result<(), String> {
    let arguments = Arguments::parse(std::env::args().skip(1), &["port", "cpu"])?;
    if let Some(cpu) = arguments.value("cpu")? {
        syscalls::pin_to_cpu(cpu).map_err(|error| format!("--cpu {cpu}: {error}"))?;
    }
    let port: u16 = arguments.value("port")?.unwrap_or(0);
    let listener = TcpListener::bind(("127.0.0.1", port)).map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let mut stdout = io::stdout();
    writeln!(stdout, "listening on {address}")
        .and_then(|()| stdout.flush())
        .map_err(|error| error.to_string())?;
    for stream in listener.incoming().flatten() {
        std::thread::spawn(move || {
            // A client that goes away ends its thread.
            let _ = echo(stream);
        });
    }
    Ok(())
}

fn echo(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(1 << 16);
    let mut chunk = [0; 1 << 16];
    let end = loop {
        if let Some(at) = buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            break at + 4;
        }
        let count = stream.read(&mut chunk)?;
        if count == 0 || buffer.len() > 1 << 16 {
            return Ok(());
        }
        buffer.extend_from_slice(chunk.get(..count).unwrap_or_default());
    };
    let head = String::from_utf8_lossy(buffer.get(..end).unwrap_or_default()).into_owned();
    let key = head
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("sec-websocket-key"))
        .map(|(_, value)| value.trim().to_owned())
        .unwrap_or_default();
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {}\r\n\r\n",
        accept(&key)
    );
    stream.write_all(answer.as_bytes())?;
    buffer.drain(..end);
    let mut out = Vec::new();
    loop {
        out.clear();
        while let Some(used) = answer_frame(&mut buffer, &mut out) {
            buffer.drain(..used);
        }
        if !out.is_empty() {
            stream.write_all(&out)?;
        }
        let count = stream.read(&mut chunk)?;
        if count == 0 {
            return Ok(());
        }
        buffer.extend_from_slice(chunk.get(..count).unwrap_or_default());
    }
}

/// Appends the answer to the first frame of `buffer` if that is whole; how long the frame was.
fn answer_frame(buffer: &mut [u8], out: &mut Vec<u8>) -> Option<usize> {
    let first = *buffer.first()?;
    let (length, head) = match *buffer.get(1)? & 0x7f {
        126 => {
            let length = u16::from_be_bytes(*buffer.get(2..)?.first_chunk()?);
            (usize::from(length), 4)
        }
        127 => {
            let length = u64::from_be_bytes(*buffer.get(2..)?.first_chunk()?);
            (usize::try_from(length).ok()?, 10)
        }
        length => (usize::from(length), 2),
    };
    let key: [u8; 4] = *buffer.get(head..)?.first_chunk()?;
    let payload = buffer.get_mut(head + 4..head.checked_add(4)?.checked_add(length)?)?;
    for (byte, key) in payload.iter_mut().zip(key.iter().cycle()) {
        *byte ^= key;
    }
    // RFC 6455, section 5.5: a ping is answered by a pong; all else goes back as it is.
    out.push(if first & 0x0f == 9 {
        first & 0xf0 | 10
    } else {
        first
    });
    match length {
        0..=125 => out.push(length as u8),
        126..=0xffff => {
            out.push(126);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
        _ => {
            out.push(127);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(payload);
    Some(head + 4 + length)
}

/// RFC 6455, section 4.2.2.
fn accept(key: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut digest = Sha1::new();
    digest.update(key.as_bytes());
    digest.update(b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    // Twenty bytes are six threes and a two.
    let mut text = String::new();
    for three in digest.finalize().chunks(3) {
        let at = |place: usize| u32::from(three.get(place).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for shift in [18, 12, 6, 0].into_iter().take(three.len() + 1) {
            let letter = LETTERS.get((bits >> shift & 63) as usize);
            text.push(char::from(*letter.unwrap_or(&b'=')));
        }
    }
    text + "="
}
