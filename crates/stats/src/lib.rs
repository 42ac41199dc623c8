//! `stats`: see ARCHITECTURE.md.
