//! The client side of a connection, without its socket: bytes in, bytes out.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use plimsoll_units::Moment;
use rustc_hash::FxHashMap;

use crate::decoder::{Decoded, Decoder};
use crate::encoder::Encoder;
use crate::fault::{StreamFault, code};
use crate::frames::{
    FrameHead, HEAD, MAX_FRAME, MAX_WINDOW, PREFACE, flag, kind, number, put, put_number, setting,
    unpadded,
};
use crate::head::RequestHead;
use crate::stream::{self, Stream};

/// Receive window of the whole connection. It is topped up as data arrives.
const WINDOW: i64 = 1 << 30;
/// The window before any SETTINGS: RFC 9113, section 6.9.2.
const FIRST_WINDOW: i64 = 65_535;
/// Concurrent streams before the peer has sent its limit: section 6.5.2 recommends at least 100.
const FIRST_STREAMS: usize = 100;
/// Maximum length of response headers, encoded and decoded.
const LONGEST_HEAD: usize = 1 << 20;
/// Maximum bytes queued for the socket; senders wait above it.
const WAITING: usize = 256 << 10;
/// Maximum bytes queued for a peer that requests responses but does not read them.
const FLOOD: usize = 1 << 20;
/// Capacity that an empty buffer keeps.
const KEPT: usize = 16 << 10;
/// The highest stream number: section 5.1.1.
const LAST_STREAM: u32 = (1 << 31) - 1;

/// Filled in with the time at which bytes were written.
pub(crate) type Mark = Rc<Cell<Option<Moment>>>;

/// The state that a connection's streams and its driver share.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Bytes to be written, from `written` on.
    out: Vec<u8>,
    written: usize,
    /// Marks to set when `out` is written.
    marks: Vec<Mark>,
    /// The part of a frame that has arrived so far.
    partial: Vec<u8>,
    streams: FxHashMap<u32, Rc<RefCell<Stream>>>,
    next: u32,
    encoder: Encoder,
    decoder: Decoder,
    /// Headers that continue in the next frame.
    block: Option<Block>,
    has_settings: bool,
    send_window: i64,
    /// Bytes received and not yet returned to the window.
    owed: i64,
    first_send_window: i64,
    max_frame: usize,
    max_streams: usize,
    goes_away: bool,
    /// Why the connection ended.
    over: Option<StreamFault>,
    /// Tasks that wait for capacity: of streams, of windows, of `out`.
    waiting: Vec<Waker>,
    driver: Option<Waker>,
    /// The caller will not open another stream.
    is_abandoned: bool,
}

#[derive(Debug)]
struct Block {
    stream: u32,
    last: bool,
    bytes: Vec<u8>,
    /// Bytes and frames: frames count too, because they may be empty.
    cost: usize,
}

/// The error code that ends the connection.
type Broken = u32;

impl Connection {
    pub fn new() -> Connection {
        let mut out = PREFACE.to_vec();
        let mut settings = Vec::with_capacity(18);
        for (name, value) in [
            (setting::ENABLE_PUSH, 0),
            (setting::INITIAL_WINDOW_SIZE, stream::WINDOW as u32),
            (setting::MAX_HEADER_LIST_SIZE, LONGEST_HEAD as u32),
        ] {
            settings.extend_from_slice(&name.to_be_bytes());
            settings.extend_from_slice(&value.to_be_bytes());
        }
        put(&mut out, kind::SETTINGS, 0, 0, &settings);
        let more = (WINDOW - FIRST_WINDOW) as u32;
        put_number(&mut out, kind::WINDOW_UPDATE, 0, more);
        Connection {
            out,
            written: 0,
            marks: Vec::new(),
            partial: Vec::new(),
            streams: FxHashMap::default(),
            next: 1,
            encoder: Encoder::default(),
            decoder: Decoder::default(),
            block: None,
            has_settings: false,
            send_window: FIRST_WINDOW,
            owed: 0,
            first_send_window: FIRST_WINDOW,
            max_frame: MAX_FRAME,
            max_streams: FIRST_STREAMS,
            goes_away: false,
            over: None,
            waiting: Vec::new(),
            driver: None,
            is_abandoned: false,
        }
    }

    /// Whether it still accepts new streams.
    pub fn is_open(&self) -> bool {
        self.over.is_none() && !self.goes_away && self.next <= LAST_STREAM
    }

    /// Whether no more data in either direction is of use to the caller.
    pub fn is_unwanted(&self) -> bool {
        let is_closing = self.is_abandoned || self.goes_away;
        self.over.is_some() || is_closing && self.streams.is_empty()
    }
}

/// For the driver.
impl Connection {
    pub fn set_driver(&mut self, waker: &Waker) {
        self.driver = Some(waker.clone());
    }

    pub fn unwritten(&self) -> &[u8] {
        self.out.get(self.written..).unwrap_or_default()
    }

    /// The socket accepted this number of further bytes.
    pub fn wrote(&mut self, count: usize) {
        self.written += count;
        if self.written >= self.out.len() {
            self.out.clear();
            // One large message must not keep its memory forever.
            if self.out.capacity() > KEPT {
                self.out = Vec::new();
            }
            self.written = 0;
            self.wake_waiting();
        }
    }

    pub fn has_marks(&self) -> bool {
        !self.marks.is_empty()
    }

    /// Everything was written.
    pub fn flushed(&mut self, at: Moment) {
        for mark in self.marks.drain(..) {
            mark.set(Some(at));
        }
    }

    /// The socket failed or was closed.
    pub fn fail(&mut self, fault: StreamFault) {
        if self.over.is_none() {
            self.over = Some(fault.clone());
        }
        for (_, stream) in self.streams.drain() {
            stream.borrow_mut().fail(fault.clone());
        }
        self.wake_waiting();
    }

    /// Processes received bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.over.is_some() {
            return;
        }
        let outcome = if self.partial.is_empty() {
            self.take_frames(bytes).map(|rest| {
                self.partial
                    .extend_from_slice(bytes.get(rest..).unwrap_or_default());
            })
        } else {
            let mut all = std::mem::take(&mut self.partial);
            all.extend_from_slice(bytes);
            self.take_frames(&all).map(|rest| {
                all.drain(..rest);
                self.partial = all;
            })
        };
        if self.partial.is_empty() && self.partial.capacity() > KEPT {
            self.partial = Vec::new();
        }
        if let Err(code) = outcome {
            let mut last_and_code = [0; 8];
            if let Some(place) = last_and_code.last_chunk_mut::<4>() {
                *place = code.to_be_bytes();
            }
            put(&mut self.out, kind::GOAWAY, 0, 0, &last_and_code);
            self.fail(StreamFault::ours(code));
        }
    }

    /// Processes complete frames. Returns the start of the first incomplete one.
    fn take_frames(&mut self, bytes: &[u8]) -> Result<usize, Broken> {
        let mut at = 0;
        while let Some(head) = bytes.get(at..).and_then(FrameHead::read) {
            if head.length > MAX_FRAME {
                return Err(code::FRAME_SIZE_ERROR);
            }
            let start = at + HEAD;
            let Some(payload) = bytes.get(start..start + head.length) else {
                // A violation of HTTP/2 is detected before the whole frame has arrived.
                self.check_first(head)?;
                break;
            };
            self.check_first(head)?;
            self.frame(head, payload)?;
            at = start + head.length;
        }
        Ok(at)
    }

    /// The peer must begin with SETTINGS: RFC 9113, section 3.4.
    fn check_first(&self, head: FrameHead) -> Result<(), Broken> {
        if self.has_settings || head.kind == kind::SETTINGS && !head.has(flag::ACK) {
            return Ok(());
        }
        Err(code::PROTOCOL_ERROR)
    }

    fn frame(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), Broken> {
        // The frames of a header block are consecutive: section 6.10.
        if self.block.is_some() && head.kind != kind::CONTINUATION {
            return Err(code::PROTOCOL_ERROR);
        }
        match head.kind {
            kind::DATA => self.data(head, payload),
            kind::HEADERS => self.headers(head, payload),
            kind::CONTINUATION => self.continuation(head, payload),
            kind::RST_STREAM => self.reset_by_peer(head, payload),
            kind::SETTINGS => self.settings(head, payload),
            kind::PING => self.ping(head, payload),
            kind::GOAWAY => self.go_away(head, payload),
            kind::WINDOW_UPDATE => self.window(head, payload),
            // Our settings forbid it: section 8.4.
            kind::PUSH_PROMISE => Err(code::PROTOCOL_ERROR),
            kind::PRIORITY if head.stream == 0 => Err(code::PROTOCOL_ERROR),
            // Section 5.5: unknown frames are ignored.
            _ => Ok(()),
        }
    }

    /// A stream that we opened. `None` if it has ended; an error if it never existed: section 5.1.
    fn known(&self, id: u32) -> Result<Option<Rc<RefCell<Stream>>>, Broken> {
        if id.is_multiple_of(2) || id >= self.next {
            return Err(code::PROTOCOL_ERROR);
        }
        Ok(self.streams.get(&id).map(Rc::clone))
    }

    fn data(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), Broken> {
        let piece = unpadded(head, payload).ok_or(code::PROTOCOL_ERROR)?;
        let stream = self.known(head.stream)?;
        // The connection's window is returned as data arrives: each stream has its own window.
        self.owed += head.length as i64;
        if self.owed > WINDOW {
            return Err(code::FLOW_CONTROL_ERROR);
        }
        if self.owed >= WINDOW / 2 {
            let owed = std::mem::take(&mut self.owed) as u32;
            put_number(&mut self.out, kind::WINDOW_UPDATE, 0, owed);
        }
        let Some(stream) = stream else {
            return Ok(());
        };
        let stream = &mut *stream.borrow_mut();
        let taken = stream.piece(piece, head.length, head.has(flag::END_STREAM));
        self.settle(stream, taken);
        Ok(())
    }

    /// An error on one stream ends only that stream.
    fn settle(&mut self, stream: &mut Stream, taken: Result<(), stream::Refused>) {
        match taken {
            Ok(()) => self.forget_if_over(stream),
            Err(code) => self.reset(stream, code),
        }
    }

    fn headers(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), Broken> {
        let fragment = unpadded(head, payload).ok_or(code::PROTOCOL_ERROR)?;
        self.known(head.stream)?;
        let last = head.has(flag::END_STREAM);
        if head.has(flag::END_HEADERS) {
            return self.heading(head.stream, fragment, last);
        }
        self.block = Some(Block {
            stream: head.stream,
            last,
            bytes: fragment.to_vec(),
            cost: HEAD + fragment.len(),
        });
        Ok(())
    }

    fn continuation(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), Broken> {
        let block = self.block.as_mut().ok_or(code::PROTOCOL_ERROR)?;
        if block.stream != head.stream {
            return Err(code::PROTOCOL_ERROR);
        }
        block.cost += HEAD + payload.len();
        if block.cost > LONGEST_HEAD {
            return Err(code::ENHANCE_YOUR_CALM);
        }
        block.bytes.extend_from_slice(payload);
        if !head.has(flag::END_HEADERS) {
            return Ok(());
        }
        match self.block.take() {
            Some(block) => self.heading(block.stream, &block.bytes, block.last),
            None => Ok(()),
        }
    }

    fn heading(&mut self, id: u32, block: &[u8], last: bool) -> Result<(), Broken> {
        // Decoded even if the stream has ended, to keep the table in sync.
        let decoded = self.decoder.decode(block, LONGEST_HEAD);
        let decoded = decoded.map_err(|_| code::COMPRESSION_ERROR)?;
        let Some(stream) = self.known(id)? else {
            return Ok(());
        };
        let stream = &mut *stream.borrow_mut();
        let taken = match decoded {
            Decoded::Heading(heading) => stream.heading(heading, last),
            Decoded::Malformed => Err(code::PROTOCOL_ERROR),
        };
        self.settle(stream, taken);
        Ok(())
    }

    fn reset_by_peer(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), Broken> {
        let code = number(payload).ok_or(code::FRAME_SIZE_ERROR)?;
        if let Some(stream) = self.known(head.stream)? {
            let stream = &mut *stream.borrow_mut();
            let by_peer = true;
            stream.fail(StreamFault::Reset { code, by_peer });
            self.forget_if_over(stream);
            self.wake_waiting();
        }
        Ok(())
    }

    fn settings(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), Broken> {
        if head.stream != 0 {
            return Err(code::PROTOCOL_ERROR);
        }
        if head.has(flag::ACK) {
            return match payload.is_empty() {
                true => Ok(()),
                false => Err(code::FRAME_SIZE_ERROR),
            };
        }
        if !payload.len().is_multiple_of(6) {
            return Err(code::FRAME_SIZE_ERROR);
        }
        for entry in payload.chunks_exact(6) {
            if let &[a, b, w, x, y, z] = entry {
                self.set(u16::from_be_bytes([a, b]), u32::from_be_bytes([w, x, y, z]))?;
            }
        }
        self.has_settings = true;
        self.answer(kind::SETTINGS, &[])?;
        self.wake_waiting();
        Ok(())
    }

    fn set(&mut self, name: u16, value: u32) -> Result<(), Broken> {
        match name {
            setting::HEADER_TABLE_SIZE => self.encoder.resize(value as usize),
            // A server may not send settings that only clients may send: section 6.5.2.
            setting::ENABLE_PUSH if value != 0 => return Err(code::PROTOCOL_ERROR),
            setting::MAX_CONCURRENT_STREAMS => self.max_streams = value as usize,
            setting::INITIAL_WINDOW_SIZE => {
                let window = i64::from(value);
                if window > MAX_WINDOW {
                    return Err(code::FLOW_CONTROL_ERROR);
                }
                let more = window - self.first_send_window;
                self.first_send_window = window;
                for stream in self.streams.values() {
                    let stream = &mut *stream.borrow_mut();
                    stream.send_window += more;
                    if stream.send_window > MAX_WINDOW {
                        return Err(code::FLOW_CONTROL_ERROR);
                    }
                }
            }
            setting::MAX_FRAME_SIZE => {
                let size = value as usize;
                if !(MAX_FRAME..1 << 24).contains(&size) {
                    return Err(code::PROTOCOL_ERROR);
                }
                self.max_frame = size;
            }
            _ => {}
        }
        Ok(())
    }

    fn ping(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), Broken> {
        if head.stream != 0 {
            return Err(code::PROTOCOL_ERROR);
        }
        if payload.len() != 8 {
            return Err(code::FRAME_SIZE_ERROR);
        }
        if head.has(flag::ACK) {
            return Ok(());
        }
        self.answer(kind::PING, payload)
    }

    /// Queues an acknowledgement, unless too many wait for a peer that does not read them.
    fn answer(&mut self, kind: u8, payload: &[u8]) -> Result<(), Broken> {
        if self.unwritten().len() >= FLOOD {
            return Err(code::ENHANCE_YOUR_CALM);
        }
        put(&mut self.out, kind, flag::ACK, 0, payload);
        Ok(())
    }

    fn go_away(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), Broken> {
        if head.stream != 0 {
            return Err(code::PROTOCOL_ERROR);
        }
        let (fixed, said) = payload.split_at_checked(8).ok_or(code::FRAME_SIZE_ERROR)?;
        let (last, code) = fixed.split_at(4);
        let last = number(last).unwrap_or(0) & LAST_STREAM;
        let fault = StreamFault::GoAway {
            code: number(code).unwrap_or(0),
            said: String::from_utf8_lossy(said).into_owned(),
        };
        self.goes_away = true;
        // Section 6.8: the server did not and will not process streams after that one.
        self.streams.retain(|id, stream| {
            let is_looked_at = *id <= last;
            if !is_looked_at {
                stream.borrow_mut().fail(fault.clone());
            }
            is_looked_at
        });
        self.wake_waiting();
        Ok(())
    }

    fn window(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), Broken> {
        let more = number(payload).ok_or(code::FRAME_SIZE_ERROR)? & LAST_STREAM;
        if head.stream == 0 {
            if more == 0 {
                return Err(code::PROTOCOL_ERROR);
            }
            self.send_window += i64::from(more);
            if self.send_window > MAX_WINDOW {
                return Err(code::FLOW_CONTROL_ERROR);
            }
        } else if let Some(stream) = self.known(head.stream)? {
            let stream = &mut *stream.borrow_mut();
            stream.send_window += i64::from(more);
            if more == 0 {
                self.reset(stream, code::PROTOCOL_ERROR);
            } else if stream.send_window > MAX_WINDOW {
                self.reset(stream, code::FLOW_CONTROL_ERROR);
            }
        }
        self.wake_waiting();
        Ok(())
    }
}

/// Passes a server's bytes, split into these pieces, to a connection with two open streams, and
/// reads both streams to their end. Returns how much was read. For fuzzing: no socket, no
/// clock.
pub fn hear(pieces: &[&[u8]]) -> usize {
    let request = http::Request::new(());
    let head = Rc::new(RequestHead::of(&request));
    let mut cx = Context::from_waker(Waker::noop());
    let mut connection = Connection::new();
    let mut open = || connection.poll_open(&mut cx, &head, false);
    let streams: Vec<_> = [open(), open()]
        .into_iter()
        .filter_map(|opened| match opened {
            Poll::Ready(Ok(stream)) => Some(stream),
            _ => None,
        })
        .collect();
    let mut held = 0;
    for piece in pieces {
        connection.feed(piece);
        connection.wrote(connection.unwritten().len());
        for stream in &streams {
            let stream = &mut *stream.borrow_mut();
            held += usize::from(stream.take_head().is_some());
            while let Some(piece) = stream.take_piece() {
                held += piece.len();
                connection.give_back(stream);
            }
            held += usize::from(stream.take_trailers().is_some());
        }
    }
    held
}

mod sending;
#[cfg(test)]
mod tests;
