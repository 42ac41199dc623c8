//! Sends datagrams at a pace that a receiver can follow, on a thread of its own.
//!
//! Nobody reports a datagram that does not fit the receiver's buffer, bursts must be avoided.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Datagrams that wait to be sent, about 10 MB. More are dropped.
const WAITING: usize = 8_192;
/// Datagrams that are sent at once: a tenth of what the default buffer of Linux holds.
const AT_ONCE: usize = 8;
/// The pause after them. This allows 2,000 datagrams per second, about 75,000 values.
const PAUSE: Duration = Duration::from_millis(4);
/// How long the end of a run waits for datagrams that are not sent yet.
const END: Duration = Duration::from_secs(10);

/// Values in one datagram, and their number.
pub struct Datagram {
    pub text: String,
    pub lines: u64,
}

/// Counts of values.
#[derive(Default)]
pub struct Account {
    pub sent: AtomicU64,
    pub lost: AtomicU64,
    /// Why values were lost: the latest reason.
    reason: Mutex<String>,
}

impl Account {
    /// Counts values that were not sent.
    pub fn lose(&self, lines: u64, reason: &str) {
        self.lost.fetch_add(lines, Ordering::Relaxed);
        let mut latest = self.reason.lock().unwrap_or_else(PoisonError::into_inner);
        reason.clone_into(&mut latest);
    }

    /// The latest reason for a loss.
    pub fn reason(&self) -> String {
        let reason = self.reason.lock();
        reason.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Datagrams on their way to a receiver.
pub struct Datagrams {
    queue: Option<SyncSender<Datagram>>,
    thread: Option<JoinHandle<()>>,
    account: Arc<Account>,
    /// Whether those that still wait are dropped.
    is_over: Arc<AtomicBool>,
}

impl Datagrams {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system refuses a thread.
    pub fn start(socket: UdpSocket) -> Result<Datagrams, String> {
        let (queue, waiting) = sync_channel(WAITING);
        let account = Arc::new(Account::default());
        let is_over = Arc::new(AtomicBool::new(false));
        let (counted, over) = (Arc::clone(&account), Arc::clone(&is_over));
        let thread = thread::Builder::new()
            .name("statsd".to_owned())
            .spawn(move || {
                plimsoll_machine::run_in_background();
                send_all(&socket, &waiting, &counted, &over);
            })
            .map_err(|error| format!("could not start a thread for an output: {error}"))?;
        Ok(Datagrams {
            queue: Some(queue),
            thread: Some(thread),
            account,
            is_over,
        })
    }

    /// Counts of values so far.
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Sends a datagram later, or drops it if too many wait already.
    pub fn offer(&self, datagram: Datagram) {
        let lines = datagram.lines;
        let queue = self.queue.as_ref();
        if queue.is_none_or(|queue| queue.try_send(datagram).is_err()) {
            self.account.lose(lines, "more than StatsD can receive");
        }
    }

    /// Waits until all are sent, for a limited time.
    pub fn finish(&mut self) {
        self.queue = None;
        let Some(thread) = self.thread.take() else {
            return;
        };
        let end = Instant::now() + END;
        while !thread.is_finished() && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
        self.is_over.store(true, Ordering::Relaxed);
        if thread.join().is_err() {
            self.account.lose(0, "the thread ended by a panic");
        }
    }
}

fn send_all(
    socket: &UdpSocket,
    waiting: &Receiver<Datagram>,
    account: &Account,
    is_over: &AtomicBool,
) {
    for (place, datagram) in waiting.iter().enumerate() {
        if is_over.load(Ordering::Relaxed) {
            account.lose(datagram.lines, "the run was over");
            continue;
        }
        match socket.send(datagram.text.as_bytes()) {
            Ok(_) => {
                account.sent.fetch_add(datagram.lines, Ordering::Relaxed);
            }
            Err(error) => account.lose(datagram.lines, &error.to_string()),
        }
        if (place + 1) % AT_ONCE == 0 {
            thread::sleep(PAUSE);
        }
    }
}
