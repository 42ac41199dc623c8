//! Counts of iterations and users.

use plimsoll_samples::wire::{Reader, WireError, Writer};

/// Maximum number of scenarios to count.
const SCENARIO_LIMIT: usize = 10_000;

/// Iteration counts of an agent: since its previous frame, or over the whole run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The counts by scenario, in plan order.
    pub scenarios: Vec<ScenarioCounts>,
    /// Number of iterations that ended normally.
    pub completed: u64,
    /// Number of interrupted iterations.
    pub interrupted: u64,
    /// Number of iterations in which a script threw an exception. They also count as completed.
    pub threw: u64,
}

/// Iterations of one scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScenarioCounts {
    pub started: u64,
    pub completed: u64,
    /// Number of scheduled iterations for which no user was free.
    pub dropped: u64,
}

impl Counts {
    /// Adds the counts of the same plan.
    pub fn add(&mut self, other: &Counts) {
        if self.scenarios.len() < other.scenarios.len() {
            let length = other.scenarios.len();
            self.scenarios.resize(length, ScenarioCounts::default());
        }
        for (sum, more) in self.scenarios.iter_mut().zip(&other.scenarios) {
            sum.started = sum.started.saturating_add(more.started);
            sum.completed = sum.completed.saturating_add(more.completed);
            sum.dropped = sum.dropped.saturating_add(more.dropped);
        }
        self.completed = self.completed.saturating_add(other.completed);
        self.interrupted = self.interrupted.saturating_add(other.interrupted);
        self.threw = self.threw.saturating_add(other.threw);
    }

    /// The difference to `earlier` counts of the same run.
    pub fn since(&self, earlier: &Counts) -> Counts {
        let before = |at: usize| earlier.scenarios.get(at).copied().unwrap_or_default();
        let scenarios = self.scenarios.iter().enumerate();
        Counts {
            scenarios: scenarios
                .map(|(at, now)| ScenarioCounts {
                    started: now.started.saturating_sub(before(at).started),
                    completed: now.completed.saturating_sub(before(at).completed),
                    dropped: now.dropped.saturating_sub(before(at).dropped),
                })
                .collect(),
            completed: self.completed.saturating_sub(earlier.completed),
            interrupted: self.interrupted.saturating_sub(earlier.interrupted),
            threw: self.threw.saturating_sub(earlier.threw),
        }
    }

    pub(crate) fn encode(&self, out: &mut Writer) {
        out.number(self.scenarios.len() as u64);
        for scenario in &self.scenarios {
            out.number(scenario.started);
            out.number(scenario.completed);
            out.number(scenario.dropped);
        }
        out.number(self.completed);
        out.number(self.interrupted);
        out.number(self.threw);
    }

    pub(crate) fn decode(input: &mut Reader<'_>) -> Result<Counts, WireError> {
        let count = input.count(3)?;
        if count > SCENARIO_LIMIT {
            return Err(WireError::TooMany("scenarios"));
        }
        let mut scenarios = Vec::with_capacity(count);
        for _ in 0..count {
            scenarios.push(ScenarioCounts {
                started: input.amount()?,
                completed: input.amount()?,
                dropped: input.amount()?,
            });
        }
        Ok(Counts {
            scenarios,
            completed: input.amount()?,
            interrupted: input.amount()?,
            threw: input.amount()?,
        })
    }
}
