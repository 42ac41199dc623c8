//! The results of comparisons of cells, in sentences: both figures, their ratio and its interval.
//! Suspect cells are excluded.

use plimsoll_plots::number::{self, Place};
use plimsoll_results::lab::{Cell, Comparison, LabResult, Outcome};

use crate::document::Words;
use crate::groups::{Group, comparative, ratio};
use crate::naming::{capital, counted, is_believed, place_text};

/// Whether a comparison was made of two valid cells.
fn counts(result: &LabResult, one: &Comparison) -> bool {
    one.outcome != Outcome::NotMeasured
        && one.ratio.is_some_and(f64::is_finite)
        && [&one.cells.0, &one.cells.1]
            .into_iter()
            .all(|name| cell(result, name).is_none_or(|cell| cell.verdict == "valid"))
}

fn cell<'a>(result: &'a LabResult, name: &str) -> Option<&'a Cell> {
    result.cells.iter().find(|cell| cell.name == *name)
}

/// The result of a group of comparisons; `None` if no comparison of it counts.
pub fn sentence(result: &LabResult, group: &Group) -> Option<Words> {
    let all: Vec<&Comparison> = group
        .members
        .iter()
        .copied()
        .filter(|one| counts(result, one))
        .collect();
    let of = |outcome: Outcome| -> Vec<&Comparison> {
        let mut found: Vec<&Comparison> = all
            .iter()
            .copied()
            .filter(|one| one.outcome == outcome)
            .collect();
        found.sort_by(|one, other| distance(one).total_cmp(&distance(other)));
        found
    };
    let (larger, smaller) = (of(Outcome::Larger), of(Outcome::Smaller));
    let (within, unsure) = (of(Outcome::NoDifference), of(Outcome::Uncertain));
    let claims = Claims { result, group };
    Some(match all.len() {
        0 => return None,
        count if count == larger.len() => claims.differs(&larger, true),
        count if count == smaller.len() => claims.differs(&smaller, false),
        count if count == within.len() => claims.same(&within),
        count if count == unsure.len() => claims.unsure(&unsure),
        count => claims.mixed(&larger, &smaller, &within, &unsure, count),
    })
}

/// How far a ratio is from 1, in either direction.
fn distance(one: &Comparison) -> f64 {
    one.ratio
        .map_or(0.0, |ratio| ratio.max(f64::MIN_POSITIVE).ln().abs())
}

struct Claims<'a> {
    result: &'a LabResult,
    group: &'a Group<'a>,
}

impl Claims<'_> {
    fn value(&self, value: &str) -> Words {
        Words::new().code(format!("{}={value}", self.group.axis))
    }

    /// `95th percentile: `.
    fn begin(&self) -> Words {
        Words::plain(format!("{}: ", capital(&self.group.label)))
    }

    /// `longer with wire=grpc than with wire=http in all 4 pairs, from … to …`.
    fn differs(&self, found: &[&Comparison], more: bool) -> Words {
        let (base, other) = self.group.values;
        let words = self
            .begin()
            .strong(comparative(&self.group.unit, more))
            .text(" with ")
            .and(self.value(other))
            .text(" than with ")
            .and(self.value(base))
            .text(in_all(found.len()));
        match found {
            [one] => words.text(", ").and(self.figures(one)).text("."),
            [first, .., last] => words
                .text(", from ")
                .and(self.figures(first))
                .text(" to ")
                .and(self.figures(last))
                .text("."),
            [] => words,
        }
    }

    /// `no difference larger than 5.0 % between wire=http and wire=grpc, 0.70 against 0.71 ms …`.
    fn same(&self, found: &[&Comparison]) -> Words {
        let (base, other) = self.group.values;
        let words = self
            .begin()
            .strong(no_difference(found))
            .text(" between ")
            .and(self.value(base))
            .text(" and ")
            .and(self.value(other));
        match found {
            [one] => words.text(", ").and(self.figures(one)).text("."),
            [.., widest] => words
                .text(format!(
                    " in any of {}; the widest: ",
                    counted(found.len(), "pair", "pairs")
                ))
                .and(self.figures(widest))
                .text("."),
            [] => words,
        }
    }

    fn unsure(&self, found: &[&Comparison]) -> Words {
        let (base, other) = self.group.values;
        let words = self
            .begin()
            .strong("uncertain")
            .text(" whether ")
            .and(self.value(base))
            .text(" and ")
            .and(self.value(other))
            .text(" differ")
            .text(in_all(found.len()));
        let Some(one) = found.first() else {
            return words;
        };
        let words = words
            .text(if found.len() > 1 {
                ", for example "
            } else {
                ", "
            })
            .and(self.figures(one));
        words.text(match one.text().strip_prefix("uncertain: ") {
            Some(why) => format!("; {why}."),
            None => ".".to_owned(),
        })
    }

    fn mixed(
        &self,
        larger: &[&Comparison],
        smaller: &[&Comparison],
        within: &[&Comparison],
        unsure: &[&Comparison],
        all: usize,
    ) -> Words {
        let (base, other) = self.group.values;
        let mut parts: Vec<Words> = Vec::new();
        for (found, more) in [(larger, true), (smaller, false)] {
            let Some(most) = found.last() else { continue };
            let example = if found.len() > 1 { "up to " } else { "" };
            parts.push(
                Words::new()
                    .strong(comparative(&self.group.unit, more))
                    .text(format!(" in {}, {example}", found.len()))
                    .and(self.figures(most)),
            );
        }
        for (found, text) in [
            (within, no_difference(within)),
            (unsure, "uncertain".to_owned()),
        ] {
            let Some(most) = found.last() else { continue };
            let words = Words::plain(format!("{text} in {}", found.len()));
            // A sentence has at least one pair of figures.
            parts.push(if parts.is_empty() {
                words.text(", such as ").and(self.figures(most))
            } else {
                words
            });
        }
        let mut words = self
            .begin()
            .and(self.value(other))
            .text(" against ")
            .and(self.value(base))
            .text(format!(" in {}: ", counted(all, "pair", "pairs")));
        for (index, part) in parts.into_iter().enumerate() {
            words = if index == 0 { words } else { words.text("; ") };
            words = words.and(part);
        }
        words.text(".")
    }

    /// `0.93 against 0.71 ms (ratio 1.31, 1.20 to 1.43) at users=100`.
    fn figures(&self, one: &Comparison) -> Words {
        let value = |name: &str| {
            let cell = cell(self.result, name).filter(|cell| is_believed(cell))?;
            let mut figures = cell.figures.iter();
            figures.find(|figure| figure.name == one.figure)
        };
        let words = match (value(&one.cells.1), value(&one.cells.0)) {
            (Some(other), Some(base)) => {
                let print = |figure: &plimsoll_results::lab::Figure| {
                    Place::of(figure.value, figure.interval).print(figure.value)
                };
                Words::new()
                    .strong(print(other))
                    .text(" against ")
                    .strong(print(base))
                    .text(format!(" {} ({})", self.group.unit, ratio_text(one)))
            }
            _ => Words::plain(ratio_text(one)),
        };
        let place = place_text(self.result, &one.place, &[self.group.axis]);
        if place.is_empty() {
            words
        } else {
            words.text(" at ").code(place)
        }
    }
}

fn in_all(count: usize) -> String {
    match count {
        1 => String::new(),
        2 => " in both pairs".to_owned(),
        count => format!(" in all {count} pairs"),
    }
}

fn ratio_text(one: &Comparison) -> String {
    let value = one.ratio.unwrap_or(1.0);
    match one.interval {
        None => format!("ratio {}", ratio(value)),
        Some((low, high)) => {
            let place = number::Place::of(value, one.interval);
            format!(
                "ratio {}, 95 % interval {} to {}",
                place.print(value),
                place.print(low),
                place.print(high)
            )
        }
    }
}

/// `no difference larger than 3.2 %`, true for each of several comparisons.
fn no_difference(comparisons: &[&Comparison]) -> String {
    let shares: Vec<f64> = comparisons.iter().filter_map(|one| one.at_most).collect();
    let most = (shares.len() == comparisons.len())
        .then(|| shares.into_iter().reduce(f64::max))
        .flatten();
    Outcome::NoDifference.text(most, None, "")
}

/// How many comparisons no sentence uses, and why.
pub fn excluded(result: &LabResult) -> Option<Words> {
    let all = result.comparisons.len();
    let not: Vec<&Comparison> = result
        .comparisons
        .iter()
        .filter(|one| !counts(result, one))
        .collect();
    if not.is_empty() {
        return None;
    }
    let is_doubted = |one: &&&Comparison| {
        [&one.cells.0, &one.cells.1]
            .into_iter()
            .any(|name| cell(result, name).is_some_and(|cell| cell.verdict != "valid"))
    };
    let doubted = not.iter().filter(is_doubted).count();
    let mut reasons: Vec<String> = Vec::new();
    if doubted > 0 {
        reasons.push(format!("{doubted} with a cell that is not valid"));
    }
    for one in not.iter().filter(|one| !is_doubted(one)) {
        let reason = if one.ratio.is_none() {
            "a cell has no figure".to_owned()
        } else {
            one.method.trim().trim_end_matches('.').to_owned()
        };
        if !reason.is_empty() && !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let why = if reasons.is_empty() || reasons.len() > 3 {
        String::new()
    } else {
        format!(": {}", reasons.join("; "))
    };
    let subject = if not.len() == all {
        "No comparison counts".to_owned()
    } else {
        format!(
            "{} of {} {} not count",
            not.len(),
            counted(all, "comparison", "comparisons"),
            if not.len() == 1 { "does" } else { "do" }
        )
    };
    Some(Words::plain(format!("{subject}{why}.")))
}
