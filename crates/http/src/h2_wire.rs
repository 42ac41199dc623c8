use std::cell::{Cell, RefCell};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use net::Wire;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use units::Moment;

use crate::error::{ErrorInfo, code};

/// Tells senders when the kernel had taken what they queued: frames are written
/// by the connection's own task, some time after they were queued.
#[derive(Debug, Default)]
pub(crate) struct Writes {
    waiting: RefCell<Vec<Rc<Cell<Option<Moment>>>>>,
    /// What the peer sent first: a frame's head, if it speaks HTTP/2.
    beginning: RefCell<Vec<u8>>,
}

/// Bytes of a frame's head: RFC 9113, section 4.1.
const FRAME_HEAD: usize = 9;
/// The type of a SETTINGS frame, which a server sends first: RFC 9113, sections 3.4 and 6.5.
const SETTINGS: u8 = 4;

impl Writes {
    /// A cell that is set when the next write has been flushed.
    pub(crate) fn next(&self) -> Rc<Cell<Option<Moment>>> {
        let cell = Rc::new(Cell::new(None));
        self.waiting.borrow_mut().push(cell.clone());
        cell
    }

    /// The error that a peer deserves which sent something else than HTTP/2.
    pub(crate) fn not_http2(&self) -> Option<ErrorInfo> {
        let beginning = self.beginning.borrow();
        let kind = beginning.get(3)?;
        (*kind != SETTINGS).then(|| {
            let begins = beginning.escape_ascii();
            ErrorInfo::new(
                code::H2,
                format!("http2: the server does not speak HTTP/2: it begins with \"{begins}\""),
            )
        })
    }

    /// Remembers what the peer sent first; true when that is all of it.
    fn received(&self, bytes: &[u8]) -> bool {
        let mut beginning = self.beginning.borrow_mut();
        let room = FRAME_HEAD - beginning.len().min(FRAME_HEAD);
        beginning.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        beginning.len() >= FRAME_HEAD
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
    /// The peer's first bytes are known.
    pub(crate) begun: bool,
}

impl<W: Wire> AsyncRead for Watched<W> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.begun {
            return Pin::new(&mut this.stream).poll_read(cx, buf);
        }
        let before = buf.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(cx, buf))?;
        let fresh = buf.filled().get(before..).unwrap_or_default();
        this.begun = this.writes.received(fresh);
        Poll::Ready(Ok(()))
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
