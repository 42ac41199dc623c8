//! The flags that every system has: limits of its load.

use std::num::NonZero;
use std::time::Duration;

use crate::workers;

/// Flags of a system, flattened into its own.
#[derive(Debug, Clone, clap::Args)]
pub struct Limits {
    /// Threads that serve
    #[arg(long, default_value_t = workers::default_count())]
    pub threads: NonZero<usize>,
    /// Maximum open connections; further ones are closed immediately
    #[arg(long, default_value_t = 50_000, value_name = "COUNT")]
    pub max_connections: u64,
    /// Maximum requests in progress; further ones get 503
    #[arg(long, default_value_t = 4096, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_requests: u64,
    /// Maximum bytes of a request's body; larger ones get 413
    #[arg(long, default_value_t = 1 << 20, value_name = "BYTES")]
    pub max_body: u64,
    /// Seconds until an idle connection is closed
    #[arg(long, default_value_t = 75, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    idle_timeout: u64,
    /// Seconds that responses in progress have to finish after a signal to stop
    #[arg(long, default_value_t = 10, value_name = "SECONDS")]
    drain_timeout: u64,
}

impl Limits {
    /// For a system with its own limits, which uses only the number of threads and the time for
    /// draining.
    pub fn of_threads(threads: NonZero<usize>, patience: Duration) -> Limits {
        Limits {
            threads,
            max_connections: u64::MAX,
            max_requests: u64::MAX,
            max_body: u64::MAX,
            idle_timeout: 75,
            drain_timeout: patience.as_secs(),
        }
    }

    /// Maximum idle time of a connection.
    pub fn idle(&self) -> Duration {
        Duration::from_secs(self.idle_timeout)
    }

    /// Maximum time for draining.
    pub fn patience(&self) -> Duration {
        Duration::from_secs(self.drain_timeout)
    }
}
