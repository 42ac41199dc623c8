//! Results as labs leave them, made up from seeded numbers, and what holds them
//! against pages.

// Each test program uses its own part of this.
#![allow(dead_code)]

pub mod cells;
pub mod fixture;
pub mod hostile;
pub mod numbers;
