//! Stopping by precision: when to look at a growing sample, and how confident each interval must be, so that the
//! interval at the stop contains the true value as often as promised.
//!
//! A run that stops at the first narrow interval of many stops too often at one that is narrow by chance. With the number of looks fixed in advance, Bonferroni's inequality bounds that: each look gets an equal
//! part of the error.

/// The looks at a sample that grows from `first` to at most `last` windows, each a quarter larger than the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looks {
    sizes: Vec<usize>,
    done: usize,
}

/// The error of all looks together.
const ERROR: f64 = 0.05;
/// Growth between looks.
const GROWTH: f64 = 1.25;

impl Looks {
    /// Looks from `first` windows to `last`; one if `last` is not larger.
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

    /// The confidence of the look that is due now that there are `windows`; none if none is due. Looks that were
    /// skipped count as made.
    pub fn due(&mut self, windows: usize) -> Option<f64> {
        let reached = self.sizes.iter().filter(|size| **size <= windows).count();
        if reached <= self.done {
            return None;
        }
        self.done = reached;
        Some(self.confidence())
    }

    /// The confidence of each look, for 95 % over all of them.
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
