//! Applies a changed configuration without losing a request.
//!
//! The new file is parsed and checked first, and new listeners are opened. If there is any error,
//! nothing changes. Requests in flight keep the plan with which they began. Clients' connections
//! stay open, and their next request uses the new plan.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, SystemTime};

use plimsoll_serving::drain::Draining;
use plimsoll_serving::log;
use tokio::runtime::Handle;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::config::{self, Config};
use crate::entry::Entry;
use crate::gateway::Gateway;
use crate::plan::Plan;
use crate::upstream::{SWEEP, Upstream, probe};

/// Interval between checks of the file.
const LOOK: Duration = Duration::from_millis(500);

pub struct Operator {
    pub gateway: Arc<Gateway>,
    pub workers: Vec<Handle>,
    pub file: PathBuf,
    /// Time limit for closing entries.
    pub patience: Duration,
    entries: Vec<Entry>,
    listening: watch::Sender<Vec<Listening>>,
    /// Entries of earlier configurations that are being closed.
    closing: Vec<tokio::task::JoinHandle<()>>,
}

/// An entry's address and counters.
#[derive(Clone)]
pub struct Listening {
    pub name: String,
    pub encrypted: bool,
    pub address: std::net::SocketAddr,
    pub counters: plimsoll_serving::counters::AllCounters,
}

impl Operator {
    /// Loads the configuration and opens its entries.
    pub fn start(file: &Path, workers: &[Handle], patience: Duration) -> Result<Operator, String> {
        let config = config::load(file).map_err(|invalid| invalid.to_string())?;
        let plan = Arc::new(Plan::new(config, None, workers.len()));
        let gateway = Arc::new(Gateway::new(plan.clone(), workers.len()));
        gateway.journal.open(&plan.config.access_log)?;
        let mut operator = Operator {
            gateway,
            workers: workers.to_vec(),
            file: file.to_owned(),
            patience,
            entries: Vec::new(),
            listening: watch::Sender::new(Vec::new()),
            closing: Vec::new(),
        };
        operator.entries = operator.open_new(&plan.config)?;
        operator.look_after(&plan, None);
        operator.publish();
        Ok(operator)
    }

    /// The current listeners, updated after each change.
    pub fn listening(&self) -> watch::Receiver<Vec<Listening>> {
        self.listening.subscribe()
    }

    /// Applies changes of the file, when it changes and on SIGHUP, until draining begins; then
    /// closes all entries.
    pub async fn run(mut self, mut hangups: Signal, mut draining: Draining) {
        let mut seen = Stamp::of(&self.file);
        loop {
            tokio::select! {
                () = draining.begun() => break,
                _ = hangups.recv() => {
                    seen = Stamp::of(&self.file);
                    self.reload("SIGHUP").await;
                }
                () = tokio::time::sleep(LOOK) => {
                    let now = Stamp::of(&self.file);
                    if now != seen {
                        seen = now;
                        self.reload("the file changed").await;
                    }
                }
            }
        }
        let mut late = 0;
        let closing: Vec<_> = self
            .entries
            .into_iter()
            .map(|entry| tokio::spawn(entry.close(self.patience)))
            .collect();
        for entry in closing {
            late += u32::from(!entry.await.unwrap_or(true));
        }
        for entry in self.closing {
            // It ends within the same time, and reports itself what it cut off.
            let _ = entry.await;
        }
        if late > 0 {
            log::warn(
                "connections were cut off: --drain-timeout was too short for them",
                &[],
            );
        }
        self.gateway.journal.flush();
    }

    async fn reload(&mut self, why: &str) {
        let file = self.file.clone();
        // Loading may take a while; the event loop must not block.
        let read = tokio::task::spawn_blocking(move || config::load(&file)).await;
        let outcome = match read {
            Ok(Ok(config)) => self.take_up(config),
            Ok(Err(invalid)) => Err(invalid.to_string()),
            Err(error) => Err(error.to_string()),
        };
        match outcome {
            Ok(()) => {
                self.gateway.reloads.fetch_add(1, Relaxed);
                log::info("the configuration is taken up", &[("because", why.into())]);
            }
            Err(reason) => {
                self.gateway.reloads_refused.fetch_add(1, Relaxed);
                log::error(
                    "the new configuration is wrong; the old one stays",
                    &[("reason", reason.into())],
                );
            }
        }
    }

    fn take_up(&mut self, config: Config) -> Result<(), String> {
        let before = self.gateway.plan();
        let opened = self.open_new(&config)?;
        if let Err(error) = self.gateway.journal.open(&config.access_log) {
            // No client is connected to them yet.
            drop(opened);
            return Err(error);
        }
        let plan = Arc::new(Plan::new(config, Some(&before), self.workers.len()));
        self.look_after(&plan, Some(&before));
        self.gateway.set_plan(plan.clone());
        let (mut stay, go): (Vec<_>, Vec<_>) = std::mem::take(&mut self.entries)
            .into_iter()
            .partition(|entry| {
                plan.config
                    .entries
                    .iter()
                    .any(|settings| entry.is(settings))
            });
        for entry in &mut stay {
            if let Some(settings) = plan
                .config
                .entries
                .iter()
                .find(|settings| entry.is(settings))
            {
                entry.change(settings, &plan.config.limits);
            }
        }
        stay.extend(opened);
        self.entries = stay;
        self.publish();
        self.closing.retain(|closing| !closing.is_finished());
        for entry in go {
            let (name, patience) = (entry.settings.name.clone(), self.patience);
            self.closing.push(tokio::spawn(async move {
                if !entry.close(patience).await {
                    let fields = [("entry", name.into())];
                    log::warn("connections of a closed entry were cut off", &fields);
                }
            }));
        }
        Ok(())
    }

    /// Opens entries that are not open yet.
    fn open_new(&self, config: &Config) -> Result<Vec<Entry>, String> {
        config
            .entries
            .iter()
            .filter(|settings| !self.entries.iter().any(|entry| entry.is(settings)))
            .map(|settings| Entry::open(settings, &config.limits, &self.gateway, &self.workers))
            .collect()
    }

    /// Starts the background tasks of new upstreams.
    fn look_after(&self, plan: &Plan, before: Option<&Plan>) {
        let is_old = |upstream: &Arc<Upstream>| {
            before.is_some_and(|plan| {
                plan.upstreams()
                    .iter()
                    .any(|other| Arc::ptr_eq(other, upstream))
            })
        };
        for upstream in plan.upstreams().iter().filter(|upstream| !is_old(upstream)) {
            if let Some(check) = &upstream.settings.active {
                tokio::spawn(probe(Arc::downgrade(upstream), check.clone()));
            }
            for (worker, handle) in self.workers.iter().enumerate() {
                let upstream = Arc::downgrade(upstream);
                handle.spawn(async move {
                    loop {
                        tokio::time::sleep(SWEEP).await;
                        match upstream.upgrade() {
                            Some(upstream) => upstream.sweep(worker),
                            None => return,
                        }
                    }
                });
            }
        }
    }

    fn publish(&self) {
        let listening = self.entries.iter().map(|entry| Listening {
            name: entry.settings.name.clone(),
            encrypted: entry.settings.tls.is_some(),
            address: entry.address,
            counters: entry.counters.clone(),
        });
        self.listening.send_replace(listening.collect());
    }
}

/// Listens for SIGHUP from now on.
pub fn hangups() -> Result<Signal, String> {
    signal(SignalKind::hangup()).map_err(|error| format!("cannot listen for signals: {error}"))
}

/// Changes whenever a file is modified or replaced.
#[derive(PartialEq, Eq)]
struct Stamp(Option<(SystemTime, u64, u64)>);

impl Stamp {
    fn of(file: &Path) -> Stamp {
        use std::os::unix::fs::MetadataExt;
        let facts = std::fs::metadata(file).ok();
        Stamp(facts.and_then(|facts| Some((facts.modified().ok()?, facts.len(), facts.ino()))))
    }
}
