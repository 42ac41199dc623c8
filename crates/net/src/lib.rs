//! `net`: see ARCHITECTURE.md.
