//! The ratio of the figures of two cells: of their comparison, or of their intervals if the lab compares them nowhere.

use plimsoll_results::lab::{Cell, Comparison, Figure, LabResult, Outcome};

/// The second figure divided by the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The ratio.
    pub ratio: f64,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// Whether it differs from 1, by more than the noise floor.
    pub outcome: Outcome,
    /// The noise floor as a share, if it is known.
    pub floor: Option<f64>,
}

/// The ratio of two cells, and what it says.
pub fn estimate(result: &LabResult, base: (&Cell, &Figure), other: (&Cell, &Figure)) -> Estimate {
    let (name, cells) = (&base.1.name, (&base.0.name, &other.0.name));
    let of_figure =
        |one: &&Comparison| one.figure == *name && one.ratio.is_some_and(|ratio| ratio > 0.0);
    let mut compared = result.comparisons.iter().filter(of_figure);
    let found = compared.find_map(|one| {
        let (ratio, pair) = (one.ratio?, (&one.cells.0, &one.cells.1));
        let is_inverse = pair == (cells.1, cells.0);
        let (interval, outcome, floor) = (one.interval, one.outcome, one.floor);
        (pair == cells || is_inverse).then(|| {
            let estimate = Estimate {
                ratio,
                interval,
                outcome,
                floor,
            };
            if is_inverse {
                inverse(estimate)
            } else {
                estimate
            }
        })
    });
    found.unwrap_or_else(|| of_intervals(result, base.1, other.1))
}

fn inverse(one: Estimate) -> Estimate {
    Estimate {
        ratio: one.ratio.recip(),
        interval: one.interval.map(|(low, high)| (high.recip(), low.recip())),
        outcome: match one.outcome {
            Outcome::Larger => Outcome::Smaller,
            Outcome::Smaller => Outcome::Larger,
            other => other,
        },
        floor: one.floor,
    }
}

/// The ends farthest apart: at least as wide as the interval of a comparison, so that it claims no more.
fn of_intervals(result: &LabResult, base: &Figure, other: &Figure) -> Estimate {
    let ratio = other.value / base.value;
    let interval = base
        .interval
        .zip(other.interval)
        .and_then(|((low, high), (least, most))| {
            (low > 0.0 && least > 0.0).then_some((least / high, most / low))
        });
    let floors = result.same_cell.iter().flat_map(|same| &same.floors);
    let share = floors
        .filter(|floor| floor.figure == base.name)
        .map(|floor| floor.share)
        .next();
    let floor = share.unwrap_or(0.0).ln_1p();
    let outcome = match interval {
        Some((low, _)) if low > 1.0 && ratio.ln() > floor => Outcome::Larger,
        Some((_, high)) if high < 1.0 && ratio.ln() < -floor => Outcome::Smaller,
        Some((low, high)) if low.ln() >= -floor && high.ln() <= floor => Outcome::NoDifference,
        Some(_) => Outcome::Uncertain,
        None => Outcome::NotMeasured,
    };
    Estimate {
        ratio,
        interval,
        outcome,
        floor: share,
    }
}
