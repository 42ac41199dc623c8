//! `plan`: see ARCHITECTURE.md.
