//! Exchanges on HTTP/1.x connections.

use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use plimsoll_net::Wire;
use plimsoll_units::Moment;
use tokio::io::ReadBuf;

use crate::alarm::Alarm;
use crate::body::Dechunker;
use crate::body_watch::SharedWatch;
use crate::error::{ErrorInfo, code};
use crate::head::{Framing, Head, MAX_HEAD, check_status_line, transport_broken};
use crate::odd_head;
use crate::parse_head::parse_head;
use crate::progress::Progress;
use crate::scratch::Scratch;

/// Maximum number of interim (1xx) responses that are skipped before the final one.
const MAX_INTERIM: u32 = 100;

/// One HTTP/1.x connection, idle or in use by an exchange.
#[derive(Debug)]
pub(crate) struct Connection<S> {
    io: S,
    /// The headers of the last response. If the next response starts with the same bytes, they need not
    /// be parsed again.
    known: Option<Rc<Head>>,
    /// Bytes of incomplete headers.
    partial: Vec<u8>,
    alarm: Alarm,
    /// Number of exchanges that were completed on the connection.
    pub(crate) served: u64,
}

impl<S> Connection<S> {
    /// The bytes of its buffers.
    pub(crate) fn buffers(&self) -> usize {
        self.partial.capacity()
    }
}

/// The parameters of one exchange.
pub(crate) struct H1Request<'a> {
    pub(crate) head: &'a [u8],
    pub(crate) body: &'a [u8],
    /// The response to HEAD has no body, whatever its headers say.
    pub(crate) is_head: bool,
    /// Whether the body is kept. Otherwise it is only counted.
    pub(crate) keep_body: bool,
    /// Maximum number of body bytes that are kept.
    pub(crate) max_body: u64,
    /// Whether bytes beyond `max_body` are read and dropped instead of causing an error.
    pub(crate) cut_body: bool,
    /// Observes the body, which is then not kept.
    pub(crate) watch: Option<&'a SharedWatch>,
    pub(crate) deadline: Moment,
    /// Whether status 101 is a valid response. The bytes after it belong to another protocol.
    pub(crate) is_upgrade: bool,
}

/// Reasons why an exchange failed.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The deadline has passed.
    Timeout,
    /// The peer closed the connection before the first byte of a response.
    Closed,
    /// The peer closed the connection in the middle of a response.
    ClosedInside,
    Write(io::Error),
    Read(io::Error),
    /// The response is malformed.
    Garbage(ErrorInfo),
}

impl Fault {
    /// Whether the server probably closed this persistent connection while it was idle, so a safe request may
    /// be retried on a new connection.
    pub(crate) fn is_stale(&self, progress: &Progress) -> bool {
        progress.received == 0 && matches!(self, Fault::Closed | Fault::Write(_) | Fault::Read(_))
    }
}

impl From<Fault> for ErrorInfo {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Timeout => crate::fault::timeout(),
            Fault::Closed => ErrorInfo::new(code::DEFAULT, "EOF"),
            Fault::ClosedInside => ErrorInfo::new(code::DEFAULT, "unexpected EOF"),
            Fault::Write(error) => crate::fault::broken("write", &error),
            Fault::Read(error) => crate::fault::broken("read", &error),
            Fault::Garbage(error) => error,
        }
    }
}

/// The position within the response.
enum Place {
    Head,
    Body { left: u64 },
    Chunks(Dechunker),
    UntilClose,
    Done,
}

struct Exchanging {
    place: Place,
    kept: Vec<u8>,
    interim: u32,
    request_done: bool,
    write_error: Option<io::Error>,
    /// Length of the part of the incomplete headers that was already searched for their end.
    searched: usize,
}

impl<S: Wire> Connection<S> {
    pub(crate) fn new(io: S) -> Self {
        Connection {
            io,
            known: None,
            partial: Vec::new(),
            alarm: Alarm::default(),
            served: 0,
        }
    }

    /// Sends the request and reads the response. If this fails or the future is dropped, the caller
    /// must drop the connection.
    pub(crate) async fn exchange(
        &mut self,
        ask: &H1Request<'_>,
        scratch: &Scratch,
        progress: &mut Progress,
    ) -> Result<(), Fault> {
        let mut state = Exchanging {
            place: Place::Head,
            kept: Vec::new(),
            interim: 0,
            request_done: false,
            write_error: None,
            searched: 0,
        };
        self.partial.clear();
        let ended = poll_fn(|cx| self.poll_exchange(cx, ask, scratch, &mut state, progress)).await;
        if progress.sent.is_none() && state.request_done && state.write_error.is_none() {
            progress.sent = self.io.sent_at();
        }
        self.served += u64::from(ended.is_ok());
        if ended.is_err() && !state.kept.is_empty() {
            // Keep the received part of the body even after a failure.
            progress.body = state.kept.into();
        }
        ended
    }

    #[inline]
    fn poll_exchange(
        &mut self,
        cx: &mut Context<'_>,
        ask: &H1Request<'_>,
        scratch: &Scratch,
        state: &mut Exchanging,
        progress: &mut Progress,
    ) -> Poll<Result<(), Fault>> {
        if !state.request_done {
            match self.poll_send(cx, ask, progress) {
                Poll::Ready(Ok(())) => {
                    state.request_done = true;
                    progress.sent = self.io.written_at();
                }
                // The response may explain why the server stopped reading.
                Poll::Ready(Err(error)) => {
                    state.request_done = true;
                    state.write_error = Some(error);
                }
                Poll::Pending => {}
            }
        }
        let mut scratch = scratch.borrow_mut();
        loop {
            let mut buf = ReadBuf::new(&mut scratch);
            match Pin::new(&mut self.io).poll_read(cx, &mut buf) {
                Poll::Pending => {
                    if let Some(error) = state.write_error.take_if(|_| progress.received == 0) {
                        return Poll::Ready(Err(Fault::Write(error)));
                    }
                    if ask.watch.is_some_and(|watch| watch.0.is_over()) {
                        self.finish(state, progress, false);
                        return Poll::Ready(Ok(()));
                    }
                    return match self.alarm.poll(cx, ask.deadline) {
                        Poll::Ready(()) => {
                            progress.done = Some(plimsoll_clock::now());
                            Poll::Ready(Err(Fault::Timeout))
                        }
                        Poll::Pending => Poll::Pending,
                    };
                }
                Poll::Ready(Err(error)) => {
                    let fault = match state.write_error.take() {
                        Some(first) => Fault::Write(first),
                        None => Fault::Read(error),
                    };
                    progress.done = Some(plimsoll_clock::now());
                    return Poll::Ready(Err(fault));
                }
                Poll::Ready(Ok(())) => {}
            }
            let now = self.io.read_at();
            progress.done = Some(now);
            let data = buf.filled();
            if data.is_empty() {
                return Poll::Ready(self.at_end(state, progress));
            }
            progress.first_byte.get_or_insert(now);
            progress.received += data.len() as u64;
            match self.take(ask, data, state, progress) {
                Ok(true) => return Poll::Ready(Ok(())),
                Ok(false) => {
                    if let Some(watch) = ask.watch {
                        if let Some(head) = &progress.head {
                            watch.0.head(head);
                        }
                        if watch.0.has_unprocessed() {
                            return Poll::Pending;
                        }
                        if watch.0.is_over() {
                            self.finish(state, progress, false);
                            return Poll::Ready(Ok(()));
                        }
                    }
                }
                Err(error) => return Poll::Ready(Err(Fault::Garbage(error))),
            }
        }
    }

    /// Ready when the kernel has accepted the complete headers and body.
    #[inline]
    fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        ask: &H1Request<'_>,
        progress: &mut Progress,
    ) -> Poll<io::Result<()>> {
        let total = ask.head.len() + ask.body.len();
        while progress.written < total {
            let io = Pin::new(&mut self.io);
            let head = ask.head.get(progress.written..).unwrap_or_default();
            let polled = if ask.body.is_empty() {
                io.poll_write(cx, head)
            } else if head.is_empty() {
                let at = progress.written - ask.head.len();
                io.poll_write(cx, ask.body.get(at..).unwrap_or_default())
            } else {
                io.poll_write_vectored(cx, &[IoSlice::new(head), IoSlice::new(ask.body)])
            };
            match polled {
                Poll::Ready(Ok(0)) => {
                    return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
                }
                Poll::Ready(Ok(n)) => progress.written += n,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            }
        }
        Pin::new(&mut self.io).poll_flush(cx)
    }

    /// Processes bytes of the response. Returns true when the response is complete.
    #[inline]
    fn take(
        &mut self,
        ask: &H1Request<'_>,
        data: &[u8],
        state: &mut Exchanging,
        progress: &mut Progress,
    ) -> Result<bool, ErrorInfo> {
        let mut data = data;
        if matches!(state.place, Place::Head) {
            if self.partial.is_empty()
                && let Some(known) = &self.known
                && let Some(rest) = data.strip_prefix(known.raw())
            {
                let known = known.clone();
                state.place = place_after(&known, ask);
                progress.head = Some(known);
                data = rest;
            } else {
                match self.take_head(ask, data, state, progress)? {
                    Some(used) => data = data.get(used..).unwrap_or_default(),
                    None => return Ok(false),
                }
            }
        }
        match &mut state.place {
            Place::Head => return Ok(false),
            Place::Body { left } => {
                let take = (data.len() as u64).min(*left) as usize;
                let (body, rest) = data.split_at(take);
                *left -= take as u64;
                progress.payload += take as u64;
                if ask.keep_body && take > 0 {
                    if let Some(watch) = ask.watch {
                        watched(watch, progress.head.as_ref(), body, progress.done);
                    } else if *left == 0 && state.kept.is_empty() && take as u64 <= ask.max_body {
                        progress.body = Bytes::copy_from_slice(body);
                    } else {
                        keep(&mut state.kept, body, ask, *left)?;
                    }
                }
                if *left > 0 {
                    return Ok(false);
                }
                data = rest;
            }
            Place::Chunks(chunks) => {
                let (kept, payload) = (&mut state.kept, &mut progress.payload);
                let (head, at) = (progress.head.as_ref(), progress.done);
                let used = chunks.feed(data, &mut |body| {
                    *payload += body.len() as u64;
                    if let Some(watch) = ask.watch {
                        watched(watch, head, body, at);
                        Ok(())
                    } else if ask.keep_body {
                        keep(kept, body, ask, 0)
                    } else {
                        Ok(())
                    }
                })?;
                if !chunks.is_done() {
                    return Ok(false);
                }
                data = data.get(used..).unwrap_or_default();
            }
            Place::UntilClose => {
                progress.payload += data.len() as u64;
                if let Some(watch) = ask.watch {
                    watched(watch, progress.head.as_ref(), data, progress.done);
                } else if ask.keep_body {
                    keep(&mut state.kept, data, ask, 0)?;
                }
                return Ok(false);
            }
            Place::Done if ask.is_upgrade => progress.body = Bytes::copy_from_slice(data),
            Place::Done => {}
        }
        self.finish(state, progress, data.is_empty());
        Ok(true)
    }

    fn finish(&mut self, state: &mut Exchanging, progress: &mut Progress, clean: bool) {
        if !state.kept.is_empty() {
            progress.body = Bytes::from(std::mem::take(&mut state.kept));
        }
        // A connection cannot be reused if the request was not sent completely or if unsolicited bytes
        // arrived.
        progress.reusable = clean
            && state.request_done
            && state.write_error.is_none()
            && progress.head.as_ref().is_some_and(|head| head.keeps_alive);
    }

    /// Processes bytes of headers, including those of interim responses. When the final headers are
    /// complete, returns the number of bytes that belong to them.
    #[cold]
    fn take_head(
        &mut self,
        ask: &H1Request<'_>,
        data: &[u8],
        state: &mut Exchanging,
        progress: &mut Progress,
    ) -> Result<Option<usize>, ErrorInfo> {
        let before = self.partial.len();
        self.partial.extend_from_slice(data);
        let mut start = 0;
        loop {
            let pending = self.partial.get(start..).unwrap_or_default();
            check_beginning(pending)?;
            let Some(length) = find_end(pending, state.searched) else {
                state.searched = pending.len().saturating_sub(3);
                if pending.len() > MAX_HEAD {
                    return Err(transport_broken(format!(
                        "net/http: server response headers exceeded {MAX_HEAD} bytes; aborted"
                    )));
                }
                self.partial.drain(..start);
                return Ok(None);
            };
            state.searched = 0;
            let head = parse_head(pending.get(..length).unwrap_or_default())?;
            start += length;
            match head.status() {
                101 if ask.is_upgrade => {
                    state.place = Place::Done;
                    progress.head = Some(Rc::new(head));
                    self.partial.clear();
                    return Ok(Some(start - before));
                }
                101 => {
                    progress.head = Some(Rc::new(head));
                    return Err(ErrorInfo::new(
                        code::DEFAULT,
                        "unsupported response status: 101 Switching Protocols",
                    ));
                }
                100..200 => {
                    // There may be any number of interim responses (RFC 9110, section 15.2).
                    state.interim += 1;
                    if state.interim > MAX_INTERIM {
                        return Err(ErrorInfo::new(
                            code::DEFAULT,
                            "net/http: too many 1xx informational responses",
                        ));
                    }
                }
                _ => {
                    let head = Rc::new(head);
                    self.known = Some(head.clone());
                    state.place = place_after(&head, ask);
                    progress.head = Some(head);
                    self.partial.clear();
                    return Ok(Some(start - before));
                }
            }
        }
    }

    /// Handles a close by the peer: correct after a body that extends to the end of the connection,
    /// otherwise an error.
    fn at_end(&mut self, state: &mut Exchanging, progress: &mut Progress) -> Result<(), Fault> {
        match state.place {
            Place::UntilClose => {
                self.finish(state, progress, false);
                Ok(())
            }
            _ if progress.received == 0 => Err(match state.write_error.take() {
                Some(error) => Fault::Write(error),
                None => Fault::Closed,
            }),
            _ => {
                let fault = if progress.head.is_none() && !self.partial.is_empty() {
                    Fault::Garbage(odd_head::cut_off(&self.partial))
                } else {
                    Fault::ClosedInside
                };
                self.finish(state, progress, false);
                Err(fault)
            }
        }
    }

    /// Returns the stream, which another protocol uses from now on.
    pub(crate) fn into_stream(self) -> S {
        self.io
    }

    /// Whether an idle connection is unusable: the peer closed it or sent unsolicited bytes.
    #[inline]
    pub(crate) fn is_dead(&mut self) -> bool {
        self.io.is_disturbed()
    }
}

/// Whether the response has no body (RFC 9112, section 6.3, items 1 to 3).
fn place_after(head: &Head, ask: &H1Request<'_>) -> Place {
    if ask.is_head || matches!(head.status(), 204 | 304) {
        return Place::Done;
    }
    match head.framing {
        Framing::Length(0) => Place::Done,
        Framing::Length(left) => Place::Body { left },
        Framing::Chunked => Place::Chunks(Dechunker::new()),
        Framing::UntilClose => Place::UntilClose,
    }
}

/// Passes bytes of a body to its watch.
#[cold]
fn watched(watch: &SharedWatch, head: Option<&Rc<Head>>, bytes: &[u8], at: Option<Moment>) {
    if let Some(head) = head {
        let at = at.unwrap_or_else(plimsoll_clock::now);
        watch.0.data(head, bytes, at);
    }
}

/// Keeps bytes of a body. `more` is the number of further bytes that were announced.
fn keep(kept: &mut Vec<u8>, bytes: &[u8], ask: &H1Request<'_>, more: u64) -> Result<(), ErrorInfo> {
    let max = ask.max_body;
    let space = max.saturating_sub(kept.len() as u64);
    let (bytes, more) = match bytes.split_at_checked(usize::try_from(space).unwrap_or(usize::MAX)) {
        Some((bytes, _)) if ask.cut_body => (bytes, 0),
        _ if ask.cut_body => (bytes, more.min(space - bytes.len() as u64)),
        _ => (bytes, more),
    };
    let needed = kept.len() as u64 + bytes.len() as u64 + more;
    if needed > max {
        return Err(ErrorInfo::new(
            code::DEFAULT,
            format!(
                "the body exceeds the {max} bytes that are kept; discard response bodies to read past them"
            ),
        ));
    }
    if kept.capacity() == 0 {
        // Trust the announced length only up to 1 MiB.
        kept.reserve(needed.min(1 << 20) as usize);
    }
    kept.extend_from_slice(bytes);
    Ok(())
}

/// Checks the first bytes for whether this can be HTTP/1.
fn check_beginning(bytes: &[u8]) -> Result<(), ErrorInfo> {
    const MAGIC: &[u8] = b"HTTP/";
    let shown = bytes.len().min(MAGIC.len());
    // Empty lines before a status line are tolerated (RFC 9112, section 2.2).
    if bytes.get(..shown) == MAGIC.get(..shown)
        || bytes.starts_with(b"\r")
        || bytes.starts_with(b"\n")
    {
        return Ok(());
    }
    check_status_line(bytes)
}

/// The length of headers that are complete in `bytes`. Their end is known not to be within the
/// first `searched` bytes. Accepts both kinds of line breaks.
fn find_end(bytes: &[u8], searched: usize) -> Option<usize> {
    let rest = bytes.get(searched..)?;
    memchr::memchr_iter(b'\n', rest).find_map(|at| match rest.get(at + 1..)? {
        [b'\n', ..] => Some(searched + at + 2),
        [b'\r', b'\n', ..] => Some(searched + at + 3),
        _ => None,
    })
}

#[cfg(test)]
#[path = "h1_tests.rs"]
mod tests;
