//! The ratio of the figures of two cells: from their comparison, or from their intervals if the lab does not compare them.

use plimsoll_results::lab::{Cell, Comparison, Figure, LabResult, Outcome};
use plimsoll_stats::comparison::MARGIN;

/// The second figure divided by the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub ratio: f64,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// Whether it differs from 1, by more than the noise floor.
    pub outcome: Outcome,
    /// The noise floor as a share, if it is known.
    pub floor: Option<f64>,
    /// The share by which the ratio has to differ from 1 to count.
    pub differs: f64,
    /// The share up to which figures are the same.
    pub same: f64,
}

/// The ratio of two cells, and its outcome.
pub fn estimate(result: &LabResult, base: (&Cell, &Figure), other: (&Cell, &Figure)) -> Estimate {
    let (name, cells) = (&base.1.name, (&base.0.name, &other.0.name));
    let of_figure =
        |one: &&Comparison| one.figure == *name && one.ratio.is_some_and(|ratio| ratio > 0.0);
    let mut compared = result.comparisons.iter().filter(of_figure);
    let found = compared.find_map(|one| {
        let (ratio, pair) = (one.ratio?, (&one.cells.0, &one.cells.1));
        let is_inverse = pair == (cells.1, cells.0);
        (pair == cells || is_inverse).then(|| {
            let (differs, same) = difference_limits(result, name, [base.0, other.0], one.floor);
            let estimate = Estimate {
                ratio,
                interval: one.interval,
                outcome: one.outcome,
                floor: one.floor,
                differs,
                same,
            };
            if is_inverse {
                invert(estimate)
            } else {
                estimate
            }
        })
    });
    found.unwrap_or_else(|| ratio_of_intervals(result, base, other))
}

/// The smallest difference that counts, and the largest difference up to which figures are the same, both as shares. The
/// floor of another place affects only the first one.
fn difference_limits(
    result: &LabResult,
    figure: &str,
    cells: [&Cell; 2],
    floor: Option<f64>,
) -> (f64, f64) {
    let same_cell = result.same_cell.as_ref();
    let elsewhere = same_cell.and_then(|same| same.floor_elsewhere(figure, cells));
    let differs = floor.or(elsewhere).unwrap_or(0.0);
    (differs, floor.unwrap_or(MARGIN).max(MARGIN))
}

fn invert(one: Estimate) -> Estimate {
    Estimate {
        ratio: one.ratio.recip(),
        interval: one.interval.map(|(low, high)| (high.recip(), low.recip())),
        outcome: match one.outcome {
            Outcome::Larger => Outcome::Smaller,
            Outcome::Smaller => Outcome::Larger,
            other => other,
        },
        ..one
    }
}

/// The ratio with the widest interval that the intervals of both figures allow: never narrower than that of a comparison.
fn ratio_of_intervals(
    result: &LabResult,
    base: (&Cell, &Figure),
    other: (&Cell, &Figure),
) -> Estimate {
    let ratio = other.1.value / base.1.value;
    let interval = base.1.interval.zip(other.1.interval);
    let interval = interval.and_then(|((low, high), (min, max))| {
        (low > 0.0 && min > 0.0).then_some((min / high, max / low))
    });
    let same_cell = result.same_cell.as_ref();
    let floor = same_cell.and_then(|one| one.floor_between(&base.1.name, [base.0, other.0]));
    let (differs, same) = difference_limits(result, &base.1.name, [base.0, other.0], floor);
    let outcome = match interval {
        Some((low, _)) if low > 1.0 && ratio > 1.0 + differs => Outcome::Larger,
        Some((_, high)) if high < 1.0 && ratio < 1.0 / (1.0 + differs) => Outcome::Smaller,
        Some((low, high)) if low >= 1.0 / (1.0 + same) && high <= 1.0 + same => {
            Outcome::NoDifference
        }
        Some(_) => Outcome::Uncertain,
        None => Outcome::NotMeasured,
    };
    Estimate {
        ratio,
        interval,
        outcome,
        floor,
        differs,
        same,
    }
}
