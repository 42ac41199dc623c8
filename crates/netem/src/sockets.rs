//! Sockets for connections to the target, created in advance.
//!
//! A relay is busiest during a burst of new connections. Creating a socket and setting its options
//! is a third of the work of setting up a connection, and it can be done before a client connects.
//! So the relay does it while it is idle.

use std::cell::{Cell, RefCell};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use plimsoll_engine::timer::sleep;
use plimsoll_units::Moment;
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::Notify;

use crate::arrival;

/// Maximum number of sockets created in advance. Further sockets are created when they are needed.
pub const MAX_SOCKETS: usize = 1_024;
/// Sockets created in advance may use one in this number of the permitted descriptors.
const SHARE: u64 = 8;
/// The relay is idle if it has not opened a connection for this long.
const IDLE_AFTER: Duration = Duration::from_millis(200);
/// Number of sockets created before other tasks may run.
const SOCKETS_PER_TURN: usize = 16;

/// Unconnected sockets for one target.
#[derive(Debug)]
pub struct Sockets {
    target: SocketAddr,
    limit: usize,
    ready: RefCell<Vec<TcpSocket>>,
    last_use: Cell<Moment>,
    used: Notify,
}

impl Sockets {
    /// Sockets for connections to `target`. Creates none yet.
    pub fn new(target: SocketAddr) -> Self {
        Sockets {
            target,
            limit: limit(),
            ready: RefCell::default(),
            last_use: Cell::new(Moment::ZERO),
            used: Notify::new(),
        }
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// If no socket can be created, or the target cannot be reached.
    pub async fn connect(&self) -> io::Result<TcpStream> {
        self.last_use.set(plimsoll_clock::now());
        self.used.notify_one();
        let ready = self.ready.borrow_mut().pop();
        let socket = ready.map_or_else(|| self.make(), Ok)?;
        socket.connect(self.target).await
    }

    fn make(&self) -> io::Result<TcpSocket> {
        let socket = match self.target {
            SocketAddr::V4(_) => TcpSocket::new_v4(),
            SocketAddr::V6(_) => TcpSocket::new_v6(),
        }?;
        arrival::date(&socket);
        // Without this option, the kernel would add its own delays.
        let _ = socket.set_nodelay(true);
        Ok(socket)
    }

    /// Closes the sockets that were created in advance, because their descriptors are needed.
    pub fn close_spares(&self) {
        self.ready.borrow_mut().clear();
    }

    /// Creates sockets while the relay is idle. Runs until the future is dropped.
    pub async fn prepare(&self) {
        loop {
            loop {
                let idle = plimsoll_clock::now().since(self.last_use.get());
                if idle >= IDLE_AFTER {
                    break;
                }
                sleep(IDLE_AFTER - idle).await;
            }
            while self.ready.borrow().len() < self.limit {
                let made: io::Result<Vec<TcpSocket>> =
                    (0..SOCKETS_PER_TURN).map(|_| self.make()).collect();
                let Ok(made) = made else { break };
                self.ready.borrow_mut().extend(made);
                tokio::task::yield_now().await;
            }
            self.used.notified().await;
        }
    }
}

#[cfg(target_os = "linux")]
fn limit() -> usize {
    let permitted = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let share = permitted.map_or(u64::MAX, |count| count / SHARE);
    usize::try_from(share).map_or(MAX_SOCKETS, |share| share.min(MAX_SOCKETS))
}

#[cfg(not(target_os = "linux"))]
fn limit() -> usize {
    // The usual limit is 256.
    256 / SHARE as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp;
    use tokio::task::{LocalSet, yield_now};

    #[test]
    fn sockets_are_created_while_the_relay_is_idle_and_used_first() -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let work = plimsoll_engine::timer::run_with_timers(prepare_and_use());
        LocalSet::new().block_on(&runtime, work)?
    }

    async fn prepare_and_use() -> io::Result<()> {
        let server = tcp::listen(SocketAddr::from(([127, 0, 0, 1], 0)))?;
        let sockets = Sockets::new(server.local_addr()?);
        let ready = || sockets.ready.borrow().len();
        let all_are_made = async {
            while ready() < sockets.limit {
                yield_now().await;
            }
        };
        tokio::select! {
            () = sockets.prepare() => {}
            () = all_are_made => {}
        }
        let made = ready();
        let client = sockets.connect().await?;
        assert_eq!(ready(), made - 1);
        let (accepted, _) = server.accept().await?;
        assert!(client.nodelay()?);
        // On Linux, accepted connections inherit the option from the listener.
        assert!(accepted.nodelay()? || cfg!(not(target_os = "linux")));
        sockets.close_spares();
        sockets.connect().await?;
        Ok(())
    }
}
