use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use plimsoll_units::Moment;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::client::TlsStream;

use crate::plain::Plain;
use crate::wire::Wire;

/// A connected byte stream of any kind. It is an enum so that the request path costs a predictable
/// branch instead of an indirect call.
#[derive(Debug)]
pub enum Stream {
    Plain(Plain),
    Tls(Box<TlsStream<Plain>>),
}

impl Stream {
    /// The local address, if the stream knows the address of its own socket.
    pub fn local_address(&self) -> Option<SocketAddr> {
        match self {
            Stream::Plain(io) => io.local_address(),
            Stream::Tls(io) => io.get_ref().0.local_address(),
        }
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
            Stream::Plain(io) => Pin::new(io).poll_read(cx, buf),
            Stream::Tls(io) => Pin::new(&mut **io).poll_read(cx, buf),
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
            Stream::Plain(io) => Pin::new(io).poll_write(cx, buf),
            Stream::Tls(io) => Pin::new(&mut **io).poll_write(cx, buf),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(io) => Pin::new(io).poll_write_vectored(cx, bufs),
            Stream::Tls(io) => Pin::new(&mut **io).poll_write_vectored(cx, bufs),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Stream::Plain(io) => io.is_write_vectored(),
            Stream::Tls(io) => io.is_write_vectored(),
        }
    }

    #[inline]
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(io) => Pin::new(io).poll_flush(cx),
            Stream::Tls(io) => Pin::new(&mut **io).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(io) => Pin::new(io).poll_shutdown(cx),
            Stream::Tls(io) => Pin::new(&mut **io).poll_shutdown(cx),
        }
    }
}

impl Wire for Stream {
    #[inline]
    fn is_disturbed(&mut self) -> bool {
        match self {
            Stream::Plain(io) => io.is_disturbed(),
            // The read may have returned only session tickets. Only application data counts.
            Stream::Tls(io) => {
                let mut byte = [0];
                let mut buf = ReadBuf::new(&mut byte);
                let mut cx = Context::from_waker(Waker::noop());
                Pin::new(&mut **io).poll_read(&mut cx, &mut buf).is_ready()
            }
        }
    }

    #[inline]
    fn written_at(&self) -> Option<Moment> {
        match self {
            Stream::Plain(io) => io.written_at(),
            Stream::Tls(io) => io.get_ref().0.written_at(),
        }
    }

    #[inline]
    fn sent_at(&self) -> Option<Moment> {
        match self {
            Stream::Plain(io) => io.sent_at(),
            Stream::Tls(io) => io.get_ref().0.sent_at(),
        }
    }

    #[inline]
    fn read_at(&self) -> Moment {
        match self {
            Stream::Plain(io) => io.read_at(),
            Stream::Tls(io) => io.get_ref().0.read_at(),
        }
    }
}
