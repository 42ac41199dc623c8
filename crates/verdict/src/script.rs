//! Checks whether the script ran without exceptions.

use crate::evidence::{Evidence, Findings};
use crate::{Cause, Level};

/// Maximum share of iterations that may throw an exception.
const THREW_SUSPECT: f64 = 0.01;

impl Evidence {
    pub(crate) fn judge_exceptions(&self, found: &mut Findings) {
        let completed = self.started.saturating_sub(self.interrupted);
        if self.threw == 0 {
            return;
        }
        if self.threw >= completed {
            found.add(
                Level::Invalid,
                Cause::Client,
                format!(
                    "the script threw an exception in every iteration ({} of {completed}): see the log for the first one",
                    self.threw
                ),
            );
        } else if self.threw as f64 > completed as f64 * THREW_SUSPECT {
            found.add(
                Level::Suspect,
                Cause::Client,
                format!(
                    "the script threw an exception in {} of {completed} iterations, which did only part of their work",
                    self.threw
                ),
            );
        }
    }
}
