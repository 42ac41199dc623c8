//! `report`: see ARCHITECTURE.md.
