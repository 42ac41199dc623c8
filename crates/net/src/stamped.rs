#![allow(unsafe_code)]
//! Reads that return the kernel's timestamp of when the bytes arrived.
//!
//! Between the arrival of a response and the system call that reads it, an idle processor has to
//! wake up (tens of microseconds), and the worker may be busy. That time is the generator's, not
//! the server's. With SO_TIMESTAMPNS the kernel timestamps each packet on arrival (socket(7)) and
//! returns the timestamp of the last packet together with the bytes. TCP supports it since Linux
//! 4.13.

use std::io;
use std::mem::{size_of, zeroed};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

use plimsoll_units::Moment;

/// Maximum plausible age of a timestamp. An older one means that a clock was set in between.
const MAX_AGE: Duration = Duration::from_secs(60);

/// Enables the kernel's timestamps.
///
/// # Errors
/// If the kernel does not support them.
pub fn enable(socket: BorrowedFd<'_>) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the descriptor stays open while it is borrowed, and the kernel reads only the given
    // number of bytes from the pointer.
    let outcome = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPNS,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if outcome == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Reads available bytes into `bytes`. Returns their number and the arrival time of the last one.
/// The time is `None` if the kernel gave no timestamp, for example for bytes that arrived before
/// `enable`.
///
/// # Errors
/// As for any read; `WouldBlock` if nothing is available.
pub fn receive(socket: BorrowedFd<'_>, bytes: &mut [u8]) -> io::Result<(usize, Option<Moment>)> {
    read(socket, bytes, None)
}

/// Reads a packet like [`receive`], and also returns its sender.
///
/// # Errors
/// As for any read; `WouldBlock` if nothing is available.
pub fn receive_from(
    socket: BorrowedFd<'_>,
    bytes: &mut [u8],
) -> io::Result<(usize, SocketAddr, Option<Moment>)> {
    // SAFETY: an address of all zeros is valid; it has no family.
    let mut sender: libc::sockaddr_storage = unsafe { zeroed() };
    let (count, arrived) = read(socket, bytes, Some(&mut sender))?;
    let address = address(&sender)
        .ok_or_else(|| io::Error::other("a packet's sender has an address of an unknown family"))?;
    Ok((count, address, arrived))
}

fn read(
    socket: BorrowedFd<'_>,
    bytes: &mut [u8],
    sender: Option<&mut libc::sockaddr_storage>,
) -> io::Result<(usize, Option<Moment>)> {
    let mut piece = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    // Space for one timestamp, aligned as control messages must be.
    let mut notes = [0_u64; 8];
    // SAFETY: a message of all zeros is valid and empty.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = &raw mut piece;
    message.msg_iovlen = 1;
    message.msg_control = notes.as_mut_ptr().cast();
    // The field's type differs between C libraries.
    message.msg_controllen = size_of_val(&notes) as _;
    if let Some(sender) = sender {
        message.msg_name = (&raw mut *sender).cast();
        message.msg_namelen = size_of_val(sender) as libc::socklen_t;
    }
    // SAFETY: the message points to the caller's bytes and address and to `notes`, with their correct
    // lengths. All of them outlive the call.
    let count = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) };
    let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
    // SAFETY: the kernel filled in the message.
    let timestamp = unsafe { note(&message) };
    Ok((count, timestamp.and_then(moment)))
}

fn address(stored: &libc::sockaddr_storage) -> Option<SocketAddr> {
    let any = &raw const *stored;
    match i32::from(stored.ss_family) {
        libc::AF_INET => {
            // SAFETY: addresses of this family have this layout, and the storage is larger and at least as
            // strictly aligned.
            let known = unsafe { &*any.cast::<libc::sockaddr_in>() };
            let ip = Ipv4Addr::from(known.sin_addr.s_addr.to_ne_bytes());
            Some((ip, u16::from_be(known.sin_port)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let known = unsafe { &*any.cast::<libc::sockaddr_in6>() };
            let ip = Ipv6Addr::from(known.sin6_addr.s6_addr);
            let port = u16::from_be(known.sin6_port);
            Some(SocketAddrV6::new(ip, port, known.sin6_flowinfo, known.sin6_scope_id).into())
        }
        _ => None,
    }
}

/// The time in a message's control data, as time since the epoch.
///
/// # Safety
/// `recvmsg` must have filled in the message, and its control data must still exist.
unsafe fn note(message: &libc::msghdr) -> Option<Duration> {
    // SAFETY: the function reads no more than the length that the kernel set.
    let header = unsafe { libc::CMSG_FIRSTHDR(message) };
    if header.is_null() {
        return None;
    }
    // SAFETY: the pointer is not null, so a whole header exists.
    let (level, kind) = unsafe { ((*header).cmsg_level, (*header).cmsg_type) };
    if (level, kind) != (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) {
        return None;
    }
    // SAFETY: this kind of control message contains one timespec, possibly unaligned.
    let time: libc::timespec = unsafe {
        libc::CMSG_DATA(header)
            .cast::<libc::timespec>()
            .read_unaligned()
    };
    Some(Duration::new(
        u64::try_from(time.tv_sec).ok()?,
        u32::try_from(time.tv_nsec).ok()?,
    ))
}

/// Converts a timestamp of the kernel, which uses the wall clock. Both clocks are read one
/// immediately after the other, so only a clock change between the timestamp and now can cause an
/// error.
fn moment(timestamp: Duration) -> Option<Moment> {
    let wall = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .ok()?;
    let age = wall.checked_sub(timestamp).filter(|age| *age < MAX_AGE)?;
    let now = plimsoll_clock::now();
    let ago = u64::try_from(age.as_nanos()).ok()?;
    Some(Moment::from_nanos(now.as_nanos().checked_sub(ago)?))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;
    use std::thread::sleep;

    use super::*;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (far, _) = listener.accept().unwrap();
        (near, far)
    }

    #[test]
    fn timestamps_are_arrival_times_and_not_read_times() {
        let (near, mut far) = pair();
        enable(near.as_fd()).unwrap();
        let mut bytes = [0; 8];
        // The kernel starts to timestamp packets shortly after the request.
        for _ in 0..100 {
            let before = plimsoll_clock::now();
            far.write_all(b"reply!").unwrap();
            let after = plimsoll_clock::now();
            sleep(Duration::from_millis(20));
            let (count, arrived) = receive(near.as_fd(), &mut bytes).unwrap();
            assert_eq!(&bytes[..count], b"reply!");
            if let Some(arrived) = arrived {
                // The two clocks are not read at the same instant.
                let slack = Duration::from_millis(5);
                assert!(arrived + slack > before, "{arrived:?} {before:?}");
                assert!(arrived < after + slack, "{arrived:?} {after:?}");
                return;
            }
        }
        panic!("the kernel never reported a timestamp for bytes");
    }

    #[test]
    fn packets_have_a_sender_and_an_arrival_time() {
        use std::net::UdpSocket;

        for any in ["127.0.0.1:0", "[::1]:0"] {
            let near = UdpSocket::bind(any).unwrap();
            let far = UdpSocket::bind(any).unwrap();
            enable(near.as_fd()).unwrap();
            let mut bytes = [0; 8];
            // The kernel starts to timestamp packets shortly after the request.
            let timestamp = (0..100).any(|_| {
                let before = plimsoll_clock::now();
                far.send_to(b"packet", near.local_addr().unwrap()).unwrap();
                sleep(Duration::from_millis(20));
                let (count, sender, arrived) = receive_from(near.as_fd(), &mut bytes).unwrap();
                assert_eq!(&bytes[..count], b"packet");
                assert_eq!(sender, far.local_addr().unwrap());
                let read = plimsoll_clock::now();
                arrived.is_some_and(|arrived| {
                    assert!(arrived + Duration::from_millis(5) > before);
                    arrived + Duration::from_millis(10) < read
                })
            });
            assert!(
                timestamp,
                "the kernel never reported a timestamp for a packet to {any}"
            );
            let error = receive_from(near.as_fd(), &mut bytes).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        }
    }

    // The next two tests need no kernel, so Miri can run them (fuzz/miri).
    #[test]
    fn addresses_are_read_from_their_storage() {
        // SAFETY: an address of all zeros has no family, and is valid.
        let mut stored: libc::sockaddr_storage = unsafe { zeroed() };
        assert_eq!(address(&stored), None);
        // SAFETY: zeros are valid for these structs of integers.
        let (mut v4, mut v6): (libc::sockaddr_in, libc::sockaddr_in6) = unsafe { zeroed() };
        v4.sin_family = libc::AF_INET as libc::sa_family_t;
        v4.sin_port = 80_u16.to_be();
        v4.sin_addr.s_addr = u32::from_ne_bytes([127, 0, 0, 9]);
        // SAFETY: the storage is larger than any address, and at least as strictly aligned.
        unsafe { (&raw mut stored).cast::<libc::sockaddr_in>().write(v4) };
        assert_eq!(address(&stored), "127.0.0.9:80".parse().ok());
        v6.sin6_family = libc::AF_INET6 as libc::sa_family_t;
        v6.sin6_port = 443_u16.to_be();
        v6.sin6_addr.s6_addr = Ipv6Addr::LOCALHOST.octets();
        // SAFETY: as above.
        unsafe { (&raw mut stored).cast::<libc::sockaddr_in6>().write(v6) };
        assert_eq!(address(&stored), "[::1]:443".parse().ok());
    }

    #[test]
    fn a_timestamp_is_read_from_control_data() {
        let time = libc::timespec {
            tv_sec: 5,
            tv_nsec: 7,
        };
        let note_of = |kind, length: usize| {
            let mut control = [0_u64; 8];
            // SAFETY: a message of all zeros is valid and empty.
            let mut message: libc::msghdr = unsafe { zeroed() };
            message.msg_control = control.as_mut_ptr().cast();
            message.msg_controllen = size_of_val(&control) as _;
            // SAFETY: the control data has enough space for the header and the time, and is aligned as headers
            // are.
            unsafe {
                let header = libc::CMSG_FIRSTHDR(&raw const message);
                (*header).cmsg_len = libc::CMSG_LEN(size_of_val(&time) as u32) as _;
                (*header).cmsg_level = libc::SOL_SOCKET;
                (*header).cmsg_type = kind;
                libc::CMSG_DATA(header)
                    .cast::<libc::timespec>()
                    .write_unaligned(time);
            }
            message.msg_controllen = length as _;
            // SAFETY: the message is as `recvmsg` would have filled it in.
            unsafe { note(&message) }
        };
        assert_eq!(
            note_of(libc::SCM_TIMESTAMPNS, 64),
            Some(Duration::new(5, 7))
        );
        assert_eq!(note_of(libc::SCM_RIGHTS, 64), None);
        assert_eq!(note_of(libc::SCM_TIMESTAMPNS, 0), None);
    }

    #[test]
    fn an_empty_socket_would_block_and_a_closed_one_returns_zero() {
        let (near, far) = pair();
        enable(near.as_fd()).unwrap();
        let error = receive(near.as_fd(), &mut [0; 8]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        drop(far);
        sleep(Duration::from_millis(20));
        assert_eq!(receive(near.as_fd(), &mut [0; 8]).unwrap().0, 0);
    }

    #[test]
    fn timestamps_from_before_a_clock_change_are_ignored() {
        let wall = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap();
        assert_eq!(moment(wall + Duration::from_secs(5)), None);
        assert_eq!(moment(wall - Duration::from_secs(3600)), None);
    }
}
