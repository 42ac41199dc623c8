//! Cases: scripts with recordings of k6's results.
//!
//! A case is a directory with `script.js` and other files that it needs, a `case.json` that
//! describes how to run it ([`case::Case`]), and an `expected.json` with the recording
//! ([`Observation`]). `cases record` runs k6 and writes `expected.json`. `cases run` and the test
//! of the command line run Plimsoll and compare.

mod archive;
pub mod case;
pub mod compare;
pub mod expected;
pub mod logs;
pub mod metrics;
pub mod normalize;
pub mod observe;
pub mod screen;
pub mod suite;

pub use case::Case;
pub use expected::Expected;
pub use observe::Observation;
