//! `script`: virtual users that run k6 scripts. See ARCHITECTURE.md.

pub mod pure;
mod quickjs;
