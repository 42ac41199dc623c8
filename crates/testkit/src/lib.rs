//! Tools for tests of the compiled program.
//!
//! - [`program`] runs a program as a user would; [`figures`] and [`snapshot`] compare its output.
//! - [`logged_server`] behaves as configured and logs every request; [`peers`] violate protocols;
//!   [`ports`] finds a port without a listener.
//! - [`case_server`] sends known responses. [`cases`] compares the program's results with recorded
//!   results of another program.

pub mod case_server;
pub mod cases;
pub mod chromium;
pub mod figures;
pub mod logged_server;
pub mod npm;
pub mod peers;
pub mod ports;
pub mod program;
pub mod schema;
pub mod snapshot;
