//! The files of a script, from their names to what users load.

mod compile;
mod imports;
mod library;
mod location;
mod packages;
mod sources;

pub use imports::{UserLoader, open, outermost_file, require, run_entry};
pub use library::Library;
pub use location::{Location, normalize};
pub use packages::ImportMap;
pub use sources::{Fetch, Packed, Sources, fetch_script, shared};
