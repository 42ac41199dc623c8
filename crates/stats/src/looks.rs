//! Stopping by precision: when to look at a growing sample, and how confident each interval must be
//! for the final interval to contain the true value as often as promised.
//!
//! A run that stops at the first narrow interval too often stops at one that is narrow by chance.
//! If the number of looks is fixed in advance, Bonferroni's inequality bounds this effect: each
//! look gets an equal part of the error probability.

/// The looks at a sample that grows from `first` to at most `last` windows. Each look has a quarter
/// more windows than the previous one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looks {
    sizes: Vec<usize>,
    done: usize,
}

/// The error probability of all looks together.
const ERROR: f64 = 0.05;
/// The growth of the sample between looks.
const GROWTH: f64 = 1.25;

impl Looks {
    /// Plans looks from `first` windows to `last`, or a single look if `last` is not larger.
    pub fn new(first: usize, last: usize) -> Looks {
        let mut sizes = vec![first.max(1)];
        while let Some(size) = sizes
            .last()
            .map(|size| (*size as f64 * GROWTH).ceil() as usize)
            && size <= last
        {
            sizes.push(size);
        }
        Looks { sizes, done: 0 }
    }

    /// The confidence of the look that is due with this number of `windows`, or `None` if none is
    /// due. Skipped looks count as made.
    pub fn due(&mut self, windows: usize) -> Option<f64> {
        let reached = self.sizes.iter().filter(|size| **size <= windows).count();
        if reached <= self.done {
            return None;
        }
        self.done = reached;
        Some(self.confidence())
    }

    /// The confidence of each look, so that all looks together have 95 %.
    pub fn confidence(&self) -> f64 {
        1.0 - ERROR / self.sizes.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_grow_by_a_quarter_and_share_the_error() {
        let mut looks = Looks::new(10, 30);
        assert_eq!(looks.sizes, [10, 13, 17, 22, 28]);
        assert_eq!(looks.due(9), None);
        assert_eq!(looks.due(10), Some(0.99));
        assert_eq!(looks.due(12), None);
        assert_eq!(looks.due(20), Some(0.99));
        assert_eq!(looks.due(21), None);
        assert_eq!(looks.due(40), Some(0.99));
        assert_eq!(looks.due(50), None);
    }

    #[test]
    fn a_short_limit_leaves_one_look() {
        let mut looks = Looks::new(10, 5);
        assert_eq!(looks.due(10), Some(0.95));
        assert_eq!(looks.due(99), None);
    }
}
