//! The fixed-response server: HTTP/1.1, one thread, epoll, and the same 150 bytes for every
//! request.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use crate::capacity::Capacity;
use crate::connection::RequestCounter;
use crate::delays::{Delay, Draws};
use crate::quantiles::milliseconds_json;
use crate::syscalls::{self, Poll};

/// The response to every request.
pub const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nServer: fix\r\nContent-Type: application/json\r\nContent-Length: 66\r\n\r\n\
{\"id\":1,\"name\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}";
const _: () = assert!(RESPONSE.len() == 150);

/// Maximum responses to pipelined requests that go out in one write.
const MAX_PIPELINED: usize = 64;
/// The kernel wakes a sleeping thread some tens of microseconds late, so the last part of a wait is
/// a spin loop.
const SPIN: Duration = Duration::from_micros(80);
/// Maximum delays recorded for the report. Further ones are only counted, and the report says so.
const MAX_RECORDED: usize = 8_000_000;

const LISTENER: u64 = u64::MAX;
const STOP: u64 = u64::MAX - 1;

struct Connection {
    socket: OwnedFd,
    requests: RequestCounter,
    has_request: bool,
    /// Distinguishes this connection from later ones in the same slot.
    generation: u32,
}

/// A delayed response; ordered by when it is due.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Held {
    due: u64,
    received_at: u64,
    slot: usize,
    generation: u32,
    count: usize,
}

/// The server and its records.
pub struct Server {
    port: u16,
    delay: Option<Delay>,
    capacity: Option<Capacity>,
    awake: bool,
    mark: u64,
    poll: Poll,
    listener: OwnedFd,
    _stop: OwnedFd,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    generation: u32,
    responses: Vec<u8>,
    held: BinaryHeap<Reverse<Held>>,
    draws: Draws,
    first_request: Option<u64>,
    asking_connections: u64,
    marked: Option<u64>,
    responded: u64,
    dropped: u64,
    given: Vec<u64>,
    lateness: Vec<u64>,
}

impl Server {
    /// Listens on `port` of 127.0.0.1; 0 uses a free one. `stop` ends [`Server::run`] when it
    /// becomes readable. `mark` is the number of the connection whose first request is recorded,
    /// from 1.
    pub fn start(port: u16, delay: Option<Delay>, mark: u64, stop: OwnedFd) -> io::Result<Server> {
        syscalls::raise_descriptor_limit();
        syscalls::sharpen_timers();
        let poll = Poll::new()?;
        let (listener, port) = syscalls::listen(port)?;
        poll.watch(listener.as_raw_fd(), LISTENER)?;
        poll.watch(stop.as_raw_fd(), STOP)?;
        Ok(Server {
            port,
            delay,
            capacity: None,
            awake: false,
            mark,
            poll,
            listener,
            _stop: stop,
            connections: Vec::new(),
            free: Vec::new(),
            generation: 0,
            responses: RESPONSE.repeat(MAX_PIPELINED),
            held: BinaryHeap::new(),
            draws: Draws::new(0x9E37_79B9_7F4A_7C15),
            first_request: None,
            asking_connections: 0,
            marked: None,
            responded: 0,
            dropped: 0,
            given: Vec::new(),
            lateness: Vec::new(),
        })
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Serves until `stop` becomes readable.
    pub fn run(&mut self) -> io::Result<()> {
        let mut buffer = vec![0_u8; 65_536];
        let mut ready = Vec::new();
        loop {
            let timeout = self.release_due().map(|timeout| match self.awake {
                true => Duration::ZERO,
                false => timeout,
            });
            ready.clear();
            ready.extend(self.poll.wait(timeout)?);
            for &token in &ready {
                match token {
                    STOP => return Ok(()),
                    LISTENER => self.accept_all()?,
                    slot => self.read(slot as usize, &mut buffer),
                }
            }
        }
    }

    fn accept_all(&mut self) -> io::Result<()> {
        while let Some(socket) = syscalls::accept(self.listener.as_raw_fd())? {
            let slot = self.free.pop().unwrap_or(self.connections.len());
            self.poll.watch(socket.as_raw_fd(), slot as u64)?;
            self.generation = self.generation.wrapping_add(1);
            let connection = Some(Connection {
                socket,
                requests: RequestCounter::default(),
                has_request: false,
                generation: self.generation,
            });
            match self.connections.get_mut(slot) {
                Some(place) => *place = connection,
                None => self.connections.push(connection),
            }
        }
        Ok(())
    }

    fn read(&mut self, slot: usize, buffer: &mut [u8]) {
        let Some(Some(connection)) = self.connections.get_mut(slot) else {
            return;
        };
        let count = match syscalls::receive(connection.socket.as_raw_fd(), buffer) {
            Ok(None) => return,
            Ok(Some(0)) | Err(_) => return self.close(slot),
            Ok(Some(length)) => connection
                .requests
                .count(buffer.get(..length).unwrap_or_default()),
        };
        if count == 0 {
            return;
        }
        if !connection.has_request {
            connection.has_request = true;
            let now = syscalls::monotonic_nanos();
            self.first_request.get_or_insert(now);
            self.asking_connections += 1;
            if self.asking_connections == self.mark {
                self.marked = Some(now);
            }
        }
        let generation = connection.generation;
        if let Some(capacity) = &mut self.capacity {
            let received_at = syscalls::monotonic_nanos();
            for _ in 0..count {
                self.held.push(Reverse(Held {
                    due: capacity.due(received_at),
                    received_at,
                    slot,
                    generation,
                    count: 1,
                }));
            }
            return;
        }
        let Some(delay) = self.delay else {
            return self.respond(slot, count);
        };
        let received_at = syscalls::monotonic_nanos();
        let since_first =
            Duration::from_nanos(received_at - self.first_request.unwrap_or(received_at));
        let delay = delay.of(since_first, self.draws.next_unit());
        self.held.push(Reverse(Held {
            due: received_at + delay.as_nanos() as u64,
            received_at,
            slot,
            generation,
            count,
        }));
    }

    fn respond(&mut self, slot: usize, count: usize) {
        let Some(Some(connection)) = self.connections.get(slot) else {
            return;
        };
        let mut left = count * RESPONSE.len();
        while left > 0 {
            let length = left.min(self.responses.len());
            let bytes = self.responses.get(..length).unwrap_or_default();
            match syscalls::send(connection.socket.as_raw_fd(), bytes) {
                Ok(Some(sent)) if sent == length => left -= length,
                // Responses to a client that does not read are not buffered.
                _ => {
                    self.dropped += 1;
                    return self.close(slot);
                }
            }
        }
        self.responded += count as u64;
    }

    fn close(&mut self, slot: usize) {
        if let Some(place) = self.connections.get_mut(slot)
            && place.take().is_some()
        {
            self.free.push(slot);
        }
    }

    /// Limits the rate of responses to this capacity, instead of a delay.
    pub fn limit(&mut self, capacity: Capacity) {
        self.capacity = Some(capacity);
    }

    /// Never sleeps while responses are delayed. A processor that sleeps wakes some tens of
    /// microseconds late, both for requests and for deadlines. A server that provides reference
    /// values, with its own processor, must not have that error.
    pub fn stay_awake(&mut self) {
        self.awake = true;
    }

    /// Sends the responses that are due, and returns how long the loop may sleep.
    fn release_due(&mut self) -> Option<Duration> {
        loop {
            let Reverse(next) = self.held.peek()?;
            let now = syscalls::monotonic_nanos();
            if next.due > now {
                let left = Duration::from_nanos(next.due - now);
                return Some(left.saturating_sub(SPIN));
            }
            let Reverse(held) = self.held.pop()?;
            let same = matches!(self.connections.get(held.slot),
                Some(Some(connection)) if connection.generation == held.generation);
            if !same {
                self.dropped += 1;
                continue;
            }
            let sent = syscalls::monotonic_nanos();
            self.respond(held.slot, held.count);
            if self.given.len() < MAX_RECORDED {
                self.given.push(sent - held.received_at);
                self.lateness.push(sent - held.due);
            }
        }
    }

    /// The actual delays in nanoseconds, in the order of the responses.
    pub fn given(&self) -> &[u64] {
        &self.given
    }

    /// All results as one JSON object.
    pub fn report(&mut self) -> String {
        let number = |value: Option<u64>| value.map_or("null".to_owned(), |at| at.to_string());
        let mut report = format!(
            "{{\"answered\":{},\"dropped\":{},\"connections\":{},\"first_request_ns\":{},\"marked_request_ns\":{}",
            self.responded,
            self.dropped,
            self.asking_connections,
            number(self.first_request),
            number(self.marked),
        );
        if let Some(delay) = self.delay {
            let expected = |q: f64| delay.quantile(q).as_secs_f64() * 1e3;
            report += &format!(
                ",\"recorded\":{},\"asked\":{{\"p50\":{:.6},\"p90\":{:.6},\"p95\":{:.6},\"p99\":{:.6},\"p999\":{:.6}}}",
                self.given.len(),
                expected(0.5),
                expected(0.9),
                expected(0.95),
                expected(0.99),
                expected(0.999),
            );
            report += &format!(",\"given\":{}", milliseconds_json(&mut self.given));
            report += &format!(",\"late\":{}", milliseconds_json(&mut self.lateness));
        }
        report.push('}');
        report
    }
}
