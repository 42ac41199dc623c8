//! The events that a run sends to its listeners.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_engine::{AbortReason, InFlightReading, Notice};
use plimsoll_results::record::Record;
use plimsoll_samples::{Registry, SampleRecord, Summary, Watch, Window};
use plimsoll_units::Moment;
use plimsoll_verdict::{Level, Reason, Verdict};

use crate::Progress;

/// Something that happened in a run. It is borrowed: a listener that passes events to another thread copies what it
/// needs.
#[derive(Clone, Copy)]
pub enum Event<'a> {
    /// An event of the engine, before its processing.
    Engine(&'a plimsoll_engine::Event),
    /// Everything is ready. No user exists yet, and nothing has been sent.
    Starting,
    /// Information for the user.
    Message(&'a str),
    /// A notice of the engine.
    Notice(&'a Notice),
    /// A problem with the samples that users recorded.
    Warning(&'a str),
    /// The samples that a worker's users recorded while scenarios ran.
    Window(&'a WorkerWindow<'a>),
    /// Individual samples, if the run has outputs or a listener that needs them.
    Samples(&'a Arc<[SampleRecord]>),
    /// A second of the scenarios has ended.
    Second(&'a Progress),
    /// The listener's interval has elapsed.
    Progress(&'a Progress),
    /// All workers have ended, and all their samples have arrived.
    Done(&'a Progress),
    /// The run was judged. Always the last event.
    Judged(&'a Judgment<'a>),
}

/// The samples that one worker recorded since its previous window.
pub struct WorkerWindow<'a> {
    pub window: &'a Window,
    /// Iterations in flight on the worker during the window.
    pub in_flight: &'a InFlightReading,
    /// When the scenarios started.
    pub started: Moment,
}

/// The result of a run.
pub struct Judgment<'a> {
    pub summary: &'a Summary,
    pub verdict: &'a Verdict,
    /// The problems found in this process, each with the verdict level that it requires.
    pub problems: &'a [(Level, Reason)],
    pub aborted: Option<&'a AbortReason>,
    /// The script called `exec.test.fail`.
    pub marked_failed: bool,
    /// How long the scenarios ran.
    pub elapsed: Duration,
}

/// Follows a run.
///
/// Listeners are called one after another on the supervisor's thread, never on a worker's. Workers send their samples
/// through a channel that does not block. So a slow listener delays other listeners, thresholds and the record's lines,
/// but never a request. Operations that can block for a long time (network, disk) need their own thread behind a
/// bounded queue. Either wrap the listener in [`QueuedListener`](crate::QueuedListener), which drops events if its queue is full, or
/// follow the example of [`Outputs`](crate::Outputs).
pub trait Listener {
    /// The interval of [`Event::Progress`].
    fn interval(&self) -> Duration {
        Duration::from_secs(1)
    }

    /// Whether it needs the results of requests by name.
    fn needs_names(&self) -> bool {
        false
    }

    /// Whether it needs the samples of each second separately.
    fn needs_seconds(&self) -> bool {
        false
    }

    /// Whether it needs individual samples.
    fn needs_samples(&self) -> bool {
        false
    }

    /// Receives the metrics of the run. Called before the first event with samples.
    fn metrics(&mut self, _registry: &Arc<Registry>, _watch: &Arc<Watch>) {}

    /// Receives an event.
    fn event(&mut self, event: Event<'_>);

    /// Completes pending work. Called once, after the last event.
    fn finish(&mut self) -> ListenerReport {
        ListenerReport::default()
    }
}

impl<L: Listener + ?Sized> Listener for &mut L {
    fn needs_names(&self) -> bool {
        (**self).needs_names()
    }

    fn needs_seconds(&self) -> bool {
        (**self).needs_seconds()
    }

    fn needs_samples(&self) -> bool {
        (**self).needs_samples()
    }

    fn metrics(&mut self, registry: &Arc<Registry>, watch: &Arc<Watch>) {
        (**self).metrics(registry, watch);
    }

    fn interval(&self) -> Duration {
        (**self).interval()
    }

    fn event(&mut self, event: Event<'_>) {
        (**self).event(event);
    }

    fn finish(&mut self) -> ListenerReport {
        (**self).finish()
    }
}

/// A listener's report at the end of the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListenerReport {
    /// Write errors, one sentence each.
    pub errors: Vec<String>,
    /// Information for the user, one sentence each.
    pub messages: Vec<String>,
    /// The record of the run, from the listener that wrote it.
    pub record: Option<Box<Record>>,
}

/// The listeners of a run, and the time of each listener's next progress event.
pub(crate) struct Listeners<'a>(Vec<Entry<'a>>);

struct Entry<'a> {
    listener: Box<dyn Listener + 'a>,
    /// When the next [`Event::Progress`] is due.
    due: Moment,
}

impl<'a> Listeners<'a> {
    pub fn new(listeners: Vec<Box<dyn Listener + 'a>>) -> Self {
        let now = plimsoll_clock::now();
        Listeners(
            listeners
                .into_iter()
                .map(|listener| Entry {
                    due: now + listener.interval(),
                    listener,
                })
                .collect(),
        )
    }

    pub fn add(&mut self, listener: Box<dyn Listener + 'a>) {
        self.0.push(Entry {
            due: plimsoll_clock::now() + listener.interval(),
            listener,
        });
    }

    /// Whether any listener needs the results of requests by name.
    pub fn need_names(&self) -> bool {
        self.0.iter().any(|entry| entry.listener.needs_names())
    }

    /// Whether any listener needs the samples of each second separately.
    pub fn need_seconds(&self) -> bool {
        self.0.iter().any(|entry| entry.listener.needs_seconds())
    }

    /// Whether any listener needs individual samples.
    pub fn need_samples(&self) -> bool {
        self.0.iter().any(|entry| entry.listener.needs_samples())
    }

    pub fn metrics(&mut self, registry: &Arc<Registry>, watch: &Arc<Watch>) {
        for entry in &mut self.0 {
            entry.listener.metrics(registry, watch);
        }
    }

    pub fn notify(&mut self, event: Event<'_>) {
        for entry in &mut self.0 {
            entry.listener.event(event);
        }
    }

    /// When the next progress event of any listener is due.
    pub fn next_due(&self) -> Option<Moment> {
        self.0.iter().map(|entry| entry.due).min()
    }

    /// Sends a progress event to each listener whose interval has elapsed.
    pub fn notify_progress(&mut self, progress: &Progress, now: Moment) {
        for entry in &mut self.0 {
            if now >= entry.due {
                entry.due = now + entry.listener.interval();
                entry.listener.event(Event::Progress(progress));
            }
        }
    }

    pub fn finish(&mut self) -> ListenerReport {
        let mut all = ListenerReport::default();
        for entry in &mut self.0 {
            let finished = entry.listener.finish();
            all.errors.extend(finished.errors);
            all.messages.extend(finished.messages);
            all.record = all.record.or(finished.record);
        }
        all
    }
}
