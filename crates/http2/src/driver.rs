//! The task that reads and writes a connection's socket.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use plimsoll_net::Wire;
use tokio::io::ReadBuf;

use crate::connection::Connection;
use crate::fault::StreamFault;

/// Maximum bytes per read.
const READ: usize = 64 << 10;
/// Maximum number of reads per turn, so other tasks also run.
const TURNS: usize = 16;

thread_local! {
    /// The read buffer for all connections of this thread. It is empty between two reads.
    static READ_INTO: RefCell<Vec<u8>> = RefCell::new(vec![0; READ]);
}

/// Reads and writes until the connection has ended or is no longer needed.
pub(crate) async fn drive<W: Wire>(connection: Rc<RefCell<Connection>>, wire: W) {
    let mut driver = Driver {
        wire,
        is_dirty: false,
        has_ended: false,
    };
    poll_fn(|cx| driver.turn(cx, &connection)).await;
    // The final frames may or may not arrive; that depends on the peer.
    let _ = poll_fn(|cx| Pin::new(&mut driver.wire).poll_shutdown(cx)).await;
}

struct Driver<W> {
    wire: W,
    /// Whether bytes were written since the last flush.
    is_dirty: bool,
    /// The peer has closed its sending half.
    has_ended: bool,
}

impl<W: Wire> Driver<W> {
    fn turn(&mut self, cx: &mut Context<'_>, shared: &RefCell<Connection>) -> Poll<()> {
        for _ in 0..TURNS {
            let connection = &mut *shared.borrow_mut();
            connection.set_driver(cx.waker());
            let written = self.write(cx, connection);
            if let Poll::Ready(Err(error)) = written {
                // Frames that the peer sent before it closed the connection explain more than the error does.
                for _ in 0..TURNS {
                    if !matches!(self.read(cx, connection), Poll::Ready(Ok(1..))) {
                        break;
                    }
                }
                connection.fail(StreamFault::io(true, error));
                return Poll::Ready(());
            }
            // Do not wait for a blocked socket if no caller needs the bytes.
            if connection.is_unwanted() || self.has_ended {
                connection.announce_close();
                let _ = self.write(cx, connection);
                return Poll::Ready(());
            }
            match self.read(cx, connection) {
                Poll::Ready(Ok(0)) => {
                    self.has_ended = true;
                    connection.end();
                }
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(error)) => {
                    self.has_ended = true;
                    connection.fail(StreamFault::io(false, error));
                }
                // The bytes that were just read may need a response.
                Poll::Pending if written.is_ready() && connection.unwritten().is_empty() => {
                    return Poll::Pending;
                }
                Poll::Pending if written.is_pending() => return Poll::Pending,
                Poll::Pending => {}
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Ready when everything is written and flushed.
    fn write(&mut self, cx: &mut Context<'_>, connection: &mut Connection) -> Poll<io::Result<()>> {
        loop {
            let bytes = connection.unwritten();
            if bytes.is_empty() {
                break;
            }
            match Pin::new(&mut self.wire).poll_write(cx, bytes) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(count)) => {
                    self.is_dirty = true;
                    connection.wrote(count);
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            }
        }
        if self.is_dirty {
            match Pin::new(&mut self.wire).poll_flush(cx) {
                Poll::Ready(Ok(())) => self.is_dirty = false,
                other => return other,
            }
            if connection.has_marks() {
                let at = self.wire.written_at();
                connection.flushed(at.unwrap_or_else(plimsoll_clock::now));
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Reads once, and passes the bytes to the connection.
    fn read(
        &mut self,
        cx: &mut Context<'_>,
        connection: &mut Connection,
    ) -> Poll<io::Result<usize>> {
        READ_INTO.with_borrow_mut(|buffer| {
            let mut buffer = ReadBuf::new(buffer.as_mut_slice());
            match Pin::new(&mut self.wire).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) => {
                    let bytes = buffer.filled();
                    if !bytes.is_empty() {
                        connection.feed(bytes, self.wire.read_at());
                    }
                    Poll::Ready(Ok(bytes.len()))
                }
                Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
                Poll::Pending => Poll::Pending,
            }
        })
    }
}
