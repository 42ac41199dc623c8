//! Relays TCP connections through a link.

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use plimsoll_engine::timer::{sleep, sleep_until};
use plimsoll_units::{Bytes, Moment};
use tokio::net::tcp::OwnedReadHalf;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::account::Side;
use crate::arrival::{self, Received};
use crate::deliveries::Outgoing;
use crate::path::{Entry, NetworkPath};
use crate::queue::Piece;
use crate::sockets::Sockets;

/// Bytes of one connection that may be in transit in one direction. This corresponds to a TCP
/// window.
const WINDOW: usize = 16 << 20;
/// A connection is read without waiting while fewer of its pieces than this wait for the line. This
/// covers a short message and the end of the stream. So short exchanges wait only for the line, not
/// also for their turn to be read.
const READ_AHEAD: u32 = 2;
/// Maximum number of simultaneous connections; more wait to be accepted.
pub const MAX_CONNECTIONS: usize = 20_000;
/// Number of connections that are accepted before other ready tasks run. Setting up a connection
/// takes about 50 µs, so in a burst, hundreds of them would delay timers and bytes. The others wait
/// in the kernel's queue. Waiting there does no harm, because the kernel timestamps the bytes that
/// arrive on them.
const ACCEPTS_PER_TURN: u32 = 16;
/// Length of the accept queue. The kernel limits it to `net.core.somaxconn`. A client that finds
/// the queue full tries again after a second, which would not happen in a network with the
/// configured delay.
const BACKLOG: u32 = 65_535;

/// Creates a listener whose accept queue is as long as the system allows.
///
/// # Errors
/// If the address cannot be bound.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    // Like all listeners of the runtime: an address can be reused as soon as nothing listens on it.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.set_nodelay(true)?;
    socket.bind(address)?;
    let listener = socket.listen(BACKLOG)?;
    // Accepted connections inherit both, so even bytes that arrived before they were accepted have a timestamp.
    arrival::date(&listener);
    Ok(listener)
}

/// Relays every incoming connection. Runs until the future is dropped.
pub async fn relay(
    listener: TcpListener,
    target: SocketAddr,
    path: Rc<NetworkPath>,
) -> io::Result<()> {
    let sockets = Rc::new(Sockets::new(target));
    tokio::select! {
        ended = accept_all(listener, &sockets, &path) => ended,
        () = path.deliver() => Ok(()),
        () = path.end_streams() => Ok(()),
        () = sockets.prepare() => Ok(()),
    }
}

async fn accept_all(
    listener: TcpListener,
    sockets: &Rc<Sockets>,
    path: &Rc<NetworkPath>,
) -> io::Result<()> {
    let places = std::sync::Arc::new(tokio::sync::Semaphore::new(MAX_CONNECTIONS));
    let mut at_once = 0;
    loop {
        let Ok(place) = std::sync::Arc::clone(&places).acquire_owned().await else {
            return Ok(());
        };
        match listener.accept().await {
            Ok((client, _)) => {
                let accepted = plimsoll_clock::now();
                let (path, sockets) = (Rc::clone(path), Rc::clone(sockets));
                path.catch_up();
                tokio::task::spawn_local(async move {
                    relay_connection(client, accepted, &sockets, &path).await;
                    drop(place);
                });
                at_once += 1;
                if at_once == ACCEPTS_PER_TURN {
                    at_once = 0;
                    tokio::task::yield_now().await;
                }
            }
            // The client disconnected before it was accepted, or no descriptor is free: wait and try again.
            Err(_) => {
                let failures = &path.account.accept_failures;
                failures.set(failures.get() + 1);
                sockets.close_spares();
                sleep(Duration::from_millis(10)).await;
            }
        }
    }
}

async fn relay_connection(
    client: TcpStream,
    accepted: Moment,
    sockets: &Sockets,
    path: &Rc<NetworkPath>,
) {
    path.account
        .connections
        .set(path.account.connections.get() + 1);
    path.catch_up();
    // The kernel completed the handshake before we accepted the connection; in a burst, long before.
    // The timestamps of early bytes show approximately when.
    let early = arrival::receive_early(&client, &mut path.scratch.borrow_mut());
    let connected = early
        .as_ref()
        .map_or(accepted, |early| early.arrived.min(accepted));
    path.catch_up();
    let server = match sockets.connect().await {
        Ok(server) => server,
        Err(_) => {
            path.account
                .unreachable
                .set(path.account.unreachable.get() + 1);
            // The client receives the refusal one round trip later, as a reset.
            sleep_until(connected + path.link.round_trip).await;
            let _ = client.set_zero_linger();
            return;
        }
    };
    // On Linux the connection has inherited this option.
    #[cfg(not(target_os = "linux"))]
    let _ = client.set_nodelay(true);
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let forward = Incoming {
        socket: from_client,
        early,
        // Add the handshake's round trip, because the kernel completed the handshake locally.
        open: connected + path.link.round_trip,
    };
    let backward = Incoming {
        socket: from_server,
        early: None,
        // A server sees the connection when the last packet of the handshake arrives, and cannot send
        // earlier.
        open: connected + (path.link.round_trip * 3 / 2 - path.link.jitter / 2),
    };
    let exchange = Rc::default();
    let forward_to = Outgoing::new(to_server, Side::Forward, Rc::clone(&exchange));
    let backward_to = Outgoing::new(to_client, Side::Backward, exchange);
    tokio::join!(
        relay_direction(forward, forward_to, path),
        relay_direction(backward, backward_to, path),
    );
}

/// The receiving side of one direction of a connection.
struct Incoming {
    socket: OwnedReadHalf,
    /// Data that arrived before the connection was accepted.
    early: Option<Received>,
    /// When bytes may enter the line: a real network would deliver no byte earlier.
    open: Moment,
}

/// Relays one direction of a connection until its end has left the line.
async fn relay_direction(from: Incoming, to: Rc<Outgoing>, path: &NetworkPath) {
    tokio::select! {
        // The end of the incoming data is in transit. When it is delivered, this function returns.
        () = async { read_direction(from, &to, path).await; std::future::pending::<()>().await } => {}
        // An error also ends the direction, because nobody reads the rest.
        _ = to.finish(path.direction(to.side)) => path.catch_up(),
    }
}

async fn read_direction(mut from: Incoming, to: &Rc<Outgoing>, path: &NetworkPath) {
    let is_limited = path.link.rate.is_some();
    if is_limited {
        // Bytes reserve the shared line only when it can transmit them, so other connections can use it
        // meanwhile.
        sleep_until(from.open).await;
    }
    loop {
        to.wait_for_space(WINDOW).await;
        let is_readable = match from.early {
            Some(_) => Ok(()),
            None => arrival::readable(from.socket.as_ref()).await,
        };
        if to.waiting.get() >= READ_AHEAD {
            path.wait_for_line(to.side).await;
        }
        path.catch_up();
        let received = match from.early.take() {
            Some(early) => Ok(Some(early)),
            None => is_readable.and_then(|()| {
                arrival::receive(from.socket.as_ref(), &mut path.scratch.borrow_mut())
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
        path.enter(to.side, entered, size, Entry::Stream(Rc::clone(to), piece));
        if ended {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_units::BitRate;
    use tokio::io::AsyncWriteExt;
    use tokio::task::{LocalSet, yield_now};

    const CONNECTIONS: usize = 50;

    /// Even on a line that is busy for seconds, the first request of every connection is queued for the line immediately.
    #[test]
    fn the_first_piece_of_a_connection_does_not_wait_for_a_turn() -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let work = plimsoll_engine::timer::run_with_timers(short_requests());
        LocalSet::new().block_on(&runtime, work)?
    }

    async fn short_requests() -> io::Result<()> {
        let any = SocketAddr::from((std::net::Ipv4Addr::LOCALHOST, 0));
        let server = listen(any)?;
        let listener = listen(any)?;
        let mut clients = Vec::new();
        for _ in 0..CONNECTIONS {
            let mut client = TcpStream::connect(listener.local_addr()?).await?;
            // 80 ms of transmission time.
            client.write_all(&[0; 1_000]).await?;
            clients.push(client);
        }
        let link = crate::Link {
            round_trip: Duration::from_millis(1),
            jitter: Duration::ZERO,
            rate: BitRate::new(100_000),
            loss: 0.0,
        };
        let path = Rc::new(NetworkPath::new(link, 1));
        let mut most = 0;
        let queued = async {
            let end = plimsoll_clock::now() + Duration::from_secs(3);
            while most < CONNECTIONS - 5 && plimsoll_clock::now() < end {
                yield_now().await;
                most = most.max(path.in_transit());
            }
        };
        tokio::select! {
            ended = relay(listener, server.local_addr()?, Rc::clone(&path)) => ended?,
            () = queued => {}
        }
        // Some pieces may have left before the last ones were read.
        assert!(most >= CONNECTIONS - 5, "{most} pieces in transit");
        Ok(())
    }
}
