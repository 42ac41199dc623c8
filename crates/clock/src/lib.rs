//! `clock`: see ARCHITECTURE.md.
