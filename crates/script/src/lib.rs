//! `script`: see ARCHITECTURE.md.
