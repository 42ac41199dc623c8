//! Applies a changed configuration without losing a request.
//!
//! The new file is parsed and checked first, and new listeners are opened. If there is any error,
//! nothing changes. Requests in flight keep the plan with which they began. Clients' connections
//! stay open, and their next request uses the new plan.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, SystemTime};

use plimsoll_serving::drain::Draining;
use plimsoll_serving::log;
use tokio::runtime::Handle;
use tokio::signal::unix::Signal;
use tokio::task::JoinSet;

use crate::config::{self, Config};
use crate::entry::Entry;
use crate::gateway::Gateway;
use crate::plan::Plan;
use crate::upstream::{SWEEP, probe};

/// Interval between checks of the file.
const LOOK: Duration = Duration::from_millis(500);

pub struct Operator {
    pub gateway: Arc<Gateway>,
    pub entries: Vec<Entry>,
    workers: Vec<Handle>,
    file: PathBuf,
    /// Time limit for closing entries.
    patience: Duration,
    /// Entries that are being closed.
    closing: JoinSet<()>,
}

impl Operator {
    /// Loads the configuration and opens its entries.
    pub fn start(file: &Path, workers: &[Handle], patience: Duration) -> Result<Operator, String> {
        let plan = Plan::new(config::load(file)?, None, workers.len());
        let mut operator = Operator {
            gateway: Arc::new(Gateway::new(plan, workers.len())?),
            entries: Vec::new(),
            workers: workers.to_vec(),
            file: file.to_owned(),
            patience,
            closing: JoinSet::new(),
        };
        let plan = operator.gateway.plan.load_full();
        operator.entries = operator.open_new(&plan.config)?;
        operator.look_after(&plan, None);
        Ok(operator)
    }

    /// Applies changes of the file, when it changes and on SIGHUP, until draining begins. Then it
    /// closes all entries.
    pub async fn run(mut self, mut hangups: Signal, mut draining: Draining) {
        let mut seen = stamp(&self.file);
        loop {
            let why = tokio::select! {
                () = draining.started() => break,
                _ = hangups.recv() => "SIGHUP",
                () = tokio::time::sleep(LOOK) => "the file changed",
            };
            let now = stamp(&self.file);
            if why == "SIGHUP" || now != seen {
                seen = now;
                self.reload(why).await;
            }
        }
        for entry in std::mem::take(&mut self.entries) {
            self.close(entry);
        }
        while self.closing.join_next().await.is_some() {}
        self.gateway.journal.flush();
    }

    async fn reload(&mut self, why: &str) {
        let file = self.file.clone();
        // Loading may take a while; the event loop must not block.
        let read = tokio::task::spawn_blocking(move || config::load(&file)).await;
        let read = read.unwrap_or_else(|error| Err(error.to_string()));
        match read.and_then(|config| self.apply(config)) {
            Ok(()) => {
                self.gateway.reloads.fetch_add(1, Relaxed);
                log::info("the configuration is applied", &[("because", why.into())]);
            }
            Err(reason) => {
                self.gateway.reloads_refused.fetch_add(1, Relaxed);
                let message = "the new configuration is wrong; the old one stays";
                log::error(message, &[("reason", reason.into())]);
            }
        }
    }

    fn apply(&mut self, config: Config) -> Result<(), String> {
        let before = self.gateway.plan.load_full();
        let opened = self.open_new(&config)?;
        // If this fails, the new entries are dropped; no client is connected to them yet.
        self.gateway.journal.open(config.access_log.as_deref())?;
        let plan = Arc::new(Plan::new(config, Some(&before), self.workers.len()));
        self.look_after(&plan, Some(&before));
        self.gateway.plan.store(plan.clone());
        while self.closing.try_join_next().is_some() {}
        for entry in std::mem::replace(&mut self.entries, opened) {
            let mut settings = plan.config.entries.iter();
            match settings.find(|(name, settings)| entry.is(name, settings)) {
                Some((name, settings)) => {
                    entry.change(name, settings, &plan.config.limits);
                    self.entries.push(entry);
                }
                None => self.close(entry),
            }
        }
        Ok(())
    }

    fn close(&mut self, entry: Entry) {
        let (name, patience) = (entry.manners().name.to_string(), self.patience);
        self.closing.spawn(async move {
            if !entry.close(patience).await {
                let message = "connections were cut off: --drain-timeout was too short for them";
                log::warn(message, &[("entry", name.into())]);
            }
        });
    }

    /// Opens entries that are not open yet.
    fn open_new(&self, config: &Config) -> Result<Vec<Entry>, String> {
        let is_open =
            |name: &str, new: &config::Entry| self.entries.iter().any(|old| old.is(name, new));
        let entries = config.entries.iter();
        entries
            .filter(|(name, settings)| !is_open(name, settings))
            .map(|(name, settings)| {
                Entry::open(name, settings, &config.limits, &self.gateway, &self.workers)
            })
            .collect()
    }

    /// Starts the background tasks of new upstreams.
    fn look_after(&self, plan: &Plan, before: Option<&Plan>) {
        for (name, upstream) in &plan.upstreams {
            let old = before.and_then(|before| before.upstreams.get(name));
            if old.is_some_and(|old| Arc::ptr_eq(old, upstream)) {
                continue;
            }
            if let Some(check) = &upstream.settings.active {
                let upstream = Arc::downgrade(upstream);
                tokio::spawn(probe(name.clone(), upstream, check.clone()));
            }
            for (worker, handle) in self.workers.iter().enumerate() {
                let upstream = Arc::downgrade(upstream);
                handle.spawn(async move {
                    loop {
                        tokio::time::sleep(SWEEP).await;
                        let Some(upstream) = upstream.upgrade() else {
                            return;
                        };
                        upstream.sweep(worker);
                    }
                });
            }
        }
    }
}

/// Changes whenever a file is modified or replaced.
fn stamp(file: &Path) -> Option<(SystemTime, u64, u64)> {
    let facts = std::fs::metadata(file).ok()?;
    Some((facts.modified().ok()?, facts.len(), facts.ino()))
}
