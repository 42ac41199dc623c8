//! Processing received frames: RFC 9113, section 6.

use std::cell::RefCell;
use std::rc::Rc;

use super::{Block, Connection, ErrorCode, LAST_STREAM, MAX_HEADERS, MAX_UNREAD, WINDOW};
use crate::decoder::Decoded;
use crate::fault::{StreamFault, code};
use crate::frames::{
    FrameHead, HEAD, MAX_FRAME, MAX_WINDOW, flag, kind, number, put, put_number, setting, unpadded,
};
use crate::stream::{self, Stream};

impl Connection {
    pub(super) fn frame(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), ErrorCode> {
        // The frames of a header block are consecutive (section 6.10).
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
            // Our settings forbid push (section 8.4).
            kind::PUSH_PROMISE => Err(code::PROTOCOL_ERROR),
            kind::PRIORITY if head.stream == 0 => Err(code::PROTOCOL_ERROR),
            kind::PRIORITY if payload.len() != 5 => {
                if let Some(stream) = self.known(head.stream)? {
                    self.reset(&mut stream.borrow_mut(), code::FRAME_SIZE_ERROR);
                }
                Ok(())
            }
            // Unknown frames are ignored (section 5.5).
            _ => Ok(()),
        }
    }

    /// A stream that we opened. `None` if it has ended; an error if it never existed (section 5.1).
    fn known(&self, id: u32) -> Result<Option<Rc<RefCell<Stream>>>, ErrorCode> {
        if id.is_multiple_of(2) || id >= self.next {
            return Err(code::PROTOCOL_ERROR);
        }
        Ok(self.streams.get(&id).map(Rc::clone))
    }

    fn data(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), ErrorCode> {
        let piece = unpadded(head, payload).ok_or(code::PROTOCOL_ERROR)?;
        let stream = self.known(head.stream)?;
        // The connection's window is replenished as data arrives, because each stream has its own window.
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
        let taken = stream.piece(piece, head.length, head.has(flag::END_STREAM), self.now);
        self.settle(stream, taken);
        if stream.discards {
            self.give_back(stream);
        }
        Ok(())
    }

    /// An error on one stream ends only that stream.
    fn settle(&mut self, stream: &mut Stream, taken: Result<(), stream::Refused>) {
        match taken {
            Ok(()) => self.forget_if_over(stream),
            Err(code) => self.reset(stream, code),
        }
    }

    fn headers(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), ErrorCode> {
        let fragment = unpadded(head, payload).ok_or(code::PROTOCOL_ERROR)?;
        self.known(head.stream)?;
        let last = head.has(flag::END_STREAM);
        if head.has(flag::END_HEADERS) {
            return self.receive_headers(head.stream, fragment, last);
        }
        self.block = Some(Block {
            stream: head.stream,
            last,
            bytes: fragment.to_vec(),
            cost: HEAD + fragment.len(),
        });
        Ok(())
    }

    fn continuation(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), ErrorCode> {
        let block = self.block.as_mut().ok_or(code::PROTOCOL_ERROR)?;
        if block.stream != head.stream {
            return Err(code::PROTOCOL_ERROR);
        }
        block.cost += HEAD + payload.len();
        if block.cost > MAX_HEADERS {
            return Err(code::ENHANCE_YOUR_CALM);
        }
        block.bytes.extend_from_slice(payload);
        if !head.has(flag::END_HEADERS) {
            return Ok(());
        }
        match self.block.take() {
            Some(block) => self.receive_headers(block.stream, &block.bytes, block.last),
            None => Ok(()),
        }
    }

    fn receive_headers(&mut self, id: u32, block: &[u8], last: bool) -> Result<(), ErrorCode> {
        // Decode the block even if the stream has ended, to keep the table in sync.
        let decoded = self.decoder.decode(block, MAX_HEADERS);
        let decoded = decoded.map_err(|_| code::COMPRESSION_ERROR)?;
        let Some(stream) = self.known(id)? else {
            return Ok(());
        };
        let stream = &mut *stream.borrow_mut();
        let taken = match decoded {
            Decoded::Headers(headers) => stream.receive_headers(headers, last, self.now),
            Decoded::Malformed => Err(code::PROTOCOL_ERROR),
        };
        self.settle(stream, taken);
        Ok(())
    }

    fn reset_by_peer(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), ErrorCode> {
        let code = number(payload).ok_or(code::FRAME_SIZE_ERROR)?;
        if let Some(stream) = self.known(head.stream)? {
            let stream = &mut *stream.borrow_mut();
            let by_peer = true;
            stream.fail(StreamFault::Reset { code, by_peer });
            self.forget_if_over(stream);
            self.waiting.wake();
        }
        Ok(())
    }

    fn settings(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), ErrorCode> {
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
        self.acknowledge(kind::SETTINGS, &[])?;
        self.waiting.wake();
        Ok(())
    }

    pub(super) fn set(&mut self, name: u16, value: u32) -> Result<(), ErrorCode> {
        match name {
            setting::HEADER_TABLE_SIZE => self.encoder.resize(value as usize),
            // A server may not send settings that only clients may send (section 6.5.2).
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

    fn ping(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), ErrorCode> {
        if head.stream != 0 {
            return Err(code::PROTOCOL_ERROR);
        }
        if payload.len() != 8 {
            return Err(code::FRAME_SIZE_ERROR);
        }
        if head.has(flag::ACK) {
            return Ok(());
        }
        self.acknowledge(kind::PING, payload)
    }

    /// Queues an acknowledgement, unless too many already wait for a peer that does not read them.
    fn acknowledge(&mut self, kind: u8, payload: &[u8]) -> Result<(), ErrorCode> {
        if self.unwritten().len() >= MAX_UNREAD {
            return Err(code::ENHANCE_YOUR_CALM);
        }
        put(&mut self.out, kind, flag::ACK, 0, payload);
        Ok(())
    }

    fn go_away(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), ErrorCode> {
        if head.stream != 0 {
            return Err(code::PROTOCOL_ERROR);
        }
        let (fixed, debug_data) = payload.split_at_checked(8).ok_or(code::FRAME_SIZE_ERROR)?;
        let (last, code) = fixed.split_at(4);
        let last = number(last).unwrap_or(0) & LAST_STREAM;
        let code = number(code).unwrap_or(0);
        let debug_data = String::from_utf8_lossy(debug_data).into_owned();
        self.goes_away = Some((code, debug_data.clone()));
        let fault = StreamFault::GoAway {
            code,
            debug_data,
            is_unprocessed: true,
        };
        // The server did not process streams after that one, and will not (section 6.8).
        self.streams.retain(|id, stream| {
            let is_looked_at = *id <= last;
            if !is_looked_at {
                stream.borrow_mut().fail(fault.clone());
            }
            is_looked_at
        });
        self.waiting.wake();
        Ok(())
    }

    fn window(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), ErrorCode> {
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
        self.waiting.wake();
        Ok(())
    }
}
