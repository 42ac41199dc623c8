use std::sync::Arc;

use plimsoll_net::NetworkSettings;

use crate::coding::DecodeLimits;
use crate::memory_budget::MemoryBudget;
use crate::protocol::Protocol;
use crate::proxy::Proxies;
use crate::rate::RateLimit;

/// Settings that all users of a run share. Plain data, created once.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How streams are opened: resolver, host rules, local addresses.
    pub network: NetworkSettings,
    /// Maximum redirects to follow; after that the redirect itself is the response.
    pub max_redirects: u32,
    /// `User-Agent` if the request sets none; not sent if empty.
    pub user_agent: String,
    /// Each request opens and closes its own connection.
    pub no_connection_reuse: bool,
    /// Idle connections kept per host and user.
    pub idle_per_host: usize,
    /// Idle connections kept per user.
    pub idle_total: usize,
    /// Maximum connections per host and user; further requests wait. `None`: no limit.
    pub connections_per_host: Option<usize>,
    /// Maximum concurrent requests on one HTTP/2 connection; further ones use another connection,
    /// or wait. `None`: as many as the server allows.
    pub streams_per_connection: Option<usize>,
    /// The version of HTTP to use.
    pub protocol: Protocol,
    pub proxies: Proxies,
    /// Shared by all users of the run.
    pub rate_limit: Option<Arc<RateLimit>>,
    /// Maximum length of a body that is kept, in bytes; a longer one fails its request.
    pub max_body: u64,
    /// Limits the total memory of the decompressed bodies of all users.
    pub decoded_memory: &'static MemoryBudget,
    /// Count response bodies instead of keeping them.
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
