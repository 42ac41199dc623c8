//! Tests `plimsoll-serve statuslist` as its users run it: as a program, over HTTP, read by
//! independent libraries, and killed at random moments.

mod contract;
mod crashes;
mod failing;
#[path = "../http_client/mod.rs"]
mod http_client;
mod independent;
mod served;
