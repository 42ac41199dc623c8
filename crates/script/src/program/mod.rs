//! The files of a script: resolving, reading and compiling them.

mod compile;
mod imports;
mod library;
mod location;
mod packages;
mod read_file;
mod sources;

pub use imports::{UserLoader, open, require, run_entry};
pub use library::Library;
pub use location::{Location, normalize};
pub use packages::ImportMap;
pub use read_file::{LimitedReader, open_limited, read_file, read_stream, read_text_file};
pub use sources::{Fetch, Packed, Sources, fetch_script, shared};
