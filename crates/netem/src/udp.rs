//! Relays UDP packets through a link: packets are delayed, lost, or dropped when the line's buffer
//! is full.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes as Buffer;
use plimsoll_engine::timer::{sleep, sleep_until};
use plimsoll_units::{Bytes, Moment};
use tokio::net::UdpSocket;

use crate::account::Side;
use crate::arrival;
use crate::path::{Entry, NetworkPath};
use crate::queue::Queue;

/// A client that has sent nothing for this long is removed.
const IDLE: Duration = Duration::from_secs(60);
/// Maximum number of simultaneous clients. Packets from other clients are dropped and counted.
const MAX_CLIENTS: usize = 1_024;
/// Bytes of one client that may be in transit in one direction.
const WINDOW: usize = 16 << 20;
/// Size of the largest possible packet.
const MAX_PACKET: usize = 65_536;

/// One client, with its packets in transit to the server.
struct Session {
    queue: Rc<Queue>,
    seen: std::cell::Cell<Moment>,
}

/// Relays packets in both directions until the future is dropped.
///
/// # Errors
/// If the listening socket fails.
pub async fn relay(socket: UdpSocket, target: SocketAddr, path: Rc<NetworkPath>) -> io::Result<()> {
    tokio::select! {
        ended = receive_all(socket, target, &path) => ended,
        () = path.deliver() => Ok(()),
    }
}

async fn receive_all(
    socket: UdpSocket,
    target: SocketAddr,
    path: &Rc<NetworkPath>,
) -> io::Result<()> {
    arrival::date(&socket);
    let socket = Rc::new(socket);
    let sessions: Rc<RefCell<HashMap<SocketAddr, Rc<Session>>>> = Rc::default();
    let mut buffer = vec![0; MAX_PACKET];
    loop {
        let (count, client, arrived) = match arrival::receive_packet(&socket, &mut buffer).await {
            Ok(received) => received,
            // An ICMP error for an earlier packet: nothing listens on its port. UDP has no connection to close.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => continue,
            Err(error) => return Err(error),
        };
        let known = sessions.borrow().get(&client).cloned();
        let session = match known {
            Some(session) => session,
            None if sessions.borrow().len() >= MAX_CLIENTS => {
                path.account.forward.crowded_out();
                continue;
            }
            None => {
                let Ok(upstream) = connected(target).await else {
                    path.account
                        .unreachable
                        .set(path.account.unreachable.get() + 1);
                    continue;
                };
                path.account.sessions.set(path.account.sessions.get() + 1);
                let session = Rc::new(Session {
                    queue: Rc::default(),
                    seen: std::cell::Cell::new(plimsoll_clock::now()),
                });
                sessions.borrow_mut().insert(client, Rc::clone(&session));
                let task = serve(
                    Rc::clone(&socket),
                    upstream,
                    client,
                    Rc::clone(&session),
                    Rc::clone(path),
                );
                let sessions = Rc::clone(&sessions);
                tokio::task::spawn_local(async move {
                    task.await;
                    sessions.borrow_mut().remove(&client);
                });
                session
            }
        };
        session.seen.set(plimsoll_clock::now());
        enter(
            path,
            Side::Forward,
            &session.queue,
            arrived,
            &buffer[..count],
        );
    }
}

/// Puts a packet on a line, unless the line's buffer is full.
fn enter(path: &NetworkPath, side: Side, to: &Rc<Queue>, arrived: Moment, packet: &[u8]) {
    if path.is_full(side, arrived) || to.bytes() > WINDOW {
        path.direction(side).crowded_out();
        return;
    }
    let size = Bytes(packet.len() as u64);
    let packet = Entry::Packet(Rc::clone(to), Buffer::copy_from_slice(packet));
    path.enter(side, arrived, size, packet);
}

/// Relays one client's packets to the server and back, until neither side has sent anything for
/// long enough.
async fn serve(
    socket: Rc<UdpSocket>,
    upstream: UdpSocket,
    client: SocketAddr,
    session: Rc<Session>,
    path: Rc<NetworkPath>,
) {
    let back = Rc::default();
    let out = async {
        loop {
            let (late, packet) = due(&session.queue).await;
            // An error means that nothing listens there now. That may change before the next packet.
            let _ = upstream.send(&packet).await;
            path.account.forward.wrote(Bytes(packet.len() as u64));
            path.account.forward.passed(late);
        }
    };
    let returning = async {
        let mut buffer = vec![0; MAX_PACKET];
        loop {
            match arrival::receive_packet(&upstream, &mut buffer).await {
                Ok((count, _, arrived)) => {
                    session.seen.set(plimsoll_clock::now());
                    enter(&path, Side::Backward, &back, arrived, &buffer[..count]);
                }
                Err(_) => sleep(Duration::from_millis(1)).await,
            }
        }
    };
    let back_out = async {
        loop {
            let (late, packet) = due(&back).await;
            let _ = socket.send_to(&packet, client).await;
            path.account.backward.wrote(Bytes(packet.len() as u64));
            path.account.backward.passed(late);
        }
    };
    let silence = async {
        loop {
            let idle = plimsoll_clock::now().since(session.seen.get());
            if idle >= IDLE {
                return;
            }
            sleep(IDLE - idle).await;
        }
    };
    tokio::select! {
        _ = out => {}
        _ = returning => {}
        _ = back_out => {}
        () = silence => {}
    }
}

/// Returns the next packet when it is due, and its lateness.
async fn due(queue: &Queue) -> (Duration, Buffer) {
    let (due, packet) = queue.next().await;
    sleep_until(due).await;
    (plimsoll_clock::now().since(due), packet)
}

async fn connected(target: SocketAddr) -> io::Result<UdpSocket> {
    let any: SocketAddr = match target {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(any).await?;
    socket.connect(target).await?;
    arrival::date(&socket);
    Ok(socket)
}
