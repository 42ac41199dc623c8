//! The files of a script: resolving, reading and compiling them.

mod compile;
mod imports;
mod library;
mod location;
mod packages;
mod sources;

pub use imports::{UserLoader, open, require, run_entry};
pub use library::Library;
pub use location::{Location, normalize};
pub use packages::ImportMap;
pub use sources::{Fetch, Packed, Sources, fetch_script, shared};
