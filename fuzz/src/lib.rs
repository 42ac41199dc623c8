//! Fuzz targets: everything that reads what comes from outside.
//!
//! A target is a plain function of bytes that must return, whatever the bytes; it may
//! assert what must hold of what it read. `fuzz/run` feeds the targets to libFuzzer, which
//! changes inputs until they reach new code. The inputs worth keeping are in `fuzz/corpora/`;
//! the tests of this crate run them all. `reference-systems/fuzz` has the targets of the reference
//! systems, in the same harness.

pub mod corpus;
pub mod export;
pub mod target;
pub mod targets;

pub use target::Target;
pub use targets::TARGETS;
