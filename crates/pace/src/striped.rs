//! One segment's part of a schedule.

use std::time::Duration;

use plimsoll_plan::Stripe;

use crate::Pacer;

/// The iterations of a whole test's schedule that one segment owns: the segment's n-th iteration is
/// the iteration in the n-th slot of its stripe. All segments together start each iteration exactly
/// once, at its scheduled time.
#[derive(Clone, Debug)]
pub struct Striped<P> {
    whole: P,
    stripe: Stripe,
}

impl<P: Pacer> Striped<P> {
    /// The part of `whole` that belongs to the stripe.
    pub fn new(whole: P, stripe: Stripe) -> Self {
        Striped { whole, stripe }
    }
}

impl<P: Pacer> Pacer for Striped<P> {
    fn start_of(&self, number: u64) -> Option<Duration> {
        self.whole.start_of(self.stripe.place(number)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConstantRate, RampingRate};
    use plimsoll_plan::{Division, Rate, Segment, SegmentSequence, Stage};
    use proptest::prelude::*;

    const QUARTERS: &str = "0,1/4,3/4,1";

    fn parts() -> impl Iterator<Item = Stripe> {
        let sequence = SegmentSequence::parse(QUARTERS).unwrap();
        ["0:1/4", "1/4:3/4", "3/4:1"]
            .into_iter()
            .map(move |segment| {
                Division::of(Segment::parse(segment).unwrap(), &sequence)
                    .unwrap()
                    .stripe()
            })
    }

    fn all(pacer: &impl Pacer) -> Vec<Duration> {
        (0..).map_while(|n| pacer.start_of(n)).collect()
    }

    fn together(whole: &(impl Pacer + Clone)) -> Vec<Duration> {
        let mut starts: Vec<_> = parts()
            .flat_map(|stripe| all(&Striped::new(whole.clone(), stripe)))
            .collect();
        starts.sort_unstable();
        starts
    }

    proptest! {
        #[test]
        fn the_parts_make_up_the_whole(count in 0u64..300, target in 0u64..300, seconds in 0u64..4) {
            let rate = Rate { count, per: Duration::from_secs(1) };
            let duration = Duration::from_secs(seconds);
            let constant = ConstantRate::new(rate, duration);
            prop_assert_eq!(together(&constant), all(&constant));
            let ramping = RampingRate::new(rate, &[Stage { duration, target }]);
            prop_assert_eq!(together(&ramping), all(&ramping));
        }
    }

    /// Observed in k6 v1.8.1: at 10/s, the middle of three equal segments starts at 100, 400 and
    /// 700 ms.
    #[test]
    fn a_part_keeps_its_start_times() {
        let sequence = SegmentSequence::parse("0,1/3,2/3,1").unwrap();
        let stripe = Division::of(Segment::parse("1/3:2/3").unwrap(), &sequence)
            .unwrap()
            .stripe();
        let rate = Rate {
            count: 10,
            per: Duration::from_secs(1),
        };
        let part = Striped::new(ConstantRate::new(rate, Duration::from_secs(1)), stripe);
        assert_eq!(all(&part), [100, 400, 700].map(Duration::from_millis));
    }
}
