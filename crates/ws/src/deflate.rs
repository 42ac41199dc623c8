//! permessage-deflate: RFC 7692, section 7.2.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use plimsoll_http::{BudgetedBytes, Decoded, Full, MemoryBudget};

use crate::violation::Violation;

/// The parameters that client and server negotiated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreed {
    /// The server compresses each message separately.
    pub server_no_context_takeover: bool,
    /// The client compresses each message separately.
    pub client_no_context_takeover: bool,
}

/// The end of a sync flush, omitted on the wire (section 7.2.1).
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];

/// Maximum number of compressed bytes per step. A limit on output is not enough, because some input
/// expands to nothing.
const STEP_INPUT: usize = 64 << 10;

/// Duration of one slice of decompression. Between slices, other users of the worker run.
const SLICE: Duration = Duration::from_micros(250);

/// An upper bound of deflate's output for `length` bytes and a flush. Stored blocks have an
/// overhead of five bytes per 65,535 (RFC 1951, section 3.2.4), and implementations differ only
/// slightly from that.
const fn max_deflated_size(length: usize) -> usize {
    length + length / 8 + 256
}

/// Number of spare engines kept per thread. Each uses a quarter of a megabyte.
const SPARES: usize = 4;

thread_local! {
    static COMPRESSORS: RefCell<Vec<Compress>> = const { RefCell::new(Vec::new()) };
    static DECOMPRESSORS: RefCell<Vec<Decompress>> = const { RefCell::new(Vec::new()) };
}

/// Compresses messages. A connection that compresses each message separately keeps no engine
/// between messages.
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
            // Level 1: the CPU time for a better ratio is better used for generating load.
            spare.unwrap_or_else(|| Compress::new(Compression::fast(), false))
        });
        let before = engine.total_in();
        loop {
            let taken = (engine.total_in() - before) as usize;
            let rest = message.get(taken..).unwrap_or_default();
            out.reserve(max_deflated_size(rest.len()));
            let done = engine.compress_vec(rest, out, FlushCompress::Sync);
            let all_in = (engine.total_in() - before) as usize >= message.len();
            let is_stuck = matches!(done, Err(_) | Ok(Status::BufError));
            // An engine that once ran out of space returns only the remaining output on the next call. So free
            // space alone does not mean that the flush is complete.
            let is_flushed = out.get(start..).is_some_and(|made| made.ends_with(&TAIL));
            if is_stuck || all_in && is_flushed && out.len() < out.capacity() {
                break;
            }
        }
        if out.get(start..).is_some_and(|made| made.ends_with(&TAIL)) {
            out.truncate(out.len() - TAIL.len());
        }
        if out.len() == start {
            // The compressed form of an empty message (section 7.2.3.6).
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

/// Decompresses messages one slice at a time, because a message that expands to many megabytes must
/// not block other users.
#[derive(Debug)]
pub(crate) struct Inflater {
    kept: Option<Decompress>,
    takes_over: bool,
    memory: &'static MemoryBudget,
    current: Option<Inflating>,
}

/// A message that is being decompressed.
#[derive(Debug)]
struct Inflating {
    engine: Decompress,
    /// The compressed message, followed by [`TAIL`].
    input: Vec<u8>,
    at: usize,
    output: Decoded,
    /// Everything is decompressed, and the parts are being joined.
    is_done: bool,
}

impl Inflater {
    pub(crate) fn new(agreed: Agreed) -> Self {
        Inflater {
            kept: None,
            takes_over: !agreed.server_no_context_takeover,
            memory: MemoryBudget::process(),
            current: None,
        }
    }

    /// Starts to decompress the message in `compressed` into at most `max` bytes.
    pub(crate) fn begin(&mut self, mut compressed: Vec<u8>, max: usize) {
        let engine = self.kept.take().unwrap_or_else(|| {
            let spare = DECOMPRESSORS.with_borrow_mut(Vec::pop);
            spare.unwrap_or_else(|| Decompress::new(false))
        });
        let output = Decoded::new(max, compressed.len(), 0, self.memory);
        compressed.extend_from_slice(&TAIL);
        self.current = Some(Inflating {
            engine,
            input: compressed,
            at: 0,
            output,
            is_done: false,
        });
    }

    /// Whether a message is being decompressed.
    pub(crate) fn is_busy(&self) -> bool {
        self.current.is_some()
    }

    /// Decompresses one slice. Returns the message when it is complete, and `None` before that.
    pub(crate) fn advance(&mut self) -> Result<Option<BudgetedBytes>, Violation> {
        let outcome = self.slice();
        if outcome.is_err() {
            self.current = None;
        }
        outcome
    }

    fn slice(&mut self) -> Result<Option<BudgetedBytes>, Violation> {
        let Some(current) = &mut self.current else {
            return Ok(None);
        };
        let started = Instant::now();
        let message = loop {
            if current.is_done {
                if let Some(message) = current.output.join().map_err(full)? {
                    break message;
                }
            } else {
                current.is_done = current.step()?;
            }
            if started.elapsed() >= SLICE {
                return Ok(None);
            }
        };
        if let Some(Inflating { mut engine, .. }) = self.current.take() {
            if self.takes_over {
                self.kept = Some(engine);
            } else {
                engine.reset(false);
                keep_spare(&DECOMPRESSORS, engine);
            }
        }
        Ok(Some(message))
    }
}

impl Inflating {
    /// Does a bounded amount of work. Returns true when the message is complete.
    fn step(&mut self) -> Result<bool, Violation> {
        let input = self.input.get(self.at..).unwrap_or_default();
        let input = input.get(..input.len().min(STEP_INPUT)).unwrap_or_default();
        let space = self.output.space().map_err(full)?;
        let (taken, made) = (self.engine.total_in(), self.engine.total_out());
        let status = self
            .engine
            .decompress(input, space, FlushDecompress::Sync)
            .map_err(|_| Violation::Compressed)?;
        let taken = (self.engine.total_in() - taken) as usize;
        let made = (self.engine.total_out() - made) as usize;
        self.at += taken;
        self.output.advance(made).map_err(full)?;
        let is_all_in = self.at >= self.input.len();
        if status == Status::StreamEnd {
            // A message may contain final blocks; then another deflate stream follows (section 7.2.3.4).
            self.engine.reset(false);
            return Ok(is_all_in);
        }
        if taken > 0 || made > 0 {
            // An engine that has read all input may still have output.
            return Ok(false);
        }
        match is_all_in {
            true => Ok(true),
            false => Err(Violation::Compressed),
        }
    }
}

fn full(full: Full) -> Violation {
    match full {
        Full::TooLong { max } => Violation::TooBig(max),
        Full::OverBudget(over) => Violation::OverBudget(Some(over)),
        Full::NoMemory => Violation::OverBudget(None),
    }
}

fn keep_spare<T>(spares: &'static std::thread::LocalKey<RefCell<Vec<T>>>, engine: T) {
    // If the thread is exiting and its spare engines are freed, this engine is freed, too.
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

    impl Inflater {
        /// Decompresses all slices of a message.
        fn decompress(&mut self, compressed: &[u8], max: usize) -> Result<Vec<u8>, Violation> {
            self.begin(compressed.to_vec(), max);
            loop {
                if let Some(message) = self.advance()? {
                    return Ok(message.to_vec());
                }
            }
        }
    }

    const NO_TAKEOVER: Agreed = Agreed {
        server_no_context_takeover: true,
        client_no_context_takeover: true,
    };
    const TAKEOVER: Agreed = Agreed {
        server_no_context_takeover: false,
        client_no_context_takeover: false,
    };

    /// The examples of RFC 7692, sections 7.2.3.1, .2, .3, .4, .5 and .6.
    #[test]
    fn the_examples_of_the_rfc() {
        let one = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
        let again = [0xf2, 0x00, 0x11, 0x00, 0x00];
        let mut sharing = Inflater::new(TAKEOVER);
        assert_eq!(sharing.decompress(&one, 99).unwrap(), b"Hello");
        assert_eq!(sharing.decompress(&again, 99).unwrap(), b"Hello");
        let mut without_takeover = Inflater::new(NO_TAKEOVER);
        assert_eq!(without_takeover.decompress(&one, 99).unwrap(), b"Hello");
        let stored = [
            0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00,
        ];
        assert_eq!(without_takeover.decompress(&stored, 99).unwrap(), b"Hello");
        let last = [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00];
        assert_eq!(without_takeover.decompress(&last, 99).unwrap(), b"Hello");
        let two_blocks = [
            0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00,
        ];
        assert_eq!(
            without_takeover.decompress(&two_blocks, 99).unwrap(),
            b"Hello"
        );
        assert_eq!(without_takeover.decompress(&[0], 99).unwrap(), b"");
    }

    #[test]
    fn context_takeover_shortens_a_repeated_message() {
        let text = "the quick brown fox jumps over the lazy dog, and then again".repeat(3);
        let lengths = |agreed| {
            let mut deflater = Deflater::new(agreed);
            [(); 2].map(|()| {
                let mut out = Vec::new();
                deflater.compress(text.as_bytes(), &mut out);
                out.len()
            })
        };
        let [first, second] = lengths(TAKEOVER);
        assert!(second * 3 < first, "{first} then {second}");
        let [first, second] = lengths(NO_TAKEOVER);
        assert_eq!(first, second);
    }

    #[test]
    fn a_bomb_is_stopped_at_the_limit() {
        let mut bomb = Vec::new();
        Deflater::new(NO_TAKEOVER).compress(&vec![0; 64 << 20], &mut bomb);
        assert!(bomb.len() < 1 << 20);
        let limit = 1 << 16;
        let outcome = Inflater::new(NO_TAKEOVER).decompress(&bomb, limit);
        assert_eq!(outcome, Err(Violation::TooBig(limit)));
    }

    #[test]
    fn a_message_that_expands_is_decompressed_in_slices_within_the_budget() {
        static BUDGET: MemoryBudget = MemoryBudget::new(20 << 20);
        let mut bomb = Vec::new();
        Deflater::new(NO_TAKEOVER).compress(&vec![0; 16 << 20], &mut bomb);
        let mut inflater = Inflater::new(NO_TAKEOVER);
        inflater.memory = &BUDGET;
        let mut message = || {
            inflater.begin(bomb.clone(), 64 << 20);
            let mut slices = 0;
            loop {
                slices += 1;
                match inflater.advance() {
                    Ok(None) => {}
                    Ok(Some(message)) => return Ok((slices, message)),
                    Err(violation) => return Err(violation),
                }
            }
        };
        let (slices, first) = message().unwrap();
        assert!(slices > 3, "{slices} slices");
        assert_eq!((first.len(), BUDGET.used()), (16 << 20, 16 << 20));
        let refused = message().unwrap_err();
        assert!(
            matches!(refused, Violation::OverBudget(Some(_))),
            "{refused:?}"
        );
        assert_eq!(BUDGET.used(), 16 << 20);
        drop(first);
        assert_eq!(message().unwrap().1.len(), 16 << 20);
    }

    #[test]
    fn invalid_deflate_data_is_refused() {
        for bytes in [
            &[0xff, 0xff, 0xff][..],
            &[0x07],
            &[0x00, 0x05, 0x00, 0xfb, 0xff, 0x48],
        ] {
            let outcome = Inflater::new(NO_TAKEOVER).decompress(bytes, 999);
            assert_eq!(outcome, Err(Violation::Compressed), "{bytes:x?}");
        }
    }

    /// Compressible and incompressible parts, with lengths around the size of an engine's buffers.
    #[test]
    fn long_messages_are_complete() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut noise = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let (mut deflater, mut inflater) = (Deflater::new(NO_TAKEOVER), Inflater::new(NO_TAKEOVER));
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
        fn compression_and_decompression_are_inverse(
            messages in proptest::collection::vec(proptest::collection::vec(0u8..4, 0..5000), 1..6),
            takes_over: bool,
        ) {
            let agreed = if takes_over { TAKEOVER } else { NO_TAKEOVER };
            let (mut deflater, mut inflater) = (Deflater::new(agreed), Inflater::new(agreed));
            for message in messages {
                let mut compressed = Vec::new();
                deflater.compress(&message, &mut compressed);
                prop_assert_eq!(inflater.decompress(&compressed, 5000).unwrap(), message);
            }
        }
    }
}
