//! Chromium for scripts. It starts when a script first needs it and ends with the run. Scripts control it over the
//! DevTools protocol.
//!
//! This crate transfers messages without parsing them: they are JSON, which the code for scripts writes and parses.
//! [`Shared`] holds the Chromium of a run. Each user opens its own [`Connection`], so a user sees only the events of
//! its own pages, and closing the connection closes them.

mod chromium;
mod connection;
mod shared;

pub use chromium::{Chromium, Settings};
pub use connection::Connection;
pub use shared::Shared;
