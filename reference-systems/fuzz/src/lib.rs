//! Fuzz targets of the reference systems. They use the same harness as the tool's own targets, in `fuzz/`.
//! The stored inputs are in `corpora/` in this directory.

#[path = "../../../fuzz/src/corpus.rs"]
pub mod corpus;
#[path = "../../../fuzz/src/export.rs"]
pub mod export;
#[path = "../../../fuzz/src/target.rs"]
pub mod target;
pub mod targets;

pub use target::Target;
pub use targets::TARGETS;
