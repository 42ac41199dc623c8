use std::sync::Arc;

use plimsoll_net::NetworkSettings;

use crate::coding::DecodeLimits;
use crate::memory_budget::MemoryBudget;
use crate::proxy::Proxies;
use crate::rate::RateLimit;

/// What all users of a run have in common. Plain data, made once and shared.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How streams are opened: resolver, host rules, local addresses.
    pub network: NetworkSettings,
    /// Hops followed before the redirect itself is the answer.
    pub max_redirects: u32,
    /// `User-Agent` where the request sets none; empty sends none.
    pub user_agent: String,
    /// Each request opens a connection and closes it.
    pub no_connection_reuse: bool,
    /// Idle connections kept per host and user.
    pub idle_per_host: usize,
    /// Idle connections kept per user.
    pub idle_total: usize,
    /// Connections per host and user; further requests queue. `None`: no limit.
    pub connections_per_host: Option<usize>,
    /// Requests at once on one HTTP/2 connection; further ones take another
    /// connection, or queue. `None`: as many as the server allows.
    pub streams_per_connection: Option<usize>,
    /// Which version of HTTP is spoken.
    pub protocol: Protocol,
    pub proxies: Proxies,
    /// Shared by all users of the run.
    pub rate_limit: Option<Arc<RateLimit>>,
    /// Longest body that is kept, in bytes; a longer one fails its request.
    pub max_body: u64,
    /// Limits what the decompressed bodies of all users take together.
    pub decoded_memory: &'static MemoryBudget,
    /// Answers' bodies are counted and not kept.
    pub discard_response_bodies: bool,
}

impl Settings {
    pub(crate) fn decode_limits(&self) -> DecodeLimits {
        DecodeLimits {
            max: self.max_body,
            cut: false,
            memory: self.decoded_memory,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            network: NetworkSettings::default(),
            max_redirects: 10,
            user_agent: String::new(),
            no_connection_reuse: false,
            idle_per_host: 6,
            idle_total: 20,
            connections_per_host: None,
            streams_per_connection: None,
            protocol: Protocol::Auto,
            proxies: Proxies::default(),
            rate_limit: None,
            max_body: 1 << 30,
            decoded_memory: MemoryBudget::process(),
            discard_response_bodies: false,
        }
    }
}

/// Which version of HTTP is spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/2 where TLS negotiates it, else HTTP/1.1.
    #[default]
    Auto,
    /// HTTP/1.1 only.
    Http1,
    /// HTTP/2 over TLS or nothing.
    Http2,
    /// HTTP/2 without TLS, by prior knowledge (RFC 9113, section 3.3).
    H2c,
    /// HTTP/3 or nothing, without asking over TCP first.
    Http3,
}
