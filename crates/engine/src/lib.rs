//! `engine`: see ARCHITECTURE.md.
