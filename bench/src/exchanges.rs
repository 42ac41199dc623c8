//! Exchanges of one request and one response, each on a new connection, through a relay and
//! directly, with the kernel's timestamps of when bytes arrived. One thread is both client and
//! server, so there is only one clock, and late reads of this program do not count.

use std::collections::VecDeque;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use crate::syscalls::{self, Poll};

/// Bytes of a request and of a response. Each fits in one segment of TCP over Ethernet.
pub const REQUEST: usize = 200;
pub const RESPONSE: usize = 1_400;

const LISTENER: u64 = 0;
/// How long to wait for responses after the last start.
const PATIENCE: Duration = Duration::from_secs(5);

/// The times of one exchange, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exchange {
    /// Directly to the server, without the relay.
    pub direct: bool,
    /// When it should have started. Exchanges that are due at the same time start one after another.
    pub due: u64,
    /// Just before the client connected.
    pub started: u64,
    /// When the request reached the server.
    pub request: u64,
    /// Just before the server responded.
    pub responded: u64,
    /// When the response reached the client; 0 if it never did.
    pub response: u64,
}

impl Exchange {
    /// The time spent on the network, without the server's own.
    pub fn on_the_network(&self) -> u64 {
        (self.response - self.started) - (self.responded - self.request)
    }
}

/// When to start an exchange, since the beginning, and whether directly.
pub type Start = (u64, bool);

/// The role of a connection.
enum Side {
    Client { exchange: usize, missing: usize },
    Server { received: Vec<u8> },
}

struct Connection {
    socket: OwnedFd,
    side: Side,
}

/// The server, and the client's connections to it.
pub struct Exchanges {
    poll: Poll,
    listener: OwnedFd,
    port: u16,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    exchanges: Vec<Exchange>,
    unfinished: usize,
}

impl Exchanges {
    /// Listens on a free port.
    ///
    /// # Errors
    /// If the kernel does not allow a socket.
    pub fn new() -> io::Result<Exchanges> {
        syscalls::raise_descriptor_limit();
        syscalls::sharpen_timers();
        let poll = Poll::new()?;
        let (listener, port) = syscalls::listen(0)?;
        syscalls::note_arrivals(listener.as_raw_fd())?;
        poll.watch(listener.as_raw_fd(), LISTENER)?;
        Ok(Exchanges {
            poll,
            listener,
            port,
            connections: Vec::new(),
            free: Vec::new(),
            exchanges: Vec::new(),
            unfinished: 0,
        })
    }

    /// The port of the server.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Starts exchanges when they are due, in order, and returns their times once all have ended.
    /// `relay` is its port.
    ///
    /// # Errors
    /// If a connection fails.
    pub fn run(&mut self, relay: u16, starts: &[Start]) -> io::Result<Vec<Exchange>> {
        let mut starts: VecDeque<Start> = starts.iter().copied().collect();
        let base = syscalls::monotonic_nanos();
        let last = starts.back().map_or(0, |(at, _)| *at);
        let end = base + last + PATIENCE.as_nanos() as u64;
        let mut ready = Vec::new();
        loop {
            let now = syscalls::monotonic_nanos();
            while let Some((at, direct)) = starts.pop_front_if(|(at, _)| base + *at <= now) {
                self.start(relay, base + at, direct)?;
            }
            if (starts.is_empty() && self.unfinished == 0) || now > end {
                return Ok(std::mem::take(&mut self.exchanges));
            }
            let next = starts.front().map_or(end, |(at, _)| base + *at);
            let wait = Duration::from_nanos(next.saturating_sub(syscalls::monotonic_nanos()));
            ready.clear();
            ready.extend(self.poll.wait(Some(wait))?);
            for &token in &ready {
                match token {
                    LISTENER => self.accept_all()?,
                    slot => self.read(slot as usize - 1)?,
                }
            }
        }
    }

    fn start(&mut self, relay: u16, due: u64, direct: bool) -> io::Result<()> {
        let port = if direct { self.port } else { relay };
        let started = syscalls::monotonic_nanos();
        let socket = syscalls::connect(Ipv4Addr::LOCALHOST, port)?;
        let exchange = self.exchanges.len();
        let mut request = [0; REQUEST];
        request[..8].copy_from_slice(&(exchange as u64).to_le_bytes());
        send(&socket, &request)?;
        syscalls::note_arrivals(socket.as_raw_fd())?;
        self.exchanges.push(Exchange {
            direct,
            due,
            started,
            ..Exchange::default()
        });
        self.unfinished += 1;
        let side = Side::Client {
            exchange,
            missing: RESPONSE,
        };
        self.hold(Connection { socket, side })
    }

    fn accept_all(&mut self) -> io::Result<()> {
        while let Some(socket) = syscalls::accept(self.listener.as_raw_fd())? {
            let side = Side::Server {
                received: Vec::with_capacity(REQUEST),
            };
            self.hold(Connection { socket, side })?;
        }
        Ok(())
    }

    fn hold(&mut self, connection: Connection) -> io::Result<()> {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.connections.len() - 1
        });
        self.poll
            .watch(connection.socket.as_raw_fd(), slot as u64 + 1)?;
        self.connections[slot] = Some(connection);
        Ok(())
    }

    fn read(&mut self, slot: usize) -> io::Result<()> {
        let Some(Some(connection)) = self.connections.get_mut(slot) else {
            return Ok(());
        };
        let mut buffer = [0; RESPONSE];
        let socket = connection.socket.as_raw_fd();
        let (count, arrived) = match syscalls::receive_noted(socket, &mut buffer) {
            Ok(None) => return Ok(()),
            Ok(Some(received)) => received,
            // The relay reset the connection: the exchange is incomplete.
            Err(_) => (0, None),
        };
        let mut ended = count == 0;
        match &mut connection.side {
            Side::Client { exchange, missing } => {
                *missing = missing.saturating_sub(count);
                if *missing == 0 {
                    let arrived = arrived.unwrap_or_else(syscalls::monotonic_nanos);
                    self.exchanges[*exchange].response = arrived;
                }
                if *missing == 0 || ended {
                    self.unfinished -= 1;
                    ended = true;
                }
            }
            Side::Server { received } => {
                received.extend_from_slice(&buffer[..count]);
                if received.len() == REQUEST && !ended {
                    let number = received
                        .first_chunk()
                        .map_or(0, |bytes| u64::from_le_bytes(*bytes));
                    let exchange = self
                        .exchanges
                        .get_mut(number as usize)
                        .ok_or_else(|| io::Error::other("a request that was never sent"))?;
                    exchange.request = arrived.unwrap_or_else(syscalls::monotonic_nanos);
                    exchange.responded = syscalls::monotonic_nanos();
                    send(&connection.socket, &[0; RESPONSE])?;
                }
            }
        }
        if ended {
            self.connections[slot] = None;
            self.free.push(slot);
        }
        Ok(())
    }
}

fn send(socket: &OwnedFd, bytes: &[u8]) -> io::Result<()> {
    match syscalls::send(socket.as_raw_fd(), bytes)? {
        Some(count) if count == bytes.len() => Ok(()),
        _ => Err(io::Error::other("the kernel took part of a short message")),
    }
}
