//! Whether a target is healthy: from its responses to clients, and from the active check.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use tokio::time::Instant;

use crate::config::PassiveCheck;

pub struct Health {
    most_failures: u32,
    leave_out: Duration,
    started: Instant,
    failures: AtomicU32,
    /// Milliseconds since `started`; 0 if it is not excluded.
    left_out_until: AtomicU64,
    ill: AtomicBool,
}

impl Health {
    pub fn new(check: &PassiveCheck) -> Health {
        Health {
            most_failures: check.failures,
            leave_out: check.leave_out,
            started: Instant::now(),
            failures: AtomicU32::new(0),
            left_out_until: AtomicU64::new(0),
            ill: AtomicBool::new(false),
        }
    }

    /// Whether it may be used.
    pub fn is_well(&self) -> bool {
        if self.is_ill() {
            return false;
        }
        match self.left_out_until.load(Relaxed) {
            0 => true,
            until => self.milliseconds(Instant::now()) >= until,
        }
    }

    /// Whether the active check found it unhealthy.
    pub fn is_ill(&self) -> bool {
        self.ill.load(Relaxed)
    }

    /// Sets the result of the active check; returns whether it changed.
    pub fn set_ill(&self, ill: bool) -> bool {
        if !ill {
            self.succeeded();
        }
        self.ill.swap(ill, Relaxed) != ill
    }

    /// A request got a response.
    pub fn succeeded(&self) {
        // Usually there is nothing to change, and nothing is written.
        if self.failures.load(Relaxed) != 0 {
            self.failures.store(0, Relaxed);
            self.left_out_until.store(0, Relaxed);
        }
    }

    /// A request got no response, or 502 to 504. After too many consecutive failures, each further
    /// one excludes the target again, so that a single attempt after the pause decides.
    pub fn failed(&self) {
        let failures = self.failures.fetch_add(1, Relaxed).saturating_add(1);
        if self.most_failures > 0 && failures >= self.most_failures {
            let until = self.milliseconds(Instant::now() + self.leave_out);
            self.left_out_until.store(until.max(1), Relaxed);
        }
    }

    fn milliseconds(&self, moment: Instant) -> u64 {
        u64::try_from(moment.saturating_duration_since(self.started).as_millis())
            .unwrap_or(u64::MAX)
    }
}
