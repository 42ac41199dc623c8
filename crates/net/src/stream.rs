use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use units::Moment;

use crate::traffic::TrafficCounter;
#[cfg(target_os = "linux")]
use crate::uring::UringTcp;
use crate::wire::Wire;

/// A connected byte stream of any kind. An enum, so that the request path pays
/// a predictable branch and no indirect call.
#[derive(Debug)]
pub enum Stream {
    /// Plain TCP.
    Tcp(Tcp),
    /// TLS over TCP.
    Tls(Box<TlsStream<Tcp>>),
    /// Plain TCP through io_uring.
    #[cfg(target_os = "linux")]
    Uring(UringTcp),
}

/// A TCP socket whose bytes are counted for the user that opened it.
#[derive(Debug)]
pub struct Tcp {
    socket: TcpStream,
    counter: Rc<TrafficCounter>,
}

impl Tcp {
    pub(crate) fn new(socket: TcpStream, counter: Rc<TrafficCounter>) -> Self {
        Tcp { socket, counter }
    }

    /// The same socket on this thread's ring, if there is one.
    #[cfg(target_os = "linux")]
    pub(crate) fn onto_ring(self) -> io::Result<Stream> {
        match crate::uring::current() {
            None => Ok(Stream::Tcp(self)),
            Some(ring) => UringTcp::new(ring, self.socket, self.counter).map(Stream::Uring),
        }
    }
}

impl AsyncRead for Tcp {
    #[inline]
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        ready!(Pin::new(&mut this.socket).poll_read(cx, buf))?;
        this.counter.add_received(buf.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Tcp {
    #[inline]
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let n = ready!(Pin::new(&mut this.socket).poll_write(cx, buf))?;
        this.counter.add_sent(n);
        Poll::Ready(Ok(n))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let n = ready!(Pin::new(&mut this.socket).poll_write_vectored(cx, bufs))?;
        this.counter.add_sent(n);
        Poll::Ready(Ok(n))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_shutdown(cx)
    }
}

impl AsyncRead for Stream {
    #[inline]
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(io) => Pin::new(io).poll_read(cx, buf),
            Stream::Tls(io) => Pin::new(&mut **io).poll_read(cx, buf),
            #[cfg(target_os = "linux")]
            Stream::Uring(io) => Pin::new(io).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    #[inline]
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Tcp(io) => Pin::new(io).poll_write(cx, buf),
            Stream::Tls(io) => Pin::new(&mut **io).poll_write(cx, buf),
            #[cfg(target_os = "linux")]
            Stream::Uring(io) => Pin::new(io).poll_write(cx, buf),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Tcp(io) => Pin::new(io).poll_write_vectored(cx, bufs),
            Stream::Tls(io) => Pin::new(&mut **io).poll_write_vectored(cx, bufs),
            #[cfg(target_os = "linux")]
            Stream::Uring(io) => Pin::new(io).poll_write_vectored(cx, bufs),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Stream::Tcp(io) => io.is_write_vectored(),
            Stream::Tls(io) => io.is_write_vectored(),
            #[cfg(target_os = "linux")]
            Stream::Uring(_) => false,
        }
    }

    #[inline]
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(io) => Pin::new(io).poll_flush(cx),
            Stream::Tls(io) => Pin::new(&mut **io).poll_flush(cx),
            #[cfg(target_os = "linux")]
            Stream::Uring(io) => Pin::new(io).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(io) => Pin::new(io).poll_shutdown(cx),
            Stream::Tls(io) => Pin::new(&mut **io).poll_shutdown(cx),
            #[cfg(target_os = "linux")]
            Stream::Uring(io) => Pin::new(io).poll_shutdown(cx),
        }
    }
}

impl Wire for Stream {
    #[inline]
    fn is_disturbed(&mut self) -> bool {
        match self {
            // No system call as long as the reactor has seen nothing.
            Stream::Tcp(io) => {
                let tried = io.socket.try_read(&mut [0]);
                !matches!(tried, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
            }
            // Session tickets may have come; only plain bytes disturb.
            Stream::Tls(io) => {
                let mut byte = [0];
                let mut buf = ReadBuf::new(&mut byte);
                let mut cx = Context::from_waker(Waker::noop());
                Pin::new(&mut **io).poll_read(&mut cx, &mut buf).is_ready()
            }
            #[cfg(target_os = "linux")]
            Stream::Uring(io) => io.is_disturbed(),
        }
    }

    #[inline]
    fn written_at(&self) -> Option<Moment> {
        match self {
            #[cfg(target_os = "linux")]
            Stream::Uring(_) => None,
            _ => Some(clock::now()),
        }
    }

    #[inline]
    fn sent_at(&self) -> Option<Moment> {
        match self {
            #[cfg(target_os = "linux")]
            Stream::Uring(io) => io.sent_at(),
            _ => None,
        }
    }

    #[inline]
    fn read_at(&self) -> Moment {
        match self {
            #[cfg(target_os = "linux")]
            Stream::Uring(io) => io.received_at().unwrap_or_else(clock::now),
            _ => clock::now(),
        }
    }
}
