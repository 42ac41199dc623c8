//! Wilcoxon's signed-rank test, exact, and its estimate.

/// The outcome of the test on paired differences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedRank {
    /// The sum of the ranks of positive differences.
    pub positive: f64,
    /// Two-sided, by counting every assignment of signs.
    pub p: f64,
    /// The median of the Walsh averages (Hodges and Lehmann 1963).
    pub estimate: f64,
    /// The interval with at least the given confidence; infinite if there are too few differences
    /// for one.
    pub low: f64,
    pub high: f64,
}

/// Tests whether the differences are centered on zero. Zeros are left out, as in Wilcoxon's method;
/// ties share the mean of their ranks, and the exact count uses those ranks. `None` for no
/// differences, and for more than 1000, for which counting would take too long.
pub fn signed_rank(differences: &[f64], confidence: f64) -> Option<SignedRank> {
    const MOST: usize = 1000;
    if differences.is_empty()
        || differences.len() > MOST
        || differences.iter().any(|value| !value.is_finite())
    {
        return None;
    }
    let mut walsh: Vec<f64> = Vec::with_capacity(differences.len() * (differences.len() + 1) / 2);
    for (at, one) in differences.iter().enumerate() {
        walsh.extend(differences[at..].iter().map(|other| 0.5 * (one + other)));
    }
    walsh.sort_unstable_by(f64::total_cmp);
    let estimate = middle(&walsh)?;
    let (low, high) = bounds(&walsh, differences.len(), confidence);

    let mut nonzero: Vec<f64> = differences
        .iter()
        .copied()
        .filter(|value| *value != 0.0)
        .collect();
    nonzero.sort_unstable_by(|one, other| one.abs().total_cmp(&other.abs()));
    let doubled = doubled_ranks(&nonzero);
    let positive: usize = nonzero
        .iter()
        .zip(&doubled)
        .filter(|(value, _)| **value > 0.0)
        .map(|(_, rank)| rank)
        .sum();
    let chances = chances(&doubled);
    let below: f64 = chances.iter().take(positive + 1).sum();
    let above: f64 = chances.iter().skip(positive).sum();
    Some(SignedRank {
        positive: positive as f64 / 2.0,
        p: (2.0 * below.min(above)).min(1.0),
        estimate,
        low,
        high,
    })
}

fn middle(sorted: &[f64]) -> Option<f64> {
    let half = sorted.len() / 2;
    let high = *sorted.get(half)?;
    if sorted.len() % 2 == 1 {
        return Some(high);
    }
    Some(0.5 * (high + sorted.get(half.checked_sub(1)?)?))
}

/// Twice the rank of each value, so that the mean of tied ranks is an integer.
fn doubled_ranks(sorted: &[f64]) -> Vec<usize> {
    let mut ranks = vec![0; sorted.len()];
    let mut start = 0;
    while start < sorted.len() {
        let tied = sorted[start..]
            .iter()
            .take_while(|value| value.abs() == sorted[start].abs())
            .count();
        // Ranks start + 1 … start + tied; twice their mean is their ends' sum.
        ranks[start..start + tied].fill(2 * start + tied + 1);
        start += tied;
    }
    ranks
}

/// The probability of each sum of ranks (doubled) if each sign is equally likely.
fn chances(doubled: &[usize]) -> Vec<f64> {
    let total: usize = doubled.iter().sum();
    let mut chances = vec![0.0; total + 1];
    chances[0] = 1.0;
    let mut reached = 0;
    for rank in doubled {
        reached += rank;
        for sum in (0..=reached).rev() {
            let with = sum.checked_sub(*rank).map_or(0.0, |rest| chances[rest]);
            chances[sum] = 0.5 * (chances[sum] + with);
        }
    }
    chances
}

/// The k-th smallest and largest Walsh average, k the largest with 2·P(W < k) ≤ 1 −
/// confidence.
fn bounds(walsh: &[f64], n: usize, confidence: f64) -> (f64, f64) {
    let ranks: Vec<usize> = (1..=n).collect();
    let mut tail = 0.0;
    let mut outside = 0;
    for chance in chances(&ranks) {
        tail += chance;
        if 2.0 * tail > 1.0 - confidence + 1e-12 {
            break;
        }
        outside += 1;
    }
    match outside {
        0 => (f64::NEG_INFINITY, f64::INFINITY),
        _ => (
            walsh.get(outside - 1).copied().unwrap_or(f64::NEG_INFINITY),
            walsh
                .get(walsh.len() - outside)
                .copied()
                .unwrap_or(f64::INFINITY),
        ),
    }
}
