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
    /// Settings for opening streams: resolver, host rules, local addresses.
    pub network: NetworkSettings,
    /// Maximum number of redirects to follow. After that, the redirect itself is the response.
    pub max_redirects: u32,
    /// `User-Agent` if the request sets none. Not sent if empty.
    pub user_agent: String,
    /// Whether each request opens and closes its own connection.
    pub no_connection_reuse: bool,
    /// Maximum number of idle connections kept per host and user.
    pub idle_per_host: usize,
    /// Maximum number of idle connections kept per user.
    pub idle_total: usize,
    /// Maximum number of connections per host and user. Further requests wait. `None`: no limit.
    pub connections_per_host: Option<usize>,
    /// Maximum number of concurrent requests on one HTTP/2 connection. Further requests use another
    /// connection or wait. `None`: as many as the server allows.
    pub streams_per_connection: Option<usize>,
    /// The HTTP version to use.
    pub protocol: Protocol,
    pub proxies: Proxies,
    /// Shared by all users of the run.
    pub rate_limit: Option<Arc<RateLimit>>,
    /// Maximum length in bytes of a body that is kept. A longer body fails its request.
    pub max_body: u64,
    /// Limits the total memory of the decompressed bodies of all users.
    pub decoded_memory: &'static MemoryBudget,
    /// Whether response bodies are counted instead of being kept.
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
