#![allow(unsafe_code)]
//! One socket on a ring: its two buffers, and the tasks that wait for them.
//!
//! Each socket receives into its own buffer, and only while that buffer is empty. So a connection
//! without a reader holds one buffer and cannot take a buffer from another connection.

use std::collections::TryReserveError;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::task::{Context, Poll, Waker};

use io_uring::{cqueue, opcode, squeue, types};
use plimsoll_units::Moment;
use tokio::io::ReadBuf;

/// Size of the receive buffer. The kernel allocates its pages only when bytes reach them.
const RECEIVE_BUFFER: usize = 16 * 1024;
/// Maximum bytes of one send operation.
const MAX_SEND: usize = 64 * 1024;
/// `IORING_RECVSEND_POLL_FIRST`: wait for bytes before the first attempt to receive.
const POLL_FIRST: u16 = 1;

#[derive(Debug)]
pub(super) struct Socket {
    fd: OwnedFd,
    inbox: Inbox,
    outbox: Outbox,
    /// Whether the socket is in the list for the next turn.
    pub(super) listed: bool,
    /// The stream was dropped. The socket is removed when the kernel no longer uses it.
    closing: bool,
}

#[derive(Debug)]
struct Inbox {
    /// The receive buffer. The kernel writes to it while `receiving`; otherwise `start..end` was
    /// received but not read yet.
    data: Vec<u8>,
    start: usize,
    end: usize,
    receiving: bool,
    /// The last receive left bytes in the kernel.
    has_more: bool,
    /// How receiving ended: 0 for a close, otherwise an error number.
    ended: Option<i32>,
    received_at: Option<Moment>,
    reader: Option<Waker>,
}

#[derive(Debug, Default)]
struct Outbox {
    /// The send buffer. `start..` is not sent yet. The kernel reads it while `sending`.
    data: Vec<u8>,
    start: usize,
    sending: bool,
    /// The buffer is queued for the next turn, and writes may still add bytes to it.
    queued: bool,
    error: Option<i32>,
    sent_at: Option<Moment>,
    writer: Option<Waker>,
}

impl Socket {
    /// Wraps a connected socket in blocking mode.
    pub(super) fn new(fd: OwnedFd) -> Result<Self, TryReserveError> {
        let mut data = Vec::new();
        data.try_reserve_exact(RECEIVE_BUFFER)?;
        Ok(Socket {
            fd,
            inbox: Inbox {
                data,
                start: 0,
                end: 0,
                receiving: false,
                has_more: false,
                ended: None,
                received_at: None,
                reader: None,
            },
            outbox: Outbox::default(),
            listed: false,
            closing: false,
        })
    }

    /// Reads bytes that have arrived. The second value is true if the buffer became empty, so the
    /// socket needs another receive.
    #[inline]
    pub(super) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> (Poll<io::Result<()>>, bool) {
        let inbox = &mut self.inbox;
        if inbox.start < inbox.end {
            let length = buf.remaining().min(inbox.end - inbox.start);
            // SAFETY: the kernel has filled the buffer up to `end`. It is not receiving now, because there are
            // unread bytes.
            let bytes =
                unsafe { std::slice::from_raw_parts(inbox.data.as_ptr().add(inbox.start), length) };
            buf.put_slice(bytes);
            inbox.start += length;
            return (Poll::Ready(Ok(())), inbox.start == inbox.end);
        }
        let ended = match inbox.ended {
            Some(0) => Poll::Ready(Ok(())),
            Some(error) => Poll::Ready(Err(io::Error::from_raw_os_error(error))),
            None => {
                wait(&mut inbox.reader, cx);
                Poll::Pending
            }
        };
        (ended, false)
    }

    /// Queues bytes, up to the size of one operation.
    #[inline]
    pub(super) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outbox = &mut self.outbox;
        if let Some(error) = outbox.error {
            return Poll::Ready(Err(io::Error::from_raw_os_error(error)));
        }
        if !outbox.queued && !outbox.sending {
            outbox.data.clear();
            outbox.start = 0;
        }
        let space = MAX_SEND.saturating_sub(outbox.data.len());
        if outbox.sending || space == 0 {
            wait(&mut outbox.writer, cx);
            return Poll::Pending;
        }
        let taken = bytes.get(..bytes.len().min(space)).unwrap_or_default();
        outbox.data.extend_from_slice(taken);
        outbox.sent_at = None;
        outbox.queued = true;
        Poll::Ready(Ok(taken.len()))
    }

    /// Whether bytes, a close or an error arrived while no read was pending.
    pub(super) fn is_disturbed(&self) -> bool {
        let inbox = &self.inbox;
        inbox.start < inbox.end || inbox.ended.is_some() || self.outbox.error.is_some()
    }

    /// When the last bytes written were submitted to the kernel; `None` while they are queued.
    pub(super) fn sent_at(&self) -> Option<Moment> {
        self.outbox.sent_at
    }

    /// When the last bytes received were collected from the completion queue.
    pub(super) fn received_at(&self) -> Option<Moment> {
        self.inbox.received_at
    }

    /// The next send, if one is queued. The caller must submit it, and must keep the socket until it
    /// has called [`Socket::sent`].
    pub(super) fn next_send(&mut self, now: Moment) -> Option<squeue::Entry> {
        let outbox = &mut self.outbox;
        if !outbox.queued || self.closing {
            return None;
        }
        outbox.queued = false;
        outbox.sending = true;
        outbox.sent_at = Some(now);
        let rest = outbox.data.get(outbox.start..).unwrap_or_default();
        let fd = types::Fd(self.fd.as_raw_fd());
        let send = opcode::Send::new(fd, rest.as_ptr(), rest.len() as u32);
        Some(send.flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL).build())
    }

    /// The next receive, if the buffer is empty. The caller must submit it, and must keep the socket
    /// until it has called [`Socket::received`].
    pub(super) fn next_receive(&mut self) -> Option<squeue::Entry> {
        let inbox = &mut self.inbox;
        let is_full = inbox.start < inbox.end;
        if inbox.receiving || is_full || inbox.ended.is_some() || self.closing {
            return None;
        }
        inbox.receiving = true;
        let (fd, data) = (types::Fd(self.fd.as_raw_fd()), inbox.data.as_mut_ptr());
        let receive = opcode::Recv::new(fd, data, RECEIVE_BUFFER as u32);
        let how = if inbox.has_more { 0 } else { POLL_FIRST };
        Some(receive.ioprio(how).build())
    }

    /// Records that a send has ended. Returns true if there are more bytes to send.
    pub(super) fn sent(&mut self, result: i32, woken: &mut Vec<Waker>) -> bool {
        let outbox = &mut self.outbox;
        outbox.sending = false;
        match usize::try_from(result) {
            Ok(length) => {
                outbox.start += length;
                if outbox.start < outbox.data.len() && length > 0 && !self.closing {
                    outbox.queued = true;
                    return true;
                }
            }
            Err(_) => {
                outbox.error = Some(-result);
                woken.extend(self.inbox.reader.take());
            }
        }
        woken.extend(self.outbox.writer.take());
        false
    }

    /// Records that a receive has ended. Returns true if another one must follow immediately.
    pub(super) fn received(
        &mut self,
        entry: &cqueue::Entry,
        now: Moment,
        woken: &mut Vec<Waker>,
    ) -> bool {
        let inbox = &mut self.inbox;
        inbox.receiving = false;
        inbox.has_more = cqueue::sock_nonempty(entry.flags());
        match usize::try_from(entry.result()) {
            Ok(0) => inbox.ended = Some(0),
            Ok(length) => (inbox.start, inbox.end) = (0, length.min(RECEIVE_BUFFER)),
            Err(_) => match -entry.result() {
                libc::EINTR | libc::EAGAIN => return true,
                error => inbox.ended = Some(error),
            },
        }
        inbox.received_at = Some(now);
        woken.extend(inbox.reader.take());
        false
    }

    /// Makes pending operations fail with this error.
    pub(super) fn fail(&mut self, error: i32, woken: &mut Vec<Waker>) {
        self.inbox.ended.get_or_insert(error);
        self.outbox.error.get_or_insert(error);
        woken.extend(self.inbox.reader.take());
        woken.extend(self.outbox.writer.take());
    }

    /// Ends the socket's operations. Bytes that were written but not submitted are sent now, as far as
    /// the kernel accepts them, as they would have been without a ring. Returns the wakers of waiting
    /// tasks.
    pub(super) fn close(&mut self) -> [Option<Waker>; 2] {
        self.closing = true;
        if std::mem::take(&mut self.outbox.queued) {
            let rest = self.outbox.data.get(self.outbox.start..);
            let rest = rest.unwrap_or_default();
            let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
            // SAFETY: the descriptor is open, and the pointer and the length come from one slice. A failure
            // means that the peer has closed the connection, which no longer matters.
            unsafe { libc::send(self.fd.as_raw_fd(), rest.as_ptr().cast(), rest.len(), flags) };
        }
        if !self.is_idle() {
            // SAFETY: the descriptor is open. Shutting it down ends the operations on it.
            unsafe { libc::shutdown(self.fd.as_raw_fd(), libc::SHUT_RDWR) };
        }
        [self.inbox.reader.take(), self.outbox.writer.take()]
    }

    /// Whether the kernel has no operation on the socket, so its memory may be freed.
    pub(super) fn is_idle(&self) -> bool {
        !self.inbox.receiving && !self.outbox.sending
    }

    /// Whether the socket is closed and the kernel no longer uses it.
    pub(super) fn is_done(&self) -> bool {
        self.closing && self.is_idle()
    }

    /// Leaks memory that the kernel may still use.
    pub(super) fn leak(mut self) {
        std::mem::forget(std::mem::take(&mut self.inbox.data));
        std::mem::forget(std::mem::take(&mut self.outbox.data));
    }
}

fn wait(place: &mut Option<Waker>, cx: &Context<'_>) {
    match place {
        Some(waker) => waker.clone_from(cx.waker()),
        None => *place = Some(cx.waker().clone()),
    }
}
