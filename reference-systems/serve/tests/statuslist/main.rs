//! Tests `plimsoll-serve statuslist` as its users run it: as a program, over HTTP, read by
//! independent libraries, and killed at random moments.

#[path = "../asking/mod.rs"]
mod asking;
mod contract;
mod crashes;
mod failing;
mod independent;
mod served;
