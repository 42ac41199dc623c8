//! Fuzz targets for every parser of untrusted input.
//!
//! A target is a plain function of bytes that must return for any input; it may
//! assert properties of the parsed data. `fuzz/run` runs the targets with libFuzzer, which
//! mutates inputs until they reach new code. The inputs worth keeping are in `fuzz/corpora/`;
//! the tests of this crate run all of them. `reference-systems/fuzz` contains the targets of the reference
//! systems, with the same harness.

pub mod corpus;
pub mod export;
pub mod target;
pub mod targets;

pub use target::Target;
pub use targets::TARGETS;
