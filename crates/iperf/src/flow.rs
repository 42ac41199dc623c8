//! An active stream: its socket, its thread, and its counters.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use socket2::SockRef;

use crate::block::Block;
use crate::datagram::{self, Arrivals};
use crate::error::Error;
use crate::kernel::{self, TcpState};
use crate::pacer::Pacer;
use crate::report::Role;
use crate::test::{End, Protocol, Test};

/// A connected socket of either protocol.
#[derive(Debug)]
pub enum Wire {
    Tcp(TcpStream),
    Udp(UdpSocket),
}

/// The amount that a stream may still send.
#[derive(Debug)]
pub struct Budget(Option<AtomicU64>);

/// One stream.
pub struct Flow {
    pub id: u32,
    pub sending: bool,
    pub local: SocketAddr,
    pub remote: SocketAddr,
    wire: Arc<Wire>,
    counts: Arc<Counts>,
    thread: Option<JoinHandle<()>>,
}

/// The counters of a stream's thread.
#[derive(Debug, Default)]
struct Counts {
    bytes: AtomicU64,
    /// Datagrams sent.
    sent: AtomicU64,
    arrivals: Mutex<Arrivals>,
    stop: AtomicBool,
    failure: Mutex<Option<Error>>,
}

/// A snapshot of the counters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Snapshot {
    pub bytes: u64,
    pub packets: u64,
    pub lost: u64,
    pub out_of_order: u64,
    pub jitter: Duration,
    pub tcp: Option<TcpState>,
}

/// Maximum number of bytes that a reader waits for: the default length of a block.
const MAX_WAKE: usize = 128 << 10;
/// A stream that has received this many bytes by the first check is fast, so its reader waits for
/// whole blocks.
const FAST: u64 = 64 << 20;
/// Factor by which a server may exceed a fixed number of datagrams. At 99 % loss, this is enough
/// for the client to receive the full number.
const REPEATS: u64 = 100;
/// Longest time that a thread sleeps in the kernel before it checks whether to stop.
const STOP_CHECK: Duration = Duration::from_millis(100);

impl Budget {
    /// The share of one of `streams` that send. iperf3 sends a block on each stream in turn, so all send about the same.
    pub fn share(test: &Test, role: Role, stream: u64, streams: u64) -> Self {
        let part = |all: u64| all / streams.max(1) + u64::from(stream < all % streams.max(1));
        let bytes = match test.end {
            End::Time(_) => return Budget(None),
            End::Bytes(bytes) => part(bytes),
            End::Blocks(blocks) => part(blocks).saturating_mul(test.length as u64),
        };
        // The client ends the test when it has received the amount. If datagrams are lost, the server has
        // to send more than the amount. iperf3's server also sends until the client ends the test.
        let repeats = match (role, test.protocol) {
            (Role::Server, Protocol::Udp) => REPEATS,
            _ => 1,
        };
        Budget(Some(AtomicU64::new(bytes.saturating_mul(repeats))))
    }

    /// Reserves up to `length` bytes. Zero means that nothing is left.
    fn take(&self, length: usize) -> usize {
        let Some(left) = &self.0 else {
            return length;
        };
        let length = length as u64;
        let before = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            Some(left.saturating_sub(length))
        });
        before.map_or(0, |left| left.min(length)) as usize
    }

    pub fn is_spent(&self) -> bool {
        self.0
            .as_ref()
            .is_some_and(|left| left.load(Ordering::Relaxed) == 0)
    }
}

impl Flow {
    pub fn new(wire: Wire, id: u32, sending: bool) -> Result<Self, Error> {
        let (local, remote) = match &wire {
            Wire::Tcp(socket) => (socket.local_addr(), socket.peer_addr()),
            Wire::Udp(socket) => (socket.local_addr(), socket.peer_addr()),
        };
        let failed = |error: io::Error| Error::io("unable to create a new stream", &error);
        let set = match &wire {
            Wire::Tcp(socket) => socket
                .set_read_timeout(Some(STOP_CHECK))
                .and_then(|()| socket.set_write_timeout(Some(STOP_CHECK))),
            Wire::Udp(socket) => socket
                .set_read_timeout(Some(STOP_CHECK))
                .and_then(|()| socket.set_write_timeout(Some(STOP_CHECK))),
        };
        set.map_err(failed)?;
        Ok(Flow {
            id,
            sending,
            local: plain(local.map_err(failed)?),
            remote: plain(remote.map_err(failed)?),
            wire: Arc::new(wire),
            counts: Arc::default(),
            thread: None,
        })
    }

    /// The socket's number, which the output shows for the stream.
    pub fn number(&self) -> i32 {
        match &*self.wire {
            Wire::Tcp(socket) => socket.as_raw_fd(),
            Wire::Udp(socket) => socket.as_raw_fd(),
        }
    }

    pub fn socket(&self) -> SockRef<'_> {
        match &*self.wire {
            Wire::Tcp(socket) => SockRef::from(socket),
            Wire::Udp(socket) => SockRef::from(socket),
        }
    }

    /// Starts the stream's thread.
    pub fn start(&mut self, test: &Test, budget: &Arc<Budget>) -> Result<(), Error> {
        let (wire, counts) = (Arc::clone(&self.wire), Arc::clone(&self.counts));
        let (test, budget) = (test.clone(), Arc::clone(budget));
        let sending = self.sending;
        let work = move || {
            let outcome = match (&*wire, sending) {
                (Wire::Tcp(socket), true) => send_stream(socket, &test, &budget, &counts),
                (Wire::Tcp(socket), false) => receive_stream(socket, &test, &counts),
                (Wire::Udp(socket), true) => send_datagrams(socket, &test, &budget, &counts),
                (Wire::Udp(socket), false) => receive_datagrams(socket, &test, &counts),
            };
            if let Err(error) = outcome
                && !counts.is_stopped()
            {
                let doing = if sending {
                    "unable to write to stream socket"
                } else {
                    "unable to read from stream socket"
                };
                *lock(&counts.failure) = Some(Error::io(doing, &error));
            }
        };
        let thread = std::thread::Builder::new()
            .name(format!("stream {}", self.id))
            .spawn(work);
        self.thread =
            Some(thread.map_err(|error| Error::io("cannot start a thread for a stream", &error))?);
        Ok(())
    }

    /// Whether the stream has sent or received everything.
    pub fn is_done(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Why the stream's thread ended early.
    pub fn failure(&self) -> Option<Error> {
        lock(&self.counts.failure).clone()
    }

    pub fn bytes(&self) -> u64 {
        self.counts.bytes.load(Ordering::Relaxed)
    }

    pub fn snapshot(&self) -> Snapshot {
        let arrivals = *lock(&self.counts.arrivals);
        let tcp = match &*self.wire {
            Wire::Tcp(socket) if self.sending => kernel::tcp_state(&SockRef::from(socket)),
            _ => None,
        };
        Snapshot {
            bytes: self.bytes(),
            packets: if self.sending {
                self.counts.sent.load(Ordering::Relaxed)
            } else {
                arrivals.packets
            },
            lost: arrivals.lost,
            out_of_order: arrivals.out_of_order,
            jitter: Duration::try_from_secs_f64(arrivals.jitter).unwrap_or_default(),
            tcp,
        }
    }

    /// Tells the thread to stop, which takes a moment.
    pub fn stop(&self) {
        self.counts.stop.store(true, Ordering::Relaxed);
    }

    /// Waits until the thread has ended.
    pub fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            // `failure` contains its error.
            let _ = thread.join();
        }
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        self.stop();
        self.join();
    }
}

impl Counts {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Converts an IPv4-mapped address to IPv4.
pub fn plain(address: SocketAddr) -> SocketAddr {
    match address.ip().to_canonical() {
        ip if ip.is_ipv4() => SocketAddr::new(ip, address.port()),
        // Return the address unchanged, to keep its scope.
        _ => address,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the call timed out only so that the thread can check whether to stop.
fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

fn send_stream(
    mut socket: &TcpStream,
    test: &Test,
    budget: &Budget,
    counts: &Counts,
) -> io::Result<()> {
    let block = Block::random_bytes(test.length);
    let mut pacer = Pacer::new(test.rate, test.burst, plimsoll_clock::now());
    loop {
        if !pacer.wait(test.length, &counts.stop) {
            return Ok(());
        }
        let size = budget.take(block.len());
        let mut left = &block[..size];
        if left.is_empty() {
            return Ok(());
        }
        while !left.is_empty() {
            match socket.write(left) {
                Ok(count) => {
                    counts.bytes.fetch_add(count as u64, Ordering::Relaxed);
                    left = left.get(count..).unwrap_or_default();
                }
                Err(error) if is_timeout(&error) => {}
                Err(error) => return Err(error),
            }
            if counts.is_stopped() {
                return Ok(());
            }
        }
    }
}

fn receive_stream(mut socket: &TcpStream, test: &Test, counts: &Counts) -> io::Result<()> {
    let mut block = Block::zeros(test.length);
    // The bytes that remain unread at the end are less than a block. That is little for a fast stream
    // but much for a slow one. It is too much if the test transfers a fixed number of bytes.
    let mut is_settled = !matches!(test.end, End::Time(_)) || test.rate.is_some();
    let mut received = 0_u64;
    while !counts.is_stopped() {
        match socket.read(&mut block) {
            Ok(0) => return Ok(()),
            Ok(count) => {
                counts.bytes.fetch_add(count as u64, Ordering::Relaxed);
                received += count as u64;
                if !is_settled && received >= FAST {
                    is_settled = true;
                    kernel::wake_at(&SockRef::from(socket), block.len().min(MAX_WAKE));
                }
            }
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn send_datagrams(
    socket: &UdpSocket,
    test: &Test,
    budget: &Budget,
    counts: &Counts,
) -> io::Result<()> {
    let mut block = Block::random_bytes(test.length);
    let began = plimsoll_clock::now();
    let mut pacer = Pacer::new(test.rate, test.burst, began);
    let mut number = 0;
    while pacer.wait(block.len(), &counts.stop) {
        if budget.take(block.len()) == 0 {
            return Ok(());
        }
        number += 1;
        loop {
            datagram::stamp(
                &mut block,
                plimsoll_clock::now().since(began),
                number,
                test.wide_counters,
            );
            match socket.send(&block) {
                Ok(count) => {
                    counts.bytes.fetch_add(count as u64, Ordering::Relaxed);
                    counts.sent.store(number, Ordering::Relaxed);
                    break;
                }
                // "Connection refused" belongs to an earlier datagram, and full kernel buffers are temporary.
                Err(error) if is_timeout(&error) || is_passing(&error) => {}
                Err(error) => return Err(error),
            }
            if counts.is_stopped() {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn is_passing(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ConnectionRefused || error.raw_os_error() == Some(libc::ENOBUFS)
}

fn receive_datagrams(socket: &UdpSocket, test: &Test, counts: &Counts) -> io::Result<()> {
    let mut block = vec![0; test.length.max(2048)];
    let began = plimsoll_clock::now();
    while !counts.is_stopped() {
        match socket.recv(&mut block) {
            Ok(count) => {
                let arrived = plimsoll_clock::now().since(began);
                // A datagram without a header, for example a client's repeated greeting, is not part of the test.
                let header = block
                    .get(..count)
                    .and_then(|got| datagram::read(got, test.wide_counters));
                if let Some((sent, number)) = header {
                    counts.bytes.fetch_add(count as u64, Ordering::Relaxed);
                    lock(&counts.arrivals).arrived(sent, arrived, number);
                }
            }
            Err(error) if is_timeout(&error) || is_passing(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(end: End, protocol: Protocol, role: Role) -> Budget {
        let test = Test {
            end,
            protocol,
            length: 300,
            ..Test::default()
        };
        Budget::share(&test, role, 0, 1)
    }

    #[test]
    fn streams_share_the_amount() {
        let test = Test {
            end: End::Bytes(1_000),
            length: 300,
            ..Test::default()
        };
        let taken = |stream| {
            let share = Budget::share(&test, Role::Client, stream, 3);
            (0..5).map(|_| share.take(300)).sum::<usize>()
        };
        assert_eq!([0, 1, 2].map(taken), [334, 333, 333]);
        let test = Test {
            end: End::Blocks(2),
            length: 300,
            ..Test::default()
        };
        let share = |stream| Budget::share(&test, Role::Client, stream, 3).take(1_000);
        assert_eq!([0, 1, 2].map(share), [300, 300, 0]);
    }

    #[test]
    fn a_budget_is_spent_to_the_byte() {
        let bytes = budget(End::Bytes(1_000), Protocol::Tcp, Role::Server);
        let taken: Vec<_> = (0..5).map(|_| bytes.take(300)).collect();
        assert_eq!(taken, [300, 300, 300, 100, 0]);
        assert!(bytes.is_spent());
        let blocks = budget(End::Blocks(2), Protocol::Udp, Role::Client);
        assert_eq!([0; 3].map(|_| blocks.take(300)), [300, 300, 0]);
        let time = End::Time(Duration::from_secs(1));
        let endless = budget(time, Protocol::Udp, Role::Server);
        assert_eq!(endless.take(300), 300);
        assert!(!endless.is_spent());
    }

    #[test]
    fn a_server_replaces_lost_datagrams_up_to_a_limit() {
        let blocks = budget(End::Blocks(2), Protocol::Udp, Role::Server);
        assert_eq!((0..1_000).filter(|_| blocks.take(300) > 0).count(), 200);
        assert!(blocks.is_spent());
    }
}
