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

/// Size of the read buffer. All connections of a thread share one.
const SCRATCH: usize = 64 * 1024;

/// Above this many unwritten bytes, a pong waits until some are written. Otherwise a peer that
/// sends pings but does not read could fill our memory. Section 5.5.3 allows a client to respond
/// only to the last ping.
const PONG_LIMIT: usize = 64 * 1024;

thread_local! {
    static READ: RefCell<Box<[u8]>> = RefCell::new(vec![0; SCRATCH].into());
}

/// The client side of a WebSocket connection. All methods return immediately. Data to send is
/// queued until [`Connection::poll_flush`] or [`Connection::poll_event`] has written it.
#[derive(Debug)]
pub struct Connection<S> {
    io: S,
    decoder: Decoder,
    encoder: Encoder,
    /// Received bytes that are not decoded yet, starting at `rest_at`.
    rest: Vec<u8>,
    rest_at: usize,
    /// Encoded bytes that are not written yet, starting at `out_at`.
    out: Vec<u8>,
    out_at: usize,
    /// A pong that waits until `out` has shrunk.
    pong: Option<Vec<u8>>,
    sent_close: bool,
    got_close: bool,
    write_error: Option<io::Error>,
}

/// A close frame was sent or received, so no more messages follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended;

/// The reason why there are no more events.
#[derive(Debug)]
pub enum Error {
    /// The peer violated the protocol. A close frame with the reason was sent, if the peer still reads.
    Violation(Violation),
    /// The peer closed the connection. This is normal after a close frame.
    Closed {
        /// The peer closed in the middle of a message or frame.
        inside: bool,
    },
    Io(io::Error),
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// Creates a connection from a stream after its handshake. `rest` contains the bytes received after
    /// the response.
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

    /// Whether messages are compressed when they are queued. That needs hundreds of kilobytes of stack.
    pub fn compresses(&self) -> bool {
        self.encoder.compresses()
    }

    /// Queues a message. Text must be UTF-8.
    ///
    /// # Errors
    /// [`Ended`] if a close frame was sent before.
    #[inline]
    pub fn send(&mut self, kind: Kind, payload: &[u8]) -> Result<(), Ended> {
        if self.sent_close {
            return Err(Ended);
        }
        self.encoder.message(&mut self.out, kind, payload);
        Ok(())
    }

    /// Queues a ping with at most 125 bytes. A longer payload is truncated.
    ///
    /// # Errors
    /// [`Ended`] if a close frame was sent before.
    pub fn ping(&mut self, payload: &[u8]) -> Result<(), Ended> {
        if self.sent_close {
            return Err(Ended);
        }
        self.encoder.control(&mut self.out, Opcode::Ping, payload);
        Ok(())
    }

    /// Queues a close frame, unless one was sent before. Without a code the frame is empty. A reason
    /// that is too long is truncated at a character boundary.
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

    /// Number of queued bytes that are not written to the stream yet.
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

    /// Ready when everything in the queue has been written to the stream.
    ///
    /// # Errors
    /// If the stream has failed. Every later call also fails.
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

    /// Writes queued data as far as possible, and returns the next event. Responses to pings and to the
    /// peer's close frame are queued automatically, and written by this call or the next one.
    ///
    /// # Errors
    /// See [`Error`]. There are no events after an error.
    #[inline]
    pub fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<Event, Error>> {
        if self.unsent() > 0 || self.pong.is_some() {
            // If writing fails, the stream may still contain the peer's reason.
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

    /// The last event's share of the budget for decompressed data. Keep it as long as the event.
    pub fn take_share(&mut self) -> Option<plimsoll_http::BudgetShare> {
        self.decoder.take_share()
    }

    /// Handles the decoder's output: queues pongs, close frames and errors.
    #[inline]
    fn take(
        &mut self,
        cx: &mut Context<'_>,
        fed: Result<Option<Event>, Violation>,
    ) -> Option<Result<Event, Error>> {
        match fed {
            Ok(None) => None,
            // Ignore data after a close frame (section 5.5.1).
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

    /// Waits until everything in the queue has been written to the stream.
    ///
    /// # Errors
    /// See [`Connection::poll_flush`].
    pub async fn flush(&mut self) -> io::Result<()> {
        poll_fn(|cx| self.poll_flush(cx)).await
    }

    /// Waits for the next event.
    ///
    /// # Errors
    /// See [`Connection::poll_event`].
    pub async fn event(&mut self) -> Result<Event, Error> {
        poll_fn(|cx| self.poll_event(cx)).await
    }
}

/// A copy of the error. It is needed because system errors cannot be cloned.
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
            Error::Violation(violation) => {
                write!(f, "the server violated the protocol: {violation}")
            }
            Error::Closed { inside: true } => {
                f.write_str("the server closed the connection in the middle of a message")
            }
            Error::Closed { inside: false } => {
                f.write_str("the server closed the connection without a close frame")
            }
            Error::Io(error) => f.write_str(&plimsoll_net::describe(error)),
        }
    }
}

impl std::error::Error for Error {}
