//! The files of a script: resolving, reading and compiling them.

mod compile;
mod dependencies;
mod first_part;
mod imports;
mod integrity;
mod library;
mod location;
mod packages;
mod sources;

pub use dependencies::Dependencies;
pub use first_part::run_common_part;
pub use imports::{UserLoader, open, require, run_entry};
pub use integrity::Integrity;
pub use library::Library;
pub use location::{Location, normalize};
pub use packages::ImportMap;
pub use sources::{Fetch, Packed, Sources, fetch_script, shared};
