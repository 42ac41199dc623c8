//! Tests `plimsoll-serve gateway` as its users run it: as a program in front of real upstreams
//! (`orders`, `payload`, nginx), with independent clients (curl, h2load, a WebSocket library, and
//! hand-written bytes).

#[path = "../client/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod client;
mod compared_with_nginx;
mod curl;
mod failures;
mod headers;
mod limits;
mod load;
mod protocols;
mod reloading;
mod rivals;
mod routing;
mod running;
mod smuggling;
