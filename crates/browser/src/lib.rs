//! Chromium for scripts: started when a script first needs it, ended with the run, reached over the DevTools protocol.
//!
//! This crate moves messages and does not read them: they are JSON texts that the scripts' side writes and parses.
//! [`Shared`] holds the one Chromium of a run. Each user opens its own [`Connection`], so a user sees only the events
//! of its own pages, and closing the connection closes them.

mod chromium;
mod connection;
mod shared;

pub use chromium::{Chromium, Settings};
pub use connection::Connection;
pub use shared::Shared;
