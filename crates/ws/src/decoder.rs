use plimsoll_http::BudgetShare;

use crate::Limits;
use crate::close::{CloseFrame, MAX_CONTROL};
use crate::deflate::{Agreed, Inflater};
use crate::frame::{Header, MAX_HEADER, Opcode};
use crate::violation::Violation;

/// A complete message or control frame from the peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Text(String),
    Binary(Vec<u8>),
    Ping(Vec<u8>),
    Pong(Vec<u8>),
    Close(CloseFrame),
}

/// Decodes bytes into events as they arrive. It keeps only incomplete data, so its memory grows
/// with the received bytes, not with announced lengths.
#[derive(Debug)]
pub struct Decoder {
    limits: Limits,
    inflater: Option<Inflater>,
    /// The start of a frame header that arrived in pieces.
    head: [u8; MAX_HEADER],
    head_length: u8,
    frame: Option<Frame>,
    /// The current message. It may lack fragments.
    message: Option<Message>,
    /// The payload of the current control frame.
    control: Vec<u8>,
    /// Whether the message that is being decompressed is a text message.
    inflates_text: bool,
    /// The last message's share of the budget for decompressed data.
    share: Option<BudgetShare>,
}

#[derive(Debug)]
struct Frame {
    opcode: Opcode,
    is_last: bool,
    left: u64,
}

#[derive(Debug)]
struct Message {
    is_text: bool,
    is_compressed: bool,
    bytes: Vec<u8>,
    /// Number of bytes that are known to be UTF-8. At most three more follow, the start of a character.
    checked: usize,
}

impl Decoder {
    pub fn new(limits: Limits, deflate: Option<Agreed>) -> Self {
        Decoder {
            limits,
            inflater: deflate.map(Inflater::new),
            head: [0; MAX_HEADER],
            head_length: 0,
            frame: None,
            message: None,
            control: Vec::new(),
            inflates_text: false,
            share: None,
        }
    }

    /// Whether a message is being decompressed. Until that is complete, [`Decoder::feed`] reads no
    /// input, and each call decompresses one slice.
    #[inline]
    pub fn is_inflating(&self) -> bool {
        self.inflater.as_ref().is_some_and(Inflater::is_busy)
    }

    /// The last event's share of the budget for decompressed data. Keep it as long as the event.
    pub fn take_share(&mut self) -> Option<BudgetShare> {
        self.share.take()
    }

    /// Consumes bytes from `input` until they complete an event. Returns `None` if all bytes were
    /// consumed without completing an event, or while a message is being decompressed.
    ///
    /// # Errors
    /// A [`Violation`]. After that, the caller must fail the connection (section 7.1.7) and must not
    /// call this method again.
    #[inline]
    pub fn feed(&mut self, input: &mut &[u8]) -> Result<Option<Event>, Violation> {
        if self.is_inflating() {
            return self.inflate();
        }
        loop {
            if self.frame.is_none() && !self.begin_frame(input)? {
                return Ok(None);
            }
            if let Some(event) = self.take_payload(input)? {
                return Ok(Some(event));
            }
            if self.is_inflating() {
                return Ok(None);
            }
            // An empty frame may be complete without more input. Any other frame needs input.
            if input.is_empty() && self.frame.is_some() {
                return Ok(None);
            }
        }
    }

    /// Whether the peer is in the middle of sending a message or a frame.
    pub fn is_inside(&self) -> bool {
        self.frame.is_some() || self.message.is_some() || self.head_length > 0
    }

    /// Reads the next frame header. Returns false if it is incomplete.
    #[inline]
    fn begin_frame(&mut self, input: &mut &[u8]) -> Result<bool, Violation> {
        let header = if self.head_length == 0 {
            match Header::parse(input)? {
                Some((header, used)) => {
                    *input = input.get(used..).unwrap_or_default();
                    Some(header)
                }
                None => {
                    self.keep_head(input);
                    None
                }
            }
        } else {
            self.rest_of_header(input)?
        };
        let Some(header) = header else {
            return Ok(false);
        };
        self.check_order(&header)?;
        self.frame = Some(Frame {
            opcode: header.opcode,
            is_last: header.is_last,
            left: header.length,
        });
        Ok(true)
    }

    /// Continues a frame header that arrived in pieces, byte by byte.
    #[cold]
    fn rest_of_header(&mut self, input: &mut &[u8]) -> Result<Option<Header>, Violation> {
        while let Some((&byte, rest)) = input.split_first() {
            *input = rest;
            self.keep_head(&mut [byte].as_slice());
            let known = self.head.get(..usize::from(self.head_length));
            if let Some((header, _)) = Header::parse(known.unwrap_or_default())? {
                self.head_length = 0;
                return Ok(Some(header));
            }
        }
        Ok(None)
    }

    fn keep_head(&mut self, input: &mut &[u8]) {
        let start = usize::from(self.head_length);
        let buffer = self.head.get_mut(start..).unwrap_or_default();
        let count = buffer.len().min(input.len());
        for (to, from) in buffer.iter_mut().zip(input.iter()) {
            *to = *from;
        }
        self.head_length += count as u8;
        *input = input.get(count..).unwrap_or_default();
    }

    /// Rejects frame headers that are not allowed in the current state.
    #[inline]
    fn check_order(&mut self, header: &Header) -> Result<(), Violation> {
        let may_compress = self.inflater.is_some();
        match header.opcode {
            Opcode::Text | Opcode::Binary => {
                if self.message.is_some() {
                    return Err(Violation::Interleaved);
                }
                if header.is_compressed && !may_compress {
                    return Err(Violation::ReservedBits(0b100));
                }
                self.message = Some(Message {
                    is_text: header.opcode == Opcode::Text,
                    is_compressed: header.is_compressed,
                    bytes: Vec::new(),
                    checked: 0,
                });
            }
            // Only the first frame of a message may have this bit set (RFC 7692, section 6.1).
            _ if header.is_compressed => return Err(Violation::ReservedBits(0b100)),
            Opcode::Continuation if self.message.is_none() => {
                return Err(Violation::Continuation);
            }
            _ => {}
        }
        // Reject a message that is too long before reading it.
        if let (Some(message), false) = (&self.message, header.opcode.is_control()) {
            let limit = self.limits.max_message;
            let total = (message.bytes.len() as u64).saturating_add(header.length);
            if total > limit as u64 {
                return Err(Violation::TooBig(limit));
            }
        }
        Ok(())
    }

    #[inline]
    fn take_payload(&mut self, input: &mut &[u8]) -> Result<Option<Event>, Violation> {
        let Some(frame) = &mut self.frame else {
            return Ok(None);
        };
        let count = (frame.left).min(input.len() as u64) as usize;
        let (taken, rest) = input.split_at(count);
        *input = rest;
        frame.left -= count as u64;
        let (is_last, is_whole, opcode) = (frame.is_last, frame.left == 0, frame.opcode);
        if is_whole {
            self.frame = None;
        }
        if opcode.is_control() {
            return self.take_control(opcode, taken, is_whole);
        }
        let Some(message) = &mut self.message else {
            return Ok(None);
        };
        message.bytes.extend_from_slice(taken);
        if is_whole && is_last {
            return self.finish();
        }
        // Section 8.1. Check immediately, so an invalid stream ends early.
        message.check_text()?;
        Ok(None)
    }

    fn take_control(
        &mut self,
        opcode: Opcode,
        taken: &[u8],
        is_whole: bool,
    ) -> Result<Option<Event>, Violation> {
        // The header of a control frame allows at most 125 bytes.
        debug_assert!(self.control.len() + taken.len() <= MAX_CONTROL);
        self.control.extend_from_slice(taken);
        if !is_whole {
            return Ok(None);
        }
        let payload = std::mem::take(&mut self.control);
        Ok(Some(match opcode {
            Opcode::Ping => Event::Ping(payload),
            Opcode::Pong => Event::Pong(payload),
            _ => Event::Close(CloseFrame::parse(&payload)?),
        }))
    }

    #[inline]
    fn finish(&mut self) -> Result<Option<Event>, Violation> {
        let Some(message) = self.message.take() else {
            return Err(Violation::Continuation);
        };
        if message.is_compressed {
            let limit = self.limits.max_message;
            let Some(inflater) = &mut self.inflater else {
                return Err(Violation::Compressed);
            };
            inflater.begin(message.bytes, limit);
            self.inflates_text = message.is_text;
            return self.inflate();
        }
        event(message.bytes, message.is_text).map(Some)
    }

    /// Decompresses one slice of the current message.
    fn inflate(&mut self) -> Result<Option<Event>, Violation> {
        let Some(inflater) = &mut self.inflater else {
            return Ok(None);
        };
        let Some(message) = inflater.advance()? else {
            return Ok(None);
        };
        let (bytes, share) = message.into_parts();
        self.share = Some(share);
        event(bytes, self.inflates_text).map(Some)
    }
}

fn event(bytes: Vec<u8>, is_text: bool) -> Result<Event, Violation> {
    match is_text {
        false => Ok(Event::Binary(bytes)),
        true => String::from_utf8(bytes)
            .map(Event::Text)
            .map_err(|_| Violation::Utf8),
    }
}

impl Message {
    /// Checks the new part of a text message. An incomplete character waits for its remaining bytes.
    fn check_text(&mut self) -> Result<(), Violation> {
        if !self.is_text || self.is_compressed {
            return Ok(());
        }
        let new = self.bytes.get(self.checked..).unwrap_or_default();
        match std::str::from_utf8(new) {
            Ok(_) => self.checked = self.bytes.len(),
            Err(error) if error.error_len().is_none() => {
                self.checked += error.valid_up_to();
            }
            Err(_) => return Err(Violation::Utf8),
        }
        Ok(())
    }
}
