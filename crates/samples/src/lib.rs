//! `samples`: see ARCHITECTURE.md.

mod verdict;

pub use verdict::{Cause, Level, Reason, Verdict};
