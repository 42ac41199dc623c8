use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use plimsoll_units::Moment;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::ring::Ring;
use crate::traffic::TrafficCounter;

/// A TCP socket on a ring. A write succeeds as soon as it is queued. If it fails later, the next
/// read or write returns the error.
#[derive(Debug)]
pub struct UringTcp {
    ring: Rc<Ring>,
    number: usize,
    counter: Rc<TrafficCounter>,
}

impl UringTcp {
    /// Moves a connected socket from tokio's reactor to the ring.
    ///
    /// # Errors
    /// If the reactor or the system cannot release the socket.
    pub(crate) fn new(
        ring: Rc<Ring>,
        socket: TcpStream,
        counter: Rc<TrafficCounter>,
    ) -> io::Result<Self> {
        let socket = socket.into_std()?;
        // Operations on a nonblocking socket would fail instead of waiting.
        socket.set_nonblocking(false)?;
        let number = ring.add(OwnedFd::from(socket))?;
        Ok(UringTcp {
            ring,
            number,
            counter,
        })
    }

    pub(crate) fn is_disturbed(&self) -> bool {
        self.ring.is_disturbed(self.number)
    }

    pub(crate) fn sent_at(&self) -> Option<Moment> {
        self.ring.sent_at(self.number)
    }

    pub(crate) fn received_at(&self) -> Option<Moment> {
        self.ring.received_at(self.number)
    }
}

impl Drop for UringTcp {
    fn drop(&mut self) {
        self.ring.remove(self.number);
    }
}

impl AsyncRead for UringTcp {
    #[inline]
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(self.ring.poll_read(self.number, cx, buf))?;
        self.counter.add_received(buf.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for UringTcp {
    #[inline]
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let length = ready!(self.ring.poll_write(self.number, cx, buf))?;
        self.counter.add_sent(length);
        Poll::Ready(Ok(length))
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
