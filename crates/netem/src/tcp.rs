//! TCP through a link.

use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use plimsoll_engine::timer::{sleep, sleep_until};
use plimsoll_units::{Bytes, Moment};
use tokio::net::tcp::OwnedReadHalf;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Mutex;

use crate::account::{Account, Direction};
use crate::arrival::{self, Received};
use crate::deliveries::{Deliveries, Outgoing};
use crate::line::{Flow, Line};
use crate::queue::Piece;

/// State that a relay's connections and packets share: both directions of the network path, and the statistics.
#[derive(Debug)]
pub struct Way {
    pub link: crate::Link,
    pub forward: RefCell<Line>,
    pub backward: RefCell<Line>,
    pub account: Account,
    /// The shared read buffer, from which data is copied to memory of its own: waiting connections hold no buffers.
    scratch: RefCell<Vec<u8>>,
    deliveries: Deliveries,
    /// The turn to wait for a line whose buffer is full: first come, first served.
    forward_turn: Mutex<()>,
    backward_turn: Mutex<()>,
}

impl Way {
    /// A path without traffic. Equal seeds give the same jitter and losses.
    pub fn new(link: crate::Link, seed: u64) -> Self {
        Way {
            link,
            forward: RefCell::new(Line::new(link, seed)),
            backward: RefCell::new(Line::new(link, seed.wrapping_add(1))),
            account: Account::default(),
            scratch: RefCell::new(vec![0; piece_size(&link)]),
            deliveries: Deliveries::default(),
            forward_turn: Mutex::new(()),
            backward_turn: Mutex::new(()),
        }
    }

    /// Writes pieces that are due, which comes before anything else.
    fn catch_up(&self) {
        self.deliveries.catch_up(|side| side.account(self));
    }
}

/// Bytes of one connection that may be in transit in one direction: a window of TCP.
const WINDOW: usize = 16 << 20;
/// Longest wait for the line to be free before senders are blocked, like a router's buffer.
pub(crate) const BUFFER: Duration = Duration::from_millis(20);
/// Limits one read: with a bandwidth limit, a piece is at most what the line transmits in this time.
const SMOOTH: Duration = Duration::from_micros(200);
const LARGEST: usize = 64 << 10;
const SMALLEST: usize = 1448;
/// Most simultaneous connections; more wait to be accepted.
pub const MOST: usize = 20_000;
/// Length of the accept queue. The kernel lowers this to `net.core.somaxconn`. A client that finds the queue full tries
/// again after a second, which no network with the configured delay would do.
const WAITING: u32 = 65_535;

/// A listener whose accept queue is as long as the system allows.
///
/// # Errors
/// If the address cannot be bound.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    // Like all listeners of the runtime: an address can be reused as soon as nothing listens there.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    let listener = socket.listen(WAITING)?;
    // Accepted connections inherit it, so even bytes that arrived before they were accepted have a timestamp.
    arrival::date(&listener);
    Ok(listener)
}

/// Relays every incoming connection as long as it is polled.
pub async fn relay(listener: TcpListener, target: SocketAddr, way: Rc<Way>) -> io::Result<()> {
    tokio::select! {
        ended = accept_all(listener, target, &way) => ended,
        () = deliver(&way) => Ok(()),
    }
}

async fn deliver(way: &Way) {
    loop {
        way.deliveries.wait().await;
        way.catch_up();
    }
}

async fn accept_all(listener: TcpListener, target: SocketAddr, way: &Rc<Way>) -> io::Result<()> {
    let places = std::sync::Arc::new(tokio::sync::Semaphore::new(MOST));
    loop {
        let Ok(place) = std::sync::Arc::clone(&places).acquire_owned().await else {
            return Ok(());
        };
        match listener.accept().await {
            Ok((client, _)) => {
                let accepted = plimsoll_clock::now();
                let way = Rc::clone(way);
                way.catch_up();
                tokio::task::spawn_local(async move {
                    pass_on(client, accepted, target, &way).await;
                    drop(place);
                });
            }
            // The client disconnected before it was accepted, or no descriptor is free: wait and try again.
            Err(_) => {
                let failures = &way.account.accept_failures;
                failures.set(failures.get() + 1);
                sleep(Duration::from_millis(10)).await;
            }
        }
    }
}

async fn pass_on(client: TcpStream, accepted: Moment, target: SocketAddr, way: &Rc<Way>) {
    way.account
        .connections
        .set(way.account.connections.get() + 1);
    way.catch_up();
    // The kernel completed the handshake before we accepted the connection, in a burst long before. The timestamps of
    // early bytes show closely when that was.
    let early = arrival::receive_early(&client, &mut way.scratch.borrow_mut());
    let connected = early
        .as_ref()
        .map_or(accepted, |early| early.arrived.min(accepted));
    way.catch_up();
    let server = match connect(target).await {
        Ok(server) => server,
        Err(_) => {
            way.account
                .unreachable
                .set(way.account.unreachable.get() + 1);
            // The client receives the refusal one round trip later, as a reset.
            sleep_until(connected + way.link.round_trip).await;
            let _ = client.set_zero_linger();
            return;
        }
    };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let forward = Incoming {
        socket: from_client,
        early,
        // Adds the handshake's round trip, because the kernel completed the handshake locally.
        open: connected + way.link.round_trip,
    };
    let backward = Incoming {
        socket: from_server,
        early: None,
        // A server sees the connection when the handshake's last packet has arrived, now at the earliest.
        open: connected + (way.link.round_trip * 3 / 2 - way.link.jitter / 2),
    };
    tokio::join!(
        carry(forward, Outgoing::new(to_server, Side::Forward), way),
        carry(backward, Outgoing::new(to_client, Side::Backward), way),
    );
}

async fn connect(target: SocketAddr) -> io::Result<TcpStream> {
    let socket = match target {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    arrival::date(&socket);
    socket.connect(target).await
}

/// The receiving end of one direction of a connection.
struct Incoming {
    socket: OwnedReadHalf,
    /// Data that arrived before the connection was accepted.
    early: Option<Received>,
    /// When bytes may enter the line: over a real network none could be sent earlier.
    open: Moment,
}

/// A direction.
#[derive(Clone, Copy, Debug)]
pub enum Side {
    Forward,
    Backward,
}

impl Side {
    fn line(self, way: &Way) -> &RefCell<Line> {
        match self {
            Side::Forward => &way.forward,
            Side::Backward => &way.backward,
        }
    }

    fn turn(self, way: &Way) -> &Mutex<()> {
        match self {
            Side::Forward => &way.forward_turn,
            Side::Backward => &way.backward_turn,
        }
    }

    fn account(self, way: &Way) -> &Direction {
        match self {
            Side::Forward => &way.account.forward,
            Side::Backward => &way.account.backward,
        }
    }
}

/// Relays one direction of a connection, until its end has left the line.
async fn carry(from: Incoming, to: Rc<Outgoing>, way: &Way) {
    tokio::select! {
        // The end of the incoming data is in transit, and its delivery ends this function.
        () = async { take_in(from, &to, way).await; std::future::pending::<()>().await } => {}
        // An error also ends it, because nobody reads the rest.
        _ = to.finish(to.side.account(way)) => way.catch_up(),
    }
}

async fn take_in(mut from: Incoming, to: &Rc<Outgoing>, way: &Way) {
    let line = to.side.line(way);
    let mut flow = Flow::default();
    // Bytes reserve the shared line only when they are available to it, so that other connections can use it meanwhile.
    sleep_until(from.open).await;
    loop {
        to.room(WINDOW).await;
        let is_readable = match from.early {
            Some(_) => Ok(()),
            None => arrival::readable(from.socket.as_ref()).await,
        };
        wait_for_line(line, to.side.turn(way)).await;
        way.catch_up();
        let received = match from.early.take() {
            Some(early) => Ok(Some(early)),
            None => is_readable.and_then(|()| {
                arrival::receive(from.socket.as_ref(), &mut way.scratch.borrow_mut())
            }),
        };
        let (piece, size, arrived) = match received {
            Ok(Some(Received { bytes, arrived })) if !bytes.is_empty() => {
                let size = Bytes(bytes.len() as u64);
                (Piece::Data(bytes), size, arrived)
            }
            Ok(None) => continue,
            Ok(Some(_)) | Err(_) => (Piece::End, Bytes(0), plimsoll_clock::now()),
        };
        let ended = matches!(piece, Piece::End);
        let entered = arrived.max(from.open);
        let due = line.borrow_mut().stream(&mut flow, entered, size);
        way.deliveries.push(to, due, piece);
        if ended {
            return;
        }
    }
}

/// Waits until the line's buffer has space. First come, first served, as in the buffer itself; only the first one
/// checks.
async fn wait_for_line(line: &RefCell<Line>, turn: &Mutex<()>) {
    let _turn = turn.lock().await;
    loop {
        let backlog = line.borrow().backlog(plimsoll_clock::now());
        if backlog <= BUFFER {
            return;
        }
        sleep(backlog - BUFFER).await;
    }
}

fn piece_size(link: &crate::Link) -> usize {
    let Some(rate) = link.rate else {
        return LARGEST;
    };
    let smooth = u128::from(rate.get()) * SMOOTH.as_nanos() / 8 / 1_000_000_000;
    usize::try_from(smooth)
        .unwrap_or(LARGEST)
        .clamp(SMALLEST, LARGEST)
}
