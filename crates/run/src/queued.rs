//! Runs a listener on its own thread, behind a bounded queue.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, channel, sync_channel};
use std::time::Duration;

use crate::event::{Event, Listener, ListenerReport};

/// Maximum number of messages in the queue.
const CAPACITY: usize = 256;
/// How long the end of a run waits for the thread.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// Converts events into messages and handles these on its own thread. If the thread is slow and the queue is full,
/// messages are dropped and counted. The run ends even if the thread is stuck.
pub struct QueuedListener<M> {
    name: &'static str,
    messages: Option<SyncSender<M>>,
    select: Box<dyn FnMut(Event<'_>) -> Option<M>>,
    dropped: u64,
    interval: Duration,
    needs_names: bool,
    /// Signals that the thread has ended.
    over: Receiver<()>,
}

impl<M: Send + 'static> QueuedListener<M> {
    /// Starts the thread. `select` runs on the supervisor's thread, so it must be fast; `handle` may take any time.
    /// `name` appears in messages.
    ///
    /// # Errors
    /// If the system cannot create a thread.
    pub fn start(
        name: &'static str,
        select: impl FnMut(Event<'_>) -> Option<M> + 'static,
        mut handle: impl FnMut(M) + Send + 'static,
    ) -> Result<QueuedListener<M>, String> {
        let (sender, receiver) = sync_channel::<M>(CAPACITY);
        let (ended, over) = channel();
        std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                while let Ok(message) = receiver.recv() {
                    handle(message);
                }
                // If the run ended long ago, the receiver is gone.
                let _ = ended.send(());
            })
            .map_err(|error| {
                format!(
                    "could not start a thread for {name}: {}",
                    plimsoll_machine::shortage::explain(&error)
                )
            })?;
        Ok(QueuedListener {
            name,
            messages: Some(sender),
            select: Box::new(select),
            dropped: 0,
            interval: Duration::from_secs(1),
            needs_names: false,
            over,
        })
    }

    /// The same listener, which also needs the results of requests by name.
    #[must_use]
    pub fn with_names(mut self) -> QueuedListener<M> {
        self.needs_names = true;
        self
    }

    /// The same listener, with another interval of [`Event::Progress`].
    #[must_use]
    pub fn every(mut self, interval: Duration) -> QueuedListener<M> {
        self.interval = interval;
        self
    }
}

impl<M> Listener for QueuedListener<M> {
    fn needs_names(&self) -> bool {
        self.needs_names
    }

    fn interval(&self) -> Duration {
        self.interval
    }

    fn event(&mut self, event: Event<'_>) {
        let Some(sender) = &self.messages else {
            return;
        };
        if let Some(message) = (self.select)(event)
            && let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) =
                sender.try_send(message)
        {
            self.dropped += 1;
        }
    }

    fn finish(&mut self) -> ListenerReport {
        self.messages = None;
        let mut finished = ListenerReport::default();
        if self.over.recv_timeout(SHUTDOWN_TIMEOUT).is_err() {
            finished
                .errors
                .push(format!("{} did not end with the run", self.name));
        }
        if self.dropped > 0 {
            finished.errors.push(format!(
                "{} was too slow: {} messages to it were dropped",
                self.name, self.dropped
            ));
        }
        finished
    }
}
