//! Assigns the run's users to scenarios.
//!
//! Scenarios that do not overlap in time share users. A scenario occupies its users from its start until the end of its
//! graceful stop, so this is interval coloring: in the order of their starts, each scenario gets the lowest free
//! numbers. The total does not exceed the number of users that are occupied at the busiest moment.

use std::ops::Range;
use std::time::Duration;

use crate::build::Plan;

impl Plan {
    /// The numbers of each scenario's planned users, starting at 0, in the order of [`Plan::scenarios`]. Scenarios that
    /// do not overlap in time share numbers. Users that an arrival rate adds on demand have no number.
    pub fn assign_slots(&self) -> Vec<Vec<u32>> {
        let mut free = FreeNumbers::default();
        let mut running: Vec<(Duration, Vec<Range<u32>>)> = Vec::new();
        let mut given = Vec::with_capacity(self.scenarios.len());
        for scenario in &self.scenarios {
            running.retain_mut(|(end, numbers)| {
                let over = *end <= scenario.start_time;
                if over {
                    free.give_back(std::mem::take(numbers));
                }
                !over
            });
            let numbers = free.take(scenario.planned_users());
            given.push(numbers.iter().cloned().flatten().collect());
            running.push((scenario.end().unwrap_or(Duration::MAX), numbers));
        }
        given
    }
}

/// Free numbers, as ascending ranges that do not touch.
#[derive(Default)]
struct FreeNumbers {
    returned: Vec<Range<u32>>,
    /// All numbers from here on have never been used.
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

/// Ascending ranges. Adjacent ranges are joined.
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
