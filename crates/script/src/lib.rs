//! `script`: virtual users that run k6 scripts.
//!
//! [`Program::load`] compiles a script with all it imports and runs its init
//! code once. [`ScriptUsers`] makes virtual users of it for the engine: each
//! has a JavaScript runtime of its own ([`quickjs`]), and runs its iterations
//! on a stack of its own, so that a script may wait in plain synchronous code.
//! [`modules`] holds what scripts import, a file each.

mod archive;
mod console;
mod event_loop;
mod exported;
mod failure;
mod globals;
pub mod in_memory;
mod instance;
mod loaded;
mod modules;
mod names;
mod once;
mod program;
pub mod pure;
mod quickjs;
mod summary;
mod tags;
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
pub use summary::{Interrupted, SummaryOutput};
pub use user::{Log, RunOptions};
pub use users::ScriptUsers;
