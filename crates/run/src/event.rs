//! What a run tells its listeners.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_engine::{AbortReason, InFlightReading, Notice};
use plimsoll_samples::{SampleRecord, Summary, Window};
use plimsoll_units::Moment;
use plimsoll_verdict::Verdict;

use crate::Progress;

/// Something that happened in a run. Borrowed: a listener that hands events to another thread copies
/// what it needs.
#[derive(Clone, Copy)]
pub enum Event<'a> {
    /// Everything is ready. No user exists yet, and nothing was sent.
    Starting,
    /// Something that the person who watches may want to know.
    Message(&'a str),
    /// The engine noticed something.
    Notice(&'a Notice),
    /// Something is wrong with the samples that users recorded.
    Warning(&'a str),
    /// A worker handed over what its users recorded while scenarios ran.
    Window(&'a WorkerWindow<'a>),
    /// Single samples, in runs that have outputs.
    Samples(&'a Arc<[SampleRecord]>),
    /// A second of the scenarios is over.
    Second(&'a Progress),
    /// The listener's interval has passed.
    Progress(&'a Progress),
    /// Workers are gone, and everything they recorded was handed over.
    Done(&'a Progress),
    /// The run was judged. The last event.
    Judged(&'a Judged<'a>),
}

/// What one worker recorded since its window before.
pub struct WorkerWindow<'a> {
    pub window: &'a Window,
    /// Iterations under way on the worker meanwhile.
    pub in_flight: &'a InFlightReading,
    /// When the scenarios started.
    pub started: Moment,
}

/// The result of a run.
pub struct Judged<'a> {
    pub summary: &'a Summary,
    pub verdict: &'a Verdict,
    pub aborted: Option<&'a AbortReason>,
    /// How long scenarios ran.
    pub elapsed: Duration,
}

/// Follows a run.
///
/// Listeners are called one after another on the supervisor's thread, never on a worker's. Workers
/// hand over what they recorded through a channel that does not block, so a slow listener delays
/// other listeners, thresholds and the record's lines, and never a request. What can block for long
/// (a network, a disk) belongs on a thread of its own behind a bounded queue: wrap it in
/// [`Queued`](crate::Queued), or do as [`Outputs`](crate::Outputs) does, which waits rather than
/// lose samples.
pub trait Listener {
    /// How often [`Event::Progress`] is wanted.
    fn interval(&self) -> Duration {
        Duration::from_secs(1)
    }

    /// Something happened.
    fn event(&mut self, event: Event<'_>);

    /// Completes what was begun. Called once, after the last event.
    fn finish(&mut self) -> Finished {
        Finished::default()
    }
}

impl<L: Listener + ?Sized> Listener for &mut L {
    fn interval(&self) -> Duration {
        (**self).interval()
    }

    fn event(&mut self, event: Event<'_>) {
        (**self).event(event);
    }

    fn finish(&mut self) -> Finished {
        (**self).finish()
    }
}

/// What a listener reports when the run is over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finished {
    /// What could not be written, each a sentence.
    pub errors: Vec<String>,
    /// What the person who watches may want to know, each a sentence.
    pub messages: Vec<String>,
}

/// The listeners of a run, and when each is called next.
pub(crate) struct Listeners<'a>(Vec<Entry<'a>>);

struct Entry<'a> {
    listener: Box<dyn Listener + 'a>,
    /// When [`Event::Progress`] is due.
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

    pub fn tell(&mut self, event: Event<'_>) {
        for entry in &mut self.0 {
            entry.listener.event(event);
        }
    }

    /// When the first of them wants to hear of progress.
    pub fn next_due(&self) -> Option<Moment> {
        self.0.iter().map(|entry| entry.due).min()
    }

    /// Tells those of the progress whose interval has passed.
    pub fn tell_progress(&mut self, progress: &Progress, now: Moment) {
        for entry in &mut self.0 {
            if now >= entry.due {
                entry.due = now + entry.listener.interval();
                entry.listener.event(Event::Progress(progress));
            }
        }
    }

    pub fn finish(&mut self) -> Finished {
        let mut all = Finished::default();
        for entry in &mut self.0 {
            let finished = entry.listener.finish();
            all.errors.extend(finished.errors);
            all.messages.extend(finished.messages);
        }
        all
    }
}
