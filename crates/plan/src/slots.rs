//! Which of the run's users each scenario takes.
//!
//! Scenarios that do not overlap in time share users. A scenario occupies its
//! users from its start until its graceful stop has passed, so this is the
//! colouring of intervals: taken in the order of their starts, each gets the
//! lowest numbers that are free, and no more numbers are used than are
//! occupied at the worst moment.

use std::ops::Range;
use std::time::Duration;

use crate::build::Plan;
use crate::scenario::Scenario;

/// The users of every scenario, numbered from 0 over the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotAssignment {
    /// In the order of [`Plan::scenarios`].
    pub scenarios: Vec<ScenarioSlots>,
    /// Users to make ready before the start: the slots below this number.
    pub planned_users: u32,
    /// All slots: those from `planned_users` on are made when first needed.
    pub max_users: u32,
}

/// The users of one scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScenarioSlots {
    /// Made ready before the start, ascending.
    pub planned: Vec<Range<u32>>,
    /// Made when an arrival finds no free user, ascending.
    pub unplanned: Vec<Range<u32>>,
}

impl ScenarioSlots {
    /// The numbers of the planned users.
    pub fn planned(&self) -> impl Iterator<Item = u32> + '_ {
        self.planned.iter().cloned().flatten()
    }

    /// The numbers of the users made when needed.
    pub fn unplanned(&self) -> impl Iterator<Item = u32> + '_ {
        self.unplanned.iter().cloned().flatten()
    }
}

impl Plan {
    /// Gives every scenario its users, sharing them among scenarios that do
    /// not overlap in time.
    pub fn assign_slots(&self) -> SlotAssignment {
        let planned: Vec<u32> = self.scenarios.iter().map(Scenario::planned_users).collect();
        let (planned_slots, planned_users) = colour(&self.scenarios, &planned, 0);
        let unplanned: Vec<u32> = self
            .scenarios
            .iter()
            .map(|scenario| {
                scenario
                    .max_users()
                    .saturating_sub(scenario.planned_users())
            })
            .collect();
        let (unplanned_slots, max_users) = colour(&self.scenarios, &unplanned, planned_users);
        let scenarios = planned_slots
            .into_iter()
            .zip(unplanned_slots)
            .map(|(planned, unplanned)| ScenarioSlots { planned, unplanned })
            .collect();
        SlotAssignment {
            scenarios,
            planned_users,
            max_users,
        }
    }
}

/// Numbers from `first` on for each scenario's `wanted`; with them, the first
/// number nobody got. Scenarios come in the order of their starts.
fn colour(scenarios: &[Scenario], wanted: &[u32], first: u32) -> (Vec<Vec<Range<u32>>>, u32) {
    let mut free = FreeNumbers {
        returned: Vec::new(),
        next: first,
    };
    let mut running: Vec<(Duration, Vec<Range<u32>>)> = Vec::new();
    let mut given = Vec::with_capacity(scenarios.len());
    for (scenario, &wanted) in scenarios.iter().zip(wanted) {
        running.retain_mut(|(end, numbers)| {
            let over = *end <= scenario.start_time;
            if over {
                free.give_back(std::mem::take(numbers));
            }
            !over
        });
        let numbers = free.take(wanted);
        running.push((scenario.end().unwrap_or(Duration::MAX), numbers.clone()));
        given.push(numbers);
    }
    (given, free.next)
}

/// Numbers nobody holds, as ascending ranges that do not touch.
struct FreeNumbers {
    returned: Vec<Range<u32>>,
    next: u32,
}

impl FreeNumbers {
    fn take(&mut self, mut wanted: u32) -> Vec<Range<u32>> {
        let mut taken = Vec::new();
        while wanted > 0 && !self.returned.is_empty() {
            let range = self.returned.remove(0);
            let length = range.end - range.start;
            let cut = range.start + length.min(wanted);
            if cut < range.end {
                self.returned.insert(0, cut..range.end);
            }
            wanted -= cut - range.start;
            taken.push(range.start..cut);
        }
        if wanted > 0 {
            let end = self.next.saturating_add(wanted);
            taken.push(self.next..end);
            self.next = end;
        }
        joined(taken)
    }

    fn give_back(&mut self, numbers: Vec<Range<u32>>) {
        self.returned.extend(numbers);
        self.returned.sort_by_key(|range| range.start);
        self.returned = joined(std::mem::take(&mut self.returned));
    }
}

/// Ascending ranges with neighbours made one.
fn joined(ranges: Vec<Range<u32>>) -> Vec<Range<u32>> {
    let mut joined: Vec<Range<u32>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => joined.push(range),
        }
    }
    joined
}
