//! Tests whether values follow a given distribution, and whether they are independent. Both tests
//! work on shares: for each value, how much of the distribution is below it. If the values follow
//! the distribution, the shares are uniform between 0 and 1.

use crate::student::log_gamma;

/// Anderson and Darling's statistic A² (1952). If the values follow the distribution, the statistic
/// exceeds 3.9 in one of 100 cases, 6.0 in one of 1,000, and a larger z with a probability of about
/// √3·erfc(√z). Returns 0 without values.
pub fn anderson_darling(mut shares: Vec<f64>) -> f64 {
    if shares.is_empty() {
        return 0.0;
    }
    // A value outside of the distribution's range would make the statistic infinite.
    for share in &mut shares {
        *share = share.clamp(1e-12, 1.0 - 1e-12);
    }
    shares.sort_by(f64::total_cmp);
    let n = shares.len();
    let sum: f64 = (0..n)
        .map(|i| (2 * i + 1) as f64 * (shares[i].ln() + (-shares[n - 1 - i]).ln_1p()))
        .sum();
    -(n as f64) - sum / n as f64
}

/// The correlation of each share with the share `lag` places later in the same series, multiplied
/// by the square root of the number of pairs. It is normally distributed with variance 1 if the
/// values follow the distribution and are independent. Returns 0 without pairs.
pub fn scaled_correlation<'a>(series: impl IntoIterator<Item = &'a [f64]>, lag: usize) -> f64 {
    let (mut sum, mut pairs) = (0.0, 0_u64);
    for shares in series {
        let later = shares.get(lag..).unwrap_or_default();
        for (a, b) in shares.iter().zip(later) {
            sum += (a - 0.5) * (b - 0.5);
            pairs += 1;
        }
    }
    // The variance of a uniform share is 1/12.
    match pairs {
        0 => 0.0,
        pairs => 12.0 * sum / (pairs as f64).sqrt(),
    }
}

/// The share of a gamma distribution with this shape and scale 1 that is below `x`. This is the
/// regularized incomplete gamma function P(shape, x), computed with the series and the continued
/// fraction of Abramowitz and Stegun 6.5.29 and 6.5.31. Returns 0 unless both arguments are
/// positive.
pub fn gamma_share(shape: f64, x: f64) -> f64 {
    if shape <= 0.0 || x <= 0.0 || shape.is_nan() || x.is_nan() {
        return 0.0;
    }
    let front = (shape * x.ln() - x - log_gamma(shape)).exp();
    // Near the mean, the number of terms grows with the width of the distribution.
    let terms = 200 + (20.0 * shape.sqrt()) as usize;
    let share = if x < shape + 1.0 {
        front * series(shape, x, terms)
    } else {
        1.0 - front * fraction(shape, x, terms)
    };
    share.clamp(0.0, 1.0)
}

const PRECISION: f64 = 1e-14;

fn series(shape: f64, x: f64, terms: usize) -> f64 {
    let mut term = 1.0 / shape;
    let mut sum = term;
    for n in 1..=terms {
        term *= x / (shape + n as f64);
        sum += term;
        if term < sum * PRECISION {
            break;
        }
    }
    sum
}

/// The even part of the fraction, evaluated with Lentz's method (1976).
fn fraction(shape: f64, x: f64, terms: usize) -> f64 {
    const TINY: f64 = 1e-300;
    let nonzero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut b = x + 1.0 - shape;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / nonzero(b);
    let mut result = d;
    for n in 1..=terms {
        let n = n as f64;
        let a = -n * (n - shape);
        b += 2.0;
        d = 1.0 / nonzero(a * d + b);
        c = nonzero(b + a / c);
        result *= d * c;
        if (d * c - 1.0).abs() < PRECISION {
            break;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn gamma_shares_agree_with_known_values() {
        // Shape 1 is the exponential distribution, a sum of two of them has 1 − (1 + x)·e⁻ˣ, and
        // shape ½ is half of a χ²₁. The last three are medians: from tables for ½, and shape − 1/3
        // + 8/(405·shape) for large shapes.
        for (shape, x, expected) in [
            (1.0, 0.1, 0.095_162_581_964_04),
            (1.0, 3.0, 0.950_212_931_632_14),
            (2.0, 1.0, 0.264_241_117_657_12),
            (2.0, 5.0, 0.959_572_318_005_49),
            (0.5, 0.5, 0.682_689_492_137_09),
            (0.5, 2.0, 0.954_499_736_103_64),
            (0.5, 0.227_468_211_559_79, 0.5),
            (10_000.0, 9_999.666_668_64, 0.5),
            (1e6, 999_999.666_666_69, 0.5),
        ] {
            let share = gamma_share(shape, x);
            assert!((share - expected).abs() < 1e-9, "{shape} {x}: {share}");
        }
        assert_eq!(gamma_share(3.0, 0.0), 0.0);
        assert_eq!(gamma_share(3.0, -1.0), 0.0);
        assert_eq!(gamma_share(3.0, f64::NAN), 0.0);
        assert!(gamma_share(3.0, 1e9) == 1.0 && gamma_share(0.01, 1e-300) > 0.0);
    }

    #[test]
    fn the_statistics_exceed_their_quantiles_as_often_as_chance_does() {
        let mut random = Random::new(4);
        let (mut deviating, mut correlated) = (0, 0);
        for _ in 0..4_000 {
            let shares: Vec<f64> = (0..100).map(|_| random.unit()).collect();
            correlated += usize::from(scaled_correlation([&shares[..]], 2).abs() > 2.576);
            deviating += usize::from(anderson_darling(shares) > 3.878);
        }
        // One in a hundred: 40 ± 6.3.
        assert!((20..60).contains(&deviating), "{deviating}");
        assert!((20..60).contains(&correlated), "{correlated}");
    }

    #[test]
    fn deviations_are_found() {
        let even: Vec<f64> = (0..1_000).map(|i| (f64::from(i) + 0.5) / 1_000.0).collect();
        assert!(anderson_darling(even.clone()) < 0.1);
        assert!(scaled_correlation([&even[..]], 1) > 20.0);
        let low = even.iter().map(|share| share.powf(1.3)).collect();
        assert!(anderson_darling(low) > 10.0);
        assert!(anderson_darling(vec![0.0, 0.0, 1.0]).is_finite());
        assert_eq!(anderson_darling(Vec::new()), 0.0);
        assert_eq!(scaled_correlation([], 1), 0.0);
    }
}
