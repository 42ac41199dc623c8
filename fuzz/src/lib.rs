//! Fuzz targets: everything that reads what comes from outside.
//!
//! A target is a plain function of bytes that must return, whatever the bytes; it may
//! assert what must hold of what it read. `fuzz/run` feeds the targets to libFuzzer, which
//! changes inputs until they reach new code. The inputs worth keeping are in `fuzz/corpora/`;
//! the tests of this crate run them all.

pub mod corpus;
pub mod export;
pub mod targets;

pub use targets::{TARGETS, Target};

/// The target called `name`.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().copied().find(|target| target.name == name)
}
