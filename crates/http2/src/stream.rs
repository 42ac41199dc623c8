//! The state of one stream.

use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Context, Waker};

use bytes::{Bytes, BytesMut};
use plimsoll_units::Moment;

use crate::fault::StreamFault;
use crate::fault::code::{FLOW_CONTROL_ERROR, PROTOCOL_ERROR, STREAM_CLOSED};
use crate::head::Headers;
use crate::waiting::Registration;

/// Receive window of a stream. It is large enough that the peer limits the speed, not the window.
pub(crate) const WINDOW: i64 = 4 << 20;
/// Number of chunks that are kept as received. Further chunks are merged, because each has a cost.
const PIECES: usize = 64;

#[derive(Debug)]
pub(crate) struct Stream {
    pub id: u32,
    /// Number of bytes that we may send.
    pub send_window: i64,
    /// Number of bytes that the peer may send.
    receive_window: i64,
    /// Bytes that were read but not returned to the window yet.
    owed: i64,
    pub has_sent_all: bool,
    pub has_received_all: bool,
    head: Option<Rc<Headers>>,
    has_head: bool,
    /// The request was HEAD, so no body follows the headers.
    is_head_method: bool,
    /// Remaining bytes of the body, if the headers announce its length.
    announced: Option<u64>,
    /// Whether the body is only counted, not kept.
    pub discards: bool,
    /// Bytes of the body that have arrived, without padding.
    pub received: u64,
    /// When the headers arrived, and when the last part of the response arrived.
    pub arrived: Option<(Moment, Moment)>,
    data: VecDeque<Bytes>,
    /// Bytes of the body that arrived after those in `data`.
    more: BytesMut,
    trailers: Option<Rc<Headers>>,
    pub fault: Option<StreamFault>,
    pub reader: Option<Waker>,
    /// The registration of the task that sends.
    pub sender: Registration,
    /// How many of the stream's two halves have an owner.
    pub held: u8,
}

/// The error code of a violation that ends only this stream.
pub(crate) type Refused = u32;

impl Stream {
    pub fn new(id: u32, send_window: i64, has_sent_all: bool, is_head_method: bool) -> Stream {
        Stream {
            id,
            send_window,
            receive_window: WINDOW,
            owed: 0,
            has_sent_all,
            has_received_all: false,
            head: None,
            has_head: false,
            is_head_method,
            announced: None,
            discards: false,
            received: 0,
            arrived: None,
            data: VecDeque::new(),
            more: BytesMut::new(),
            trailers: None,
            fault: None,
            reader: None,
            sender: Registration::default(),
            held: 2,
        }
    }

    /// Whether both sides have finished sending.
    pub fn is_over(&self) -> bool {
        self.fault.is_some() || self.has_sent_all && self.has_received_all
    }

    /// Processes headers or trailers, which arrived at `now`.
    pub fn receive_headers(
        &mut self,
        headers: Rc<Headers>,
        last: bool,
        now: Moment,
    ) -> Result<(), Refused> {
        if self.has_received_all {
            return Err(STREAM_CLOSED);
        }
        match (self.has_head, headers.status) {
            // There is no other protocol to switch to (RFC 9113, section 8.6).
            (false, Some(status)) if status == 101 => return Err(PROTOCOL_ERROR),
            // An interim response, which cannot be the last one (section 8.1).
            (false, Some(status)) if status.is_informational() => {
                return if last { Err(PROTOCOL_ERROR) } else { Ok(()) };
            }
            (false, Some(status)) => {
                let announced = headers.content_length().map_err(|_| PROTOCOL_ERROR)?;
                // The headers announce the length of another response's body (RFC 9110, section 8.6).
                let is_bodyless = self.is_head_method || matches!(status.as_u16(), 204 | 304);
                self.announced = if is_bodyless { Some(0) } else { announced };
                self.has_head = true;
                self.head = Some(headers);
                self.arrived = Some((now, now));
            }
            (true, None) if last => self.trailers = Some(headers),
            _ => return Err(PROTOCOL_ERROR),
        }
        self.end(last, now)
    }

    /// Processes a piece of the body that arrived at `now`. `length` is the number of bytes that it
    /// uses of the window, including padding.
    pub fn piece(
        &mut self,
        piece: &[u8],
        length: usize,
        last: bool,
        now: Moment,
    ) -> Result<(), Refused> {
        if self.has_received_all {
            return Err(STREAM_CLOSED);
        }
        if !self.has_head {
            return Err(PROTOCOL_ERROR);
        }
        self.receive_window -= length as i64;
        if self.receive_window < 0 {
            return Err(FLOW_CONTROL_ERROR);
        }
        if let Some(left) = &mut self.announced {
            *left = left.checked_sub(piece.len() as u64).ok_or(PROTOCOL_ERROR)?;
        }
        self.received += piece.len() as u64;
        if self.discards {
            self.owed += length as i64;
        } else {
            // Padding counts as read immediately.
            self.owed += (length - piece.len()) as i64;
            if !piece.is_empty() {
                if self.data.len() >= PIECES || !self.more.is_empty() {
                    self.more.extend_from_slice(piece);
                } else {
                    self.data.push_back(Bytes::copy_from_slice(piece));
                }
            }
        }
        self.end(last, now)
    }

    /// Finishes the processing of a part of the response. The body must have the announced length
    /// (section 8.1.1).
    fn end(&mut self, last: bool, now: Moment) -> Result<(), Refused> {
        if last && self.announced.is_some_and(|left| left > 0) {
            return Err(PROTOCOL_ERROR);
        }
        if let Some((_, end)) = &mut self.arrived {
            *end = now;
        }
        self.has_received_all = last;
        if last || self.head.is_some() || self.has_pieces() {
            self.wake_reader();
        }
        Ok(())
    }

    pub fn take_head(&mut self) -> Option<Rc<Headers>> {
        self.head.take()
    }

    pub fn take_piece(&mut self) -> Option<Bytes> {
        let next = self.data.pop_front();
        let piece = match next {
            Some(piece) => piece,
            None if self.more.is_empty() => return None,
            None => self.more.split().freeze(),
        };
        self.owed += piece.len() as i64;
        Some(piece)
    }

    pub fn take_trailers(&mut self) -> Option<Rc<Headers>> {
        self.trailers.take()
    }

    /// Whether there is nothing left to read and nothing more will arrive.
    pub fn is_read(&self) -> bool {
        self.has_received_all
            && self.head.is_none()
            && !self.has_pieces()
            && self.trailers.is_none()
    }

    pub fn has_pieces(&self) -> bool {
        !self.data.is_empty() || !self.more.is_empty()
    }

    /// The bytes to return to the peer's window, if there are enough to justify a frame.
    pub fn take_window_update(&mut self) -> Option<u32> {
        if self.owed < WINDOW / 2 || self.has_received_all || self.fault.is_some() {
            return None;
        }
        self.receive_window += self.owed;
        u32::try_from(std::mem::take(&mut self.owed)).ok()
    }

    /// Ends the stream with this fault, unless it has already ended.
    pub fn fail(&mut self, fault: StreamFault) {
        if !self.is_over() {
            self.fault = Some(fault);
        }
        self.wake_reader();
    }

    /// Registers this task to be woken when a part of the response arrives.
    pub fn wake_on_progress(&mut self, cx: &Context<'_>) {
        match &mut self.reader {
            Some(reader) => reader.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
    }

    /// Wakes the task that reads.
    pub fn wake_reader(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }
}
