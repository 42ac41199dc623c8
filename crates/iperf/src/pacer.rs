//! Decides when the next block may be sent.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_units::{BitRate, Bytes, Moment};

/// Paces blocks at an average rate since the start. After a delay it catches up.
pub struct Pacer {
    rate: Option<BitRate>,
    began: Moment,
    sent: u64,
    burst: u64,
    left: u64,
}

/// Time between two checks of whether to stop.
const SLICE: Duration = Duration::from_millis(50);

impl Pacer {
    /// `burst` blocks are sent without a pause; 0 means one block.
    pub fn new(rate: Option<BitRate>, burst: u32, began: Moment) -> Self {
        Pacer {
            rate,
            began,
            sent: 0,
            burst: u64::from(burst.max(1)),
            left: 0,
        }
    }

    /// When the next block is due, if there is a rate.
    fn due(&self) -> Option<Moment> {
        Some(self.began + self.rate?.time_for(Bytes(self.sent)))
    }

    /// Waits until the next block of `size` may be sent. Returns false if the thread must stop.
    pub fn wait(&mut self, size: usize, stop: &AtomicBool) -> bool {
        if self.left == 0 {
            while let Some(due) = self.due() {
                let ahead = due.since(plimsoll_clock::now());
                if ahead.is_zero() {
                    break;
                }
                if stop.load(Ordering::Relaxed) {
                    return false;
                }
                std::thread::sleep(ahead.min(SLICE));
            }
            self.left = self.burst;
        }
        self.left -= 1;
        self.sent = self.sent.saturating_add(size as u64);
        !stop.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_due_at_the_rate_and_bursts_together() {
        let began = plimsoll_clock::now();
        let rate = BitRate::new(8_000_000);
        let stop = AtomicBool::new(false);
        let mut pacer = Pacer::new(rate, 0, began);
        for _ in 0..11 {
            assert!(pacer.wait(1_000, &stop));
        }
        // Ten thousand bytes precede the eleventh block, and each thousand takes a millisecond.
        assert!(plimsoll_clock::now().since(began) >= Duration::from_millis(10));
        assert_eq!(pacer.due(), Some(began + Duration::from_millis(11)));
        let mut bursts = Pacer::new(rate, 5, plimsoll_clock::now() + Duration::from_secs(3600));
        bursts.left = 5;
        for _ in 0..5 {
            assert!(bursts.wait(1_000, &stop));
        }
        stop.store(true, Ordering::Relaxed);
        assert!(!bursts.wait(1_000, &stop));
        assert!(Pacer::new(None, 0, began).due().is_none());
    }
}
