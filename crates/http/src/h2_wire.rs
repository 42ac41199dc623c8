use std::cell::{Cell, RefCell};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::client::SendRequest;
use plimsoll_net::Wire;
use plimsoll_units::Moment;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::error::{ErrorInfo, code};
use crate::head::MAX_HEAD;

/// Flow-control windows as large as those of Go's client, so that the server and not the window
/// limits the speed of a response.
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 1 << 30;

/// Bodies up to this length are handed to the codec without waiting for capacity in the peer's
/// windows. The codec assigns capacity to a stream only after it has written the headers, so
/// headers and body would go out in two segments, each acknowledged separately, with a wake-up in
/// between. What the windows do not allow yet waits in the codec: at most this much per stream.
pub(crate) const AT_ONCE: usize = 16 << 10;

/// A connection whose handshake was written.
pub(crate) struct Begun {
    pub(crate) sender: SendRequest<Bytes>,
    pub(crate) writes: Rc<Writes>,
    /// Set when the connection has ended.
    pub(crate) closed: Rc<Cell<bool>>,
}

/// Performs the HTTP/2 handshake on an open byte stream. The connection's own task runs on this
/// thread until the last stream and the sender are gone.
pub(crate) async fn begin<W: Wire + 'static>(stream: W) -> Result<Begun, h2::Error> {
    let writes = Rc::new(Writes::default());
    let watched = Watched {
        stream,
        writes: writes.clone(),
        dirty: false,
        begun: false,
    };
    let (sender, connection) = h2::client::Builder::new()
        .enable_push(false)
        .initial_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_header_list_size(MAX_HEAD as u32)
        .handshake::<_, Bytes>(watched)
        .await?;
    let closed = Rc::new(Cell::new(false));
    let told = closed.clone();
    tokio::task::spawn_local(async move {
        // Each stream reports the error itself.
        let _ = connection.await;
        told.set(true);
    });
    Ok(Begun {
        sender,
        writes,
        closed,
    })
}

/// Reports when the kernel accepted what senders queued. The connection's own task writes the
/// frames, some time after they were queued.
#[derive(Debug, Default)]
pub(crate) struct Writes {
    waiting: RefCell<Vec<Rc<Cell<Option<Moment>>>>>,
    /// The peer's first bytes: a frame header, if it uses HTTP/2.
    beginning: RefCell<Vec<u8>>,
}

/// Length of a frame header: RFC 9113, section 4.1.
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

    /// The error for a peer that sent something other than HTTP/2.
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

    /// Records the peer's first bytes; returns true when they are complete.
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
        let now = at.unwrap_or_else(plimsoll_clock::now);
        for cell in waiting.drain(..) {
            cell.set(Some(now));
        }
    }
}

/// A stream that records when it is flushed.
#[derive(Debug)]
struct Watched<W> {
    stream: W,
    writes: Rc<Writes>,
    /// Bytes were written since the last flush.
    dirty: bool,
    /// The peer's first bytes are complete.
    begun: bool,
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
