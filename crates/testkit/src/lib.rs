//! `testkit`: see ARCHITECTURE.md.
