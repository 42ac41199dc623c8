use crate::close::MAX_CONTROL;
use crate::deflate::{Agreed, Deflater};
use crate::frame::{Opcode, write_header};
use crate::mask;

/// The type of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Binary,
}

/// Encodes each message as one masked frame.
#[derive(Debug)]
pub(crate) struct Encoder {
    deflater: Option<Deflater>,
    compressed: Vec<u8>,
}

impl Encoder {
    pub(crate) fn new(deflate: Option<Agreed>) -> Self {
        Encoder {
            deflater: deflate.map(Deflater::new),
            compressed: Vec::new(),
        }
    }

    pub(crate) fn compresses(&self) -> bool {
        self.deflater.is_some()
    }

    #[inline]
    pub(crate) fn message(&mut self, out: &mut Vec<u8>, kind: Kind, payload: &[u8]) {
        let opcode = match kind {
            Kind::Text => Opcode::Text,
            Kind::Binary => Opcode::Binary,
        };
        let Some(deflater) = &mut self.deflater else {
            return push_frame(out, opcode, false, payload);
        };
        self.compressed.clear();
        deflater.compress(payload, &mut self.compressed);
        push_frame(out, opcode, true, &self.compressed);
        // Large messages are rare, so do not keep their memory.
        self.compressed.shrink_to(1 << 16);
    }

    /// Encodes a control frame. A payload above the limit is truncated.
    pub(crate) fn control(&self, out: &mut Vec<u8>, opcode: Opcode, payload: &[u8]) {
        let length = payload.len().min(MAX_CONTROL);
        push_frame(
            out,
            opcode,
            false,
            payload.get(..length).unwrap_or_default(),
        );
    }
}

#[inline]
fn push_frame(out: &mut Vec<u8>, opcode: Opcode, is_compressed: bool, payload: &[u8]) {
    let key = mask::random_key();
    write_header(out, opcode, is_compressed, payload.len(), key);
    let start = out.len();
    out.extend_from_slice(payload);
    if let Some(copied) = out.get_mut(start..) {
        mask::apply(key, copied);
    }
}
