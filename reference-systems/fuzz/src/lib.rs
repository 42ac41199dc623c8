//! Fuzz targets of the reference systems. The harness is that of the tool's own targets, in `fuzz/`;
//! the kept inputs are in `corpora/` here.

#[path = "../../../fuzz/src/corpus.rs"]
pub mod corpus;
#[path = "../../../fuzz/src/export.rs"]
pub mod export;
#[path = "../../../fuzz/src/target.rs"]
pub mod target;
pub mod targets;

pub use target::Target;
pub use targets::TARGETS;
