//! The API of k6 scripts: the modules that they import, the global functions, and the state of a virtual user for both.
//!
//! [`modules`] has one file per module. Modules get the running user from [`user::user`]. `plimsoll_script` loads
//! programs and runs users. It implements [`files::Files`] for the files that a script opens.

pub mod console;
pub mod event_loop;
pub mod feeders;
pub mod files;
pub mod http_state;
pub mod metric_context;
pub mod modules;
pub mod names;
pub mod pure;
mod secret_url;
pub mod secrets;
mod service_descriptions;
mod setup_data;
mod shared_arrays;
mod tags;
mod trace;
pub mod user;
