//! What the tests of the built program stand on: a server whose answers are known, and the cases
//! under `cases/`, recorded from another program and compared with ours.

pub mod case_server;
pub mod cases;
