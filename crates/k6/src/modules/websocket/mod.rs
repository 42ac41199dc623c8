//! WebSockets in scripts: `k6/ws`, whose `connect` returns when the session has ended ([`blocking`]), and
//! `k6/websockets`, with the same class as in browsers ([`evented`]).
//!
//! Both share the handshake ([`dial`]), the metrics ([`session`]) and the procedure for closing connections
//! ([`closing`]).

mod blob;
pub mod blocking;
mod closing;
mod dial;
pub mod evented;
mod events;
mod link;
mod messages;
mod properties;
mod session;
mod socket;
