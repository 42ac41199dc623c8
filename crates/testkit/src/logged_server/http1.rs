//! HTTP/1.1 requests with a body of any `Content-Length`, one thread per connection. An upgraded
//! connection continues as WebSocket.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use socket2::SockRef;

use super::behavior::{Act, SharedBehavior};
use super::log::Outcome;
use super::websocket;

/// Maximum length of request headers.
const MAX_HEADERS: usize = 64 << 10;

pub(super) fn serve(listener: &TcpListener, conduct: &Arc<SharedBehavior>) {
    for stream in listener.incoming().flatten() {
        let conduct = Arc::clone(conduct);
        let number = conduct.ledger.connected();
        // An error means that the client disconnected.
        thread::spawn(move || connection(stream, number, &conduct));
    }
}

fn connection(mut stream: TcpStream, number: u64, conduct: &SharedBehavior) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut pending = Vec::new();
    while let Some(head) = read_head(&mut stream, &mut pending, conduct)? {
        if let Some(key) = websocket::key(&head) {
            return websocket::serve(stream, &key, pending, number, conduct);
        }
        let length = content_length(&head);
        skip_body(&mut stream, &mut pending, length, conduct)?;
        let request = conduct.ledger.arrived(number, length);
        let (wait, act) = conduct.decide(request);
        thread::sleep(wait);
        if !treat(&mut stream, request, act, conduct)? {
            return Ok(());
        }
    }
    Ok(())
}

/// Responds according to `act`. Returns whether the connection stays open.
fn treat(
    stream: &mut TcpStream,
    request: usize,
    act: Act,
    conduct: &SharedBehavior,
) -> io::Result<bool> {
    let (status, reason) = match act {
        Act::Respond => (200, "OK"),
        Act::Fail => (503, "Service Unavailable"),
        Act::Drop | Act::Reset | Act::RefuseStream => {
            conduct.ledger.ended(request, Outcome::Cut, 0);
            end(stream, act)?;
            return Ok(false);
        }
        Act::Ignore => return Ok(true),
    };
    let length = conduct.body_length();
    let mut response =
        format!("HTTP/1.1 {status} {reason}\r\nContent-Length: {length}\r\n\r\n").into_bytes();
    response.resize(response.len() + length, b'x');
    let ledger = &conduct.ledger;
    // Send all but the last byte first, so the log's end time is never later than the client's.
    let (last, begin) = response.split_last().unwrap_or((&b'x', &[]));
    if response.len() > 4096 {
        stream.write_all(begin)?;
        ledger.ended(request, Outcome::Responded(status), length);
        stream.write_all(&[*last])?;
    } else {
        ledger.ended(request, Outcome::Responded(status), length);
        stream.write_all(&response)?;
    }
    ledger.transferred(0, response.len());
    Ok(true)
}

/// Ends a connection without a response.
pub(super) fn end(stream: &mut TcpStream, act: Act) -> io::Result<()> {
    if matches!(act, Act::Reset | Act::RefuseStream) {
        // Closing with a linger time of zero sends RST.
        SockRef::from(&*stream).set_linger(Some(Duration::ZERO))?;
        return Ok(());
    }
    stream.shutdown(Shutdown::Write)?;
    // Read to the end, so closing does not send a reset.
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    let mut rest = [0; 1024];
    while stream.read(&mut rest)? > 0 {}
    Ok(())
}

/// The length of a request's body: 0 without a valid `Content-Length`.
fn content_length(head: &[u8]) -> usize {
    let head = String::from_utf8_lossy(head);
    let mut fields = head.lines().filter_map(|line| line.split_once(':'));
    let length = fields.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    length
        .and_then(|(_, value)| value.trim().parse().ok())
        .unwrap_or(0)
}

/// Reads `length` bytes of a body. The bytes after it stay in `pending`.
fn skip_body(
    stream: &mut TcpStream,
    pending: &mut Vec<u8>,
    length: usize,
    conduct: &SharedBehavior,
) -> io::Result<()> {
    let mut missing = length.saturating_sub(pending.len());
    pending.drain(..length - missing);
    let mut buffer = [0; 4096];
    while missing > 0 {
        let most = missing.min(buffer.len());
        let count = stream.read(buffer.get_mut(..most).unwrap_or_default())?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        conduct.ledger.transferred(count, 0);
        missing -= count;
    }
    Ok(())
}

/// The bytes of the next request's headers, or `None` at the end of the connection. The bytes after
/// them stay in `pending`.
fn read_head(
    stream: &mut TcpStream,
    pending: &mut Vec<u8>,
    conduct: &SharedBehavior,
) -> io::Result<Option<Vec<u8>>> {
    let mut buffer = [0; 4096];
    loop {
        if let Some(at) = pending.windows(4).position(|four| four == b"\r\n\r\n") {
            let rest = pending.split_off(at + 4);
            return Ok(Some(std::mem::replace(pending, rest)));
        }
        let count = stream.read(&mut buffer)?;
        if count == 0 || pending.len() > MAX_HEADERS {
            return Ok(None);
        }
        conduct.ledger.transferred(count, 0);
        pending.extend_from_slice(buffer.get(..count).unwrap_or_default());
    }
}
