//! The health of a target, determined from its responses to clients and from the active check.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use tokio::time::Instant;

use crate::config::PassiveCheck;

pub struct Health {
    check: PassiveCheck,
    started: Instant,
    failures: AtomicU32,
    /// Milliseconds since `started`; 0 if it is not excluded.
    left_out_until: AtomicU64,
    ill: AtomicBool,
}

impl Health {
    pub fn new(check: &PassiveCheck) -> Health {
        Health {
            check: check.clone(),
            started: Instant::now(),
            failures: AtomicU32::new(0),
            left_out_until: AtomicU64::new(0),
            ill: AtomicBool::new(false),
        }
    }

    /// Whether the target may be used.
    pub fn is_well(&self) -> bool {
        let until = self.left_out_until.load(Relaxed);
        !self.is_ill() && (until == 0 || self.milliseconds() >= until)
    }

    /// Whether the active check found it unhealthy.
    pub fn is_ill(&self) -> bool {
        self.ill.load(Relaxed)
    }

    /// Sets the result of the active check; returns whether it changed.
    pub fn set_ill(&self, ill: bool) -> bool {
        if !ill {
            self.report(true);
        }
        self.ill.swap(ill, Relaxed) != ill
    }

    /// Whether a request got a response other than 502 to 504. After too many consecutive failures,
    /// each further one excludes the target again, so that a single attempt after the pause decides.
    pub fn report(&self, succeeded: bool) {
        if !succeeded {
            let failures = self.failures.fetch_add(1, Relaxed).saturating_add(1);
            if self.check.failures > 0 && failures >= self.check.failures {
                // At most a day.
                let pause = self.check.leave_out.as_millis() as u64;
                self.left_out_until
                    .store(self.milliseconds() + pause, Relaxed);
            }
        // Usually there is nothing to change, and nothing is written.
        } else if self.failures.load(Relaxed) != 0 {
            self.failures.store(0, Relaxed);
            self.left_out_until.store(0, Relaxed);
        }
    }

    fn milliseconds(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX / 2)
    }
}
