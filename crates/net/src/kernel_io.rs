/// The kernel interface for TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Io {
    /// One system call per read and per write, when epoll reports that the socket is ready.
    #[default]
    Epoll,
    /// io_uring for plain TCP; TLS and unix sockets use epoll. Streams must be opened where tokio can
    /// spawn local tasks. Opening a stream fails if [`check_uring`](crate::check_uring) fails.
    Uring,
    /// Same as [`Io::Epoll`], plus the kernel's timestamps of received bytes, if available. Each read
    /// costs slightly more. Intended for runs whose start times follow a schedule.
    Stamped,
}
