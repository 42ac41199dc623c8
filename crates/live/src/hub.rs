//! Stores the history of a run, and sends updates to viewers.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;

use crate::collector::Update;
use crate::history::{Change, History};
use crate::point::Point;
use crate::state::State;

/// A server-sent event, shared by all viewers.
pub type Message = Arc<str>;

/// The number of messages by which a viewer may lag. A viewer that lags further is dropped. Its browser reconnects and
/// receives the whole history again.
const MAX_VIEWER_LAG: usize = 32;
/// How long the end of a run waits for viewers to receive it. On a busy machine, the threads that write to viewers wait
/// for a processor for more than a second, because they have the lowest priority.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// The history of a run and its viewers.
pub struct Hub {
    inner: Mutex<Inner>,
    /// Notified when a viewer is gone.
    left: Condvar,
}

struct Inner {
    history: History,
    state: State,
    viewers: Vec<SyncSender<Message>>,
    /// The number of viewers whose threads still write.
    watching: usize,
    is_over: bool,
}

/// Counts a viewer's thread until it is dropped.
pub struct ViewerGuard(Arc<Hub>);

impl Drop for ViewerGuard {
    fn drop(&mut self) {
        self.0.lock().watching -= 1;
        self.0.left.notify_all();
    }
}

/// The whole history, for a new viewer.
#[derive(Serialize)]
struct HistoryMessage<'a> {
    points: &'a [Point],
    state: &'a State,
}

/// The changes since the previous message.
#[derive(Serialize)]
struct ChangesMessage<'a> {
    /// The index of the point, which may replace an earlier version of itself.
    place: Option<usize>,
    point: Option<&'a Point>,
    state: &'a State,
}

impl Hub {
    /// Creates a hub without viewers. Points are `period` long.
    pub fn new(period: Duration) -> Arc<Hub> {
        Arc::new(Hub {
            inner: Mutex::new(Inner {
                history: History::new(period.as_secs_f64()),
                state: State {
                    phase: "starting",
                    ..State::default()
                },
                viewers: Vec::new(),
                watching: 0,
                is_over: false,
            }),
            left: Condvar::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Every change is complete before anything that can panic.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores an update and sends it to all viewers. Never waits for a viewer.
    pub fn publish(&self, update: Update) {
        let mut inner = self.lock();
        if update.latency_changed {
            inner.history.clear_latencies();
        }
        let mut change = update.point.map(|point| {
            if update.is_rest {
                inner.history.extend(point)
            } else {
                inner.history.push(point)
            }
        });
        if update.latency_changed {
            change = Some(Change::All);
        }
        inner.state = update.state;
        let message = match change {
            Some(Change::All) => inner.history_message(),
            Some(Change::Point(place)) => inner.changes_message(Some(place)),
            None => inner.changes_message(None),
        };
        inner
            .viewers
            .retain(|viewer| viewer.try_send(Arc::clone(&message)).is_ok());
    }

    /// Adds a viewer. Its first message is the whole history.
    pub fn watch(self: &Arc<Self>) -> (Receiver<Message>, ViewerGuard) {
        let (sender, receiver) = sync_channel(MAX_VIEWER_LAG);
        let mut inner = self.lock();
        // The queue is empty, so it accepts a message.
        let _ = sender.try_send(inner.history_message());
        if !inner.is_over {
            inner.viewers.push(sender);
        }
        inner.watching += 1;
        (receiver, ViewerGuard(Arc::clone(self)))
    }

    /// The number of connected viewers.
    #[cfg(test)]
    pub fn viewers(&self) -> usize {
        self.lock().viewers.len()
    }

    /// Ends the stream of every viewer, and waits briefly until all of them have received it.
    pub fn close(&self) {
        let mut inner = self.lock();
        inner.is_over = true;
        inner.viewers.clear();
        let waited = self
            .left
            .wait_timeout_while(inner, DRAIN_TIMEOUT, |inner| inner.watching > 0);
        // Viewers that are still connected are too slow.
        drop(waited);
    }
}

impl Inner {
    fn history_message(&self) -> Message {
        let history = message(
            "history",
            &HistoryMessage {
                points: self.history.points(),
                state: &self.state,
            },
        );
        // Browsers wait this many milliseconds before they reconnect.
        format!("retry: 1000\n{history}").into()
    }

    fn changes_message(&self, place: Option<usize>) -> Message {
        message(
            "news",
            &ChangesMessage {
                place,
                point: place.and_then(|place| self.history.points().get(place)),
                state: &self.state,
            },
        )
    }
}

fn message(event: &str, data: &impl Serialize) -> Message {
    // Numbers and strings can always be written as JSON, on one line.
    let data = serde_json::to_string(data).unwrap_or_default();
    format!("event: {event}\ndata: {data}\n\n").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(start: f64) -> Update {
        Update {
            point: Some(Point {
                start,
                span: 1.0,
                requests: 7,
                ..Point::default()
            }),
            is_rest: false,
            latency_changed: false,
            state: State::default(),
        }
    }

    #[test]
    fn a_late_viewer_gets_the_whole_history_and_then_updates() {
        let hub = Hub::new(Duration::from_secs(1));
        hub.publish(update(0.0));
        hub.publish(update(1.0));
        let (messages, _watching) = hub.watch();
        hub.publish(update(2.0));
        let history = messages.recv().unwrap();
        assert!(history.starts_with("retry: 1000\nevent: history\ndata: {"));
        assert_eq!(history.matches("\"requests\":7").count(), 2);
        let news = messages.recv().unwrap();
        assert!(
            news.starts_with("event: news\ndata: {\"place\":2,"),
            "{news}"
        );
        assert!(news.ends_with("}\n\n"));
    }

    #[test]
    fn only_a_viewer_that_does_not_read_is_dropped() {
        let hub = Hub::new(Duration::from_secs(1));
        let (_stalled, _watching) = hub.watch();
        let (reading, _also) = hub.watch();
        for number in 0..2 * MAX_VIEWER_LAG as u32 {
            hub.publish(update(f64::from(number)));
            assert!(reading.recv().is_ok());
        }
        assert_eq!(hub.viewers(), 1);
    }

    #[test]
    fn the_end_reaches_viewers_and_waits_for_them() {
        let hub = Hub::new(Duration::from_secs(1));
        let (messages, watching) = hub.watch();
        let viewer = std::thread::spawn(move || {
            let count = messages.iter().count();
            drop(watching);
            count
        });
        hub.publish(update(0.0));
        hub.close();
        assert_eq!(hub.lock().watching, 0);
        assert_eq!(viewer.join().unwrap(), 2);
        // A viewer that connects later receives the whole history and the end of the stream.
        let (messages, _watching) = hub.watch();
        assert_eq!(messages.iter().count(), 1);
    }
}
