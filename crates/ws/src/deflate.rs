//! permessage-deflate: RFC 7692, section 7.2.

use std::cell::RefCell;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use crate::violation::Violation;

/// What client and server agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreed {
    /// The server compresses each message by itself.
    pub server_no_context_takeover: bool,
    /// So do we.
    pub client_no_context_takeover: bool,
}

/// What a sync flush ends with, left out on the wire (section 7.2.1).
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];

/// Room made for output at a time.
const STEP: usize = 4 * 1024;

/// More than deflate makes of so many bytes with a flush behind: stored blocks have five bytes of
/// their own for each 65,535 (RFC 1951, section 3.2.4), and engines stray from that by little.
const fn most(length: usize) -> usize {
    length + length / 8 + 256
}

/// Spare engines kept for a thread. Each of them is a quarter of a megabyte.
const SPARES: usize = 4;

thread_local! {
    static COMPRESSORS: RefCell<Vec<Compress>> = const { RefCell::new(Vec::new()) };
    static DECOMPRESSORS: RefCell<Vec<Decompress>> = const { RefCell::new(Vec::new()) };
}

/// Compresses messages. A connection that starts each message afresh holds no
/// engine between them.
#[derive(Debug)]
pub(crate) struct Deflater {
    kept: Option<Compress>,
    takes_over: bool,
}

impl Deflater {
    pub(crate) fn new(agreed: Agreed) -> Self {
        Deflater {
            kept: None,
            takes_over: !agreed.client_no_context_takeover,
        }
    }

    /// Appends the compressed form of `message`.
    pub(crate) fn compress(&mut self, message: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        let mut engine = self.kept.take().unwrap_or_else(|| {
            let spare = COMPRESSORS.with_borrow_mut(Vec::pop);
            // Level 1: a generator pays for ratio with load it cannot make.
            spare.unwrap_or_else(|| Compress::new(Compression::fast(), false))
        });
        let before = engine.total_in();
        loop {
            let taken = (engine.total_in() - before) as usize;
            let rest = message.get(taken..).unwrap_or_default();
            out.reserve(most(rest.len()));
            let done = engine.compress_vec(rest, out, FlushCompress::Sync);
            let all_in = (engine.total_in() - before) as usize >= message.len();
            let is_stuck = matches!(done, Err(_) | Ok(Status::BufError));
            // An engine that ran out of room once gives what it held back then, and no more, by the
            // next call: room left over alone does not mean that the flush has come out whole.
            let is_flushed = out.get(start..).is_some_and(|made| made.ends_with(&TAIL));
            if is_stuck || all_in && is_flushed && out.len() < out.capacity() {
                break;
            }
        }
        if out.get(start..).is_some_and(|made| made.ends_with(&TAIL)) {
            out.truncate(out.len() - TAIL.len());
        }
        if out.len() == start {
            // Section 7.2.3.6: the compressed form of nothing.
            out.push(0);
        }
        if self.takes_over {
            self.kept = Some(engine);
        } else {
            engine.reset();
            keep_spare(&COMPRESSORS, engine);
        }
    }
}

/// Decompresses messages.
#[derive(Debug)]
pub(crate) struct Inflater {
    kept: Option<Decompress>,
    takes_over: bool,
}

impl Inflater {
    pub(crate) fn new(agreed: Agreed) -> Self {
        Inflater {
            kept: None,
            takes_over: !agreed.server_no_context_takeover,
        }
    }

    /// The message behind `compressed`, of at most `max` bytes: what a bomb would
    /// come to is not found out.
    pub(crate) fn decompress(
        &mut self,
        compressed: &[u8],
        max: usize,
    ) -> Result<Vec<u8>, Violation> {
        let mut engine = self.kept.take().unwrap_or_else(|| {
            let spare = DECOMPRESSORS.with_borrow_mut(Vec::pop);
            spare.unwrap_or_else(|| Decompress::new(false))
        });
        let mut out = Vec::with_capacity(compressed.len().saturating_mul(2).clamp(64, STEP));
        for part in [compressed, &TAIL] {
            inflate(&mut engine, part, &mut out, max)?;
        }
        if self.takes_over {
            self.kept = Some(engine);
        } else {
            engine.reset(false);
            keep_spare(&DECOMPRESSORS, engine);
        }
        Ok(out)
    }
}

fn inflate(
    engine: &mut Decompress,
    mut input: &[u8],
    out: &mut Vec<u8>,
    max: usize,
) -> Result<(), Violation> {
    loop {
        if out.len() == out.capacity() {
            out.reserve(out.len().clamp(STEP, 1 << 20));
        }
        let (taken, made) = (engine.total_in(), engine.total_out());
        let status = engine
            .decompress_vec(input, out, FlushDecompress::Sync)
            .map_err(|_| Violation::Compressed)?;
        if out.len() > max {
            return Err(Violation::TooBig(max));
        }
        let taken = (engine.total_in() - taken) as usize;
        let made = engine.total_out() - made;
        input = input.get(taken..).unwrap_or_default();
        if status == Status::StreamEnd {
            // Section 7.2.3.4: a message may hold final blocks; what follows is
            // another stream.
            engine.reset(false);
            if input.is_empty() {
                return Ok(());
            }
            continue;
        }
        if taken > 0 || made > 0 || out.len() == out.capacity() {
            // An engine that has taken all may still have more to give.
            continue;
        }
        return match input.is_empty() {
            true => Ok(()),
            false => Err(Violation::Compressed),
        };
    }
}

fn keep_spare<T>(spares: &'static std::thread::LocalKey<RefCell<Vec<T>>>, engine: T) {
    // The thread may be ending, its spares gone: then the engine is simply freed.
    let _ = spares.try_with(|spares| {
        let mut spares = spares.borrow_mut();
        if spares.len() < SPARES {
            spares.push(engine);
        }
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FRESH: Agreed = Agreed {
        server_no_context_takeover: true,
        client_no_context_takeover: true,
    };
    const KEPT: Agreed = Agreed {
        server_no_context_takeover: false,
        client_no_context_takeover: false,
    };

    /// The examples of RFC 7692, sections 7.2.3.1, .2, .3, .4, .5 and .6.
    #[test]
    fn the_examples_of_the_rfc() {
        let one = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
        let again = [0xf2, 0x00, 0x11, 0x00, 0x00];
        let mut sharing = Inflater::new(KEPT);
        assert_eq!(sharing.decompress(&one, 99).unwrap(), b"Hello");
        assert_eq!(sharing.decompress(&again, 99).unwrap(), b"Hello");
        let mut fresh = Inflater::new(FRESH);
        assert_eq!(fresh.decompress(&one, 99).unwrap(), b"Hello");
        let stored = [
            0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00,
        ];
        assert_eq!(fresh.decompress(&stored, 99).unwrap(), b"Hello");
        let last = [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00];
        assert_eq!(fresh.decompress(&last, 99).unwrap(), b"Hello");
        let two_blocks = [
            0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00,
        ];
        assert_eq!(fresh.decompress(&two_blocks, 99).unwrap(), b"Hello");
        assert_eq!(fresh.decompress(&[0], 99).unwrap(), b"");
    }

    #[test]
    fn a_kept_context_makes_a_repeated_message_short() {
        let text = "the quick brown fox jumps over the lazy dog, and then again".repeat(3);
        let lengths = |agreed| {
            let mut deflater = Deflater::new(agreed);
            [(); 2].map(|()| {
                let mut out = Vec::new();
                deflater.compress(text.as_bytes(), &mut out);
                out.len()
            })
        };
        let [first, second] = lengths(KEPT);
        assert!(second * 3 < first, "{first} then {second}");
        let [first, second] = lengths(FRESH);
        assert_eq!(first, second);
    }

    #[test]
    fn a_bomb_is_stopped_at_the_limit() {
        let mut bomb = Vec::new();
        Deflater::new(FRESH).compress(&vec![0; 64 << 20], &mut bomb);
        assert!(bomb.len() < 1 << 20);
        let limit = 1 << 16;
        let outcome = Inflater::new(FRESH).decompress(&bomb, limit);
        assert_eq!(outcome, Err(Violation::TooBig(limit)));
    }

    #[test]
    fn what_is_no_deflate_is_refused() {
        for bytes in [
            &[0xff, 0xff, 0xff][..],
            &[0x07],
            &[0x00, 0x05, 0x00, 0xfb, 0xff, 0x48],
        ] {
            let outcome = Inflater::new(FRESH).decompress(bytes, 999);
            assert_eq!(outcome, Err(Violation::Compressed), "{bytes:x?}");
        }
    }

    /// Parts that compress and parts that do not, in every length that may straddle an engine's
    /// buffers.
    #[test]
    fn long_messages_come_out_whole() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut noise = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let (mut deflater, mut inflater) = (Deflater::new(FRESH), Inflater::new(FRESH));
        let mut check = |message: &[u8]| {
            let mut compressed = Vec::new();
            deflater.compress(message, &mut compressed);
            let back = inflater.decompress(&compressed, 1 << 20).unwrap();
            assert!(back == message, "{} of {}", back.len(), message.len());
        };
        for number in 0..60 {
            let mut message = Vec::new();
            while message.len() < 131_072 - number * 512 {
                let length = noise() as usize % 20_000;
                match noise() % 4 {
                    0 => message.resize(message.len() + length, b' '),
                    1 => message.extend((0..length).map(|_| b'a' + (noise() % 20) as u8)),
                    _ => message.extend((0..length).map(|_| noise() as u8)),
                }
            }
            check(&message);
        }
        for length in (32_700..33_400).chain(65_500..66_200).step_by(3) {
            check(&vec![0; length]);
        }
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out(
            messages in proptest::collection::vec(proptest::collection::vec(0u8..4, 0..5000), 1..6),
            takes_over: bool,
        ) {
            let agreed = if takes_over { KEPT } else { FRESH };
            let (mut deflater, mut inflater) = (Deflater::new(agreed), Inflater::new(agreed));
            for message in messages {
                let mut compressed = Vec::new();
                deflater.compress(&message, &mut compressed);
                prop_assert_eq!(inflater.decompress(&compressed, 5000).unwrap(), message);
            }
        }
    }
}
