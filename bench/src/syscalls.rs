//! Thin safe wrappers of the system calls that the measuring programs need.
//!
//! An event library would add its own cost to the limit being measured, and the standard library
//! has neither epoll, signal descriptors nor CPU pinning. Descriptors are owned (`OwnedFd`), so
//! each is closed exactly once.
#![allow(unsafe_code)]

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use libc::c_int;

fn checked(result: c_int) -> io::Result<c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

fn owned(fd: c_int) -> io::Result<OwnedFd> {
    let fd = checked(fd)?;
    // SAFETY: the kernel has just returned this descriptor and nothing else holds it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Nanoseconds on `CLOCK_MONOTONIC`, which all processes of a machine share.
pub fn monotonic_nanos() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid, writable timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// User and system time of this process so far.
pub fn cpu_time() -> Duration {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `usage` is writable and as large as the kernel expects; all-zero is a valid rusage.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    let part = |time: libc::timeval| {
        Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
    };
    part(usage.ru_utime) + part(usage.ru_stime)
}

/// Keeps this process on one CPU.
pub fn pin_to_cpu(cpu: usize) -> io::Result<()> {
    // SAFETY: an all-zero cpu_set_t is the empty set.
    let mut set: libc::cpu_set_t = unsafe { MaybeUninit::zeroed().assume_init() };
    if cpu >= libc::CPU_SETSIZE as usize {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no such CPU"));
    }
    // SAFETY: `cpu` is below CPU_SETSIZE and `set` is valid for the call.
    unsafe {
        libc::CPU_SET(cpu, &mut set);
        checked(libc::sched_setaffinity(
            0,
            size_of::<libc::cpu_set_t>(),
            &raw const set,
        ))?;
    }
    Ok(())
}

/// Gives this thread real-time priority (`SCHED_FIFO`), 1 to 99.
///
/// # Errors
/// If the kernel does not permit it.
pub fn take_real_time_priority(priority: c_int) -> io::Result<()> {
    let parameters = libc::sched_param {
        sched_priority: priority,
    };
    // SAFETY: `parameters` is valid for the call; 0 is the calling thread.
    checked(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) })?;
    Ok(())
}

/// Asks the kernel to wake this thread as close to its timeouts as possible (1 ns of slack instead
/// of 50 µs).
pub fn sharpen_timers() {
    // SAFETY: PR_SET_TIMERSLACK takes one integer and touches none of our memory.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0, 0, 0) };
}

fn set_flag(fd: RawFd, level: c_int, name: c_int) -> io::Result<()> {
    let on: c_int = 1;
    // SAFETY: `on` outlives the call and its size is passed with it.
    checked(unsafe {
        libc::setsockopt(
            fd,
            level,
            name,
            (&raw const on).cast(),
            size_of::<c_int>() as libc::socklen_t,
        )
    })?;
    Ok(())
}

fn address(ip: Ipv4Addr, port: u16) -> libc::sockaddr_in {
    // SAFETY: all-zero is a valid sockaddr_in.
    let mut address: libc::sockaddr_in = unsafe { MaybeUninit::zeroed().assume_init() };
    address.sin_family = libc::AF_INET as libc::sa_family_t;
    address.sin_port = port.to_be();
    address.sin_addr.s_addr = u32::from(ip).to_be();
    address
}

const ADDRESS_LENGTH: libc::socklen_t = size_of::<libc::sockaddr_in>() as libc::socklen_t;

/// Listens on `127.0.0.1:port`; port 0 takes a free one. Returns the port it got.
pub fn listen(port: u16) -> io::Result<(OwnedFd, u16)> {
    // SAFETY: plain call without pointers.
    let socket = owned(unsafe {
        libc::socket(
            libc::AF_INET,
            libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC,
            0,
        )
    })?;
    set_flag(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_REUSEADDR)?;
    let mut bound = address(Ipv4Addr::LOCALHOST, port);
    let mut length = ADDRESS_LENGTH;
    // SAFETY: `bound` and `length` are valid for the calls and sized as passed.
    unsafe {
        checked(libc::bind(
            socket.as_raw_fd(),
            (&raw const bound).cast(),
            ADDRESS_LENGTH,
        ))?;
        checked(libc::listen(socket.as_raw_fd(), 16_384))?;
        checked(libc::getsockname(
            socket.as_raw_fd(),
            (&raw mut bound).cast(),
            &raw mut length,
        ))?;
    }
    Ok((socket, u16::from_be(bound.sin_port)))
}

/// The next waiting connection, non-blocking and without Nagle's delay; `None` when none waits.
pub fn accept(listener: RawFd) -> io::Result<Option<OwnedFd>> {
    // SAFETY: null addresses are allowed and mean that the peer's address is not requested.
    let accepted = unsafe {
        libc::accept4(
            listener,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC,
        )
    };
    match owned(accepted) {
        Ok(socket) => {
            set_flag(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_NODELAY)?;
            Ok(Some(socket))
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

/// A connection to `ip:port`, made blocking and then switched to non-blocking.
pub fn connect(ip: Ipv4Addr, port: u16) -> io::Result<OwnedFd> {
    // SAFETY: plain call without pointers.
    let socket =
        owned(unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) })?;
    let peer = address(ip, port);
    // SAFETY: `peer` is valid for the call and sized as passed.
    unsafe {
        checked(libc::connect(
            socket.as_raw_fd(),
            (&raw const peer).cast(),
            ADDRESS_LENGTH,
        ))?;
        checked(libc::fcntl(
            socket.as_raw_fd(),
            libc::F_SETFL,
            libc::O_NONBLOCK,
        ))?;
    }
    set_flag(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_NODELAY)?;
    Ok(socket)
}

/// Bytes read; `None` when nothing waits; `Some(0)` when the peer has closed.
pub fn receive(socket: RawFd, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    // SAFETY: the pointer and the length describe `buffer`.
    let count = unsafe { libc::recv(socket, buffer.as_mut_ptr().cast(), buffer.len(), 0) };
    transferred(count)
}

/// Enables the kernel's timestamps for bytes that arrive on `socket`, and on connections that it
/// accepts.
pub fn note_arrivals(socket: RawFd) -> io::Result<()> {
    set_flag(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS)
}

/// Like [`receive`], with the time at which the last of the bytes arrived, on the clock of
/// [`monotonic_nanos`].
pub fn receive_noted(socket: RawFd, buffer: &mut [u8]) -> io::Result<Option<(usize, Option<u64>)>> {
    let mut piece = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // Aligned as control messages are.
    let mut control = [0_u64; 8];
    // SAFETY: an all-zero msghdr is an empty message.
    let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    message.msg_iov = &raw mut piece;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    // SAFETY: the message points to `buffer` and `control` with their lengths; both outlive the call.
    let count = unsafe { libc::recvmsg(socket, &raw mut message, 0) };
    let Some(count) = transferred(count)? else {
        return Ok(None);
    };
    // SAFETY: the kernel filled in the message.
    let header = unsafe { libc::CMSG_FIRSTHDR(&raw const message) };
    if header.is_null() {
        return Ok(Some((count, None)));
    }
    // SAFETY: the header is not null, so the kernel wrote it completely.
    let kind = unsafe { ((*header).cmsg_level, (*header).cmsg_type) };
    if kind != (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) {
        return Ok(Some((count, None)));
    }
    // SAFETY: a message of this kind holds one timespec, at any alignment.
    let arrived = unsafe {
        libc::CMSG_DATA(header)
            .cast::<libc::timespec>()
            .read_unaligned()
    };
    let wall = arrived.tv_sec as i128 * 1_000_000_000 + i128::from(arrived.tv_nsec);
    Ok(Some((count, u64::try_from(wall - wall_ahead()).ok())))
}

/// The wall clock minus the monotonic clock, in nanoseconds.
fn wall_ahead() -> i128 {
    let wall = || {
        let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since_epoch.map_or(0, |since| since.as_nanos() as i128)
    };
    // An interruption between the readings would make the difference wrong: take the closest of several.
    let mut best = (u64::MAX, 0);
    for _ in 0..100 {
        let before = monotonic_nanos();
        let wall = wall();
        let after = monotonic_nanos();
        let middle = i128::from(before) + i128::from(after - before) / 2;
        best = best.min((after - before, wall - middle));
        if best.0 < 500 {
            break;
        }
    }
    best.1
}

/// Number of bytes accepted by the kernel; `None` if its buffer is full.
pub fn send(socket: RawFd, bytes: &[u8]) -> io::Result<Option<usize>> {
    // SAFETY: the pointer and the length describe `bytes`.
    let count = unsafe {
        libc::send(
            socket,
            bytes.as_ptr().cast(),
            bytes.len(),
            libc::MSG_NOSIGNAL,
        )
    };
    transferred(count)
}

fn transferred(count: isize) -> io::Result<Option<usize>> {
    if count >= 0 {
        return Ok(Some(count as usize));
    }
    let error = io::Error::last_os_error();
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(None),
        _ => Err(error),
    }
}

/// A descriptor that becomes readable when SIGTERM or SIGINT arrives.
pub fn stop_signal() -> io::Result<OwnedFd> {
    // SAFETY: `set` is initialized by sigemptyset before its use, and the pointers are valid.
    unsafe {
        let mut set: libc::sigset_t = MaybeUninit::zeroed().assume_init();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGTERM);
        libc::sigaddset(&raw mut set, libc::SIGINT);
        checked(libc::sigprocmask(
            libc::SIG_BLOCK,
            &raw const set,
            std::ptr::null_mut(),
        ))?;
        owned(libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC))
    }
}

/// Raises the limit of open descriptors to what the system allows.
pub fn raise_descriptor_limit() {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is valid for both calls.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

/// An epoll instance whose events carry a number of the caller's choice.
pub struct Poll {
    epoll: OwnedFd,
    events: Vec<libc::epoll_event>,
}

impl Poll {
    pub fn new() -> io::Result<Poll> {
        // SAFETY: plain call without pointers.
        let epoll = owned(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        Ok(Poll {
            epoll,
            events: Vec::with_capacity(1024),
        })
    }

    /// Watches `fd` for input; its events carry `token`.
    pub fn watch(&self, fd: RawFd, token: u64) -> io::Result<()> {
        let mut event = libc::epoll_event {
            events: (libc::EPOLLIN | libc::EPOLLRDHUP) as u32,
            u64: token,
        };
        // SAFETY: `event` is valid for the call.
        checked(unsafe {
            libc::epoll_ctl(
                self.epoll.as_raw_fd(),
                libc::EPOLL_CTL_ADD,
                fd,
                &raw mut event,
            )
        })?;
        Ok(())
    }

    /// Waits for events, at most for `timeout` (forever without one), and returns their tokens.
    pub fn wait(&mut self, timeout: Option<Duration>) -> io::Result<impl Iterator<Item = u64>> {
        let limit = timeout.map(|limit| libc::timespec {
            tv_sec: limit.as_secs() as libc::time_t,
            tv_nsec: libc::c_long::from(limit.subsec_nanos() as i32),
        });
        let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        self.events.clear();
        // SAFETY: the buffer has space for `capacity` events, and `limit` is null or a live
        // timespec.
        let count = unsafe {
            libc::epoll_pwait2(
                self.epoll.as_raw_fd(),
                self.events.as_mut_ptr(),
                self.events.capacity() as c_int,
                limit,
                std::ptr::null(),
            )
        };
        let count = match checked(count) {
            Ok(count) => count as usize,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            Err(error) => return Err(error),
        };
        // SAFETY: the kernel has written `count` events, which is at most the capacity.
        unsafe { self.events.set_len(count) };
        Ok(self.events.iter().map(|event| event.u64))
    }
}
