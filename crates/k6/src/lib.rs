//! The API of k6 scripts: the modules that they import, global functions, and the state of a virtual user behind both.
//!
//! [`modules`] has one file per module. They find the running user by [`user::user`]. `plimsoll_script` loads programs
//! and runs users; it implements [`files::Files`] for what a script opens.

pub mod console;
pub mod event_loop;
pub mod feeders;
pub mod files;
pub mod http_state;
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
