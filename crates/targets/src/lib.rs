//! `targets`: see ARCHITECTURE.md.
