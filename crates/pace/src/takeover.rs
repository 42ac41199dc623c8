//! A part of another segment's schedule.

use std::time::Duration;

use plimsoll_plan::Stripe;

use crate::Pacer;

/// Every `step`-th iteration of a segment, starting with number `first`. If a segment is lost, the
/// others take over such parts of it, so each of its remaining iterations starts exactly once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Takeover {
    pub stripe: Stripe,
    pub first: u64,
    /// At least 1.
    pub step: u64,
}

impl Takeover {
    /// All iterations of a segment.
    pub fn all(stripe: Stripe) -> Takeover {
        Takeover {
            stripe,
            first: 0,
            step: 1,
        }
    }

    /// The number of the `n`-th iteration of this part within the segment; `None` if it exceeds 64
    /// bits.
    pub fn number(&self, n: u64) -> Option<u64> {
        n.checked_mul(self.step)?.checked_add(self.first)
    }

    /// The number of the `n`-th iteration of this part within the whole test; `None` if it exceeds 64
    /// bits.
    pub fn place(&self, n: u64) -> Option<u64> {
        self.stripe.place(self.number(n)?)
    }

    /// Part `part` of `parts` of these iterations, starting with the `from`-th; `None` if a number
    /// exceeds 64 bits.
    pub fn part(&self, from: u64, part: u64, parts: u64) -> Option<Takeover> {
        Some(Takeover {
            stripe: self.stripe.clone(),
            first: self.number(from.checked_add(part)?)?,
            step: self.step.checked_mul(parts)?,
        })
    }

    /// The schedule of these iterations if the whole test has the given schedule.
    pub fn of<P: Pacer>(&self, whole: P) -> TakeoverPacer<'_, P> {
        TakeoverPacer { whole, part: self }
    }
}

/// The schedule of a [`Takeover`].
#[derive(Clone, Debug)]
pub struct TakeoverPacer<'a, P> {
    whole: P,
    part: &'a Takeover,
}

impl<P: Pacer> Pacer for TakeoverPacer<'_, P> {
    fn start_of(&self, number: u64) -> Option<Duration> {
        self.whole.start_of(self.part.place(number)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConstantRate, Striped};
    use plimsoll_plan::{Division, Rate, Segment, SegmentSequence};
    use proptest::prelude::*;

    fn stripe(segment: &str) -> Stripe {
        let sequence = SegmentSequence::parse("0,1/4,3/4,1").unwrap();
        let segment = Segment::parse(segment).unwrap();
        Division::of(segment, &sequence).unwrap().stripe()
    }

    fn all(pacer: &impl Pacer) -> Vec<Duration> {
        (0..).map_while(|n| pacer.start_of(n)).collect()
    }

    proptest! {
        /// A segment is lost, and later one of the segments that took over a part of it.
        #[test]
        fn parts_of_parts_make_up_the_rest(count in 1u64..300, from in 0u64..50, parts in 1u64..5, later in 0u64..20, again in 1u64..4) {
            let rate = Rate { count, per: Duration::from_secs(1) };
            let whole = ConstantRate::new(rate, Duration::from_secs(2));
            let lost = Takeover::all(stripe("1/4:3/4"));
            let mut taken: Vec<Duration> = Vec::new();
            for part in 0..parts {
                let part_of = lost.part(from, part, parts).unwrap();
                if part > 0 {
                    taken.extend(all(&part_of.of(&whole)));
                    continue;
                }
                taken.extend(all(&part_of.of(&whole)).iter().take(later as usize));
                for other in 0..again {
                    let rest = part_of.part(later, other, again).unwrap();
                    taken.extend(all(&rest.of(&whole)));
                }
            }
            taken.sort_unstable();
            let expected = all(&Striped::new(whole, stripe("1/4:3/4")));
            let expected: Vec<_> = expected.into_iter().skip(from as usize).collect();
            prop_assert_eq!(taken, expected);
        }
    }
}
