//! `script`: see ARCHITECTURE.md.
pub mod pure;
