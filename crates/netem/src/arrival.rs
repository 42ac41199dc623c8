//! Reads bytes together with their arrival time.
//!
//! On Linux the kernel provides the timestamps ([`plimsoll_net::stamped`]). On other systems, and
//! if there is no timestamp, the time of reading is used.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;

use bytes::Bytes as Buffer;
use plimsoll_units::Moment;
use tokio::io::Interest;
use tokio::net::{TcpStream, UdpSocket};

/// The bytes that were read; empty at the end of the stream.
#[derive(Debug)]
pub struct Received {
    pub bytes: Buffer,
    /// When the last of these bytes arrived.
    pub arrived: Moment,
}

impl Received {
    fn new(scratch: &[u8], (count, arrived): (usize, Option<Moment>)) -> Received {
        Received {
            bytes: Buffer::copy_from_slice(scratch.get(..count).unwrap_or_default()),
            arrived: arrived.unwrap_or_else(plimsoll_clock::now),
        }
    }
}

/// Makes the kernel timestamp data that arrives on this socket, or on connections that it accepts.
#[cfg(target_os = "linux")]
pub fn date(socket: &impl std::os::fd::AsFd) {
    // Without timestamps, the time of reading is used.
    let _ = plimsoll_net::stamped::enable(socket.as_fd());
}

#[cfg(not(target_os = "linux"))]
pub fn date<T>(_socket: &T) {}

/// Reads what has already arrived, if anything: at most one read, without waiting.
#[cfg(target_os = "linux")]
pub fn receive_early(socket: &TcpStream, scratch: &mut [u8]) -> Option<Received> {
    use std::os::fd::AsFd;

    // Bypasses the runtime, which does not know yet whether a new socket is readable. The next read
    // will report the end of the stream or an error again.
    let read = plimsoll_net::stamped::receive(socket.as_fd(), scratch).ok()?;
    (read.0 > 0).then(|| Received::new(scratch, read))
}

#[cfg(not(target_os = "linux"))]
pub fn receive_early(_socket: &TcpStream, _scratch: &mut [u8]) -> Option<Received> {
    None
}

/// Waits until there is something to read.
///
/// # Errors
/// If reading fails.
pub async fn readable(socket: &TcpStream) -> io::Result<()> {
    // Counts against the task's budget, so a busy connection cannot starve others.
    poll_fn(|context| socket.poll_read_ready(context)).await
}

/// Returns the next bytes, at most as many as `scratch` holds. `None` if nothing could be read
/// after all.
///
/// # Errors
/// If reading fails.
pub fn receive(socket: &TcpStream, scratch: &mut [u8]) -> io::Result<Option<Received>> {
    match socket.try_io(Interest::READABLE, || read(socket, scratch)) {
        Ok(read) => {
            if 0 < read.0 && read.0 < scratch.len() {
                // The socket is empty. Report it to the runtime, which avoids a useless system call at the next
                // read.
                let empty = || Err::<(), _>(io::ErrorKind::WouldBlock.into());
                let _ = socket.try_io(Interest::READABLE, empty);
            }
            Ok(Some(Received::new(scratch, read)))
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(target_os = "linux")]
fn read(socket: &TcpStream, scratch: &mut [u8]) -> io::Result<(usize, Option<Moment>)> {
    use std::os::fd::AsFd;

    plimsoll_net::stamped::receive(socket.as_fd(), scratch)
}

#[cfg(not(target_os = "linux"))]
fn read(socket: &TcpStream, scratch: &mut [u8]) -> io::Result<(usize, Option<Moment>)> {
    socket.try_read(scratch).map(|count| (count, None))
}

/// A received packet: its size, its sender, and when it arrived.
pub type Packet = (usize, SocketAddr, Moment);

/// Returns the next packet.
///
/// # Errors
/// If reading fails.
pub async fn receive_packet(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<Packet> {
    loop {
        socket.readable().await?;
        match socket.try_io(Interest::READABLE, || read_packet(socket, buffer)) {
            Ok((count, sender, arrived)) => {
                return Ok((count, sender, arrived.unwrap_or_else(plimsoll_clock::now)));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(target_os = "linux")]
fn read_packet(
    socket: &UdpSocket,
    buffer: &mut [u8],
) -> io::Result<(usize, SocketAddr, Option<Moment>)> {
    use std::os::fd::AsFd;

    plimsoll_net::stamped::receive_from(socket.as_fd(), buffer)
}

#[cfg(not(target_os = "linux"))]
fn read_packet(
    socket: &UdpSocket,
    buffer: &mut [u8],
) -> io::Result<(usize, SocketAddr, Option<Moment>)> {
    let (count, sender) = socket.try_recv_from(buffer)?;
    Ok((count, sender, None))
}
