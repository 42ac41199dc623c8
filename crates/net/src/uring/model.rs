//! Random schedules of connects, writes, slow and missing readers, floods, resets, drops and stops:
//! on epoll, on a ring, and on a ring so small that its queues overflow. In every case, bytes must
//! stay in order, a healthy connection must continue to work, and dropped connections must leak
//! nothing.
//!
//! The seed determines the schedule, but not the kernel's timing.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::task::{JoinHandle, spawn_local, yield_now};

use super::ring::Ring;
use super::{UringTcp, driver};
use crate::kernel_io::Io;
use crate::plain::Plain;
use crate::traffic::TrafficCounter;
use crate::wire::Wire;

/// Far longer than any operation takes, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
const SCHEDULES: u64 = 40;
const STEPS: usize = 250;
const MAX_CONNECTIONS: u64 = 40;
/// Every socket buffer has space for this much, so a write of this size never waits for the peer.
const ALWAYS_FITS: u64 = 16 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Epoll,
    Uring,
    /// Four submission and sixteen completion entries.
    SmallUring,
}

/// Pseudo-random numbers (xorshift64*).
struct Random(u64);

impl Random {
    fn of(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % limit
    }
}

/// All streams are sections of one long sequence without nearby repeats. Each starts at its own
/// offset.
static SEQUENCE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut random = Random::of(1);
    let once: Vec<u8> = (0..PERIOD).map(|_| random.below(256) as u8).collect();
    once.repeat(2)
});
const PERIOD: u64 = 65_521;

/// The bytes of one direction of a connection, starting at an offset; at most `PERIOD`.
fn bytes(stream: u64, from: u64, length: u64) -> &'static [u8] {
    let start = (stream % PERIOD * 1_009 + from) % PERIOD;
    &SEQUENCE[start as usize..][..length.min(PERIOD) as usize]
}

fn check(stream: u64, from: &mut u64, received: &[u8]) {
    let expected = bytes(stream, *from, received.len() as u64);
    assert!(expected == received, "stream {stream} differs at {from}");
    *from += received.len() as u64;
}

/// Our end of a connection.
enum Ours {
    /// Reads and writes when the schedule does.
    Slow {
        stream: Plain,
        read: u64,
    },
    /// Reads continuously.
    Fast(JoinHandle<()>),
    Dropped,
}

struct Connection {
    number: u64,
    ours: Ours,
    /// `None` after the connection was closed or reset.
    theirs: Option<TcpStream>,
    /// Number of bytes that this side wrote, and how many of them the peer has read.
    written: u64,
    peer_read: u64,
    peer_sent: u64,
}

struct Model {
    mode: Mode,
    ring: Option<Rc<Ring>>,
    random: Random,
    listener: TcpListener,
    counter: Rc<TrafficCounter>,
    connections: Vec<Connection>,
    made: u64,
}

impl Model {
    fn new(mode: Mode, seed: u64) -> io::Result<Self> {
        let ring = match mode {
            Mode::Epoll => None,
            Mode::Uring => Some(Rc::new(Ring::new()?)),
            Mode::SmallUring => Some(Rc::new(Ring::with_entries(4)?)),
        };
        if let Some(ring) = &ring {
            driver::start(ring)?;
        }
        Ok(Model {
            mode,
            ring,
            random: Random::of(seed),
            listener: TcpListener::bind("127.0.0.1:0")?,
            counter: Rc::default(),
            connections: Vec::new(),
            made: 0,
        })
    }

    async fn open(&self) -> (Plain, TcpStream) {
        let address = self.listener.local_addr().unwrap();
        let ours = tokio::net::TcpStream::connect(address).await.unwrap();
        let (theirs, _) = self.listener.accept().unwrap();
        theirs.set_nonblocking(true).unwrap();
        let counter = Rc::clone(&self.counter);
        let ours = match &self.ring {
            None => Plain::new(ours, counter, Io::Epoll),
            Some(ring) => UringTcp::new(Rc::clone(ring), ours, counter).map(Plain::Uring),
        };
        (ours.unwrap(), theirs)
    }

    async fn connect(&mut self) {
        let (stream, theirs) = self.open().await;
        let number = self.made;
        self.made += 1;
        let ours = match self.random.below(3) {
            0 => Ours::Fast(spawn_local(read_all(stream, number))),
            _ => Ours::Slow { stream, read: 0 },
        };
        self.connections.push(Connection {
            number,
            ours,
            theirs: Some(theirs),
            written: 0,
            peer_read: 0,
            peer_sent: 0,
        });
    }

    async fn step(&mut self, healthy: &mut (Plain, TcpStream)) {
        let choice = self.random.below(16);
        let amount = 1 + self.random.below(5_000);
        let count = self.connections.len() as u64;
        match choice {
            0..=2 if count < MAX_CONNECTIONS => return self.connect().await,
            3 => return yield_now().await,
            4 => return exchange(healthy, amount as u32).await,
            _ if count == 0 => return,
            _ => {}
        }
        let at = self.random.below(count) as usize;
        let connection = &mut self.connections[at];
        match choice {
            5..=7 => connection.peer_sends(amount),
            // More than all buffers in between can hold together.
            8 => connection.peer_sends(8 << 20),
            9 => connection.peer_reads(amount),
            10 | 11 => connection.reads(amount),
            12 | 13 => connection.writes(amount),
            14 => match amount % 5 {
                0 => reset(connection.theirs.take()),
                1 => connection.theirs = None,
                2 => connection.check_idle(),
                _ => {}
            },
            _ => {
                self.connections[at].ours.end();
                let ended = self.connections.swap_remove(at);
                ended.ends_for_the_peer().await;
            }
        }
    }
}

impl Ours {
    fn end(&mut self) {
        if let Ours::Fast(task) = std::mem::replace(self, Ours::Dropped) {
            task.abort();
        }
    }
}

impl Connection {
    fn peer_sends(&mut self, amount: u64) {
        let Some(theirs) = &mut self.theirs else {
            return;
        };
        let end = self.peer_sent + amount;
        while self.peer_sent < end {
            let piece = bytes(
                self.number,
                self.peer_sent,
                (end - self.peer_sent).min(65_536),
            );
            match theirs.write(piece) {
                Ok(length) => self.peer_sent += length as u64,
                Err(_) => return,
            }
        }
    }

    fn peer_reads(&mut self, amount: u64) {
        let Some(theirs) = &mut self.theirs else {
            return;
        };
        let mut piece = vec![0; amount as usize];
        if let Ok(length) = theirs.read(&mut piece) {
            check(!self.number, &mut self.peer_read, &piece[..length]);
        }
    }

    fn reads(&mut self, amount: u64) {
        let Ours::Slow { stream, read } = &mut self.ours else {
            return;
        };
        let mut piece = vec![0; amount as usize];
        let mut buffer = ReadBuf::new(&mut piece);
        let mut cx = Context::from_waker(Waker::noop());
        if let Poll::Ready(Ok(())) = Pin::new(stream).poll_read(&mut cx, &mut buffer) {
            check(self.number, read, buffer.filled());
            assert!(*read <= self.peer_sent);
        }
    }

    /// Checks a stream like a pool of idle connections, which drops disturbed streams.
    fn check_idle(&mut self) {
        let Ours::Slow { stream, read } = &mut self.ours else {
            return;
        };
        if stream.is_disturbed() {
            assert!(self.peer_sent > *read || self.theirs.is_none());
            self.ours = Ours::Dropped;
        }
    }

    fn writes(&mut self, amount: u64) {
        let Ours::Slow { stream, .. } = &mut self.ours else {
            return;
        };
        let mut cx = Context::from_waker(Waker::noop());
        let piece = bytes(!self.number, self.written, amount);
        if let Poll::Ready(Ok(length)) = Pin::new(stream).poll_write(&mut cx, piece) {
            self.written += length as u64;
        }
    }

    /// Called after our end was dropped. The peer must receive all written bytes in order and then the
    /// end of the stream, which shows that the descriptor was closed.
    async fn ends_for_the_peer(mut self) {
        let Some(mut theirs) = self.theirs.take() else {
            return;
        };
        // The kernel resets a connection with unread bytes, and the reset also discards bytes that were
        // sent.
        let is_complete = self.peer_sent == 0 && self.written - self.peer_read <= ALWAYS_FITS;
        let deadline = Instant::now() + PATIENCE;
        let mut piece = vec![0; PERIOD as usize];
        loop {
            match theirs.read(&mut piece) {
                Ok(0) => break,
                Ok(length) => check(!self.number, &mut self.peer_read, &piece[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    assert!(Instant::now() < deadline, "{} is not closed", self.number);
                    pause().await;
                }
                Err(_) => return,
            }
        }
        assert!(self.peer_read <= self.written);
        assert!(!is_complete || self.peer_read == self.written);
    }
}

/// Closes with a reset.
fn reset(peer: Option<TcpStream>) {
    if let Some(peer) = peer {
        let socket = tokio::net::TcpStream::from_std(peer).unwrap();
        socket.set_zero_linger().unwrap();
    }
}

async fn read_all(mut stream: Plain, number: u64) {
    let (mut read, mut piece) = (0, vec![0; 3_000]);
    while let Ok(length) = stream.read(&mut piece).await
        && length > 0
    {
        check(number, &mut read, &piece[..length]);
        yield_now().await;
    }
}

/// Lets other tasks, the driver and the reactor run.
async fn pause() {
    tokio::time::sleep(Duration::from_micros(200)).await;
}

/// A round trip of four bytes on a connection whose peer keeps up. Only wakes drive it.
async fn exchange((ours, theirs): &mut (Plain, TcpStream), number: u32) {
    let sent = number.to_be_bytes();
    let both = async {
        ours.write_all(&sent).await.unwrap();
        let (mut received, mut length) = ([0; 4], 0);
        while length < 4 {
            match theirs.read(&mut received[length..]) {
                Ok(more) => length += more,
                Err(_) => pause().await,
            }
        }
        theirs.write_all(&received).unwrap();
        ours.read_exact(&mut received).await.unwrap();
        assert_eq!(received, sent);
    };
    let ended = tokio::time::timeout(PATIENCE, both).await;
    ended.expect("the healthy connection failed");
}

/// Runs one schedule. Returns the connections that were still open when the event loop stopped.
async fn schedule(mode: Mode, seed: u64) -> Vec<Connection> {
    let mut model = match Model::new(mode, seed) {
        Ok(model) => model,
        // The kernel does not allow rings, so there is nothing to test.
        Err(_) if mode != Mode::Epoll => return Vec::new(),
        Err(error) => panic!("{error}"),
    };
    let mut healthy = model.open().await;
    for _ in 0..STEPS {
        model.step(&mut healthy).await;
    }
    exchange(&mut healthy, 7).await;
    if seed.is_multiple_of(2) {
        // The loop stopped with operations in flight.
        return model.connections;
    }
    drop(healthy);
    for mut connection in std::mem::take(&mut model.connections) {
        connection.ours.end();
        connection.ends_for_the_peer().await;
    }
    let deadline = Instant::now() + PATIENCE;
    while let Some(ring) = &model.ring
        && ring.sockets() > 0
    {
        assert!(Instant::now() < deadline, "{} sockets", ring.sockets());
        pause().await;
    }
    assert_eq!(model.mode, mode);
    Vec::new()
}

/// Each schedule has its own event loop, like each worker of a run.
fn run(mode: Mode, seed: u64) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let stopped = tokio::task::LocalSet::new().block_on(&runtime, schedule(mode, seed));
    // The task set was dropped, with its tasks and the driver.
    runtime.block_on(async {
        for mut connection in stopped {
            connection.ours.end();
            connection.ends_for_the_peer().await;
        }
    });
}

fn all(mode: Mode) {
    for seed in 0..SCHEDULES {
        let result = std::panic::catch_unwind(|| run(mode, seed));
        assert!(result.is_ok(), "{mode:?}, seed {seed}: see above");
    }
}

#[test]
fn random_schedules_on_epoll() {
    all(Mode::Epoll);
}

#[test]
fn random_schedules_on_a_ring() {
    all(Mode::Uring);
}

#[test]
fn random_schedules_on_a_ring_that_overflows() {
    all(Mode::SmallUring);
}
