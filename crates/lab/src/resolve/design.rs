//! The sensitivity of a lab's comparisons, computed before anything is measured.

use plimsoll_results::lab::Variation;
use plimsoll_stats::comparison::{LEVEL, MIN_PAIRS, detectable, pairs_to_detect};
use serde::Serialize;

use super::Lab;
use super::conclusions::Compared;
use super::load::Load;
use crate::form::FormName;
use crate::problem::Problem;

/// The assumed variation between restarts of a cell, as a share. It is an assumption because
/// nothing has been measured yet.
const ASSUMED_VARIATION: f64 = 0.05;
/// The difference for which a number of restarts is recommended.
const USEFUL_DIFFERENCE: f64 = 0.10;

/// The sensitivity of the primary comparisons. Without primary comparisons, that of each pair of
/// cells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Design {
    /// Number of primary comparisons. They are corrected together.
    pub primary: usize,
    /// Number of pairs of restarts or runs, in the comparison with the fewest pairs.
    pub pairs: usize,
    /// `restarts` or `runs`.
    pub unit: &'static str,
    /// The assumed standard deviation between them, as a share.
    pub assumed_spread: f64,
    /// The smallest difference, as a share, that the design detects in 80 of 100 cases.
    pub smallest_difference: Option<f64>,
    /// The smallest p value that it can reach.
    pub smallest_p: Option<f64>,
    /// The number of restarts or runs that would detect a difference of 10 %.
    pub would_find_10_percent: Option<usize>,
}

/// Pairs of cells, by index, that differ only in the axis and that are included in this form.
pub fn cells_of(lab: &Lab, compared: &Compared) -> Vec<(usize, usize)> {
    let cells = || {
        lab.matrix()
            .iter()
            .enumerate()
            .filter(|(_, cell)| cell.chosen)
    };
    let rest = |cell: &super::Cell| -> Vec<(String, String)> {
        let of = cell.coordinates.0.iter();
        of.filter(|(axis, _)| *axis != compared.axis)
            .cloned()
            .collect()
    };
    let mut pairs = Vec::new();
    for (base, cell) in cells() {
        if cell.coordinates.get(&compared.axis) != Some(&compared.base)
            || !compared.when.holds(&cell.coordinates)
        {
            continue;
        }
        for value in &compared.against {
            let other = cells().find(|(_, other)| {
                other.coordinates.get(&compared.axis) == Some(value) && rest(other) == rest(cell)
            });
            pairs.extend(other.map(|(other, _)| (base, other)));
        }
    }
    pairs
}

/// The pairs of restarts of two cells or, if both have only one restart, the pairs of runs.
pub fn pairs(base: &Load, other: &Load) -> (Variation, usize) {
    let (from, count) = match (base.restarts, other.restarts) {
        (1, 1) => (Variation::Runs, base.repeats.min(other.repeats)),
        // A restart cannot be paired with a run.
        (1, _) | (_, 1) => (Variation::Restarts, 1),
        (one, two) => (Variation::Restarts, one.min(two)),
    };
    (from, usize::try_from(count).unwrap_or(usize::MAX))
}

/// The smallest number of pairs among all compared cells.
fn min_pairs(lab: &Lab, compared: &Compared) -> Option<(usize, Variation)> {
    let cells = cells_of(lab, compared).into_iter();
    let pairs = cells.filter_map(|(base, other)| {
        let (from, count) = pairs(&lab.cells.get(base)?.load, &lab.cells.get(other)?.load);
        Some((count, from))
    });
    pairs.min_by_key(|(count, _)| *count)
}

/// The sensitivity of a lab's comparisons; `None` if it has none.
pub fn of(lab: &Lab) -> Option<Design> {
    let has_primary = lab.compared.iter().any(|compared| compared.primary);
    let concerned = || {
        let compared = lab.compared.iter();
        compared.filter(|one| one.primary || !has_primary)
    };
    let primary = match has_primary {
        true => concerned()
            .map(|one| cells_of(lab, one).len() * one.figures.len())
            .sum(),
        false => 0,
    };
    let min_pairs = concerned().filter_map(|one| min_pairs(lab, one));
    let (pairs, from) = min_pairs.min_by_key(|(count, _)| *count)?;
    let level = LEVEL / primary.max(1) as f64;
    // A pair has the variation of both cells.
    let spread = ASSUMED_VARIATION * std::f64::consts::SQRT_2;
    Some(Design {
        primary,
        pairs,
        unit: from.units(),
        assumed_spread: ASSUMED_VARIATION,
        smallest_difference: detectable(pairs, spread, level).map(f64::exp_m1),
        // Unlike with a rank test, the p value of a t-test has no lower limit, even for three pairs.
        smallest_p: (pairs >= MIN_PAIRS).then_some(0.0),
        would_find_10_percent: pairs_to_detect(USEFUL_DIFFERENCE.ln_1p(), spread, level),
    })
}

impl Design {
    /// Describes the sensitivity of the comparisons in sentences.
    pub fn text(&self) -> String {
        let assumed = format!(
            "if {} of a cell differ by {:.0} %",
            self.unit,
            self.assumed_spread * 100.0
        );
        let useful = self
            .would_find_10_percent
            .map_or_else(String::new, |count| {
                format!("; {count} {} would find 10 %", self.unit)
            });
        let Some(smallest) = self.smallest_difference else {
            return format!(
                "{} of each cell cannot show any difference: at least {MIN_PAIRS} are needed{useful} ({assumed})",
                counted(self.pairs, self.unit)
            );
        };
        let family = match self.primary {
            0 => "in one comparison".to_owned(),
            1 => "in the primary comparison".to_owned(),
            count => format!("in one of {count} primary comparisons, which are corrected together"),
        };
        format!(
            "{} find a difference of {:.0} % or more {family}, with a probability of 80 % ({assumed}){useful}. \
             Smallest p: no lower limit (Student's t-test)",
            counted(self.pairs, self.unit),
            smallest * 100.0
        )
    }
}

fn counted(count: usize, units: &str) -> String {
    match count {
        1 => format!("1 {}", units.trim_end_matches('s')),
        _ => format!("{count} {units}"),
    }
}

/// Rejects comparisons that cannot show anything: declared ones whose cells have too few restarts.
/// The quick form is exempt, because it only shows that the lab works.
pub(super) fn check(lab: &Lab, problems: &mut Vec<Problem>) {
    if lab.form == FormName::Quick {
        return;
    }
    let declared: Vec<(&Compared, (usize, Variation))> = lab
        .compared
        .iter()
        .filter(|one| one.place.is_some())
        .filter_map(|one| Some((one, min_pairs(lab, one)?)))
        .collect();
    let all_fail = declared.iter().all(|(_, (pairs, _))| *pairs < MIN_PAIRS);
    for (compared, (pairs, from)) in declared {
        let refused = pairs < MIN_PAIRS && (compared.primary || all_fail);
        let Some(place) = compared.place.as_ref().filter(|_| refused) else {
            continue;
        };
        let useful = pairs_to_detect(
            USEFUL_DIFFERENCE.ln_1p(),
            ASSUMED_VARIATION * std::f64::consts::SQRT_2,
            LEVEL,
        );
        let useful = useful.map_or_else(String::new, |count| {
            format!(", or {count} to find a difference of 10 %")
        });
        problems.push(place.problem(format!(
            "this comparison cannot show anything, because its cells have only {}: set restarts = {MIN_PAIRS} in [[load]]{useful}",
            counted(pairs, from.units())
        )));
    }
}
