//! Describes how throughput grows with load, with the Universal Scalability Law (Gunther 2007).

use crate::interval::Interval;
use crate::student;

/// The fitted curve X(N) = λN ÷ (1 + σ(N − 1) + κN(N − 1)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalability {
    /// Throughput of one user (λ).
    pub alone: Interval,
    /// Contention (σ): the share of work that is serialized.
    pub contention: Interval,
    /// Coherence (κ): the cost of coordination between each pair of users.
    pub coherence: Interval,
    /// The load with the highest throughput, √((1 − σ) ÷ κ), and that throughput.
    pub peak: (f64, f64),
}

/// Why there is no fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FitError {
    /// There are fewer than six loads.
    TooFewPoints,
    /// A load or a throughput is not above zero.
    NotPositive,
    /// The points do not determine a curve.
    Singular,
    /// The interval of contention or coherence contains 0: the points do not show a limit.
    SpansZero {
        contention: Interval,
        coherence: Interval,
    },
}

/// Minimum number of different loads.
pub const MIN_POINTS: usize = 6;

/// Fits points `(load, throughput)` by least squares, with 95 % intervals from the curvature at the
/// solution.
pub fn scalability(points: &[(f64, f64)]) -> Result<Scalability, FitError> {
    let mut loads: Vec<f64> = points.iter().map(|(load, _)| *load).collect();
    loads.sort_unstable_by(f64::total_cmp);
    loads.dedup();
    if loads.len() < MIN_POINTS {
        return Err(FitError::TooFewPoints);
    }
    if points
        .iter()
        .any(|(n, x)| !(n.is_finite() && x.is_finite() && *n > 0.0 && *x > 0.0))
    {
        return Err(FitError::NotPositive);
    }
    let mut at = start(points).ok_or(FitError::Singular)?;
    let mut error = squares(points, at);
    let mut damping = 1e-3;
    // Levenberg-Marquardt, until a step makes no difference.
    for _ in 0..500 {
        let (curvature, slope) = normal(points, at);
        let mut damped = curvature;
        for (k, row) in damped.iter_mut().enumerate() {
            row[k] *= 1.0 + damping;
        }
        let Some(inverse) = inverse(damped) else {
            return Err(FitError::Singular);
        };
        let step = times(inverse, slope);
        let next = [at[0] + step[0], at[1] + step[1], at[2] + step[2]];
        let found = squares(points, next);
        if found.is_finite() && found <= error {
            let small = (error - found) <= 1e-15 * error;
            (at, error) = (next, found);
            damping = (damping * 0.3).max(1e-15);
            if small {
                break;
            }
        } else {
            damping *= 10.0;
            if damping > 1e15 {
                break;
            }
        }
    }
    let freedom = points.len() as f64 - 3.0;
    let covariance = inverse(normal(points, at).0).ok_or(FitError::Singular)?;
    let t = student::quantile(0.95, freedom);
    let interval = |k: usize| {
        let half = t * (covariance[k][k] * error / freedom).max(0.0).sqrt();
        Interval {
            low: at[k] - half,
            estimate: at[k],
            high: at[k] + half,
        }
    };
    let (contention, coherence) = (interval(1), interval(2));
    // A fit without any error has intervals of width zero. Such an interval at 0 does not show a limit.
    if contention.low <= 0.0 || coherence.low <= 0.0 {
        return Err(FitError::SpansZero {
            contention,
            coherence,
        });
    }
    let peak = ((1.0 - at[1]) / at[2]).max(0.0).sqrt();
    Ok(Scalability {
        alone: interval(0),
        contention,
        coherence,
        peak: (peak, throughput(at, peak)),
    })
}

fn throughput([lambda, sigma, kappa]: [f64; 3], n: f64) -> f64 {
    lambda * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0))
}

fn squares(points: &[(f64, f64)], at: [f64; 3]) -> f64 {
    points
        .iter()
        .map(|(n, x)| (x - throughput(at, *n)).powi(2))
        .sum()
}

/// N ÷ X is linear in 1, N − 1 and N(N − 1), so a starting point can be computed directly.
fn start(points: &[(f64, f64)]) -> Option<[f64; 3]> {
    let mut matrix = [[0.0; 3]; 3];
    let mut vector = [0.0; 3];
    for (n, x) in points {
        let row = [1.0, n - 1.0, n * (n - 1.0)];
        // The error of N ÷ X is the error of X multiplied by N ÷ X². The weights correct for that.
        let weight = (x * x / n).powi(2);
        for i in 0..3 {
            for j in 0..3 {
                matrix[i][j] += weight * row[i] * row[j];
            }
            vector[i] += weight * row[i] * n / x;
        }
    }
    let [a, b, c] = times(inverse(matrix)?, vector);
    (a > 0.0).then(|| [1.0 / a, b / a, c / a])
}

/// JᵀJ and Jᵀr at a point.
fn normal(points: &[(f64, f64)], at: [f64; 3]) -> ([[f64; 3]; 3], [f64; 3]) {
    let mut matrix = [[0.0; 3]; 3];
    let mut vector = [0.0; 3];
    for (n, x) in points {
        let below = 1.0 + at[1] * (n - 1.0) + at[2] * n * (n - 1.0);
        let modeled = at[0] * n / below;
        let slope = [
            n / below,
            -modeled * (n - 1.0) / below,
            -modeled * n * (n - 1.0) / below,
        ];
        for i in 0..3 {
            for j in 0..3 {
                matrix[i][j] += slope[i] * slope[j];
            }
            vector[i] += slope[i] * (x - modeled);
        }
    }
    (matrix, vector)
}

fn times(matrix: [[f64; 3]; 3], vector: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row[0] * vector[0] + row[1] * vector[1] + row[2] * vector[2])
}

/// Solves by cofactors, after scaling each variable to 1. `None` if the matrix is singular.
fn inverse(matrix: [[f64; 3]; 3]) -> Option<[[f64; 3]; 3]> {
    let scale = [0, 1, 2].map(|k| matrix[k][k].abs().sqrt());
    if scale
        .iter()
        .any(|scale| !(scale.is_finite() && *scale > 0.0))
    {
        return None;
    }
    let m = |i: usize, j: usize| matrix[i % 3][j % 3] / scale[i % 3] / scale[j % 3];
    let cofactor =
        |i: usize, j: usize| m(i + 1, j + 1) * m(i + 2, j + 2) - m(i + 1, j + 2) * m(i + 2, j + 1);
    let determinant: f64 = (0..3).map(|j| m(0, j) * cofactor(0, j)).sum();
    if determinant.is_nan() || determinant.abs() < 1e-14 {
        return None;
    }
    let mut out = [[0.0; 3]; 3];
    for (i, row) in out.iter_mut().enumerate() {
        for (j, cell) in row.iter_mut().enumerate() {
            *cell = cofactor(j, i) / determinant / scale[i] / scale[j];
        }
    }
    Some(out)
}
