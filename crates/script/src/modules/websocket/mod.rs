//! WebSockets in scripts: `k6/ws`, whose `connect` returns when the session is over ([`blocking`]), and
//! `k6/websockets` with the class that browsers have ([`evented`]).
//!
//! Both dial alike ([`dial`]), record alike ([`session`]) and part alike ([`parting`]).

mod blob;
pub mod blocking;
mod dial;
pub mod evented;
mod events;
mod link;
mod parting;
mod session;
mod socket;
mod words;
