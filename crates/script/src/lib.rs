//! Virtual users that run k6 scripts.
//!
//! [`Program::load`] compiles a script with everything that it imports and runs its init code once. [`ScriptUsers`]
//! creates virtual users from it for the engine. Each user has its own JavaScript runtime ([`plimsoll_quickjs`]) and
//! runs its iterations on its own stack, so a script can block in plain synchronous code. The modules that scripts
//! import are in [`plimsoll_k6`].

mod archive;
mod exported;
mod failure;
mod globals;
mod image;
pub mod in_memory;
mod instance;
mod loaded;
mod once;
mod program;
mod summary;
#[cfg(test)]
mod tests;
mod users;

pub use archive::Archive;
pub use failure::ScriptError;
pub use loaded::{LoadSettings, Program};
pub use program::{Dependencies, Fetch, ImportMap, Integrity, Packed, fetch_script, normalize};
pub use summary::{HandledSummary, SummaryOutput};
pub use users::ScriptUsers;
