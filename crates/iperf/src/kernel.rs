//! Information from the kernel: the state of a TCP connection, and the processor time of this process.

use std::time::Duration;

use socket2::SockRef;

/// The state of a connection in the sender's kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpState {
    /// Retransmitted segments so far.
    pub retransmits: u64,
    /// The congestion window, in bytes.
    pub congestion_window: u64,
    /// The peer's receive window, in bytes.
    pub send_window: u64,
    pub round_trip: Duration,
    pub round_trip_variance: Duration,
    pub path_mtu: u32,
    /// Whether the peer's kernel has not acknowledged some bytes yet.
    pub has_data_in_flight: bool,
}

/// The state of a connection; `None` if the system does not report it.
#[cfg(target_os = "linux")]
pub fn tcp_state(socket: &SockRef<'_>) -> Option<TcpState> {
    use std::os::fd::AsRawFd;
    let mut info = [0_u8; 256];
    let mut length = info.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into `info`, which has that size, and returns
    // the number of bytes written. The descriptor is open while `socket` is borrowed.
    let outcome = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    let message = info.get(..length as usize)?;
    if outcome != 0 {
        return None;
    }
    // Offsets in `struct tcp_info` of linux/tcp.h, to which fields are only ever appended.
    let word = |at: usize| {
        let bytes = message.get(at..at + 4)?;
        Some(u32::from_ne_bytes(bytes.try_into().ok()?))
    };
    let segment = u64::from(word(16)?);
    Some(TcpState {
        retransmits: word(100)?.into(),
        congestion_window: u64::from(word(80)?) * segment,
        send_window: word(228).unwrap_or(0).into(),
        round_trip: Duration::from_micros(word(68)?.into()),
        round_trip_variance: Duration::from_micros(word(72)?.into()),
        path_mtu: word(60)?,
        // Unacknowledged segments, and unsent bytes.
        has_data_in_flight: word(24)? > 0 || word(144).unwrap_or(0) > 0,
    })
}

#[cfg(not(target_os = "linux"))]
pub fn tcp_state(_: &SockRef<'_>) -> Option<TcpState> {
    None
}

/// Makes the kernel wake a reader only when this many bytes have arrived, its timeout has expired,
/// or no more data will arrive (SO_RCVLOWAT, socket(7)). A reader that wakes up for each segment
/// competes with the sender for the connection's lock. On systems without this option, readers just
/// wake up earlier.
#[cfg(target_os = "linux")]
pub fn wake_at(socket: &SockRef<'_>, bytes: usize) {
    use std::os::fd::AsRawFd;
    let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    // SAFETY: the kernel reads an int from `bytes`, which is valid during the call; the descriptor is open while
    // `socket` is borrowed.
    unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_RCVLOWAT,
            (&raw const bytes).cast(),
            size_of_val(&bytes) as libc::socklen_t,
        );
    }
}

#[cfg(not(target_os = "linux"))]
pub fn wake_at(_: &SockRef<'_>, _: usize) {}

/// Processor time of this process so far: user and system.
pub fn processor_time() -> (Duration, Duration) {
    // SAFETY: a zeroed `rusage` is valid, and getrusage only writes to it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let time = |time: libc::timeval| {
        Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0))
            + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
    };
    (time(usage.ru_utime), time(usage.ru_stime))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    #[test]
    #[cfg(target_os = "linux")]
    fn a_connection_has_a_window_and_no_retransmits_on_loopback() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut stream =
            TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
        stream.write_all(b"something").expect("sent");
        let state = tcp_state(&SockRef::from(&stream)).expect("a state");
        assert!(state.congestion_window > 1_000, "{state:?}");
        assert!(state.path_mtu >= 1_500, "{state:?}");
        assert!(state.round_trip < Duration::from_secs(10), "{state:?}");
    }

    #[test]
    fn processor_time_increases() {
        let before = processor_time();
        let mut sum = 0_u64;
        while processor_time().0 + processor_time().1 <= before.0 + before.1 {
            sum = std::hint::black_box(sum + 1);
        }
    }
}
