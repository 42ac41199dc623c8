use std::cell::{Cell, RefCell};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use net::Wire;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use units::Moment;

/// Tells senders when the kernel had taken what they queued: frames are written
/// by the connection's own task, some time after they were queued.
#[derive(Debug, Default)]
pub(crate) struct Writes {
    waiting: RefCell<Vec<Rc<Cell<Option<Moment>>>>>,
}

impl Writes {
    /// A cell that is set when the next write has been flushed.
    pub(crate) fn next(&self) -> Rc<Cell<Option<Moment>>> {
        let cell = Rc::new(Cell::new(None));
        self.waiting.borrow_mut().push(cell.clone());
        cell
    }

    fn flushed(&self, at: Option<Moment>) {
        let mut waiting = self.waiting.borrow_mut();
        if waiting.is_empty() {
            return;
        }
        let now = at.unwrap_or_else(clock::now);
        for cell in waiting.drain(..) {
            cell.set(Some(now));
        }
    }
}

/// A stream whose flushes are told.
#[derive(Debug)]
pub(crate) struct Watched<W> {
    pub(crate) stream: W,
    pub(crate) writes: Rc<Writes>,
    /// Bytes were written since the last flush.
    pub(crate) dirty: bool,
}

impl<W: Wire> AsyncRead for Watched<W> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(cx, buf)
    }
}

impl<W: Wire> AsyncWrite for Watched<W> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.dirty = true;
        Pin::new(&mut this.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.dirty = true;
        Pin::new(&mut this.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(Pin::new(&mut this.stream).poll_flush(cx))?;
        if std::mem::take(&mut this.dirty) {
            this.writes.flushed(this.stream.written_at());
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
