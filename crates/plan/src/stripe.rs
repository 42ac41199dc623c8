//! Selects the users and iterations of the whole test that belong to one segment.

use std::sync::Arc;

use crate::error::Fault;
use crate::segment::{Ratio, Segment, SegmentSequence, greatest_common_divisor};

/// The slots of each cycle of the whole test that belong to a segment.
///
/// Cutting a test at exact boundaries would give all early iterations to the first segment. Instead, the common
/// denominator of all boundaries defines a cycle of slots. Each segment gets a number of slots in proportion to its
/// length, spread as evenly as the other segments allow. For example, with `0,1/4,3/4,1` the middle segment gets slots
/// 0 and 2 of every 4, and the outer segments get 1 and 3. Every slot belongs to one segment, so segments on different
/// machines add up to the whole test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stripe {
    places: Arc<[u32]>,
    period: u32,
}

/// Longer cycles are rejected, because they would use much memory, and no test is divided that finely.
const LONGEST_CYCLE: u64 = 1_000_000;

impl Stripe {
    /// All slots: the stripe of the whole test.
    pub fn whole() -> Stripe {
        Stripe {
            places: Arc::new([0]),
            period: 1,
        }
    }

    /// The stripe with these slots of every cycle, received from another process.
    ///
    /// # Errors
    /// If the slots are not in ascending order, or not in the cycle.
    pub fn of_slots(slots: &[u32], period: u32) -> Result<Stripe, Fault> {
        let is_ordered = slots.windows(2).all(|pair| pair[0] < pair[1]);
        let fits = u64::from(period) <= LONGEST_CYCLE
            && period > 0
            && slots.last().is_none_or(|last| *last < period);
        match is_ordered && fits {
            true => Ok(Stripe {
                places: slots.into(),
                period,
            }),
            false => Err(Fault::at("stripe", "its slots are not those of a cycle")),
        }
    }

    /// The stripe's slots in every cycle.
    pub fn slots(&self) -> &[u32] {
        &self.places
    }

    /// The number of the first `total` slots that belong to this stripe.
    pub fn share(&self, total: u64) -> u64 {
        let period = u64::from(self.period);
        let (cycles, rest) = (total / period, total % period);
        let partial = self
            .places
            .partition_point(|&place| u64::from(place) < rest);
        cycles * self.places.len() as u64 + partial as u64
    }

    /// The slot in the whole test of this stripe's `n`-th slot, both counted from zero. `None` if it exceeds 64 bits.
    pub fn place(&self, n: u64) -> Option<u64> {
        let held = self.places.len() as u64;
        let within = self.places.get(n.checked_rem(held)? as usize)?;
        (n / held)
            .checked_mul(u64::from(self.period))?
            .checked_add(u64::from(*within))
    }

    /// Whether no slot belongs to the stripe.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether all slots belong to the stripe.
    pub fn is_whole(&self) -> bool {
        self.places.len() as u64 == u64::from(self.period)
    }

    /// The fraction of the slots that belong to the stripe: numerator and denominator.
    pub fn fraction(&self) -> (u32, u32) {
        (self.places.len() as u32, self.period)
    }
}

/// A test that is divided into segments, and the segment of this instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Division {
    /// For each slot of a cycle, the segment that it belongs to.
    holders: Vec<u32>,
    segments: u32,
    mine: u32,
}

impl Division {
    /// No division: a single segment, the whole test.
    pub fn whole() -> Division {
        Division {
            holders: vec![0],
            segments: 1,
            mine: 0,
        }
    }

    /// The division by `sequence`. `segment` is one of its segments.
    ///
    /// # Errors
    /// If the segment is not in the sequence, or if the common denominator of the boundaries is above a million.
    pub fn of(segment: Segment, sequence: &SegmentSequence) -> Result<Division, Fault> {
        let borders = sequence.filled(segment);
        let mut period = 1u64;
        for border in &borders {
            let factor = border.under / greatest_common_divisor(period, border.under);
            period = period.saturating_mul(factor);
            if period > LONGEST_CYCLE {
                return Err(Fault::at(
                    "executionSegmentSequence",
                    "the borders' common denominator is above 1,000,000: use simpler fractions",
                ));
            }
        }
        let (from, to) = segment.borders();
        let Some(mine) = borders.windows(2).position(|pair| pair == [from, to]) else {
            return Err(Fault::at(
                "executionSegment",
                format!(
                    "the segment {segment} is not in the sequence {sequence}: its ends must be adjacent boundaries there"
                ),
            ));
        };
        // Both factors are at most a million.
        let place = |ratio: &Ratio| ratio.over * (period / ratio.under);
        let lengths: Vec<u64> = borders
            .windows(2)
            .map(|pair| place(&pair[1]) - place(&pair[0]))
            .collect();
        Ok(Division::deal(&lengths, mine))
    }

    /// Assigns the slots of a cycle, starting with the longest segment. The i-th of a segment's n slots is the first
    /// free slot from ⌈i·period/n⌉ on.
    fn deal(lengths: &[u64], mine: usize) -> Division {
        let period: u64 = lengths.iter().sum();
        let mut order: Vec<(usize, u64)> = lengths.iter().copied().enumerate().collect();
        order.sort_by_key(|&(_, length)| std::cmp::Reverse(length));
        let mut free = NextFree::new(period as u32);
        let mut holders = vec![0; period as usize];
        for (segment, length) in order {
            for i in 0..length {
                let wanted = (i * period).div_ceil(length);
                holders[free.take(wanted as u32) as usize] = segment as u32;
            }
        }
        Division {
            holders,
            segments: lengths.len() as u32,
            mine: mine as u32,
        }
    }

    /// The slots of this segment.
    pub fn stripe(&self) -> Stripe {
        let places = (0u32..)
            .zip(&self.holders)
            .filter(|(_, holder)| **holder == self.mine);
        Stripe {
            places: places.map(|(place, _)| place).collect(),
            period: self.holders.len() as u32,
        }
    }

    /// The slots of this segment if work is divided in the same way as `users` users.
    ///
    /// Users cannot be divided: of 4 users, three equal segments get 2, 1 and 1. If the work were divided into thirds,
    /// half of the first segment's users would be idle. So the first segment gets half of the work, and a segment
    /// without users gets none.
    pub fn stripe_by_users(&self, users: u64) -> Stripe {
        let period = self.holders.len() as u64;
        let mut shares = vec![0u64; self.segments as usize];
        for (place, &holder) in (0u64..).zip(&self.holders) {
            shares[holder as usize] += users / period + u64::from(place < users % period);
        }
        let divisor = shares.iter().copied().fold(0, greatest_common_divisor);
        if users == 0 || users / divisor > LONGEST_CYCLE {
            // With this many users, both divisions agree to within a millionth.
            return self.stripe();
        }
        let shares: Vec<u64> = shares.into_iter().map(|share| share / divisor).collect();
        Division::deal(&shares, self.mine as usize).stripe()
    }
}

/// Finds the next free slot at or after a given slot, with wrap-around. Union-find with path halving makes the
/// assignment nearly linear.
struct NextFree {
    next: Vec<u32>,
}

impl NextFree {
    fn new(period: u32) -> NextFree {
        NextFree {
            next: (0..=period).collect(),
        }
    }

    fn take(&mut self, wanted: u32) -> u32 {
        let end = (self.next.len() - 1) as u32;
        let mut place = self.find(wanted.min(end));
        if place == end {
            place = self.find(0);
        }
        self.next[place as usize] = place + 1;
        place
    }

    fn find(&mut self, mut place: u32) -> u32 {
        while self.next[place as usize] != place {
            let after = self.next[self.next[place as usize] as usize];
            self.next[place as usize] = after;
            place = after;
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn division(sequence: &str, segment: &str) -> Division {
        let sequence = SegmentSequence::parse(sequence).unwrap();
        Division::of(Segment::parse(segment).unwrap(), &sequence).unwrap()
    }

    fn stripe(sequence: &str, segment: &str) -> Stripe {
        division(sequence, segment).stripe()
    }

    #[test]
    fn a_stripe_can_be_rebuilt_from_its_slots() {
        let stripe = stripe("0,1/4,3/4,1", "1/4:3/4");
        let (_, period) = stripe.fraction();
        assert_eq!(
            Stripe::of_slots(stripe.slots(), period).ok(),
            Some(stripe.clone())
        );
        assert!(Stripe::of_slots(&[1, 1], 4).is_err());
        assert!(Stripe::of_slots(&[4], 4).is_err());
        assert!(Stripe::of_slots(&[], 0).is_err());
    }

    /// The numbers of users at which each segment gets one more, as observed with k6 v1.8.1.
    #[test]
    fn assigns_slots_as_k6_does() {
        let cases: [(&str, &str, &[u32]); 9] = [
            ("0,1/3,2/3,1", "1/3:2/3", &[1]),
            ("0,1/4,3/4,1", "0:1/4", &[1]),
            ("0,1/4,3/4,1", "1/4:3/4", &[0, 2]),
            ("0,1/4,3/4,1", "3/4:1", &[3]),
            ("0,1/2,5/6,1", "1/2:5/6", &[1, 3]),
            ("0,1/10,4/10,1", "0:1/10", &[3]),
            ("0,1/10,4/10,1", "1/10:4/10", &[1, 6, 8]),
            ("0,1/10,4/10,1", "4/10:1", &[0, 2, 4, 5, 7, 9]),
            ("0,2/5,4/5,1", "2/5:4/5", &[1, 4]),
        ];
        for (sequence, segment, places) in cases {
            assert_eq!(
                &*stripe(sequence, segment).places,
                places,
                "{sequence} {segment}"
            );
        }
    }

    #[test]
    fn a_single_segment_defines_its_own_sequence() {
        assert_eq!(stripe("", "1/3:2/3"), stripe("0,1/3,2/3,1", "1/3:2/3"));
        assert_eq!(stripe("", "0:1"), Stripe::whole());
        assert!(stripe("", "0:1").is_whole());
    }

    #[test]
    fn a_segment_must_be_in_the_sequence() {
        let sequence = SegmentSequence::parse("0,1/2,1").unwrap();
        assert!(Division::of(Segment::parse("0:1/4").unwrap(), &sequence).is_err());
        assert!(Division::of(Segment::WHOLE, &sequence).is_err());
    }

    /// Observed with k6 v1.8.1, for `constant-arrival-rate` at 17/s and `shared-iterations`.
    #[test]
    fn divides_work_as_the_users_are_divided() {
        let share = |segment, users, work| {
            let division = division("0,1/3,2/3,1", segment);
            division.stripe_by_users(users).share(work)
        };
        let thirds = ["0:1/3", "1/3:2/3", "2/3:1"];
        assert_eq!(thirds.map(|s| share(s, 4, 300)), [150, 75, 75]);
        assert_eq!(thirds.map(|s| share(s, 1, 300)), [300, 0, 0]);
        assert_eq!(thirds.map(|s| share(s, 2, 7)), [4, 3, 0]);
        assert_eq!(thirds.map(|s| share(s, 5, 17)), [7, 7, 3]);
        let none = division("0,1/3,2/3,1", "2/3:1").stripe_by_users(2);
        assert!(none.is_empty());
        assert_eq!(none.place(0), None);
    }

    #[test]
    fn a_cycle_that_is_too_long_is_refused() {
        let sequence = SegmentSequence::parse("0,1/999983,1/999979,1").unwrap();
        let message = Division::of(Segment::parse("0:1/999983").unwrap(), &sequence).unwrap_err();
        assert!(message.to_string().contains("1,000,000"));
    }

    proptest! {
        #[test]
        fn segments_add_up_to_the_whole(
            mut cuts in prop::collection::btree_set(1u32..60, 0..6),
            total in 0u64..100_000,
        ) {
            cuts.insert(0);
            cuts.insert(60);
            let borders: Vec<u32> = cuts.into_iter().collect();
            let text = borders.iter().map(|b| format!("{b}/60")).collect::<Vec<_>>().join(",");
            let mut shares = 0;
            let mut seen = std::collections::BTreeSet::new();
            for pair in borders.windows(2) {
                let stripe = stripe(&text, &format!("{}/60:{}/60", pair[0], pair[1]));
                let share = stripe.share(total);
                shares += share;
                for n in 0..share.min(200) {
                    let place = stripe.place(n).unwrap();
                    prop_assert!(place < total);
                    prop_assert!(seen.insert(place), "place {} held twice", place);
                }
                prop_assert!(stripe.place(share).unwrap() >= total);
            }
            prop_assert_eq!(shares, total);
        }
    }
}
