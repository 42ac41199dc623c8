//! `script`: virtual users that run k6 scripts. See ARCHITECTURE.md.

#![allow(dead_code, unused_imports)]

mod modules;
mod names;
pub mod pure;
mod quickjs;
mod user;

pub use user::{Level, LogLine};
