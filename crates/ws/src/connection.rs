use std::cell::RefCell;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::Limits;
use crate::close::MAX_CONTROL;
use crate::decoder::{Decoder, Event};
use crate::deflate::Agreed;
use crate::encoder::{Encoder, Kind};
use crate::frame::Opcode;
use crate::violation::Violation;

/// Size of the read buffer, of which there is one per thread.
const SCRATCH: usize = 64 * 1024;

/// Above this many unwritten bytes, a pong waits until some are written: a peer that sends pings
/// but does not read must not fill our memory. Section 5.5.3 allows responding only to the last
/// ping.
const PONG_LIMIT: usize = 64 * 1024;

thread_local! {
    static READ: RefCell<Box<[u8]>> = RefCell::new(vec![0; SCRATCH].into());
}

/// The client side of a WebSocket connection. All methods return immediately; data to send is
/// queued until [`Connection::poll_flush`] or [`Connection::poll_event`] has written it.
#[derive(Debug)]
pub struct Connection<S> {
    io: S,
    decoder: Decoder,
    encoder: Encoder,
    /// Bytes received and not yet decoded, from `rest_at` on.
    rest: Vec<u8>,
    rest_at: usize,
    /// Bytes encoded and not yet written, from `out_at` on.
    out: Vec<u8>,
    out_at: usize,
    /// A pong that waits for `out` to shrink.
    pong: Option<Vec<u8>>,
    sent_close: bool,
    got_close: bool,
    write_error: Option<io::Error>,
}

/// The connection carries no more messages: a close frame was sent or received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended;

/// Why there are no more events.
#[derive(Debug)]
pub enum Error {
    /// The peer violated the protocol. A close frame with the reason was sent, if the peer still
    /// reads.
    Violation(Violation),
    /// The peer closed the connection. After a close frame that is normal.
    Closed {
        /// In the middle of a message or frame.
        inside: bool,
    },
    Io(io::Error),
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// Takes a stream after its handshake. `rest` holds the bytes received after the response.
    pub fn new(io: S, rest: &[u8], deflate: Option<Agreed>, limits: Limits) -> Self {
        Connection {
            io,
            decoder: Decoder::new(limits, deflate),
            encoder: Encoder::new(deflate),
            rest: rest.to_vec(),
            rest_at: 0,
            out: Vec::new(),
            out_at: 0,
            pong: None,
            sent_close: false,
            got_close: false,
            write_error: None,
        }
    }

    /// Whether messages are compressed when they are queued, which needs a stack of hundreds of
    /// kilobytes.
    pub fn compresses(&self) -> bool {
        self.encoder.compresses()
    }

    /// Queues a message. Text must be UTF-8.
    ///
    /// # Errors
    /// [`Ended`] after a close frame was sent.
    #[inline]
    pub fn send(&mut self, kind: Kind, payload: &[u8]) -> Result<(), Ended> {
        if self.sent_close {
            return Err(Ended);
        }
        self.encoder.message(&mut self.out, kind, payload);
        Ok(())
    }

    /// Queues a ping of at most 125 bytes; a longer payload is cut.
    ///
    /// # Errors
    /// [`Ended`] after a close frame was sent.
    pub fn ping(&mut self, payload: &[u8]) -> Result<(), Ended> {
        if self.sent_close {
            return Err(Ended);
        }
        self.encoder.control(&mut self.out, Opcode::Ping, payload);
        Ok(())
    }

    /// Queues a close frame, unless one was sent before; without a code it is empty. A reason that
    /// is too long is cut at a character boundary.
    pub fn close(&mut self, code: Option<u16>, reason: &str) {
        if self.sent_close {
            return;
        }
        self.sent_close = true;
        let mut payload = Vec::new();
        if let Some(code) = code {
            payload.extend_from_slice(&code.to_be_bytes());
            let end = reason.floor_char_boundary(MAX_CONTROL - 2);
            payload.extend_from_slice(reason.get(..end).unwrap_or_default().as_bytes());
        }
        self.encoder.control(&mut self.out, Opcode::Close, &payload);
    }

    /// Bytes queued and not yet written to the stream.
    #[inline]
    pub fn unsent(&self) -> usize {
        self.out.len() - self.out_at
    }

    /// Whether a close frame was queued.
    pub fn is_closing(&self) -> bool {
        self.sent_close
    }

    /// The stream underneath.
    pub fn stream(&self) -> &S {
        &self.io
    }

    /// Ready when everything queued was written to the stream.
    ///
    /// # Errors
    /// When the stream has failed, now and on every later call.
    #[inline]
    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(error) = &self.write_error {
            return Poll::Ready(Err(copy_of(error)));
        }
        loop {
            let pending = self.out.get(self.out_at..).unwrap_or_default();
            if pending.is_empty() {
                self.out_at = 0;
                self.out.clear();
                self.out.shrink_to(SCRATCH);
                match self.pong.take() {
                    Some(payload) if !self.sent_close => {
                        self.encoder.control(&mut self.out, Opcode::Pong, &payload);
                        continue;
                    }
                    _ => return Pin::new(&mut self.io).poll_flush(cx),
                }
            }
            match Pin::new(&mut self.io).poll_write(cx, pending) {
                Poll::Ready(Ok(0)) => return self.broken(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(written)) => self.out_at += written,
                Poll::Ready(Err(error)) => return self.broken(error),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    fn broken(&mut self, error: io::Error) -> Poll<io::Result<()>> {
        self.out.clear();
        self.out_at = 0;
        let copy = copy_of(&error);
        self.write_error = Some(error);
        Poll::Ready(Err(copy))
    }

    /// Writes queued data as far as possible, and returns the next event. The responses to pings
    /// and to the peer's close are queued automatically and written by this or the next call.
    ///
    /// # Errors
    /// See [`Error`]; there are no events afterwards.
    #[inline]
    pub fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<Event, Error>> {
        if self.unsent() > 0 || self.pong.is_some() {
            // A stream that cannot be written may still have the reason to read.
            let _ = self.poll_flush(cx);
        }
        loop {
            if self.rest_at < self.rest.len() || self.decoder.is_inflating() {
                let mut input = self.rest.get(self.rest_at..).unwrap_or_default();
                let fed = self.decoder.feed(&mut input);
                self.rest_at = self.rest.len() - input.len();
                if self.rest_at == self.rest.len() {
                    self.rest = Vec::new();
                    self.rest_at = 0;
                }
                if let Some(outcome) = self.take(cx, fed) {
                    return Poll::Ready(outcome);
                }
                if self.decoder.is_inflating() {
                    // Let other tasks run before the next slice.
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
            }
            let mut fed = Ok(None);
            let read = READ.with_borrow_mut(|scratch| {
                let mut buffer = ReadBuf::new(scratch);
                match Pin::new(&mut self.io).poll_read(cx, &mut buffer) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(Error::Io(error))),
                    Poll::Ready(Ok(())) => {}
                }
                let mut input = buffer.filled();
                if input.is_empty() {
                    return Poll::Ready(Err(match self.write_error.take() {
                        Some(error) if !self.got_close => Error::Io(error),
                        _ => Error::Closed {
                            inside: self.decoder.is_inside(),
                        },
                    }));
                }
                fed = self.decoder.feed(&mut input);
                if !input.is_empty() {
                    self.rest.extend_from_slice(input);
                }
                Poll::Ready(Ok(()))
            });
            match read {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Ready(Ok(())) => {}
            }
            if let Some(outcome) = self.take(cx, fed) {
                return Poll::Ready(outcome);
            }
        }
    }

    /// The last event's share of the budget for decompressed data, to be kept as long as the event.
    pub fn take_share(&mut self) -> Option<plimsoll_http::BudgetShare> {
        self.decoder.take_share()
    }

    /// Handles the decoder's result: queues pongs, close frames and errors.
    #[inline]
    fn take(
        &mut self,
        cx: &mut Context<'_>,
        fed: Result<Option<Event>, Violation>,
    ) -> Option<Result<Event, Error>> {
        match fed {
            Ok(None) => None,
            // Section 5.5.1: ignore data after a close frame.
            Ok(Some(_)) if self.got_close => None,
            Ok(Some(event)) => {
                match &event {
                    Event::Ping(payload) if !self.sent_close => {
                        if self.unsent() < PONG_LIMIT {
                            self.encoder.control(&mut self.out, Opcode::Pong, payload);
                        } else {
                            self.pong = Some(payload.clone());
                        }
                    }
                    Event::Close(frame) => {
                        self.got_close = true;
                        let output = frame.code != crate::code::NO_STATUS;
                        self.close(output.then_some(frame.code), "");
                        let _ = self.poll_flush(cx);
                    }
                    _ => {}
                }
                Some(Ok(event))
            }
            Err(violation) => {
                self.close(Some(violation.close_code()), "");
                let _ = self.poll_flush(cx);
                Some(Err(Error::Violation(violation)))
            }
        }
    }

    /// Waits until everything queued was written to the stream.
    ///
    /// # Errors
    /// As [`Connection::poll_flush`].
    pub async fn flush(&mut self) -> io::Result<()> {
        poll_fn(|cx| self.poll_flush(cx)).await
    }

    /// Waits for the next event.
    ///
    /// # Errors
    /// As [`Connection::poll_event`].
    pub async fn event(&mut self) -> Result<Event, Error> {
        poll_fn(|cx| self.poll_event(cx)).await
    }
}

/// A copy of the error: system errors cannot be cloned.
fn copy_of(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Violation(Violation::OverBudget(Some(over))) => over.fmt(f),
            Error::Violation(violation) => write!(f, "the server broke the protocol: {violation}"),
            Error::Closed { inside: true } => {
                f.write_str("the server closed in the middle of a message")
            }
            Error::Closed { inside: false } => {
                f.write_str("the server closed without a close frame")
            }
            Error::Io(error) => f.write_str(&plimsoll_net::describe(error)),
        }
    }
}

impl std::error::Error for Error {}
