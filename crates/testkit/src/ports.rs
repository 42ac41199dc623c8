//! Ports on the loopback address.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

/// An address without a listener, which refuses connections. The system reuses a port number late,
/// so it is unlikely that another test gets it in the meantime.
///
/// # Panics
/// If no port is free.
pub fn closed() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .unwrap_or_else(|error| panic!("no free port on 127.0.0.1: {error}"));
    listener
        .local_addr()
        .unwrap_or_else(|error| panic!("a listener without address: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpStream;

    #[test]
    fn a_closed_port_refuses_connections() {
        let error = TcpStream::connect(closed()).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
    }
}
