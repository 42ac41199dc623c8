//! The output buffer of a decompressor. It grows within a [`MemoryBudget`], without copying its
//! content.

use std::collections::VecDeque;

use crate::memory_budget::{BudgetShare, BudgetedBytes, MemoryBudget, OverBudget};

/// Output up to this size does not count against the budget. Most bodies are smaller, so they need
/// no atomic operation.
const FREE_SIZE: usize = 64 << 10;

/// Minimum and maximum size of a piece, which is one allocation.
const PIECES: (usize, usize) = (4 << 10, 256 << 10);

/// A buffer that consists of pieces with the sizes in [`PIECES`]. A vector that doubles its size
/// would copy hundreds of megabytes in one step, and would need memory for both copies.
#[derive(Debug)]
pub struct Decoded {
    pieces: VecDeque<Vec<u8>>,
    /// Number of bytes in the last piece; the others are full.
    last: usize,
    length: usize,
    max: usize,
    /// The expected length.
    hint: usize,
    /// Upper limit of the decompressor's own memory, which is its window.
    window: usize,
    share: BudgetShare,
    joined: Vec<u8>,
}

/// Reasons why output ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// The output is longer than the caller allows.
    TooLong {
        max: usize,
    },
    OverBudget(OverBudget),
    /// The system is out of memory.
    NoMemory,
}

impl Decoded {
    /// Creates a buffer for up to `max` bytes from a decompressor that keeps the last `window` bytes
    /// itself and reads `compressed` bytes.
    pub fn new(
        max: usize,
        compressed: usize,
        window: usize,
        memory: &'static MemoryBudget,
    ) -> Self {
        Decoded {
            pieces: VecDeque::new(),
            last: 0,
            length: 0,
            max,
            hint: compressed.saturating_mul(4).min(FREE_SIZE),
            window,
            share: memory.share(),
            joined: Vec::new(),
        }
    }

    /// Space for the next bytes; never empty. Altogether there is space for one byte more than `max`,
    /// so a decompressor whose output is exactly `max` bytes long can still detect the end.
    ///
    /// # Errors
    /// If memory is exhausted.
    pub fn space(&mut self) -> Result<&mut [u8], Full> {
        let is_full = self
            .pieces
            .back()
            .is_none_or(|piece| piece.len() == self.last);
        if is_full {
            let (least, most) = PIECES;
            let size = self.length.max(self.hint).clamp(least, most);
            let size = size.min((self.max - self.length).saturating_add(1));
            self.count(self.length + size)?;
            let mut piece = Vec::new();
            piece.try_reserve_exact(size).map_err(|_| Full::NoMemory)?;
            piece.resize(size, 0);
            self.pieces.push_back(piece);
            self.last = 0;
        }
        let last = self.pieces.back_mut();
        Ok(last
            .and_then(|piece| piece.get_mut(self.last..))
            .unwrap_or_default())
    }

    /// Records that this many bytes were written to [`Decoded::space`].
    ///
    /// # Errors
    /// If the output exceeds `max`.
    pub fn advance(&mut self, bytes: usize) -> Result<(), Full> {
        self.last += bytes;
        self.length += bytes;
        match self.length > self.max {
            true => Err(Full::TooLong { max: self.max }),
            false => Ok(()),
        }
    }

    pub fn len(&self) -> usize {
        self.length
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Joins the pieces into one buffer, one step per call. `None` if another step is needed. The
    /// joined bytes keep their share of the budget.
    ///
    /// # Errors
    /// If memory is exhausted.
    pub fn join(&mut self) -> Result<Option<BudgetedBytes>, Full> {
        if self.joined.capacity() == 0 {
            if self.pieces.len() == 1
                && let Some(mut only) = self.pieces.pop_back()
            {
                only.truncate(self.length);
                only.shrink_to_fit();
                return self.finish(only).map(Some);
            }
            // The memory is not accessed before it is written, so the kernel allocates no pages for it yet.
            self.joined
                .try_reserve_exact(self.length)
                .map_err(|_| Full::NoMemory)?;
        }
        let Some(piece) = self.pieces.pop_front() else {
            let joined = std::mem::take(&mut self.joined);
            return self.finish(joined).map(Some);
        };
        let length = piece.len().min(self.length - self.joined.len());
        self.joined
            .extend_from_slice(piece.get(..length).unwrap_or_default());
        Ok(None)
    }

    fn finish(&mut self, bytes: Vec<u8>) -> Result<BudgetedBytes, Full> {
        self.window = 0;
        self.count(bytes.len())?;
        Ok(BudgetedBytes::new(bytes, self.share.take()))
    }

    fn count(&mut self, bytes: usize) -> Result<(), Full> {
        if bytes <= FREE_SIZE && self.share.bytes() == 0 {
            return Ok(());
        }
        // A window grows with its content and doubles each time.
        let window = self.window.min(bytes).saturating_mul(2);
        let total = bytes.saturating_add(window);
        self.share.set(total).map_err(Full::OverBudget)
    }
}
