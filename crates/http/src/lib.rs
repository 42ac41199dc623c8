//! `http`: see ARCHITECTURE.md.
