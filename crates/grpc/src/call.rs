//! Streaming calls.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::HeaderMap;
use plimsoll_http::{Alarm, Timeline};
use plimsoll_http2::{Headers, Incoming, Outgoing, StreamFault};
use plimsoll_units::Moment;

use crate::code::Code;
use crate::frame::{Deframer, Framed};
use crate::limits::Limits;
use crate::link::Link;
use crate::metadata::Metadata;
use crate::reply::Reply;
use crate::status::Status;

/// Both directions of a streaming call. Dropping both before the end cancels it.
#[derive(Debug)]
pub struct Call {
    pub sender: Sender,
    pub receiver: Receiver,
}

/// The sending direction: client to server.
#[derive(Debug)]
pub struct Sender {
    outgoing: Outgoing,
    ended: bool,
}

/// The receiving direction: server to client.
#[derive(Debug)]
pub struct Receiver {
    // Keeps the connection open for the duration of the call.
    _link: Rc<Link>,
    incoming: Incoming,
    deframer: Deframer,
    place: Place,
    reply: Reply,
    /// Whether the peer guarantees that it did not process the call.
    unprocessed: bool,
    deadline: Option<Moment>,
    alarm: Alarm,
}

/// The part of the response that is expected next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Head,
    Body,
    Trailers,
    Done,
}

impl Call {
    pub(crate) fn new(outgoing: Outgoing, receiver: Receiver) -> Call {
        Call {
            sender: Sender {
                outgoing,
                ended: false,
            },
            receiver,
        }
    }
}

impl Sender {
    /// Sends a message. Waits while the server's flow control requires it.
    ///
    /// # Errors
    /// If the call accepts no more messages. Then the receiver has the status.
    pub async fn send(&mut self, message: &Framed) -> Result<(), Status> {
        let sent = self.outgoing.send(message.0.clone(), false).await;
        sent.map_err(|fault| Status::of_fault(&fault))
    }

    /// [`Sender::send`] as a poll function: sends the rest of `message`.
    ///
    /// # Errors
    /// See [`Sender::send`].
    pub fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        message: &mut Framed,
    ) -> Poll<Result<(), Status>> {
        let sent = self.outgoing.poll_send(cx, &mut message.0, false);
        sent.map_err(|fault| Status::of_fault(&fault))
    }

    /// Ends the stream of messages.
    ///
    /// # Errors
    /// If the call has already ended.
    pub async fn finish(&mut self) -> Result<(), Status> {
        poll_fn(|cx| self.poll_finish(cx)).await
    }

    /// [`Sender::finish`] as a poll function.
    ///
    /// # Errors
    /// See [`Sender::finish`].
    pub fn poll_finish(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Status>> {
        if std::mem::replace(&mut self.ended, true) {
            return Poll::Ready(Ok(()));
        }
        let sent = self.outgoing.poll_send(cx, &mut Bytes::new(), true);
        sent.map_err(|fault| Status::of_fault(&fault))
    }

    /// Cancels the call and notifies the server.
    pub fn cancel(&mut self) {
        /// CANCEL: RFC 9113, section 7.
        const CANCEL: u32 = 8;
        self.ended = true;
        self.outgoing.reset(CANCEL);
    }

    /// When the kernel accepted the last bytes sent; `None` if it has not accepted them yet.
    pub fn written(&self) -> Option<Moment> {
        self.outgoing.written()
    }
}

impl Receiver {
    pub(crate) fn new(
        link: Rc<Link>,
        incoming: Incoming,
        limits: Limits,
        mut reply: Reply,
        deadline: Option<Moment>,
    ) -> Receiver {
        reply.remote = link.remote;
        reply.tls = link.tls;
        Receiver {
            _link: link,
            incoming,
            deframer: Deframer::new(limits.max_receive),
            place: Place::Head,
            reply,
            unprocessed: false,
            deadline,
            alarm: Alarm::default(),
        }
    }

    /// The next message. `None` if the call has ended; then [`Receiver::status`] contains the result.
    pub async fn message(&mut self) -> Option<Bytes> {
        poll_fn(|cx| self.poll_message(cx)).await
    }

    /// [`Receiver::message`] as a poll function.
    pub fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        match self.poll_step(cx) {
            Poll::Ready(Ok(message)) => Poll::Ready(message),
            Poll::Ready(Err(status)) => {
                self.end(status);
                Poll::Ready(None)
            }
            Poll::Pending => {
                let Some(deadline) = self.deadline else {
                    return Poll::Pending;
                };
                ready!(self.alarm.poll(cx, deadline));
                self.end(Status::deadline());
                Poll::Ready(None)
            }
        }
    }

    /// Whether the last message was compressed.
    pub fn was_compressed(&self) -> bool {
        self.deframer.was_compressed()
    }

    /// Waits for the start of the response, so [`Receiver::headers`] is complete.
    pub async fn started(&mut self) {
        poll_fn(|cx| {
            if self.place != Place::Head {
                return Poll::Ready(());
            }
            match self.poll_head(cx) {
                Poll::Ready(Ok(())) => Poll::Ready(()),
                Poll::Ready(Err(status)) => {
                    self.end(status);
                    Poll::Ready(())
                }
                Poll::Pending => match self.deadline {
                    None => Poll::Pending,
                    Some(deadline) => {
                        ready!(self.alarm.poll(cx, deadline));
                        self.end(Status::deadline());
                        Poll::Ready(())
                    }
                },
            }
        })
        .await;
    }

    /// The result of the call; `None` while it is in progress.
    pub fn status(&self) -> Option<&Status> {
        (self.place == Place::Done).then_some(&self.reply.status)
    }

    /// The metadata at the start of the response.
    pub fn headers(&self) -> Metadata {
        self.reply.headers()
    }

    /// The metadata at the end of the response.
    pub fn trailers(&self) -> Metadata {
        self.reply.trailers()
    }

    /// The timestamps of the call so far. `written` is the time at which the request was sent.
    pub fn timeline(&self, written: Option<Moment>) -> Timeline {
        let mut line = self.reply.timeline;
        line.finished(
            written.unwrap_or_else(|| line.sent()),
            line.first_byte(),
            line.done(),
        );
        line
    }

    /// Whether the server sent anything for this call.
    pub fn has_response(&self) -> bool {
        self.reply.has_response()
    }

    /// Whether the call has ended and the server guarantees that it did not process it. Then the call
    /// may be opened again ([`Channel::open_again`](crate::Channel::open_again)).
    pub fn is_unprocessed(&self) -> bool {
        self.unprocessed
    }

    /// The number of times that the call was sent before to a server that did not process it.
    pub fn resent(&self) -> u32 {
        self.reply.resent
    }

    /// The initial reply for the next attempt, and the deadline, which stays the same.
    pub(crate) fn next_attempt(&self) -> (Reply, Option<Moment>) {
        let mut reply = Reply::starting_at(self.reply.timeline.started());
        reply.timeline = self.reply.timeline;
        reply.opened = self.reply.opened;
        reply.resent = self.reply.resent + 1;
        (reply, self.deadline)
    }

    /// Whether this call opened the connection.
    pub fn opened(&self) -> bool {
        self.reply.opened
    }

    pub fn tls(&self) -> Option<plimsoll_net::TlsFacts> {
        self.reply.tls
    }

    pub fn remote(&self) -> Option<std::net::SocketAddr> {
        self.reply.remote
    }

    /// Ends the call with this status because the client no longer needs it. The caller must then call
    /// [`Sender::cancel`].
    pub fn end(&mut self, status: Status) {
        self.place = Place::Done;
        self.reply.status = status;
        let line = &mut self.reply.timeline;
        line.finished(line.sent(), line.first_byte(), plimsoll_clock::now());
    }

    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Status>> {
        let parts = ready!(self.incoming.poll_head(cx)).map_err(|fault| {
            self.unprocessed = fault.is_unprocessed();
            Status::of_fault(&fault)
        })?;
        let now = plimsoll_clock::now();
        self.reply.timeline.finished(now, now, now);
        match Head::judge(parts, self.incoming.is_end()) {
            Head::Begins(heading) => {
                self.deframer.set_encoding(encoding(&heading.fields));
                self.reply.head = Some(heading);
                self.place = Place::Body;
                Poll::Ready(Ok(()))
            }
            Head::Ends(trailers, status) => {
                self.reply.trailer = Some(trailers);
                Poll::Ready(Err(status))
            }
        }
    }

    fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Status>> {
        loop {
            match self.place {
                Place::Head => ready!(self.poll_head(cx))?,
                Place::Body => {
                    if let Some(message) = ready!(self.deframer.poll_message(cx))? {
                        return Poll::Ready(Ok(Some(message)));
                    }
                    let piece = ready!(self.incoming.poll_data(cx))
                        .map_err(|fault| Status::of_fault(&fault))?;
                    match piece {
                        Some(piece) => self.deframer.push(piece),
                        None => self.place = Place::Trailers,
                    }
                }
                Place::Trailers => {
                    let trailers = ready!(self.incoming.poll_trailers(cx))
                        .map_err(|fault| Status::of_fault(&fault))?;
                    let status = judge_end(trailers.as_deref(), &self.deframer);
                    self.reply.trailer = trailers;
                    return Poll::Ready(Err(status));
                }
                Place::Done => return Poll::Ready(Ok(None)),
            }
        }
    }
}

/// The start of a response.
enum Head {
    Begins(Rc<Headers>),
    /// Whether the headers are the complete response ("gRPC over HTTP2", Trailers-Only).
    Ends(Rc<Headers>, Status),
}

impl Head {
    fn judge(heading: Rc<Headers>, is_end: bool) -> Head {
        let headers = &heading.fields;
        let kind = headers.get("content-type").map(|kind| kind.as_bytes());
        let is_grpc = kind.is_some_and(is_grpc);
        if is_end
            && let Some(status) = Status::of_headers(headers)
            && (is_grpc || kind.is_none())
        {
            return Head::Ends(heading, status);
        }
        // The first headers of a stream always contain a status.
        let http_status = heading.status.unwrap_or_default();
        let number = http_status.as_u16();
        if number == 200 && is_grpc {
            if is_end {
                return Head::Ends(heading, no_trailers());
            }
            return Head::Begins(heading);
        }
        let reason = http_status.canonical_reason().unwrap_or_default();
        let mut message =
            format!("unexpected HTTP status code received from server: {number} ({reason})");
        if !is_grpc {
            let kind = String::from_utf8_lossy(kind.unwrap_or_default());
            message += &if kind.is_empty() {
                "; malformed header: missing HTTP content-type".to_owned()
            } else {
                format!("; transport: received unexpected content-type {kind:?}")
            };
        }
        Head::Ends(heading, Status::new(Code::of_http(number), message))
    }
}

/// Whether it is `application/grpc`, optionally with the format of its messages ("gRPC over HTTP2",
/// Content-Type).
fn is_grpc(kind: &[u8]) -> bool {
    let rest = kind
        .get(.."application/grpc".len())
        .filter(|start| start.eq_ignore_ascii_case(b"application/grpc"))
        .and_then(|start| kind.get(start.len()..));
    matches!(rest, Some([] | [b'+' | b';', ..]))
}

fn encoding(headers: &HeaderMap) -> &str {
    headers
        .get("grpc-encoding")
        .and_then(|name| name.to_str().ok())
        .unwrap_or_default()
}

fn no_trailers() -> Status {
    Status::new(
        Code::INTERNAL,
        "server closed the stream without sending trailers",
    )
}

fn judge_end(trailers: Option<&Headers>, deframer: &Deframer) -> Status {
    let status = trailers.and_then(|trailers| Status::of_headers(&trailers.fields));
    let status = status.unwrap_or_else(no_trailers);
    if status.code.is_ok() && !deframer.is_between_messages() {
        return Status::new(Code::INTERNAL, "unexpected EOF");
    }
    status
}

/// Reads a response that consists of one message and a status.
pub(crate) async fn read_single(
    heading: Rc<Headers>,
    incoming: &mut Incoming,
    limits: Limits,
    reply: &mut Reply,
) -> Result<(), Status> {
    let of_fault = |fault: StreamFault| Status::of_fault(&fault);
    let mut deframer = Deframer::new(limits.max_receive);
    match Head::judge(heading, incoming.is_end()) {
        Head::Begins(heading) => {
            deframer.set_encoding(encoding(&heading.fields));
            reply.head = Some(heading);
        }
        Head::Ends(trailers, status) => {
            reply.trailer = Some(trailers);
            return if status.code.is_ok() {
                Err(no_message())
            } else {
                Err(status)
            };
        }
    }
    while let Some(piece) = incoming.data().await.map_err(of_fault)? {
        deframer.push(piece);
        while let Some(message) = poll_fn(|cx| deframer.poll_message(cx)).await? {
            reply.packed = deframer.was_compressed();
            if reply.message.replace(message).is_some() {
                return Err(Status::new(
                    Code::INTERNAL,
                    "cardinality violation: expected <EOF> for non server-streaming RPCs, but received another message",
                ));
            }
        }
    }
    let trailers = incoming.trailers().await.map_err(of_fault)?;
    let status = judge_end(trailers.as_deref(), &deframer);
    reply.trailer = trailers;
    if !status.code.is_ok() {
        return Err(status);
    }
    match reply.message {
        Some(_) => Ok(()),
        None => Err(no_message()),
    }
}

fn no_message() -> Status {
    Status::new(
        Code::INTERNAL,
        "cardinality violation: received no response message from non-server-streaming RPC",
    )
}
