//! Fuzz targets: everything that reads what comes from outside.
//!
//! A target is a plain function of bytes that must return, whatever the bytes; it may
//! assert what must hold of what it read. The driver in `main.rs` feeds it mutated
//! seeds on a stable compiler; a coverage-guided fuzzer can call the same functions
//! through [`target`].

pub mod mutate;
pub mod targets;

pub use targets::{TARGETS, Target};

/// The target called `name`.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().copied().find(|target| target.name == name)
}
