//! The arrivals that scenarios sent, for the verdict.

use std::time::Duration;

use plimsoll_engine::{ScenarioState, SentTimes};
use plimsoll_plan::{ArrivalProcess, Scenario};
use plimsoll_verdict::{ArrivalGap, Arrivals, Requested};

/// The arrivals that a scenario sent after the first `warm_up` of the run. `None` if it has no arrival process, or if
/// nothing started in this process.
pub fn sent_arrivals(state: &ScenarioState, warm_up: Duration) -> Option<Arrivals> {
    state.started()?;
    arrivals(&state.scenario, state.sent(), warm_up)
}

fn arrivals(scenario: &Scenario, sent: Option<&SentTimes>, warm_up: Duration) -> Option<Arrivals> {
    let process = &scenario.arrivals.process;
    let requested = match process {
        ArrivalProcess::Trace(_) => Requested::Times,
        _ => {
            let sent = sent?.gaps(warm_up.saturating_sub(scenario.start_time))?;
            let series = sent.series.iter().map(|gaps| {
                let gaps = gaps.iter().map(|gap| ArrivalGap {
                    places: gap.places,
                    length: gap.length,
                });
                gaps.collect()
            });
            Requested::Gaps {
                shape: sent.shape,
                in_bursts: matches!(process, ArrivalProcess::OnOff { .. }),
                sent: series.collect(),
            }
        }
    };
    Some(Arrivals {
        scenario: scenario.name.clone(),
        process: scenario.arrivals.to_string(),
        requested,
    })
}

/// These tests simulate whole runs in virtual time.
#[cfg(test)]
mod tests {
    use plimsoll_engine::Schedule;
    use plimsoll_plan::{Executor, Rate, Stage};
    use plimsoll_verdict::{Evidence, Level, Verdict};

    use super::*;

    fn constant(rate: u64) -> Executor {
        Executor::ConstantArrivalRate {
            rate: per_second(rate),
            duration: Duration::from_secs(3),
            pre_allocated: 1,
            max_users: 1,
        }
    }

    fn per_second(count: u64) -> Rate {
        Rate {
            count,
            per: Duration::from_secs(1),
        }
    }

    fn ramp() -> Executor {
        let stage = |target| Stage {
            duration: Duration::from_secs(2),
            target,
        };
        Executor::RampingArrivalRate {
            start: per_second(0),
            stages: [stage(1_000), stage(1_000), stage(50)].into(),
            pre_allocated: 1,
            max_users: 1,
        }
    }

    /// The verdict on a run in which `sent` converts each scheduled start to the actual start.
    fn verdict(executor: Executor, process: &str, sent: impl Fn(Duration) -> Duration) -> Verdict {
        let mut scenario = Scenario::new("default", executor);
        scenario.arrivals = plimsoll_plan::Arrivals::parse(process).unwrap();
        let schedule = Schedule::of(&scenario).unwrap();
        let times = SentTimes::of(&scenario).unwrap();
        for (number, at) in (0..).map_while(|number| Some((number, schedule.start_of(number)?))) {
            times.record(number, number, sent(at));
        }
        let mut evidence = Evidence::default();
        let sent = arrivals(&scenario, Some(&times), Duration::ZERO);
        evidence.arrivals.extend(sent);
        evidence.judge()
    }

    #[test]
    fn exact_and_slightly_late_starts_are_accepted() {
        for (executor, process) in [
            (constant(1_000), "poisson"),
            (constant(1_000), "gamma:0.5"),
            (constant(1_000), "gamma:4"),
            (constant(1_000), "on-off:200ms/800ms"),
            (ramp(), "poisson"),
        ] {
            for seed in 1..30 {
                let process = format!("{process}@{seed}");
                // Timers are late by 0 to 20 µs; the gap between arrivals is 1 ms.
                let late =
                    |at: Duration| at + Duration::from_nanos(u64::from(at.subsec_nanos()) % 20_000);
                let late = verdict(executor.clone(), &process, late);
                assert_eq!(late.level, Level::Valid, "{process}: {late:?}");
            }
        }
    }

    #[test]
    fn coarse_timers_pauses_and_even_starts_are_detected() {
        let millis = Duration::from_millis;
        let coarse = |tick: u128| {
            move |at: Duration| Duration::from_nanos((at.as_nanos().div_ceil(tick) * tick) as u64)
        };
        let early_and_late = |at: Duration| match at.subsec_millis() % 100 {
            // Nothing starts in the first half of each period. Everything that was due starts in the second half.
            within if within < 50 => at + millis(50 - u64::from(within)),
            _ => at,
        };
        let reason = |verdict: Verdict| {
            assert_eq!(verdict.level, Level::Suspect, "{verdict:?}");
            verdict.reasons[0].text.clone()
        };
        for process in ["poisson", "gamma:0.5", "on-off:200ms/800ms"] {
            reason(verdict(constant(1_000), process, coarse(1_000_000)));
            let bursts = reason(verdict(constant(1_000), process, early_and_late));
            assert!(bursts.ends_with("percentiles are too high"), "{bursts}");
        }
        let started = std::cell::Cell::new(Duration::ZERO);
        let even = |_| {
            started.set(started.get() + millis(1));
            started.get()
        };
        let even = reason(verdict(constant(1_000), "poisson", even));
        assert!(even.ends_with("percentiles are too low"), "{even}");
    }
}
