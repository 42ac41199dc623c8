//! Sends datagrams at a rate that a receiver can handle, on a separate thread.
//!
//! A datagram that does not fit into the receiver's buffer is lost without an error, so bursts must be avoided.

use std::io::ErrorKind;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Maximum number of datagrams that wait to be sent, about 10 MB. Further datagrams are dropped.
const MAX_WAITING: usize = 8_192;
/// Number of datagrams to send without a pause: a tenth of what Linux's default buffer holds.
const BATCH: usize = 8;
/// The pause after each batch. This allows 2,000 datagrams per second, or about 75,000 values.
const PAUSE: Duration = Duration::from_millis(4);
/// How long the end of a run waits for unsent datagrams.
const END: Duration = Duration::from_secs(10);

/// The values in one datagram, and their number.
pub struct Datagram {
    pub text: String,
    pub lines: u64,
}

/// Counts of values.
#[derive(Default)]
pub struct Account {
    pub sent: AtomicU64,
    pub lost: AtomicU64,
    /// The latest reason for lost values.
    reason: Mutex<String>,
}

impl Account {
    /// Counts values that were not sent.
    pub fn count_lost(&self, lines: u64, reason: &str) {
        self.lost.fetch_add(lines, Ordering::Relaxed);
        let mut latest = self.reason.lock().unwrap_or_else(PoisonError::into_inner);
        reason.clone_into(&mut latest);
    }

    /// Counts values as lost that were counted as sent before.
    fn correct_to_lost(&self, lines: u64, reason: &str) {
        self.sent.fetch_sub(lines, Ordering::Relaxed);
        self.count_lost(lines, reason);
    }

    /// The latest reason for a loss.
    pub fn reason(&self) -> String {
        let reason = self.reason.lock();
        reason.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A queue of datagrams to a receiver.
pub struct Datagrams {
    queue: Option<SyncSender<Datagram>>,
    /// Returns the waiting datagrams when the run ends.
    thread: Option<JoinHandle<Receiver<Datagram>>>,
    shared: Arc<Shared>,
}

struct Shared {
    socket: UdpSocket,
    account: Account,
    /// When to drop the remaining datagrams. Set at the end of the run.
    end: OnceLock<Instant>,
}

impl Datagrams {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the system cannot create a thread.
    pub fn start(socket: UdpSocket) -> Result<Datagrams, String> {
        let (queue, waiting) = sync_channel(MAX_WAITING);
        let shared = Arc::new(Shared {
            socket,
            account: Account::default(),
            end: OnceLock::new(),
        });
        let sending = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("statsd".to_owned())
            .spawn(move || {
                plimsoll_machine::run_in_background();
                sending.send_all(std::iter::from_fn(|| match sending.end.get() {
                    None => waiting.recv().ok(),
                    Some(_) => None,
                }));
                waiting
            })
            .map_err(|error| format!("could not start a thread for an output: {error}"))?;
        Ok(Datagrams {
            queue: Some(queue),
            thread: Some(thread),
            shared,
        })
    }

    /// The current counts of values.
    pub fn account(&self) -> &Account {
        &self.shared.account
    }

    /// Queues a datagram, or drops it if too many are waiting.
    pub fn offer(&self, datagram: Datagram) {
        let lines = datagram.lines;
        let queue = self.queue.as_ref();
        if queue.is_none_or(|queue| queue.try_send(datagram).is_err()) {
            self.account()
                .count_lost(lines, "more than StatsD can receive");
        }
    }

    /// Sends the waiting datagrams on this thread, for a limited time. The other thread has the lowest priority, and no
    /// load is left that sending could delay.
    pub fn finish(&mut self) {
        self.shared.end.get_or_init(|| Instant::now() + END);
        self.queue = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(waiting)) => self.shared.send_all(waiting),
            Some(Err(_)) => self.account().count_lost(0, "the thread panicked"),
            None => {}
        }
    }
}

impl Shared {
    fn send_all(&self, datagrams: impl IntoIterator<Item = Datagram>) {
        // The values of the previous datagram, while they count as sent.
        let mut before = 0;
        for (place, datagram) in datagrams.into_iter().enumerate() {
            if self.end.get().is_some_and(|end| Instant::now() > *end) {
                self.account.count_lost(datagram.lines, "the run was over");
                continue;
            }
            let text = datagram.text.as_bytes();
            let mut sent = self.socket.send(text);
            // The error refers to the previous datagram, and this datagram was not sent.
            if let Err(error) = &sent
                && error.kind() == ErrorKind::ConnectionRefused
            {
                self.account.correct_to_lost(before, &error.to_string());
                sent = self.socket.send(text);
            }
            before = match sent {
                Ok(_) => datagram.lines,
                Err(_) => 0,
            };
            self.account.sent.fetch_add(before, Ordering::Relaxed);
            if let Err(error) = sent {
                self.account.count_lost(datagram.lines, &error.to_string());
            }
            if (place + 1) % BATCH == 0 {
                thread::sleep(PAUSE);
            }
        }
        if let Ok(Some(error)) = self.socket.take_error() {
            self.account.correct_to_lost(before, &error.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_lost_without_a_listener() {
        let closed = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = closed.local_addr().unwrap();
        drop(closed);
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(address).unwrap();
        let mut datagrams = Datagrams::start(socket).unwrap();
        for _ in 0..20 {
            datagrams.offer(Datagram {
                text: "a:1|c".to_owned(),
                lines: 3,
            });
        }
        datagrams.finish();
        let account = datagrams.account();
        let count = |of: &AtomicU64| of.load(Ordering::Relaxed);
        assert_eq!((count(&account.sent), count(&account.lost)), (0, 60));
        assert!(account.reason().contains("refused"), "{}", account.reason());
    }
}
