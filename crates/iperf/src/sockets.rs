//! Creates sockets with the options of a test.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::BorrowedFd;
use std::time::Duration;

use plimsoll_units::Moment;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::{Domain, SockRef, Socket, Type};

use crate::error::Error;
use crate::test::Test;

/// The address families to use for connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Family {
    #[default]
    Any,
    V4,
    V6,
}

impl Family {
    pub fn holds(self, address: &SocketAddr) -> bool {
        match self {
            Family::Any => true,
            Family::V4 => address.is_ipv4(),
            Family::V6 => address.is_ipv6(),
        }
    }
}

/// The local address and port of a client's sockets.
#[derive(Clone, Copy, Debug, Default)]
pub struct From {
    pub address: Option<IpAddr>,
    /// The port of the first stream. Each further stream uses the next port.
    pub port: Option<u16>,
}

/// A connected TCP stream. The test's options are set before connecting, because the handshake
/// negotiates window scaling and segment size.
pub fn connect(
    to: SocketAddr,
    from: From,
    test: Option<&Test>,
    patience: Duration,
) -> Result<TcpStream, Error> {
    let failed = |error: io::Error| Error::io("unable to connect to server", &error);
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, None).map_err(failed)?;
    bind(&socket, to, from)?;
    if let Some(test) = test {
        set_options(&socket, test)?;
    }
    socket
        .connect_timeout(&to.into(), patience)
        .map_err(failed)?;
    Ok(socket.into())
}

fn bind(socket: &Socket, to: SocketAddr, from: From) -> Result<(), Error> {
    if from.address.is_none() && from.port.is_none() {
        return Ok(());
    }
    let any = match to {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    let local = SocketAddr::new(from.address.unwrap_or(any), from.port.unwrap_or(0));
    socket
        .set_reuse_address(true)
        .and_then(|()| socket.bind(&local.into()))
        .map_err(|error| Error::io(&format!("unable to bind to {local}"), &error))
}

/// Sets a test's options on a TCP socket.
pub fn set_options(socket: &Socket, test: &Test) -> Result<(), Error> {
    let failed = |what: &str| {
        let what = format!("unable to set {what}");
        move |error: io::Error| Error::io(&what, &error)
    };
    set_window(&SockRef::from(socket), test)?;
    if test.no_delay {
        socket
            .set_tcp_nodelay(true)
            .map_err(failed("TCP_NODELAY"))?;
    }
    if let Some(segment) = test.segment {
        socket
            .set_tcp_mss(segment)
            .map_err(failed("TCP/SCTP MSS"))?;
    }
    if let Some(name) = &test.congestion {
        set_congestion(socket, name).map_err(failed(&format!("TCP_CONGESTION to {name}")))?;
    }
    set_tos(&SockRef::from(socket), test)
}

#[cfg(any(target_os = "linux", target_os = "freebsd"))]
fn set_congestion(socket: &Socket, name: &str) -> io::Result<()> {
    socket.set_tcp_congestion(name.as_bytes())
}

#[cfg(not(any(target_os = "linux", target_os = "freebsd")))]
fn set_congestion(_: &Socket, _: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The congestion control algorithm in use, if the system reports it.
pub fn congestion(socket: &SockRef<'_>) -> Option<String> {
    #[cfg(any(target_os = "linux", target_os = "freebsd"))]
    if let Ok(name) = socket.tcp_congestion() {
        let name = String::from_utf8_lossy(&name);
        return Some(name.trim_end_matches('\0').to_owned()).filter(|name| !name.is_empty());
    }
    let _ = socket;
    None
}

fn set_window(socket: &SockRef<'_>, test: &Test) -> Result<(), Error> {
    let Some(window) = test.window else {
        return Ok(());
    };
    socket
        .set_send_buffer_size(window as usize)
        .and_then(|()| socket.set_recv_buffer_size(window as usize))
        .map_err(|error| Error::io("unable to set socket buffer size", &error))
}

fn set_tos(socket: &SockRef<'_>, test: &Test) -> Result<(), Error> {
    let v4 = socket
        .local_addr()
        .is_ok_and(|address| address.as_socket().is_some_and(|address| address.is_ipv4()));
    if test.tos == 0 || !v4 {
        return Ok(());
    }
    socket
        .set_tos_v4(test.tos.into())
        .map_err(|error| Error::io("unable to set IP TOS", &error))
}

/// A listener for both families if the address is the wildcard.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(!address.ip().is_unspecified())?;
    }
    socket.bind(&address.into())?;
    socket.listen(128)?;
    Ok(socket.into())
}

/// A UDP socket that waits for a client while other sockets use the same port.
pub fn listen_udp(address: SocketAddr, test: &Test) -> Result<UdpSocket, Error> {
    let failed = |error: io::Error| Error::io("unable to create a new stream", &error);
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, None).map_err(failed)?;
    socket.set_reuse_address(true).map_err(failed)?;
    if address.is_ipv6() {
        socket
            .set_only_v6(!address.ip().is_unspecified())
            .map_err(failed)?;
    }
    set_window(&SockRef::from(&socket), test)?;
    socket.bind(&address.into()).map_err(failed)?;
    set_tos(&SockRef::from(&socket), test)?;
    Ok(socket.into())
}

pub fn connect_udp(to: SocketAddr, from: From, test: &Test) -> Result<UdpSocket, Error> {
    let failed = |error: io::Error| Error::io("unable to connect stream", &error);
    let socket = Socket::new(Domain::for_address(to), Type::DGRAM, None).map_err(failed)?;
    bind(&socket, to, from)?;
    set_window(&SockRef::from(&socket), test)?;
    socket.connect(&to.into()).map_err(failed)?;
    set_tos(&SockRef::from(&socket), test)?;
    Ok(socket.into())
}

/// Waits until one of the sockets is readable, or until a deadline. Returns which sockets are
/// readable.
pub fn readable<const N: usize>(
    sockets: [BorrowedFd<'_>; N],
    until: Moment,
) -> io::Result<[bool; N]> {
    let mut polled = sockets.map(|socket| PollFd::from_borrowed_fd(socket, PollFlags::IN));
    let left = until.since(plimsoll_clock::now());
    let limit = Timespec {
        tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: left.subsec_nanos().into(),
    };
    match poll(&mut polled, Some(&limit)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {
            Ok(polled.map(|polled| !polled.revents().is_empty()))
        }
        Err(error) => Err(error.into()),
    }
}
