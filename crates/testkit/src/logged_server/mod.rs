//! Servers with known behavior that log every request. The log is the ground truth with which
//! printed numbers are compared.
//!
//! One port serves HTTP/1.1 and WebSocket (raw bytes, one thread per connection), and a second port
//! serves gRPC (hyper). The servers share no code with the client.

mod behavior;
mod grpc;
mod grpc_stream;
mod http1;
mod log;
mod websocket;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

pub use behavior::Behavior;
pub use log::{Entry, Log, Outcome};

use behavior::SharedBehavior;
use log::Ledger;
use socket2::{Domain, Socket, Type};

/// Servers with the same behavior on two ports. They run until the process exits.
pub struct LoggedServer {
    http: SocketAddr,
    grpc: SocketAddr,
    ledger: Arc<Ledger>,
    /// Reserves the ports of a server that refuses connections: they are bound, but nothing listens.
    _refusing: Vec<Socket>,
}

impl LoggedServer {
    /// Listens on two free ports of 127.0.0.1.
    ///
    /// If no port is free.
    /// When no port is free.
    pub fn start(behavior: Behavior) -> io::Result<LoggedServer> {
        let ledger = Arc::new(Ledger::new());
        if behavior == Behavior::Refuse {
            return LoggedServer::refusing(ledger);
        }
        let conduct = Arc::new(SharedBehavior::new(behavior, Arc::clone(&ledger)));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let http = listener.local_addr()?;
        thread::spawn({
            let conduct = Arc::clone(&conduct);
            move || http1::serve(&listener, &conduct)
        });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let grpc = listener.local_addr()?;
        thread::spawn(move || grpc::serve(listener, conduct));
        Ok(LoggedServer {
            http,
            grpc,
            ledger,
            _refusing: Vec::new(),
        })
    }

    fn refusing(ledger: Arc<Ledger>) -> io::Result<LoggedServer> {
        let (first, http) = bound()?;
        let (second, grpc) = bound()?;
        Ok(LoggedServer {
            http,
            grpc,
            ledger,
            _refusing: vec![first, second],
        })
    }

    /// `http://127.0.0.1:PORT/`
    pub fn http_url(&self) -> String {
        format!("http://{}/", self.http)
    }

    /// `ws://127.0.0.1:PORT/`
    pub fn websocket_url(&self) -> String {
        format!("ws://{}/", self.http)
    }

    /// `127.0.0.1:PORT`
    pub fn grpc_address(&self) -> String {
        self.grpc.to_string()
    }

    /// Returns the log when no more entries are added: the last requests of a client may still be in
    /// transit.
    pub fn settled_log(&self) -> Log {
        let mut log = self.ledger.read();
        for _ in 0..100 {
            thread::sleep(Duration::from_millis(20));
            let later = self.ledger.read();
            if later == log {
                break;
            }
            log = later;
        }
        log
    }
}

/// A socket that reserves a free port and accepts no connections.
fn bound() -> io::Result<(Socket, SocketAddr)> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())?;
    let address = socket.local_addr()?.as_socket();
    let address = address.ok_or_else(|| io::Error::other("a bound socket without an address"))?;
    Ok((socket, address))
}
