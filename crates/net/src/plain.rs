//! Streams without TLS, over TCP and unix sockets.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use plimsoll_units::Moment;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::kernel_io::Io;
use crate::traffic::TrafficCounter;
#[cfg(unix)]
use crate::unix::UnixSocket;
#[cfg(target_os = "linux")]
use crate::uring::UringTcp;
use crate::wire::Wire;

/// A stream without TLS.
#[derive(Debug)]
pub enum Plain {
    /// TCP through epoll.
    Tcp(Tcp),
    /// TCP through io_uring.
    #[cfg(target_os = "linux")]
    Uring(UringTcp),
    /// A unix socket through epoll.
    #[cfg(unix)]
    Unix(UnixSocket),
}

/// A TCP socket whose bytes are counted for the user that opened it.
#[derive(Debug)]
pub struct Tcp {
    socket: TcpStream,
    counter: Rc<TrafficCounter>,
    /// Whether the kernel reports when bytes arrive.
    stamped: bool,
    /// When the bytes of the last read arrived, if known.
    arrived: Option<Moment>,
}

impl Tcp {
    /// Reads, with the kernel's timestamp of when the bytes arrived.
    #[cfg(target_os = "linux")]
    fn poll_stamped(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        use std::os::fd::AsFd;
        use tokio::io::Interest;

        loop {
            ready!(self.socket.poll_read_ready(cx))?;
            let (socket, buffer) = (&self.socket, buf.initialize_unfilled());
            let all = buffer.len();
            let read = socket.try_io(Interest::READABLE, || {
                crate::stamped::receive(socket.as_fd(), buffer)
            });
            let (count, arrived) = match read {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(error) => return Poll::Ready(Err(error)),
            };
            if 0 < count && count < all {
                // The socket is empty. Report that here, as the runtime's own read does: it saves the next read a
                // system call that would find nothing.
                let empty = || Err::<(), _>(io::ErrorKind::WouldBlock.into());
                let _ = socket.try_io(Interest::READABLE, empty);
            }
            buf.advance(count);
            self.arrived = arrived;
            return Poll::Ready(Ok(()));
        }
    }

    /// Reads through the runtime, because other systems have no such timestamps.
    #[cfg(not(target_os = "linux"))]
    fn poll_stamped(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(cx, buf)
    }
}

impl Plain {
    /// The local address, if the runtime knows it.
    pub(crate) fn local_address(&self) -> Option<SocketAddr> {
        match self {
            Plain::Tcp(tcp) => tcp.socket.local_addr().ok(),
            _ => None,
        }
    }

    /// Wraps a connected socket, and moves it to this thread's ring if `io` requests that.
    ///
    /// # Errors
    /// If no ring is available, or the system cannot move the socket.
    pub(crate) fn new(socket: TcpStream, counter: Rc<TrafficCounter>, io: Io) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if io == Io::Uring {
            return UringTcp::new(crate::uring::current()?, socket, counter).map(Plain::Uring);
        }
        #[cfg(not(target_os = "linux"))]
        if io == Io::Uring {
            crate::check_uring()?;
        }
        // Without the kernel's timestamps, use the time of the read.
        #[cfg(target_os = "linux")]
        let stamped =
            io == Io::Stamped && crate::stamped::enable(std::os::fd::AsFd::as_fd(&socket)).is_ok();
        #[cfg(not(target_os = "linux"))]
        let stamped = false;
        Ok(Plain::Tcp(Tcp {
            socket,
            counter,
            stamped,
            arrived: None,
        }))
    }
}

impl AsyncRead for Plain {
    #[inline]
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Plain::Tcp(io) => {
                let before = buf.filled().len();
                if io.stamped {
                    ready!(io.poll_stamped(cx, buf))?;
                } else {
                    ready!(Pin::new(&mut io.socket).poll_read(cx, buf))?;
                }
                io.counter.add_received(buf.filled().len() - before);
                Poll::Ready(Ok(()))
            }
            #[cfg(target_os = "linux")]
            Plain::Uring(io) => Pin::new(io).poll_read(cx, buf),
            #[cfg(unix)]
            Plain::Unix(io) => {
                let before = buf.filled().len();
                ready!(Pin::new(&mut io.socket).poll_read(cx, buf))?;
                io.counter.add_received(buf.filled().len() - before);
                Poll::Ready(Ok(()))
            }
        }
    }
}

impl AsyncWrite for Plain {
    #[inline]
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Plain::Tcp(io) => {
                let n = ready!(Pin::new(&mut io.socket).poll_write(cx, buf))?;
                io.counter.add_sent(n);
                Poll::Ready(Ok(n))
            }
            #[cfg(target_os = "linux")]
            Plain::Uring(io) => Pin::new(io).poll_write(cx, buf),
            #[cfg(unix)]
            Plain::Unix(io) => {
                let n = ready!(Pin::new(&mut io.socket).poll_write(cx, buf))?;
                io.counter.add_sent(n);
                Poll::Ready(Ok(n))
            }
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Plain::Tcp(io) => {
                let n = ready!(Pin::new(&mut io.socket).poll_write_vectored(cx, bufs))?;
                io.counter.add_sent(n);
                Poll::Ready(Ok(n))
            }
            #[cfg(target_os = "linux")]
            Plain::Uring(io) => Pin::new(io).poll_write_vectored(cx, bufs),
            #[cfg(unix)]
            Plain::Unix(io) => {
                let n = ready!(Pin::new(&mut io.socket).poll_write_vectored(cx, bufs))?;
                io.counter.add_sent(n);
                Poll::Ready(Ok(n))
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Plain::Tcp(_) => true,
            #[cfg(target_os = "linux")]
            Plain::Uring(_) => false,
            #[cfg(unix)]
            Plain::Unix(_) => true,
        }
    }

    #[inline]
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Plain::Tcp(io) => Pin::new(&mut io.socket).poll_flush(cx),
            #[cfg(target_os = "linux")]
            Plain::Uring(io) => Pin::new(io).poll_flush(cx),
            #[cfg(unix)]
            Plain::Unix(io) => Pin::new(&mut io.socket).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Plain::Tcp(io) => Pin::new(&mut io.socket).poll_shutdown(cx),
            #[cfg(target_os = "linux")]
            Plain::Uring(io) => Pin::new(io).poll_shutdown(cx),
            #[cfg(unix)]
            Plain::Unix(io) => Pin::new(&mut io.socket).poll_shutdown(cx),
        }
    }
}

impl Wire for Plain {
    #[inline]
    fn is_disturbed(&mut self) -> bool {
        match self {
            // No system call happens until epoll reports that the socket is ready.
            Plain::Tcp(io) => {
                let tried = io.socket.try_read(&mut [0]);
                !matches!(tried, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
            }
            #[cfg(target_os = "linux")]
            Plain::Uring(io) => io.is_disturbed(),
            #[cfg(unix)]
            Plain::Unix(io) => {
                let tried = io.socket.try_read(&mut [0]);
                !matches!(tried, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
            }
        }
    }

    #[inline]
    fn written_at(&self) -> Option<Moment> {
        match self {
            Plain::Tcp(_) => Some(plimsoll_clock::now()),
            #[cfg(target_os = "linux")]
            Plain::Uring(_) => None,
            #[cfg(unix)]
            Plain::Unix(_) => Some(plimsoll_clock::now()),
        }
    }

    #[inline]
    fn sent_at(&self) -> Option<Moment> {
        match self {
            Plain::Tcp(_) => None,
            #[cfg(target_os = "linux")]
            Plain::Uring(io) => io.sent_at(),
            #[cfg(unix)]
            Plain::Unix(_) => None,
        }
    }

    #[inline]
    fn read_at(&self) -> Moment {
        match self {
            Plain::Tcp(io) => io.arrived.unwrap_or_else(plimsoll_clock::now),
            #[cfg(target_os = "linux")]
            Plain::Uring(io) => io.received_at().unwrap_or_else(plimsoll_clock::now),
            #[cfg(unix)]
            Plain::Unix(_) => plimsoll_clock::now(),
        }
    }
}
