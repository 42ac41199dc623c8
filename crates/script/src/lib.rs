//! Virtual users that run k6 scripts.
//!
//! [`Program::load`] compiles a script with everything it imports and runs its init code once.
//! [`ScriptUsers`] creates virtual users from it for the engine. Each user has its own JavaScript
//! runtime ([`plimsoll_quickjs`]) and runs its iterations on its own stack, so that a script can block in
//! plain synchronous code. [`modules`] has one file per module that scripts import.

mod archive;
mod console;
mod event_loop;
mod exported;
mod failure;
mod files;
mod globals;
pub mod in_memory;
mod instance;
mod loaded;
mod modules;
mod names;
mod once;
mod program;
pub mod pure;
mod summary;
mod tags;
#[cfg(test)]
mod tests;
mod user;
mod users;

pub use archive::Archive;
pub use failure::ScriptError;
pub use loaded::{LoadSettings, Program};
pub use modules::http::HttpOptions;
pub use program::{
    Fetch, ImportMap, LimitedReader, Packed, fetch_script, normalize, open_limited, read_file,
    read_stream, read_text_file,
};
pub use pure::logline;
pub use summary::SummaryOutput;
pub use user::{Interrupted, Log, RunOptions};
pub use users::ScriptUsers;
