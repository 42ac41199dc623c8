//! One limit on the memory of decompressed data, shared by all users of the process.

use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Default limit of [`MemoryBudget::process`].
const DEFAULT: usize = 1_000_000_000;

/// Counts the bytes of decompressed data in memory, and refuses more than its limit. A small
/// response can expand to a thousand times its size. So a limit per response does not bound a
/// process with many users.
#[derive(Debug)]
pub struct MemoryBudget {
    limit: AtomicUsize,
    used: AtomicUsize,
}

impl MemoryBudget {
    pub const fn new(limit: usize) -> Self {
        MemoryBudget {
            limit: AtomicUsize::new(limit),
            used: AtomicUsize::new(0),
        }
    }

    /// The budget of this process: 1 GB, unless [`MemoryBudget::set_limit`] changed it.
    pub fn process() -> &'static MemoryBudget {
        static PROCESS: MemoryBudget = MemoryBudget::new(DEFAULT);
        &PROCESS
    }

    pub fn set_limit(&self, bytes: usize) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    pub fn limit(&self) -> usize {
        self.limit.load(Ordering::Relaxed)
    }

    /// Number of bytes in use.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// A share of the budget, initially empty.
    pub fn share(&'static self) -> BudgetShare {
        BudgetShare {
            budget: self,
            bytes: 0,
        }
    }
}

/// The part of a [`MemoryBudget`] that one owner uses. It is returned when it is dropped.
#[derive(Debug)]
pub struct BudgetShare {
    budget: &'static MemoryBudget,
    bytes: usize,
}

impl BudgetShare {
    /// Grows or shrinks the share to `bytes`.
    ///
    /// # Errors
    /// If too little of the budget is left. Then the share stays unchanged.
    pub fn set(&mut self, bytes: usize) -> Result<(), OverBudget> {
        let used = &self.budget.used;
        if let Some(less) = self.bytes.checked_sub(bytes) {
            used.fetch_sub(less, Ordering::Relaxed);
        } else {
            let more = bytes - self.bytes;
            let limit = self.budget.limit();
            let before = used.fetch_add(more, Ordering::Relaxed);
            if before.checked_add(more).is_none_or(|total| total > limit) {
                used.fetch_sub(more, Ordering::Relaxed);
                return Err(OverBudget { limit });
            }
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Moves the share to a new owner and leaves this one empty.
    pub fn take(&mut self) -> BudgetShare {
        BudgetShare {
            budget: self.budget,
            bytes: std::mem::take(&mut self.bytes),
        }
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for BudgetShare {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Bytes that keep their share of the budget until they are dropped.
#[derive(Debug)]
pub struct BudgetedBytes {
    bytes: Vec<u8>,
    share: BudgetShare,
}

impl BudgetedBytes {
    pub fn new(bytes: Vec<u8>, share: BudgetShare) -> Self {
        BudgetedBytes { bytes, share }
    }

    /// The bytes and their share, which must be dropped together.
    pub fn into_parts(self) -> (Vec<u8>, BudgetShare) {
        (self.bytes, self.share)
    }
}

impl Deref for BudgetedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl AsRef<[u8]> for BudgetedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl From<BudgetedBytes> for bytes::Bytes {
    fn from(counted: BudgetedBytes) -> Self {
        match counted.share.bytes {
            0 => counted.bytes.into(),
            _ => bytes::Bytes::from_owner(counted),
        }
    }
}

/// The budget is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverBudget {
    pub limit: usize,
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "decompressed data of all users would exceed the limit of {}; \
             set PLIMSOLL_DECOMPRESSION_MEMORY to allow more, or discard response bodies",
            plimsoll_units::Bytes(self.limit as u64)
        )
    }
}

impl std::error::Error for OverBudget {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_survive_a_round_trip() {
        static BUDGET: MemoryBudget = MemoryBudget::new(100);
        let (mut one, mut other) = (BUDGET.share(), BUDGET.share());
        one.set(60).unwrap();
        assert_eq!(other.set(41), Err(OverBudget { limit: 100 }));
        assert_eq!((other.bytes(), BUDGET.used()), (0, 60));
        other.set(40).unwrap();
        one.set(10).unwrap();
        other.set(90).unwrap();
        assert!(other.set(usize::MAX).is_err());
        drop(one);
        assert_eq!(BUDGET.used(), 90);
        let bytes = bytes::Bytes::from(BudgetedBytes::new(vec![7; 90], other));
        let part = bytes.slice(..1);
        drop(bytes);
        assert_eq!(BUDGET.used(), 90);
        drop(part);
        assert_eq!(BUDGET.used(), 0);
    }
}
