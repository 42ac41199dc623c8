//! Stops without losing a response: on SIGTERM or SIGINT, the server accepts no more connections,
//! finishes the responses in progress, and closes idle connections.

use std::io;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// The signal that all connections and listeners watch.
#[derive(Clone)]
pub struct Draining(watch::Receiver<bool>);

impl Draining {
    /// Returns when draining begins.
    pub async fn started(&mut self) {
        // The sender is dropped only when the program ends.
        let _ = self.0.wait_for(|started| *started).await;
    }

    /// Whether draining has begun.
    pub fn has_begun(&self) -> bool {
        *self.0.borrow()
    }
}

/// The end that starts draining, and waits until all watchers are gone.
pub struct Drain(watch::Sender<bool>);

impl Drain {
    pub fn new() -> (Drain, Draining) {
        let (sender, receiver) = watch::channel(false);
        (Drain(sender), Draining(receiver))
    }

    /// Starts draining, and waits until every [`Draining`] is dropped, but at most for `patience`.
    /// Returns whether all ended in time.
    pub async fn run(self, patience: Duration) -> bool {
        self.0.send_replace(true);
        tokio::time::timeout(patience, self.0.closed())
            .await
            .is_ok()
    }
}

/// The signals that stop the program, from when this is created.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub fn listen() -> io::Result<Signals> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for one, and returns its name.
    pub async fn received(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn draining_ends_when_the_last_connection_has_closed() {
        let (drain, mut draining) = Drain::new();
        let task = tokio::spawn(async move {
            draining.started().await;
            tokio::time::sleep(Duration::from_secs(1)).await;
        });
        assert!(drain.run(Duration::from_secs(5)).await);
        assert!(task.is_finished());
    }

    #[tokio::test(start_paused = true)]
    async fn patience_ends() {
        let (drain, draining) = Drain::new();
        assert!(!drain.run(Duration::from_secs(5)).await);
        assert!(draining.has_begun());
    }
}
