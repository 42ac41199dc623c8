//! `plimsoll-serve gateway` as its users meet it: started as a program before real
//! upstreams (`orders`, `payload`, nginx), and asked by independent clients (curl,
//! h2load, a WebSocket library, and bytes by hand).

mod beside_nginx;
#[path = "../client/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod client;
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
