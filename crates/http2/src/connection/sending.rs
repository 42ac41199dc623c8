//! Opens streams and sends on them.

use std::cell::RefCell;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;

use super::{Connection, Mark, WAITING};
use crate::fault::StreamFault;
use crate::frames::{FrameHead, HEAD, flag, kind, put, put_number};
use crate::request_head::RequestHead;
use crate::stream::Stream;
use crate::waiting::Registration;

impl Connection {
    /// Waits for the peer's SETTINGS frame.
    pub fn poll_ready(
        &mut self,
        cx: &mut Context<'_>,
        registration: &mut Registration,
    ) -> Poll<Result<(), StreamFault>> {
        if self.has_settings {
            return Poll::Ready(Ok(()));
        }
        if let Some(fault) = &self.over {
            return Poll::Ready(Err(fault.clone()));
        }
        self.waiting.add(registration, cx);
        Poll::Pending
    }

    /// Opens a stream as soon as the peer allows one more.
    pub fn poll_open(
        &mut self,
        cx: &mut Context<'_>,
        registration: &mut Registration,
        head: &Rc<RequestHead>,
        last: bool,
    ) -> Poll<Result<Rc<RefCell<Stream>>, StreamFault>> {
        if let Some(fault) = &self.over {
            return Poll::Ready(Err(fault.clone()));
        }
        if !self.is_open() {
            let (code, debug_data) = self.goes_away.clone().unwrap_or_default();
            return Poll::Ready(Err(StreamFault::GoAway {
                code,
                debug_data,
                is_unprocessed: true,
            }));
        }
        if self.streams.len() >= self.max_streams || self.unwritten().len() >= WAITING {
            self.waiting.add(registration, cx);
            return Poll::Pending;
        }
        let id = self.next;
        self.next += 2;
        self.write_head(id, head, last);
        let stream = Stream::new(id, self.first_send_window, last, head.is_head_method());
        let stream = Rc::new(RefCell::new(stream));
        self.streams.insert(id, Rc::clone(&stream));
        self.wake_driver();
        Poll::Ready(Ok(stream))
    }

    fn write_head(&mut self, id: u32, head: &Rc<RequestHead>, last: bool) {
        let end = if last { flag::END_STREAM } else { 0 };
        let start = self.out.len();
        let mut frame = FrameHead {
            length: 0,
            kind: kind::HEADERS,
            flags: end | flag::END_HEADERS,
            stream: id,
        };
        frame.write(&mut self.out);
        self.encoder.encode(head, &mut self.out);
        let length = self.out.len() - start - HEAD;
        if length <= self.max_frame {
            frame.length = length;
            let mut head = Vec::with_capacity(HEAD);
            frame.write(&mut head);
            if let Some(place) = self.out.get_mut(start..start + HEAD) {
                place.copy_from_slice(&head);
            }
            return;
        }
        let block = self.out.split_off(start + HEAD);
        self.out.truncate(start);
        let pieces = block.len().div_ceil(self.max_frame);
        for (place, piece) in block.chunks(self.max_frame).enumerate() {
            let is_first = place == 0;
            let kind = if is_first {
                kind::HEADERS
            } else {
                kind::CONTINUATION
            };
            let mut flags = if is_first { end } else { 0 };
            if place + 1 == pieces {
                flags |= flag::END_HEADERS;
            }
            put(&mut self.out, kind, flags, id, piece);
        }
    }

    /// Sends as much of `bytes` as the windows allow, and removes it. Ready when everything is sent.
    pub fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut Stream,
        bytes: &mut Bytes,
        last: bool,
    ) -> Poll<Result<(), StreamFault>> {
        loop {
            if let Some(fault) = stream.fault.as_ref().or(self.over.as_ref()) {
                return Poll::Ready(Err(fault.clone()));
            }
            if stream.has_sent_all {
                let text = "the end of the stream was already sent".to_owned();
                return Poll::Ready(Err(StreamFault::Other(text)));
            }
            if bytes.is_empty() && !last {
                return Poll::Ready(Ok(()));
            }
            let window = self.send_window.min(stream.send_window).max(0) as usize;
            let space = window
                .min(WAITING.saturating_sub(self.unwritten().len()))
                .min(self.max_frame);
            if space == 0 && !bytes.is_empty() {
                self.waiting.add(&mut stream.sender, cx);
                return Poll::Pending;
            }
            let piece = bytes.split_to(space.min(bytes.len()));
            let is_end = last && bytes.is_empty();
            let flags = if is_end { flag::END_STREAM } else { 0 };
            put(&mut self.out, kind::DATA, flags, stream.id, &piece);
            self.send_window -= piece.len() as i64;
            stream.send_window -= piece.len() as i64;
            self.wake_driver();
            if is_end {
                stream.has_sent_all = true;
                self.forget_if_over(stream);
                return Poll::Ready(Ok(()));
            }
        }
    }

    /// Resets a stream that is no longer needed.
    pub fn reset(&mut self, stream: &mut Stream, code: u32) {
        if stream.is_over() {
            return;
        }
        put_number(&mut self.out, kind::RST_STREAM, stream.id, code);
        let by_peer = false;
        stream.fail(StreamFault::Reset { code, by_peer });
        self.forget_if_over(stream);
        self.wake_driver();
    }

    /// Returns the bytes that were read to the peer's window, when there are enough to justify a frame.
    pub fn give_back(&mut self, stream: &mut Stream) {
        if let Some(owed) = stream.take_window_update() {
            put_number(&mut self.out, kind::WINDOW_UPDATE, stream.id, owed);
            self.wake_driver();
        }
    }

    /// A cell that is set when everything in the queue so far has been written.
    pub fn mark(&mut self) -> Mark {
        let mark = Mark::default();
        self.marks.push(Rc::clone(&mark));
        mark
    }

    pub(super) fn forget_if_over(&mut self, stream: &Stream) {
        if stream.is_over() && self.streams.remove(&stream.id).is_some() {
            self.waiting.wake();
        }
    }

    pub(super) fn wake_driver(&mut self) {
        if let Some(driver) = self.driver.take() {
            driver.wake();
        }
    }

    pub fn abandon(&mut self) {
        self.is_abandoned = true;
        self.wake_driver();
    }
}
