//! HTTP/2 streams for protocols that speak on top of it, such as gRPC: bodies that go both ways at
//! once, and trailers. Nothing here knows what the bytes mean.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};
use http_types::{HeaderMap, Request, response};
use net::Wire;
use units::Moment;

use crate::h2_wire::{AT_ONCE, Begun, Writes, begin};

/// How many bytes of one message may wait for the peer's window.
const SEND_BUFFER: usize = 1 << 20;

/// One HTTP/2 connection whose streams are all the caller's.
#[derive(Debug)]
pub struct Streams {
    sender: SendRequest<Bytes>,
    writes: Rc<Writes>,
    closed: Rc<Cell<bool>>,
}

/// Why a stream, or its connection, ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamFault {
    /// The stream was reset, with that error code (RFC 9113, section 7).
    Reset { code: u32, by_peer: bool },
    /// The peer wants no more of the connection, for that reason; what it said besides.
    GoAway { code: u32, said: String },
    /// One side broke the protocol, and the connection is over.
    Connection { code: u32, by_peer: bool },
    /// The connection broke: in words, without the number.
    Broken(String),
    /// Anything else, in the words of the codec.
    Other(String),
}

impl StreamFault {
    /// Whether the peer has promised that it never looked at the stream, so that it may be opened
    /// again elsewhere: RFC 9113, sections 8.7 and 6.8.
    pub fn is_unprocessed(&self) -> bool {
        matches!(
            self,
            StreamFault::Reset {
                code: 7,
                by_peer: true
            } | StreamFault::GoAway { .. }
        )
    }
}

impl Streams {
    /// Shakes hands on an open byte stream. The connection's own task runs on this thread until
    /// the last stream and the handle are gone.
    ///
    /// # Errors
    /// When the stream breaks before the handshake is written.
    pub async fn start<W: Wire + 'static>(wire: W) -> Result<Streams, StreamFault> {
        let Begun {
            sender,
            writes,
            closed,
        } = begin(wire, Some(SEND_BUFFER)).await?;
        Ok(Streams {
            sender,
            writes,
            closed,
        })
    }

    /// Whether new streams can be tried on it.
    pub fn is_open(&self) -> bool {
        !self.closed.get()
    }

    /// Opens a stream; with `last` nothing follows the request's head. Waits while the peer allows
    /// no more streams.
    ///
    /// # Errors
    /// See [`StreamFault`].
    pub async fn open(
        &self,
        request: Request<()>,
        last: bool,
    ) -> Result<(Outgoing, Incoming), StreamFault> {
        let mut sender = self.sender.clone().ready().await?;
        let (answer, stream) = sender.send_request(request, last)?;
        let outgoing = Outgoing {
            stream,
            is_fresh: true,
            written: last.then(|| self.writes.next()),
            writes: self.writes.clone(),
        };
        Ok((outgoing, Incoming(Receiving::Head(answer))))
    }
}

/// The way to the peer. Dropping both ways before their end resets the stream.
#[derive(Debug)]
pub struct Outgoing {
    stream: SendStream<Bytes>,
    writes: Rc<Writes>,
    written: Option<Rc<Cell<Option<Moment>>>>,
    /// Nothing was sent after the head.
    is_fresh: bool,
}

impl Outgoing {
    /// Sends bytes, as fast as the peer's window opens; with `last` nothing follows.
    ///
    /// # Errors
    /// See [`StreamFault`].
    pub async fn send(&mut self, mut bytes: Bytes, last: bool) -> Result<(), StreamFault> {
        poll_fn(|cx| self.poll_send(cx, &mut bytes, last)).await
    }

    /// Sends what is left of `bytes`, and takes away what was sent. Ready when all is.
    ///
    /// # Errors
    /// See [`StreamFault`].
    pub fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &mut Bytes,
        last: bool,
    ) -> Poll<Result<(), StreamFault>> {
        let is_fresh = std::mem::replace(&mut self.is_fresh, false);
        if is_fresh && !bytes.is_empty() && bytes.len() <= AT_ONCE {
            self.stream.send_data(std::mem::take(bytes), last)?;
            self.written = Some(self.writes.next());
            return Poll::Ready(Ok(()));
        }
        while !bytes.is_empty() {
            self.stream.reserve_capacity(bytes.len());
            let Some(room) = ready!(self.stream.poll_capacity(cx)) else {
                return Poll::Ready(Err(self.ended(cx)));
            };
            let piece = bytes.split_to(room?.min(bytes.len()));
            self.stream.send_data(piece, last && bytes.is_empty())?;
            if bytes.is_empty() {
                self.written = Some(self.writes.next());
                return Poll::Ready(Ok(()));
            }
        }
        if last {
            self.stream.send_data(Bytes::new(), true)?;
            self.written = Some(self.writes.next());
        }
        Poll::Ready(Ok(()))
    }

    /// Why nothing can be sent any more.
    fn ended(&mut self, cx: &mut Context<'_>) -> StreamFault {
        match self.stream.poll_reset(cx) {
            Poll::Ready(Ok(reason)) => StreamFault::Reset {
                code: reason.into(),
                by_peer: true,
            },
            Poll::Ready(Err(error)) => error.into(),
            Poll::Pending => StreamFault::Other("the stream takes nothing more".to_owned()),
        }
    }

    /// Resets the stream with that error code.
    pub fn reset(&mut self, code: u32) {
        self.stream.send_reset(code.into());
    }

    /// When the kernel had taken the bytes sent last, if it has by now.
    pub fn written(&self) -> Option<Moment> {
        self.written.as_ref().and_then(|cell| cell.get())
    }
}

/// The way from the peer.
#[derive(Debug)]
pub struct Incoming(Receiving);

#[derive(Debug)]
enum Receiving {
    Head(ResponseFuture),
    Body(RecvStream),
}

impl Incoming {
    /// The head of the answer; to be awaited once, before anything else.
    ///
    /// # Errors
    /// See [`StreamFault`].
    pub async fn head(&mut self) -> Result<response::Parts, StreamFault> {
        poll_fn(|cx| self.poll_head(cx)).await
    }

    /// [`Incoming::head`] in the form of a poll.
    ///
    /// # Errors
    /// See [`StreamFault`].
    pub fn poll_head(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<response::Parts, StreamFault>> {
        let Receiving::Head(answer) = &mut self.0 else {
            let message = "the head of the answer was read before".to_owned();
            return Poll::Ready(Err(StreamFault::Other(message)));
        };
        let (parts, body) = ready!(Pin::new(answer).poll(cx))?.into_parts();
        self.0 = Receiving::Body(body);
        Poll::Ready(Ok(parts))
    }

    /// The next piece of the body; `None` at its end.
    ///
    /// # Errors
    /// See [`StreamFault`].
    pub async fn data(&mut self) -> Result<Option<Bytes>, StreamFault> {
        poll_fn(|cx| self.poll_data(cx)).await
    }

    /// [`Incoming::data`] in the form of a poll.
    ///
    /// # Errors
    /// See [`StreamFault`].
    pub fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, StreamFault>> {
        let Receiving::Body(body) = &mut self.0 else {
            return Poll::Ready(Ok(None));
        };
        let Some(piece) = ready!(body.poll_data(cx)) else {
            return Poll::Ready(Ok(None));
        };
        let piece = piece?;
        // What cannot be released belongs to a stream that is over.
        let _ = body.flow_control().release_capacity(piece.len());
        Poll::Ready(Ok(Some(piece)))
    }

    /// The trailers, if any, after the end of the body.
    ///
    /// # Errors
    /// See [`StreamFault`].
    pub async fn trailers(&mut self) -> Result<Option<HeaderMap>, StreamFault> {
        poll_fn(|cx| self.poll_trailers(cx)).await
    }

    /// [`Incoming::trailers`] in the form of a poll.
    ///
    /// # Errors
    /// See [`StreamFault`].
    pub fn poll_trailers(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<HeaderMap>, StreamFault>> {
        match &mut self.0 {
            Receiving::Body(body) => body.poll_trailers(cx).map_err(StreamFault::from),
            Receiving::Head(_) => Poll::Ready(Ok(None)),
        }
    }

    /// Whether the peer has ended the stream, and nothing is left to read.
    pub fn is_end(&self) -> bool {
        match &self.0 {
            Receiving::Body(body) => body.is_end_stream(),
            Receiving::Head(_) => false,
        }
    }
}

/// An error code of HTTP/2 by its name: RFC 9113, section 7.
pub fn h2_error_name(code: u32) -> String {
    const NAMES: [&str; 14] = [
        "NO_ERROR",
        "PROTOCOL_ERROR",
        "INTERNAL_ERROR",
        "FLOW_CONTROL_ERROR",
        "SETTINGS_TIMEOUT",
        "STREAM_CLOSED",
        "FRAME_SIZE_ERROR",
        "REFUSED_STREAM",
        "CANCEL",
        "COMPRESSION_ERROR",
        "CONNECT_ERROR",
        "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY",
        "HTTP_1_1_REQUIRED",
    ];
    match NAMES.get(code as usize) {
        Some(name) => (*name).to_owned(),
        None => format!("unknown error code 0x{code:x}"),
    }
}

impl From<h2::Error> for StreamFault {
    fn from(error: h2::Error) -> Self {
        let by_peer = error.is_remote();
        if let Some(io) = error.get_io() {
            return StreamFault::Broken(net::describe(io));
        }
        let Some(reason) = error.reason() else {
            return StreamFault::Other(error.to_string());
        };
        let code = u32::from(reason);
        if error.is_reset() {
            StreamFault::Reset { code, by_peer }
        } else if error.is_go_away() && by_peer {
            // The codec tells the peer's words only within its own.
            let text = error.to_string();
            let said = text.split_once(" (b\"").map_or("", |(_, said)| said);
            StreamFault::GoAway {
                code,
                said: said.trim_end_matches("\")").to_owned(),
            }
        } else {
            StreamFault::Connection { code, by_peer }
        }
    }
}
