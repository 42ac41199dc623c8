//! A relay between a program and the NATS server that a test can cut, freeze and slow down.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::Duration;

/// The state of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    Open,
    /// Closes existing and new connections.
    Cut,
    /// Keeps connections open, but forwards nothing.
    Frozen,
    /// Forwards a few kilobytes per second.
    Slow,
}

/// Relays connections to a server.
pub struct Relay {
    address: SocketAddr,
    state: Arc<AtomicU8>,
}

const CLOSED: u8 = 255;

impl Relay {
    pub fn start(server: SocketAddr) -> Relay {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(AtomicU8::new(Network::Open as u8));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let state = shared.load(Ordering::SeqCst);
                if state == CLOSED {
                    return;
                }
                if state == Network::Cut as u8 {
                    continue;
                }
                // Without a server, the connection is closed.
                let Ok(server) = TcpStream::connect(server) else {
                    continue;
                };
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let state = Arc::clone(&shared);
                    thread::spawn(move || copy(from, to, &state));
                }
            }
        });
        Relay { address, state }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn set(&self, network: Network) {
        self.state.store(network as u8, Ordering::SeqCst);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.state.store(CLOSED, Ordering::SeqCst);
        // This wakes the listener, which then exits.
        let _ = TcpStream::connect(self.address);
    }
}

/// Copies bytes until one side closes or the network is cut.
fn copy(mut from: TcpStream, mut to: TcpStream, state: &AtomicU8) {
    let pause = Duration::from_millis(20);
    from.set_read_timeout(Some(pause)).unwrap();
    let mut buffer = [0; 16 << 10];
    loop {
        let now = state.load(Ordering::SeqCst);
        if now == Network::Cut as u8 || now == CLOSED {
            break;
        }
        if now == Network::Frozen as u8 {
            thread::sleep(pause);
            continue;
        }
        let most = if now == Network::Slow as u8 {
            thread::sleep(pause);
            512
        } else {
            buffer.len()
        };
        match from.read(&mut buffer[..most]) {
            Ok(0) => break,
            Ok(length) => {
                if to.write_all(&buffer[..length]).is_err() {
                    break;
                }
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => break,
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
