//! The files of a script, from their names to what users load.

mod compile;
mod imports;
mod library;
mod location;
mod packages;

pub use imports::{UserLoader, open, outermost_file, require, run_entry};
pub use library::{Fetch, Library};
pub use location::Location;
pub use packages::ImportMap;
