//! Exchanges on a connection: sends a request and reads its response.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use plimsoll_http2::RequestHead;
use plimsoll_units::Moment;
use quinn::{ReadError, RecvStream, SendStream, VarInt, WriteError};

use crate::connection::Connection;
use crate::fault::{Fault, NO_ERROR, REQUEST_CANCELLED};
use crate::frames::{DATA, Frames, HEADERS, Piece, head};
use crate::qpack::{self, Field, MAX_HEAD};

/// The status and headers of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseHead {
    pub status: u16,
    /// The header fields in the order of arrival. Names are in lower case.
    pub fields: Vec<Field>,
}

impl Connection {
    /// Starts an exchange. Waits until the server allows another stream.
    ///
    /// # Errors
    /// If the connection has ended.
    pub async fn begin<'a>(
        &'a self,
        request: &RequestHead,
        body: &Bytes,
    ) -> Result<Exchange<'a>, Fault> {
        let (send, recv) = self.open_stream().await?;
        let mut out = self.out.take();
        out.clear();
        encode_head(&mut out, request, body.len());
        Ok(Exchange::new(self, send, recv, out, body.clone()))
    }
}

/// One request and its response on a stream. Dropping it before the end cancels the request.
pub struct Exchange<'a> {
    connection: &'a Connection,
    send: SendStream,
    recv: RecvStream,
    /// The part of the request's headers that has not been sent yet.
    head: Vec<u8>,
    head_sent: usize,
    body: Bytes,
    frames: Frames,
    input: Bytes,
    part: Part,
    /// When QUIC accepted the last byte of the request.
    sent: Option<Moment>,
    upload_is_over: bool,
    first_byte: Option<Moment>,
    last_byte: Option<Moment>,
}

/// The next expected part of the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Head,
    Body,
    AfterTrailers,
    Over,
}

impl<'a> Exchange<'a> {
    fn new(
        connection: &'a Connection,
        send: SendStream,
        recv: RecvStream,
        head: Vec<u8>,
        body: Bytes,
    ) -> Self {
        Exchange {
            connection,
            send,
            recv,
            head,
            head_sent: 0,
            body,
            frames: Frames::default(),
            input: Bytes::new(),
            part: Part::Head,
            sent: None,
            upload_is_over: false,
            first_byte: None,
            last_byte: None,
        }
    }

    /// Sends the request and reads the headers of the response. The rest of the request is sent while
    /// the body is read.
    ///
    /// # Errors
    /// See [`Fault`].
    pub async fn response_head(&mut self) -> Result<ResponseHead, Fault> {
        loop {
            match poll_fn(|cx| self.poll(cx)).await? {
                Some(Piece::Whole(HEADERS, section)) => {
                    let response = decode(&section).map_err(|how| self.connection.violated(how))?;
                    // Interim responses (below 200) precede the final one (RFC 9114, section 4.1).
                    if response.status >= 200 {
                        self.part = Part::Body;
                        return Ok(response);
                    }
                }
                Some(_) => return Err(self.misplaced()),
                None => return Err(Fault::Ended),
            }
        }
    }

    /// The next piece of the body, or `None` at its end. Trailers are read and discarded.
    ///
    /// # Errors
    /// See [`Fault`].
    pub async fn data(&mut self) -> Result<Option<Bytes>, Fault> {
        loop {
            if self.part == Part::Over {
                return Ok(None);
            }
            match poll_fn(|cx| self.poll(cx)).await? {
                Some(Piece::Data(piece)) if self.part == Part::Body => return Ok(Some(piece)),
                Some(Piece::Whole(HEADERS, section)) if self.part == Part::Body => {
                    qpack::decode(&section, MAX_HEAD)
                        .map_err(|how| self.connection.violated(how.to_owned()))?;
                    self.part = Part::AfterTrailers;
                }
                Some(_) => return Err(self.misplaced()),
                None => self.part = Part::Over,
            }
        }
    }

    /// When QUIC accepted the last byte of the request, if it has.
    pub fn sent(&self) -> Option<Moment> {
        self.sent
    }

    /// When the first bytes of the response arrived, if any.
    pub fn first_byte(&self) -> Option<Moment> {
        self.first_byte
    }

    /// When the last bytes that were read arrived, if any.
    pub fn last_byte(&self) -> Option<Moment> {
        self.last_byte
    }

    fn misplaced(&self) -> Fault {
        let how = "a frame that is not allowed in a response";
        self.connection.violated(how.to_owned())
    }

    /// The next piece of the response. Meanwhile the rest of the request is sent.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Piece>, Fault>> {
        if !self.upload_is_over {
            match self.poll_upload(cx) {
                Poll::Ready(Err(WriteError::ConnectionLost(error))) => {
                    return Poll::Ready(Err(self.connection.fault(error)));
                }
                // The server does not want the rest of the request. Its response states why.
                Poll::Ready(Err(_)) => {
                    self.upload_is_over = true;
                    let _ = self.send.reset(VarInt::from_u32(NO_ERROR as u32));
                }
                Poll::Ready(Ok(())) => {
                    self.upload_is_over = true;
                    self.sent = Some(plimsoll_clock::now());
                }
                Poll::Pending => {}
            }
        }
        loop {
            if !self.input.is_empty() {
                let next = self.frames.next(&mut self.input);
                match next.map_err(|how| self.connection.violated(how))? {
                    None => continue,
                    piece => return Poll::Ready(Ok(piece)),
                }
            }
            let read = pin!(self.recv.read_chunk(usize::MAX, true)).poll(cx);
            match read {
                Poll::Ready(Ok(Some(chunk))) => {
                    let now = plimsoll_clock::now();
                    self.first_byte.get_or_insert(now);
                    self.last_byte = Some(now);
                    self.input = chunk.bytes;
                }
                Poll::Ready(Ok(None)) if self.frames.is_between() => return Poll::Ready(Ok(None)),
                Poll::Ready(Ok(None)) => return Poll::Ready(Err(Fault::EndedInside)),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(self.read_fault(error))),
                Poll::Pending => {
                    let stream = self.stream();
                    if self.connection.state().was_not_processed(stream) {
                        return Poll::Ready(Err(Fault::GoAway));
                    }
                    self.connection.state().wait(stream, cx);
                    return Poll::Pending;
                }
            }
        }
    }

    fn poll_upload(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), WriteError>> {
        while let Some(rest) = self.head.get(self.head_sent..)
            && !rest.is_empty()
        {
            self.head_sent += ready!(Pin::new(&mut self.send).poll_write(cx, rest))?;
        }
        while !self.body.is_empty() {
            let written = ready!(Pin::new(&mut self.send).poll_write(cx, &self.body))?;
            let _ = self.body.split_to(written.min(self.body.len()));
        }
        // The request was not complete yet.
        let _ = self.send.finish();
        Poll::Ready(Ok(()))
    }

    fn read_fault(&self, error: ReadError) -> Fault {
        match error {
            ReadError::Reset(code) => Fault::Reset {
                code: code.into_inner(),
            },
            ReadError::ConnectionLost(error) => self.connection.fault(error),
            other => Fault::Broken(other.to_string()),
        }
    }

    fn stream(&self) -> u64 {
        VarInt::from(self.recv.id()).into_inner()
    }
}

impl Drop for Exchange<'_> {
    fn drop(&mut self) {
        let cancelled = VarInt::from_u32(REQUEST_CANCELLED as u32);
        if self.part != Part::Over {
            let _ = self.recv.stop(cancelled);
        }
        if !self.upload_is_over || self.part == Part::Head {
            let _ = self.send.reset(cancelled);
        }
        self.connection.state().forget(self.stream());
        self.connection.count();
        *self.connection.out.borrow_mut() = std::mem::take(&mut self.head);
    }
}

/// Appends the HEADERS frame of a request. If the request has a body, also appends the type and
/// length of its frame.
fn encode_head(out: &mut Vec<u8>, request: &RequestHead, body: usize) {
    let mut section = Vec::with_capacity(256);
    qpack::begin(&mut section);
    for (name, value) in request.fields() {
        qpack::encode(&mut section, name, value);
    }
    head(out, HEADERS, section.len());
    out.extend_from_slice(&section);
    if body > 0 {
        head(out, DATA, body);
    }
}

/// Parses the headers of a response (RFC 9114, section 4.3.2).
fn decode(section: &[u8]) -> Result<ResponseHead, String> {
    let mut fields = qpack::decode(section, MAX_HEAD)?;
    if fields.first().is_none_or(|(name, _)| name != b":status") {
        return Err("the response headers do not start with :status".to_owned());
    }
    let (_, status) = fields.remove(0);
    let status = std::str::from_utf8(&status)
        .ok()
        .filter(|text| text.len() == 3)
        .and_then(|text| text.parse().ok())
        .filter(|status| *status >= 100)
        .ok_or_else(|| format!("the response status is \"{}\"", status.escape_ascii()))?;
    for (name, value) in &fields {
        if HeaderName::from_lowercase(name).is_err() || HeaderValue::from_bytes(value).is_err() {
            return Err(format!(
                "the response has a malformed field: \"{}: {}\"",
                name.escape_ascii(),
                value.get(..80).unwrap_or(value).escape_ascii()
            ));
        }
    }
    Ok(ResponseHead { status, fields })
}
