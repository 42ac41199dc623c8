//! Tests whether groups have the same mean, with the F-test of a one-way analysis of variance: for
//! example, whether the same change has the same effect in each cell.

use crate::student::beta_share;

/// Maximum mean square of numbers that are equal except for rounding.
const EXACT: f64 = 1e-18;

/// The p value for the hypothesis that these groups of values have equal means. `None` for fewer
/// than two groups, if no group has two values, or if a value is not finite.
pub fn p_of_equal_means(groups: &[Vec<f64>]) -> Option<f64> {
    let all = || groups.iter().flatten().copied();
    let count = all().count();
    let between_freedom = groups.len().checked_sub(1).filter(|free| *free > 0)? as f64;
    let within_freedom = count.checked_sub(groups.len()).filter(|free| *free > 0)? as f64;
    if groups.iter().any(Vec::is_empty) || all().any(|value| !value.is_finite()) {
        return None;
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let whole = all().sum::<f64>() / count as f64;
    let (mut between, mut within) = (0.0, 0.0);
    for group in groups {
        let own = mean(group);
        between += group.len() as f64 * (own - whole).powi(2);
        within += group.iter().map(|value| (value - own).powi(2)).sum::<f64>();
    }
    let (between, within) = (between / between_freedom, within / within_freedom);
    Some(match (between > EXACT, within > EXACT) {
        (false, _) => 1.0,
        (true, false) => 0.0,
        (true, true) => {
            let ratio = between / within * between_freedom;
            // P(F ≥ f) with both degrees of freedom.
            beta_share(
                within_freedom / (within_freedom + ratio),
                within_freedom / 2.0,
                between_freedom / 2.0,
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn the_p_value_is_that_of_tables() {
        let groups = [
            vec![1.0, 2.0, 4.5],
            vec![3.0, 4.0, 6.5],
            vec![4.0, 6.5, 6.0],
        ];
        let p = p_of_equal_means(&groups).expect("enough values");
        // Means 2.5, 4.5, 5.5: between 3 × (2.7778 + 0.1111 + 1.7778) ÷ 2 = 7, within 16.5 ÷ 6 = 2.75: F = 2.5455,
        // and with 2 and 6 degrees of freedom P = (1 + 2 × 2.5455 ÷ 6)^(−3) = 0.1583.
        assert!((p - 0.1583).abs() < 1e-4, "{p}");
        assert_eq!(p_of_equal_means(&[vec![1.0, 1.0], vec![1.0]]), Some(1.0));
        assert_eq!(p_of_equal_means(&[vec![1.0, 1.0], vec![2.0]]), Some(0.0));
        assert_eq!(p_of_equal_means(&[vec![1.0], vec![2.0]]), None);
        assert_eq!(p_of_equal_means(&[vec![1.0, 2.0]]), None);
        assert_eq!(p_of_equal_means(&[vec![1.0, f64::NAN], vec![2.0]]), None);
    }

    #[test]
    fn equal_effects_are_rarely_distinguished_and_different_ones_often() {
        let mut random = Random::new(3);
        let mut share = |effects: [f64; 4]| {
            let found = (0..2_000).filter(|_| {
                let groups =
                    effects.map(|effect| (0..3).map(|_| effect + 0.07 * random.normal()).collect());
                p_of_equal_means(&groups).expect("enough values") <= 0.05
            });
            found.count() as f64 / 20.0
        };
        let equal = share([0.1; 4]);
        assert!((3.5..=6.5).contains(&equal), "{equal:.1} %");
        let different = share([0.0, 0.0, 0.0, 0.3]);
        assert!(different >= 90.0, "{different:.1} %");
    }
}
