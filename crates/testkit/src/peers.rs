//! Scripted peers: servers that intentionally misbehave, and send raw bytes.
//!
//! A [`Peer`] listens on its own port and plays one [`Play`] on every connection. It recognizes
//! only the end of request headers, so it cannot have the same HTTP errors as the client.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use socket2::SockRef;

/// The behavior of a peer after it has read the headers of a request.
#[derive(Debug, Clone)]
pub enum Play {
    /// Sends these bytes and waits for the next request.
    Respond(Vec<u8>),
    /// Sends these bytes after a delay, and waits for the next request.
    RespondAfter { delay: Duration, bytes: Vec<u8> },
    /// Sends these bytes and closes the connection.
    RespondAndClose(Vec<u8>),
    /// Sends these bytes, then nothing more, and keeps the connection open.
    RespondAndStall(Vec<u8>),
    /// Sends these bytes and resets the connection.
    RespondAndReset(Vec<u8>),
    /// Closes the connection immediately after accepting it, before any request.
    CloseImmediately,
    /// Sends these bytes before any request, and then ignores what it reads.
    SendFirst(Vec<u8>),
    /// Sends a start, and then these bytes repeatedly until the other side closes the connection or
    /// this number of bytes has been sent.
    Endless {
        start: Vec<u8>,
        again: Vec<u8>,
        bytes: u64,
    },
    /// Sends these bytes one by one with a pause between them.
    Drip { bytes: Vec<u8>, pause: Duration },
}

impl Play {
    /// A valid response with this body. The connection stays open.
    pub fn ok(body: &str) -> Play {
        Play::Respond(ok_response(body).into_bytes())
    }

    /// A valid response after a delay.
    pub fn slow(delay: Duration) -> Play {
        Play::RespondAfter {
            delay,
            bytes: ok_response("slow").into_bytes(),
        }
    }

    /// A response that is not HTTP.
    pub fn garbage() -> Play {
        Play::RespondAndClose(b"\x00\xff\x13\x37 this is not HTTP\r\n\r\n".to_vec())
    }

    /// The headers announce more bytes than are sent before the connection is closed.
    pub fn truncated_body() -> Play {
        Play::RespondAndClose(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this".to_vec())
    }

    /// Reads the request and never responds.
    pub fn stall() -> Play {
        Play::RespondAndStall(Vec::new())
    }

    /// Reads the request and resets the connection.
    pub fn reset() -> Play {
        Play::RespondAndReset(Vec::new())
    }

    /// Headers that never end; the peer stops after 64 MiB.
    pub fn endless_headers() -> Play {
        Play::Endless {
            start: b"HTTP/1.1 200 OK\r\n".to_vec(),
            again: b"X-Again: and again and again and again and again\r\n".repeat(64),
            bytes: 64 << 20,
        }
    }

    /// A body of this number of bytes, with a correct length header.
    pub fn huge_body(bytes: u64) -> Play {
        Play::Endless {
            start: format!("HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\n\r\n").into_bytes(),
            again: vec![b'x'; 64 << 10],
            bytes,
        }
    }
}

/// A valid HTTP/1.1 response with this body.
pub fn ok_response(body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// A peer on its own port. It runs until it is dropped.
pub struct Peer {
    address: SocketAddr,
    received: Arc<Received>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Received {
    stop: AtomicBool,
    connections: AtomicUsize,
    requests: AtomicUsize,
}

impl Peer {
    /// Listens on a free port of 127.0.0.1 and plays `play` on every connection.
    ///
    /// # Panics
    /// If no port is free.
    pub fn start(play: Play) -> Peer {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .unwrap_or_else(|error| panic!("no free port on 127.0.0.1: {error}"));
        let address = listener
            .local_addr()
            .unwrap_or_else(|error| panic!("a listener without address: {error}"));
        let received = Arc::new(Received::default());
        let thread = thread::spawn({
            let received = received.clone();
            move || {
                for stream in listener.incoming() {
                    if received.stop.load(Ordering::SeqCst) {
                        break;
                    }
                    let Ok(stream) = stream else { continue };
                    received.connections.fetch_add(1, Ordering::SeqCst);
                    let (play, received) = (play.clone(), received.clone());
                    // An error means that the client disconnected.
                    thread::spawn(move || play_to(stream, &play, &received));
                }
            }
        });
        Peer {
            address,
            received,
            thread: Some(thread),
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:port`, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Number of accepted connections.
    pub fn connections(&self) -> usize {
        self.received.connections.load(Ordering::SeqCst)
    }

    /// Number of requests whose headers were read.
    pub fn requests(&self) -> usize {
        self.received.requests.load(Ordering::SeqCst)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.received.stop.store(true, Ordering::SeqCst);
        // Wakes the listener, which then stops.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn play_to(mut stream: TcpStream, play: &Play, received: &Received) -> io::Result<()> {
    stream.set_nodelay(true)?;
    // The timeout lets an idle connection detect the end of the test.
    stream.set_read_timeout(Some(Duration::from_millis(50)))?;
    match play {
        Play::CloseImmediately => return stream.shutdown(Shutdown::Both),
        Play::SendFirst(bytes) => {
            stream.write_all(bytes)?;
            return linger(&mut stream, received);
        }
        _ => {}
    }
    while read_head(&mut stream, received)? {
        received.requests.fetch_add(1, Ordering::SeqCst);
        match play {
            Play::Respond(bytes) => stream.write_all(bytes)?,
            Play::RespondAfter { delay, bytes } => {
                thread::sleep(*delay);
                stream.write_all(bytes)?;
            }
            Play::RespondAndClose(bytes) => {
                stream.write_all(bytes)?;
                stream.shutdown(Shutdown::Write)?;
                return linger(&mut stream, received);
            }
            Play::RespondAndStall(bytes) => {
                stream.write_all(bytes)?;
                return linger(&mut stream, received);
            }
            Play::RespondAndReset(bytes) => {
                stream.write_all(bytes)?;
                // Closing with a linger time of zero sends RST instead of FIN.
                return SockRef::from(&stream).set_linger(Some(Duration::ZERO));
            }
            Play::Endless {
                start,
                again,
                bytes,
            } => {
                stream.write_all(start)?;
                let mut left = *bytes;
                while left > 0 && !received.stop.load(Ordering::SeqCst) {
                    let part = usize::try_from(left).unwrap_or(usize::MAX).min(again.len());
                    stream.write_all(&again[..part])?;
                    left -= part as u64;
                }
                stream.shutdown(Shutdown::Write)?;
                return linger(&mut stream, received);
            }
            Play::Drip { bytes, pause } => {
                for byte in bytes {
                    stream.write_all(&[*byte])?;
                    thread::sleep(*pause);
                }
            }
            Play::CloseImmediately | Play::SendFirst(_) => return Ok(()),
        }
    }
    Ok(())
}

/// Reads up to the empty line that ends the headers. Returns false at the end of the connection. If
/// the request has a body, it is read as the start of the next headers, which does not matter here.
fn read_head(stream: &mut TcpStream, received: &Received) -> io::Result<bool> {
    let mut last = [0_u8; 4];
    let mut byte = [0_u8; 1];
    loop {
        match stream.read(&mut byte) {
            Ok(0) => return Ok(false),
            Ok(_) => {
                last.rotate_left(1);
                last[3] = byte[0];
                if &last == b"\r\n\r\n" {
                    return Ok(true);
                }
            }
            Err(error) if is_pause(&error) && !received.stop.load(Ordering::SeqCst) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Discards input until the other side closes the connection or the test ends.
fn linger(stream: &mut TcpStream, received: &Received) -> io::Result<()> {
    let mut ignored = [0_u8; 4096];
    loop {
        match stream.read(&mut ignored) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if is_pause(&error) && !received.stop.load(Ordering::SeqCst) => {}
            Err(error) => return Err(error),
        }
    }
}

fn is_pause(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";

    fn send_request(peer: &Peer) -> io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect(peer.address())?;
        stream.write_all(REQUEST)?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        let mut received = Vec::new();
        stream.read_to_end(&mut received).map(|_| received)
    }

    #[test]
    fn half_a_response_is_incomplete() {
        let peer = Peer::start(Play::truncated_body());
        let received = send_request(&peer).unwrap();
        assert!(received.ends_with(b"\r\n\r\nonly this"));
        assert_eq!((peer.connections(), peer.requests()), (1, 1));
    }

    #[test]
    fn a_reset_is_a_reset() {
        let peer = Peer::start(Play::reset());
        assert_eq!(
            send_request(&peer).unwrap_err().kind(),
            ErrorKind::ConnectionReset
        );
    }

    #[test]
    fn a_client_can_abandon_endless_headers() {
        let peer = Peer::start(Play::endless_headers());
        let mut stream = TcpStream::connect(peer.address()).unwrap();
        stream.write_all(REQUEST).unwrap();
        let mut some = vec![0; 1 << 20];
        stream.read_exact(&mut some).unwrap();
        assert!(!some.windows(4).any(|window| window == b"\r\n\r\n"));
    }

    #[test]
    fn a_persistent_connection_receives_further_responses() {
        let peer = Peer::start(Play::ok("hello"));
        let mut stream = TcpStream::connect(peer.address()).unwrap();
        for _ in 0..2 {
            stream.write_all(REQUEST).unwrap();
            let mut received = vec![0; ok_response("hello").len()];
            stream.read_exact(&mut received).unwrap();
            assert!(received.ends_with(b"hello"));
        }
        assert_eq!((peer.connections(), peer.requests()), (1, 2));
    }

    #[test]
    fn a_huge_body_is_as_long_as_announced() {
        let peer = Peer::start(Play::huge_body(200_000));
        let received = send_request(&peer).unwrap();
        let head = received
            .windows(4)
            .position(|window| window == b"\r\n\r\n")
            .unwrap();
        assert_eq!(received.len() - head - 4, 200_000);
    }
}
