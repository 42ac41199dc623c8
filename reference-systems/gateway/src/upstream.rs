//! An upstream: its targets, their health, and the selection of the next one.

mod balance;
mod connect;
mod connection;
mod health;
mod multiplexed;
mod pool;
mod probe;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use balance::Balance;
pub use connect::Stream;
pub use connection::{Connection, Trouble, TroubleKind, exchange, exchange_to_upgrade};
pub use health::Health;
use multiplexed::Multiplexed;
use pool::Pool;
pub use probe::probe;

use crate::config;

/// A running upstream.
pub struct Upstream {
    pub settings: config::Upstream,
    targets: Vec<Arc<Target>>,
    balance: Balance,
}

/// One server of an upstream.
pub struct Target {
    pub address: String,
    pub health: Health,
    /// Requests in flight; compared by `least_connections`.
    under_way: AtomicU64,
    weight: u32,
    pools: Vec<Pool>,
    multiplexed: Vec<Multiplexed>,
}

impl Upstream {
    /// An upstream for this number of workers.
    pub fn new(settings: config::Upstream, workers: usize) -> Upstream {
        let targets: Vec<_> = settings
            .targets
            .iter()
            .map(|target| {
                Arc::new(Target {
                    address: target.address.clone(),
                    health: Health::new(&settings.passive),
                    under_way: AtomicU64::new(0),
                    weight: target.weight,
                    pools: (0..workers).map(|_| Pool::new(settings.keep)).collect(),
                    multiplexed: (0..workers)
                        .map(|_| Multiplexed::new(settings.connections))
                        .collect(),
                })
            })
            .collect();
        Upstream {
            balance: Balance::new(&settings),
            targets,
            settings,
        }
    }

    pub fn targets(&self) -> &[Arc<Target>] {
        &self.targets
    }

    /// Selects a target other than those `tried`; for `hash`, `key` decides. A target that failed
    /// for clients is excluded as long as there is another; one that the active check found
    /// unhealthy is never used.
    pub fn choose(&self, key: u64, tried: &[Arc<Target>]) -> Option<Arc<Target>> {
        let untried = |target: &Arc<Target>| !tried.iter().any(|other| Arc::ptr_eq(other, target));
        let fit = |target: &Arc<Target>| untried(target) && target.health.is_well();
        let last = |target: &Arc<Target>| untried(target) && !target.health.is_ill();
        self.balance
            .choose(&self.targets, key, fit)
            .or_else(|| self.balance.choose(&self.targets, key, last))
            .cloned()
    }

    /// Whether the choice depends on the request.
    pub fn hashes(&self) -> Option<&config::HashBy> {
        self.settings.hash_by.as_ref()
    }

    /// Closes a worker's idle connections that are broken or were idle too long.
    pub fn sweep(&self, worker: usize) {
        let sweeps = self.settings.keep_timeout.as_secs().max(1);
        let sweeps = u32::try_from(sweeps / SWEEP.as_secs().max(1)).unwrap_or(u32::MAX);
        for target in &self.targets {
            if let Some(pool) = target.pools.get(worker) {
                pool.sweep(sweeps);
            }
        }
    }

    /// Number of idle connections, over all targets and workers.
    pub fn idle(&self) -> u64 {
        let pools = self.targets.iter().flat_map(|target| &target.pools);
        pools.map(|pool| pool.len() as u64).sum()
    }
}

impl Target {
    pub fn under_way(&self) -> u64 {
        self.under_way.load(Relaxed)
    }

    pub fn weight(&self) -> u32 {
        self.weight
    }

    /// An idle HTTP/1.1 connection, if there is one.
    pub fn idle_connection(&self, worker: usize) -> Option<Box<Connection>> {
        self.pools.get(worker)?.take()
    }

    /// Keeps a connection for the next request, if it is usable.
    pub fn keep(&self, worker: usize, connection: Box<Connection>) {
        if let Some(pool) = self.pools.get(worker) {
            pool.put(connection);
        }
    }

    /// A new HTTP/1.1 connection.
    pub async fn connect(&self, upstream: &config::Upstream) -> Result<Box<Connection>, Trouble> {
        let stream = connect::connect(&self.address, upstream).await?;
        connection::start(stream).await
    }

    /// An HTTP/2 connection for a request.
    pub async fn multiplexed(
        &self,
        upstream: &config::Upstream,
        worker: usize,
    ) -> Result<multiplexed::Sender, Trouble> {
        match self.multiplexed.get(worker) {
            Some(multiplexed) => multiplexed.sender(&self.address, upstream).await,
            None => Err(Trouble::unreachable("there is no such worker".to_owned())),
        }
    }
}

/// Counts a request as in flight at a target.
pub struct Using(Arc<Target>);

impl Using {
    pub fn new(target: Arc<Target>) -> Using {
        target.under_way.fetch_add(1, Relaxed);
        Using(target)
    }

    pub fn target(&self) -> &Arc<Target> {
        &self.0
    }
}

impl Drop for Using {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Relaxed);
    }
}

/// Interval between sweeps of idle connections.
pub const SWEEP: Duration = Duration::from_secs(1);
