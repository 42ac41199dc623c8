//! Moves the load of a lost agent to the others: all iterations that are scheduled after a given time.

use std::time::Duration;

use plimsoll_frames::{MorePlanned, Moved};
use plimsoll_pace::{Pacer, Takeover};
use plimsoll_plan::{Plan, Scenario};

use crate::messages::TakeoverPart;
use crate::peer::Peer;
use crate::schedule::count;

/// A load that ends within this time is not moved, because the others might be notified too late.
const MIN_REMAINING_LOAD: Duration = Duration::from_secs(2);

/// Checks whether the whole load of a plan can be moved.
///
/// # Errors
/// If a scenario has no schedule.
pub fn check(plan: &Plan) -> Result<(), String> {
    let mut scenarios = plan.scenarios.iter();
    match scenarios.find(|scenario| !scenario.executor.is_open()) {
        None => Ok(()),
        Some(scenario) => Err(format!(
            "--fleet-loss redistribute moves iterations of a schedule, and scenario {} has none (executor {}); use --fleet-loss degrade",
            scenario.name,
            scenario.executor.kind().name()
        )),
    }
}

/// Moves the load of a lost agent, starting at time `at` of the run, to the agents that still generate load. `None` if
/// there are none, or if the load ends too soon.
pub fn move_load(peers: &mut [Peer], lost: usize, at: Duration) -> Option<Moved> {
    let is_generating = |peer: &Peer| !peer.is_over() && !peer.has(|state| state.done.is_some());
    let others = 0..peers.len();
    let others: Vec<usize> = others.filter(|at| is_generating(&peers[*at])).collect();
    let (plan, parts) = (peers[lost].plan.clone(), peers[lost].parts.clone());
    let mut planned: Vec<Vec<MorePlanned>> = peers.iter().map(|_| Vec::new()).collect();
    let mut due = 0;
    for (scenario, parts) in plan.scenarios.iter().zip(parts) {
        let Some(pacer) = plimsoll_pace::of_scenario(scenario) else {
            continue;
        };
        let time = at.saturating_sub(scenario.start_time);
        let end = scenario.executor.duration();
        let is_too_late = end.is_some_and(|end| time + MIN_REMAINING_LOAD > end);
        let places = others.iter().map(|other| {
            let scenarios = &peers[*other].plan.scenarios;
            let mut own = scenarios.iter();
            let own = own.position(|own| own.name == scenario.name && own.has_work());
            own.map(|own| (*other, own))
        });
        let places: Vec<(usize, usize)> = places.flatten().collect();
        for part in parts {
            let starts = part.of(&pacer);
            if is_too_late || places.is_empty() {
                due += count(&starts, None);
                continue;
            }
            let before = started_before(&starts, time);
            due += before;
            for (number, (other, own)) in (0..).zip(&places) {
                let Some(piece) = part.part(before, number, places.len() as u64) else {
                    continue;
                };
                let iterations = count(&piece.of(&pacer), None);
                if iterations > 0 {
                    planned[*other].push(more(*own, iterations, scenario, &piece));
                    let peer = &mut peers[*other];
                    let message = TakeoverPart::of(&scenario.name, &piece);
                    peer.takeovers.push(message);
                    peer.parts[*own].push(piece);
                }
            }
        }
    }
    let takers = planned.iter().filter(|more| !more.is_empty()).count();
    if takers == 0 {
        return None;
    }
    let share = peers[lost].account.planned().share / takers as f64;
    for (peer, more) in peers.iter_mut().zip(planned) {
        if !more.is_empty() {
            peer.account.take_over(share, more);
        }
    }
    // Use the samples in the results, because the counters are read slightly later.
    let sums = peers[lost].account.totals().cumulative();
    let there = sums.counter("iterations") + sums.counter("dropped_iterations");
    let moved = Moved {
        at,
        missing: due.saturating_sub(there as u64),
    };
    peers[lost].account.set_moved(moved);
    Some(moved)
}

/// The number of iterations that start before a time.
fn started_before(starts: &impl Pacer, time: Duration) -> u64 {
    let last = time.checked_sub(Duration::from_nanos(1));
    last.map_or(0, |last| count(starts, Some(last)))
}

fn more(place: usize, iterations: u64, scenario: &Scenario, piece: &Takeover) -> MorePlanned {
    let (scenario, piece) = (scenario.clone(), piece.clone());
    MorePlanned {
        scenario: place,
        iterations,
        scheduled_by: Box::new(move |time| {
            let time = time.checked_sub(scenario.start_time);
            let pacer = plimsoll_pace::of_scenario(&scenario);
            time.zip(pacer)
                .map_or(0, |(time, pacer)| count(&piece.of(&pacer), Some(time)))
        }),
    }
}
