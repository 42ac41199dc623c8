//! `pace`: see ARCHITECTURE.md.
