//! Ports on the loopback address.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::Mutex;

#[cfg(target_os = "linux")]
use std::os::{linux::net::SocketAddrExt, unix::net};

/// Ports below those that Linux and macOS give to sockets that ask for any port (32,768 and 49,152).
const FIRST: u16 = 12_000;
const LAST: u16 = 32_000;

/// The names that keep ports from other tests, until this process ends.
#[cfg(target_os = "linux")]
static KEPT: Mutex<Vec<net::UnixListener>> = Mutex::new(Vec::new());
#[cfg(not(target_os = "linux"))]
static KEPT: Mutex<Vec<u16>> = Mutex::new(Vec::new());

/// An address without a listener, which refuses connections. A test can start a server there: the system gives the port
/// to no other socket, and this function gives it to no other test until this process ends.
///
/// # Panics
/// If no port is free.
pub fn closed() -> SocketAddr {
    let count = u32::from(LAST - FIRST);
    // Processes begin at different ports, so that they rarely try the same one.
    let begin = std::process::id().wrapping_mul(7_919) % count;
    for port in (0..count).map(|step| FIRST + ((begin + step) % count) as u16) {
        if keep(port) && is_free(port) {
            return SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        }
    }
    panic!("no port from {FIRST} to {LAST} on 127.0.0.1 is free");
}

/// Takes the port for this process. Returns `false` if another test has it.
#[cfg(target_os = "linux")]
fn keep(port: u16) -> bool {
    let mut kept = KEPT.lock().expect("a test panicked here");
    let name = net::SocketAddr::from_abstract_name(format!("plimsoll-test-port-{port}"));
    let Ok(listener) = name.and_then(|name| net::UnixListener::bind_addr(&name)) else {
        return false;
    };
    kept.push(listener);
    true
}

/// Other systems have no names that end with their process, so this only separates tests of one process.
#[cfg(not(target_os = "linux"))]
fn keep(port: u16) -> bool {
    let mut kept = KEPT.lock().expect("a test panicked here");
    let new = !kept.contains(&port);
    if new {
        kept.push(port);
    }
    new
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).is_ok()
        && UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::net::TcpStream;

    #[test]
    fn a_closed_port_refuses_connections() {
        let error = TcpStream::connect(closed()).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
    }

    #[test]
    fn nobody_else_gets_a_closed_port() {
        let ports: HashSet<SocketAddr> = (0..200).map(|_| closed()).collect();
        assert_eq!(ports.len(), 200);
        // The system gives none of them to sockets that ask for any port.
        let others: Vec<TcpListener> = (0..200)
            .map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap())
            .collect();
        for other in &others {
            assert!(!ports.contains(&other.local_addr().unwrap()));
        }
        // Another process does not get them either.
        #[cfg(target_os = "linux")]
        for port in &ports {
            assert!(!keep(port.port()));
        }
    }
}
