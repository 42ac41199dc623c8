//! `samples`: see ARCHITECTURE.md.
