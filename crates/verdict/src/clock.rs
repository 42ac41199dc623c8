//! Checks the clock used for all measurements.

use std::time::Duration;

use crate::evidence::{Evidence, Findings};
use crate::{Cause, Level};

/// Maximum ratio of a clock step to the median. A longer step distorts the median.
const STEP: f64 = 0.01;
/// The calendar may differ from the clock of the run by this much, plus this share of the run's
/// duration: twice the maximum rate at which a clock is adjusted (500 ppm, adjtimex(2)).
const SHIFT: Duration = Duration::from_millis(100);
const STEERED: f64 = 0.001;
/// Maximum duration of sleep. A machine that slept longer did not send the requested load.
const ASLEEP: Duration = Duration::from_millis(50);

impl Evidence {
    pub(crate) fn judge_clock(&self, found: &mut Findings) {
        if let (Some(step), Some(median)) = (self.clock_step, self.latency_median)
            && !median.is_zero()
            && step.as_secs_f64() > median.as_secs_f64() * STEP
        {
            found.add(
                Level::Suspect,
                Cause::Clock,
                format!(
                    "the clock's resolution is {}, and the median is {}",
                    plimsoll_units::duration::short(step),
                    plimsoll_units::duration::short(median)
                ),
            );
        }
        let span = self.machine.span;
        if let Some(calendar) = self.machine.calendar {
            let shift = calendar.abs_diff(span);
            if shift > SHIFT + span.mul_f64(STEERED) {
                found.add(Level::Suspect, Cause::Clock, format!(
                    "the system clock was changed by {} during the run: durations are correct, but timestamps of samples are not",
                    plimsoll_units::duration::short(shift)
                ));
            }
        }
        if let Some(since_boot) = self.machine.since_boot {
            let asleep = since_boot.saturating_sub(span);
            if asleep > ASLEEP {
                found.add(
                    Level::Invalid,
                    Cause::Clock,
                    format!(
                        "the machine was suspended for {} of the run",
                        plimsoll_units::duration::short(asleep)
                    ),
                );
            }
        }
    }
}
