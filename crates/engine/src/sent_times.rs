//! Start times of iterations with random arrivals: a sample of constant size, to compare with the
//! requested process.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use plimsoll_pace::ArrivalModel;
use plimsoll_plan::Scenario;

/// The start times of some of a scenario's iterations: blocks of consecutive iterations, spread
/// evenly over its duration.
///
/// Each sampled iteration has its own slot, so workers record without a lock and without waiting
/// for each other.
#[derive(Debug)]
pub struct SentTimes {
    scenario: Scenario,
    /// Nanoseconds since the start of the scenario, plus 1; 0 for iterations that did not start.
    slots: Box<[AtomicU64]>,
    /// Number of iterations from the start of one block to the next, as a power of two; at least the
    /// size of a block.
    spacing: u32,
}

/// Number of consecutive iterations in a block, as a power of two.
const BLOCK: u32 = 6;
/// Maximum number of blocks, as a power of two: 4,096 times use 32 KiB.
const BLOCKS: u32 = 6;

/// The gaps between arrivals that a scenario sent.
#[derive(Clone, Debug, PartialEq)]
pub struct SentGaps {
    /// The requested gaps follow a gamma distribution with this shape and the mean 1.
    pub shape: f64,
    /// Consecutive gaps of each block.
    pub series: Vec<Vec<SentGap>>,
}

/// The gap between two arrivals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SentGap {
    /// The number of requested gaps of the whole test that it spans. Greater than 1 if other machines
    /// start the iterations in between.
    pub places: u64,
    /// Its length in mean gaps of the whole test.
    pub length: f64,
}

impl SentTimes {
    /// Allocates space for the times of a scenario; `None` if its arrivals are not random.
    pub fn of(scenario: &Scenario) -> Option<SentTimes> {
        let own = scenario.stripe.share(ArrivalModel::of(scenario)?.count());
        let blocks = own >> BLOCKS;
        let spacing = blocks
            .max(1 << BLOCK)
            .checked_next_power_of_two()?
            .trailing_zeros();
        Some(SentTimes {
            scenario: scenario.clone(),
            slots: (0..1 << (BLOCK + BLOCKS))
                .map(|_| AtomicU64::new(0))
                .collect(),
            spacing,
        })
    }

    /// Records that an iteration started `after` the start of the scenario, if it belongs to the
    /// sample. `number` counts the iterations of this process, and `place` those of the whole test,
    /// both from 0. Iterations that were taken over from other processes are not recorded.
    pub fn record(&self, number: u64, place: u64, after: Duration) {
        let within = number & ((1 << self.spacing) - 1);
        let first = (number >> self.spacing) << BLOCK;
        if within >> BLOCK == 0
            && let Some(slot) = self.slots.get((first | within) as usize)
            && self.scenario.stripe.place(number) == Some(place)
        {
            let nanos = u64::try_from(after.as_nanos()).unwrap_or(u64::MAX - 1);
            slot.store(nanos.saturating_add(1), Ordering::Relaxed);
        }
    }

    /// The gaps between iterations that started at least `from` after the start of the scenario. An
    /// iteration that did not start makes the gap around it longer.
    /// start makes the gap around it longer.
    pub fn gaps(&self, from: Duration) -> Option<SentGaps> {
        let model = ArrivalModel::of(&self.scenario)?;
        let blocks = self.slots.chunks(1 << BLOCK).enumerate();
        let starts = |(block, slots): (usize, &[AtomicU64])| -> Vec<(u64, Duration)> {
            let first = (block as u64) << self.spacing;
            let sent = (first..).zip(slots).filter_map(|(number, slot)| {
                let nanos = slot.load(Ordering::Relaxed).checked_sub(1)?;
                Some((number, Duration::from_nanos(nanos)))
            });
            sent.filter(|(_, at)| *at >= from).collect()
        };
        let gap = |pair: &[(u64, Duration)]| {
            let &[(number, at), (_, next)] = pair else {
                return None;
            };
            let place = |number| self.scenario.stripe.place(number);
            Some(SentGap {
                places: place(number + 1)? - place(number)?,
                length: model.place_at(next) - model.place_at(at),
            })
        };
        let series = blocks.map(|block| {
            let mut starts = starts(block);
            // The server sees the iterations in the order of their start times, not of their numbers.
            starts.sort_by_key(|(_, at)| *at);
            starts.windows(2).filter_map(gap).collect()
        });
        Some(SentGaps {
            shape: model.shape,
            series: series.filter(|gaps: &Vec<_>| !gaps.is_empty()).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_plan::{Arrivals, Division, Executor, Rate, Segment, SegmentSequence};

    use super::*;

    fn scenario(arrivals: &str, rate: u64, seconds: u64) -> Scenario {
        let executor = Executor::ConstantArrivalRate {
            rate: Rate {
                count: rate,
                per: Duration::from_secs(1),
            },
            duration: Duration::from_secs(seconds),
            pre_allocated: 1,
            max_users: 1,
        };
        let mut scenario = Scenario::new("a", executor);
        scenario.arrivals = Arrivals::parse(arrivals).unwrap();
        scenario
    }

    fn recorded(scenario: &Scenario) -> SentTimes {
        let sent = SentTimes::of(scenario).unwrap();
        let pacer = plimsoll_pace::of_scenario(scenario).unwrap();
        let starts = (0..).map_while(|number| {
            let place = scenario.stripe.place(number)?;
            Some((number, place, pacer.start_of(place)?))
        });
        starts.for_each(|(number, place, at)| sent.record(number, place, at));
        sent
    }

    fn counts(sent: &SentTimes, from: u64) -> (usize, usize) {
        let gaps = sent.gaps(Duration::from_secs(from)).unwrap();
        let count = gaps.series.iter().map(Vec::len).sum();
        (gaps.series.len(), count)
    }

    #[test]
    fn the_sample_covers_a_short_run_and_is_spread_over_a_long_one() {
        let short = recorded(&scenario("poisson", 10, 10));
        assert_eq!(counts(&short, 0), (2, 63 + 35));
        for (rate, seconds) in [(1_000, 60), (20_000, 8)] {
            let long = recorded(&scenario("gamma:0.5", rate, seconds));
            let (blocks, gaps) = counts(&long, 0);
            assert!((33..=64).contains(&blocks), "{blocks}");
            assert_eq!(gaps, 63 * blocks);
            let (later, _) = counts(&long, seconds / 2);
            assert!(later.abs_diff(blocks / 2) <= 1, "{later} of {blocks}");
        }
        for other in ["even", "trace:file"] {
            assert!(SentTimes::of(&scenario(other, 10, 10)).is_none());
        }
    }

    #[test]
    fn gaps_have_the_requested_mean_and_span_the_iterations_of_other_machines() {
        let mut whole = scenario("on-off:2s/3s", 500, 20);
        let mean = |scenario: &Scenario| {
            let gaps = recorded(scenario).gaps(Duration::ZERO).unwrap();
            let (mut length, mut places) = (0.0, 0);
            for gap in gaps.series.iter().flatten() {
                length += gap.length;
                places += gap.places;
            }
            length / places as f64
        };
        let all = mean(&whole);
        assert!((0.95..1.05).contains(&all), "{all}");
        let sequence = SegmentSequence::parse("0,1/4,1").unwrap();
        let segment = Segment::parse("1/4:1").unwrap();
        whole.stripe = Division::of(segment, &sequence).unwrap().stripe();
        let part = mean(&whole);
        assert!((0.95..1.05).contains(&part), "{part}");
    }

    #[test]
    fn iterations_that_did_not_start_make_gaps_longer() {
        let scenario = scenario("poisson", 100, 10);
        let sent = SentTimes::of(&scenario).unwrap();
        let pacer = plimsoll_pace::of_scenario(&scenario).unwrap();
        for number in (0..1_000).filter(|number| number % 2 == 0) {
            sent.record(number, number, pacer.start_of(number).unwrap());
        }
        let gaps = sent.gaps(Duration::ZERO).unwrap();
        let gaps: Vec<SentGap> = gaps.series.into_iter().flatten().collect();
        let mean = gaps.iter().map(|gap| gap.length).sum::<f64>() / gaps.len() as f64;
        assert!((1.8..2.2).contains(&mean), "{mean}");
        assert!(gaps.iter().all(|gap| gap.places == 1));
    }
}
