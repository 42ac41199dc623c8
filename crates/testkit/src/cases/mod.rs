//! Cases: a script each, with what another program did when it ran it.
//!
//! A case is a folder with `script.js` and whatever else it needs, a `case.json` that says how
//! to run it ([`case::Case`]), and an `expected.json` with what was seen ([`Observation`]).
//! `cases record` runs the program that is the judge and writes `expected.json`; `cases run`,
//! and the test of the command line, run ours and compare.

mod archive;
pub mod case;
pub mod compare;
pub mod expected;
pub mod logs;
pub mod metrics;
pub mod normalise;
pub mod observe;
pub mod screen;
pub mod suite;

pub use case::Case;
pub use expected::Expected;
pub use observe::Observation;
