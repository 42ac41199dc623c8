//! `units`: see ARCHITECTURE.md.
