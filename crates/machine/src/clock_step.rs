use std::time::Duration;

/// The smallest observed step of the clock.
pub fn clock_step() -> Duration {
    let mut last = plimsoll_clock::now();
    let mut smallest = Duration::MAX;
    for _ in 0..1_000 {
        let now = plimsoll_clock::now();
        let step = now.since(last);
        if !step.is_zero() {
            smallest = smallest.min(step);
        }
        last = now;
    }
    smallest
}
