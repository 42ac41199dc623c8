use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use units::Moment;

use crate::traffic::TrafficCounter;
#[cfg(target_os = "linux")]
use crate::uring::UringTcp;
use crate::wire::Wire;

/// A TCP stream without TLS.
#[derive(Debug)]
pub enum Plain {
    /// Through the reactor.
    Tcp(Tcp),
    /// Through io_uring.
    #[cfg(target_os = "linux")]
    Uring(UringTcp),
}

/// A TCP socket whose bytes are counted for the user that opened it.
#[derive(Debug)]
pub struct Tcp {
    socket: TcpStream,
    counter: Rc<TrafficCounter>,
}

impl Plain {
    /// Takes a connected socket; onto this thread's ring if `ring` is wanted
    /// and there is one.
    ///
    /// # Errors
    /// When the system cannot move the socket.
    pub(crate) fn new(
        socket: TcpStream,
        counter: Rc<TrafficCounter>,
        ring: bool,
    ) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if ring && let Some(ring) = crate::uring::current() {
            return UringTcp::new(ring, socket, counter).map(Plain::Uring);
        }
        let _ = ring;
        Ok(Plain::Tcp(Tcp { socket, counter }))
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
                ready!(Pin::new(&mut io.socket).poll_read(cx, buf))?;
                io.counter.add_received(buf.filled().len() - before);
                Poll::Ready(Ok(()))
            }
            #[cfg(target_os = "linux")]
            Plain::Uring(io) => Pin::new(io).poll_read(cx, buf),
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
        }
    }

    fn is_write_vectored(&self) -> bool {
        matches!(self, Plain::Tcp(_))
    }

    #[inline]
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Plain::Tcp(io) => Pin::new(&mut io.socket).poll_flush(cx),
            #[cfg(target_os = "linux")]
            Plain::Uring(io) => Pin::new(io).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Plain::Tcp(io) => Pin::new(&mut io.socket).poll_shutdown(cx),
            #[cfg(target_os = "linux")]
            Plain::Uring(io) => Pin::new(io).poll_shutdown(cx),
        }
    }
}

impl Wire for Plain {
    #[inline]
    fn is_disturbed(&mut self) -> bool {
        match self {
            // No system call as long as the reactor has seen nothing.
            Plain::Tcp(io) => {
                let tried = io.socket.try_read(&mut [0]);
                !matches!(tried, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
            }
            #[cfg(target_os = "linux")]
            Plain::Uring(io) => io.is_disturbed(),
        }
    }

    #[inline]
    fn written_at(&self) -> Option<Moment> {
        match self {
            Plain::Tcp(_) => Some(clock::now()),
            #[cfg(target_os = "linux")]
            Plain::Uring(_) => None,
        }
    }

    #[inline]
    fn sent_at(&self) -> Option<Moment> {
        match self {
            Plain::Tcp(_) => None,
            #[cfg(target_os = "linux")]
            Plain::Uring(io) => io.sent_at(),
        }
    }

    #[inline]
    fn read_at(&self) -> Moment {
        match self {
            Plain::Tcp(_) => clock::now(),
            #[cfg(target_os = "linux")]
            Plain::Uring(io) => io.received_at().unwrap_or_else(clock::now),
        }
    }
}
