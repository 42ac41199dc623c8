//! The client side of a connection, without its socket: bytes in, bytes out.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Waker;

use plimsoll_units::Moment;
use rustc_hash::FxHashMap;

use crate::decoder::Decoder;
use crate::encoder::Encoder;
use crate::fault::{StreamFault, code};
use crate::frames::{FrameHead, HEAD, MAX_FRAME, PREFACE, flag, kind, put, put_number, setting};
use crate::stream::{self, Stream};
use crate::waiting::WaitingTasks;

/// Receive window of the whole connection. It is replenished as data arrives.
const WINDOW: i64 = 1 << 30;
/// The window size before any SETTINGS frame (RFC 9113, section 6.9.2).
const INITIAL_WINDOW: i64 = 65_535;
/// Limit of concurrent streams before the peer has sent its own. Section 6.5.2 recommends at least
/// 100.
const INITIAL_STREAMS: usize = 100;
/// Maximum length of response headers, encoded and decoded.
const MAX_HEADERS: usize = 1 << 20;
/// Maximum number of bytes queued for the socket. Senders wait above it.
const WAITING: usize = 256 << 10;
/// Maximum number of bytes queued for a peer that sends frames that need a response but does not
/// read.
const MAX_UNREAD: usize = 1 << 20;
/// Capacity that an empty buffer keeps.
const KEPT_CAPACITY: usize = 16 << 10;
/// The highest stream number (section 5.1.1).
const LAST_STREAM: u32 = (1 << 31) - 1;

/// A cell that receives the time at which bytes were written.
pub(crate) type Mark = Rc<Cell<Option<Moment>>>;

/// The state that the streams and the driver of a connection share.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Bytes to write, starting at `written`.
    out: Vec<u8>,
    written: usize,
    /// Marks to set when `out` is written.
    marks: Vec<Mark>,
    /// The part of an incomplete frame that has arrived so far.
    partial: Vec<u8>,
    streams: FxHashMap<u32, Rc<RefCell<Stream>>>,
    next: u32,
    encoder: Encoder,
    decoder: Decoder,
    /// Headers that continue in a CONTINUATION frame.
    block: Option<Block>,
    has_settings: bool,
    send_window: i64,
    /// Bytes received but not returned to the window yet.
    owed: i64,
    first_send_window: i64,
    max_frame: usize,
    max_streams: usize,
    /// The peer's GOAWAY: error code and debug text.
    goes_away: Option<(u32, String)>,
    /// Why the connection ended.
    over: Option<StreamFault>,
    /// When the bytes that are being processed arrived.
    now: Moment,
    /// The peer's first bytes, if they are not HTTP/2.
    begins: Vec<u8>,
    /// Tasks that wait for capacity: for a new stream, for a window, or for space in `out`.
    waiting: WaitingTasks,
    driver: Option<Waker>,
    /// The caller will not open another stream.
    is_abandoned: bool,
}

#[derive(Debug)]
struct Block {
    stream: u32,
    last: bool,
    bytes: Vec<u8>,
    /// The cost in bytes. Each frame has a fixed cost as well, because it may be empty.
    cost: usize,
}

/// The error code with which this side ends the connection.
type ErrorCode = u32;

impl Connection {
    pub fn new() -> Connection {
        let mut out = PREFACE.to_vec();
        let mut settings = Vec::with_capacity(18);
        for (name, value) in [
            (setting::ENABLE_PUSH, 0),
            (setting::INITIAL_WINDOW_SIZE, stream::WINDOW as u32),
            (setting::MAX_HEADER_LIST_SIZE, MAX_HEADERS as u32),
        ] {
            settings.extend_from_slice(&name.to_be_bytes());
            settings.extend_from_slice(&value.to_be_bytes());
        }
        put(&mut out, kind::SETTINGS, 0, 0, &settings);
        let more = (WINDOW - INITIAL_WINDOW) as u32;
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
            send_window: INITIAL_WINDOW,
            owed: 0,
            first_send_window: INITIAL_WINDOW,
            max_frame: MAX_FRAME,
            max_streams: INITIAL_STREAMS,
            goes_away: None,
            over: None,
            now: Moment::default(),
            begins: Vec::new(),
            waiting: WaitingTasks::default(),
            driver: None,
            is_abandoned: false,
        }
    }

    /// Whether the connection still accepts new streams.
    pub fn is_open(&self) -> bool {
        self.over.is_none() && self.goes_away.is_none() && self.next <= LAST_STREAM
    }

    /// Number of concurrent streams that the peer allows.
    pub fn max_streams(&self) -> usize {
        self.max_streams
    }

    /// Whether the caller no longer needs data in either direction.
    pub fn is_unwanted(&self) -> bool {
        let is_closing = self.is_abandoned || self.goes_away.is_some();
        self.over.is_some() || is_closing && self.streams.is_empty()
    }
}

/// The methods that the driver calls.
impl Connection {
    pub fn set_driver(&mut self, waker: &Waker) {
        self.driver = Some(waker.clone());
    }

    pub fn unwritten(&self) -> &[u8] {
        self.out.get(self.written..).unwrap_or_default()
    }

    /// Records that the socket accepted `count` more bytes.
    pub fn wrote(&mut self, count: usize) {
        self.written += count;
        if self.written >= self.out.len() {
            self.out.clear();
            // Do not keep the memory of a single large message forever.
            if self.out.capacity() > KEPT_CAPACITY {
                self.out = Vec::new();
            }
            self.written = 0;
            self.waiting.wake();
        }
    }

    pub fn has_marks(&self) -> bool {
        !self.marks.is_empty()
    }

    /// Whether everything has been written.
    pub fn flushed(&mut self, at: Moment) {
        for mark in self.marks.drain(..) {
            mark.set(Some(at));
        }
    }

    /// Notifies the peer that the connection will close, if it is still open (section 6.8).
    pub fn announce_close(&mut self) {
        if self.over.is_none() {
            self.fail(StreamFault::Ended);
            self.put_go_away(code::NO_ERROR);
        }
    }

    /// Records that the socket failed or was closed.
    pub fn fail(&mut self, fault: StreamFault) {
        let fault = match &self.goes_away {
            // The peer announced the end of the connection but did not complete these streams.
            Some((code, debug_data)) if fault.is_of_connection() => StreamFault::GoAway {
                code: *code,
                debug_data: debug_data.clone(),
                is_unprocessed: false,
            },
            _ => fault,
        };
        if self.over.is_none() {
            self.over = Some(fault.clone());
        }
        for (_, stream) in self.streams.drain() {
            stream.borrow_mut().fail(fault.clone());
        }
        self.waiting.wake();
    }

    /// Records that the peer closed its sending half.
    pub fn end(&mut self) {
        if self.has_settings || self.partial.is_empty() {
            return self.fail(StreamFault::Ended);
        }
        let begins = std::mem::take(&mut self.partial);
        self.fail(StreamFault::NotHttp2 { begins });
    }

    fn put_go_away(&mut self, code: u32) {
        // The peer opened no streams, so the last stream number is 0.
        let mut last_and_code = [0; 8];
        if let Some(place) = last_and_code.last_chunk_mut::<4>() {
            *place = code.to_be_bytes();
        }
        put(&mut self.out, kind::GOAWAY, 0, 0, &last_and_code);
    }

    /// Processes bytes that arrived at `now`.
    pub fn feed(&mut self, bytes: &[u8], now: Moment) {
        if self.over.is_some() {
            return;
        }
        self.now = now;
        if let Err(code) = self.take_bytes(bytes) {
            self.put_go_away(code);
            let begins = std::mem::take(&mut self.begins);
            self.fail(match begins.is_empty() {
                true => StreamFault::Connection { code },
                false => StreamFault::NotHttp2 { begins },
            });
        }
        if self.partial.is_empty() && self.partial.capacity() > KEPT_CAPACITY {
            self.partial = Vec::new();
        }
    }

    fn take_bytes(&mut self, bytes: &[u8]) -> Result<(), ErrorCode> {
        let mut bytes = bytes;
        // Copy only a frame that is split between reads.
        while !self.partial.is_empty() {
            let length = match FrameHead::read(&self.partial) {
                Some(head) => HEAD + head.length,
                None => HEAD,
            };
            let missing = length.saturating_sub(self.partial.len());
            let Some((piece, rest)) = bytes.split_at_checked(missing) else {
                self.partial.extend_from_slice(bytes);
                return Ok(());
            };
            self.partial.extend_from_slice(piece);
            bytes = rest;
            let mut partial = std::mem::take(&mut self.partial);
            let taken = self.take_frames(&partial)?;
            partial.drain(..taken);
            self.partial = partial;
        }
        let taken = self.take_frames(bytes)?;
        let rest = bytes.get(taken..).unwrap_or_default();
        self.partial.extend_from_slice(rest);
        Ok(())
    }

    /// Processes complete frames. Returns the start of the first incomplete one.
    fn take_frames(&mut self, bytes: &[u8]) -> Result<usize, ErrorCode> {
        let mut at = 0;
        while let Some(head) = bytes.get(at..).and_then(FrameHead::read) {
            // Check the length before the whole frame has arrived, because it may be wrong.
            if !self.has_settings && (head.kind != kind::SETTINGS || head.has(flag::ACK)) {
                // The peer must begin with SETTINGS (RFC 9113, section 3.4).
                self.begins = bytes.get(at..at + HEAD).unwrap_or_default().to_vec();
                return Err(code::PROTOCOL_ERROR);
            }
            if head.length > MAX_FRAME {
                return Err(code::FRAME_SIZE_ERROR);
            }
            let start = at + HEAD;
            let Some(payload) = bytes.get(start..start + head.length) else {
                break;
            };
            self.frame(head, payload)?;
            at = start + head.length;
        }
        Ok(at)
    }
}

mod receiving;
mod sending;
#[cfg(test)]
mod tests;
