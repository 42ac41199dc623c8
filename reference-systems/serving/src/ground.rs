//! The life cycle of a system: it starts, announces its addresses, serves until a signal, and
//! drains.

use std::io::Write;
use std::net::SocketAddr;

use serde_json::{Map, Value};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::OnceCell;

use crate::arrival::Arrival;
use crate::counters::{AllCounters, Counters};
use crate::drain::{Drain, Draining, Signals};
use crate::limits::Limits;
use crate::listeners::{self, Acceptor, accept};
use crate::log;
use crate::workers::Workers;

/// The resources that a system gets at its start, to open its listeners.
pub struct Ground {
    acceptor: Acceptor,
    draining: OnceCell<Draining>,
    address: OnceCell<SocketAddr>,
}

impl Ground {
    /// Number of worker threads.
    pub fn workers(&self) -> usize {
        self.acceptor.workers.len()
    }

    /// The address for a system that [`crate::run`] runs on a single port; unspecified for others.
    pub fn address(&self) -> SocketAddr {
        let unspecified = SocketAddr::from(([0, 0, 0, 0], 0));
        self.address.get().copied().unwrap_or(unspecified)
    }

    /// Reports the actual address of that port.
    pub(crate) fn is_at(&self, address: SocketAddr) {
        // It is reported once.
        let _ = self.address.set(address);
    }

    /// The workers' event loops, for systems with their own listeners.
    pub fn handles(&self) -> &[Handle] {
        &self.acceptor.workers
    }

    /// The counters of connections and requests.
    pub fn counters(&self) -> AllCounters {
        self.acceptor.counters.clone()
    }

    /// Signals when draining begins. The end waits until every clone is dropped, so keep one only
    /// in what must finish first.
    pub fn draining(&self) -> Option<Draining> {
        self.draining.get().cloned()
    }

    /// Starts to accept connections from `listener`. `serve` returns the task of one, given the
    /// index of its worker (0 for the first); that task runs on the worker.
    pub fn open<S, F>(&self, listener: TcpListener, serve: S)
    where
        S: Fn(Arrival, usize, Draining) -> F + Clone + Send + 'static,
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        if let Some(draining) = self.draining() {
            tokio::spawn(accept(listener, self.acceptor.clone(), draining, serve));
        }
    }
}

/// Runs a system. `start` opens its listeners and returns the addresses to announce, and what to do
/// after the last response.
pub fn run<E>(
    limits: &Limits,
    start: impl AsyncFnOnce(&Ground) -> Result<(Places, E), String>,
) -> Result<(), String>
where
    E: Future<Output = ()>,
{
    listeners::allow_many_connections();
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start the event loop: {error}"))?
        .block_on(run_until_stopped(limits, start))
}

async fn run_until_stopped<E>(
    limits: &Limits,
    start: impl AsyncFnOnce(&Ground) -> Result<(Places, E), String>,
) -> Result<(), String>
where
    E: Future<Output = ()>,
{
    let mut signals =
        Signals::listen().map_err(|error| format!("cannot listen for signals: {error}"))?;
    let workers = Workers::start(limits.threads)
        .map_err(|error| format!("cannot start the workers: {error}"))?;
    let counters = AllCounters::new(workers.count());
    let (drain, draining) = Drain::new();
    let mut ground = Ground {
        acceptor: Acceptor {
            workers: workers.handles().to_vec(),
            counters: counters.clone(),
            limit: limits.max_connections,
        },
        draining: OnceCell::new_with(Some(draining)),
        address: OnceCell::new(),
    };
    let (places, ended) = tokio::select! {
        started = start(&ground) => started?,
        signal = signals.received() => {
            log::info("ended while starting", &[("signal", signal.into())]);
            return Ok(());
        }
    };
    // From here on, only connections and listeners hold a copy, so its last drop shows that all of them have ended.
    ground.draining.take();
    places.announce()?;

    let signal = signals.received().await;
    log::info(
        "draining",
        &[
            ("signal", signal.into()),
            ("connections", counters.sum(Counters::open).into()),
        ],
    );
    if !drain.run(limits.patience()).await {
        log::warn(
            "connections were cut off: --drain-timeout was too short for them",
            &[("connections", counters.sum(Counters::open).into())],
        );
    }
    ended.await;
    workers.stop();
    log::info("done", &[]);
    Ok(())
}

/// The addresses to announce.
#[derive(Debug, Clone)]
pub struct Places(Map<String, Value>);

impl Places {
    pub fn of(system: &str) -> Places {
        Places(Map::from_iter([("system".to_owned(), system.into())]))
    }

    /// Adds another fact to the announcement.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Places {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// Adds `scheme://address`.
    pub fn at(self, name: &str, scheme: &str, address: SocketAddr) -> Places {
        self.with(name, format!("{scheme}{address}"))
    }

    /// Announces the addresses, to programs and people.
    fn announce(&self) -> Result<(), String> {
        let fields: Vec<_> = self
            .0
            .iter()
            .map(|(key, value)| (key.as_str(), value.clone()))
            .collect();
        log::info("ready", &fields);
        let mut out = std::io::stdout();
        writeln!(out, "{}", Value::Object(self.0.clone()))
            .and_then(|()| out.flush())
            .map_err(|error| format!("cannot write to stdout: {error}"))
    }
}
