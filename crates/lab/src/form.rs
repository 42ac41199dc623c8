//! The three forms of a lab: quick, standard and full.

use std::time::Duration;

use crate::file::node::Table;
use crate::file::shape::{Shape, time};
use crate::file::{Document, keys};
use crate::matrix::{Axis, Coordinates, When};
use crate::problem::Problem;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FormName {
    /// Short runs and only some of the cells.
    Quick,
    /// The values of the lab file.
    #[default]
    Standard,
    /// Long runs.
    Full,
}

impl FormName {
    /// The form's name.
    pub fn name(self) -> &'static str {
        match self {
            FormName::Quick => "quick",
            FormName::Standard => "standard",
            FormName::Full => "full",
        }
    }

    /// The form with the given name.
    pub fn of(name: &str) -> Option<FormName> {
        [FormName::Quick, FormName::Standard, FormName::Full]
            .into_iter()
            .find(|which| which.name() == name)
    }

    fn shape(self) -> &'static Shape {
        match self {
            FormName::Quick => &keys::QUICK,
            FormName::Standard => &keys::STANDARD,
            FormName::Full => &keys::FULL,
        }
    }
}

/// The error if the number of restarts or repeats is 0.
pub const NO_RUNS: &str =
    "0 restarts or repeats make no run, and without runs there are no figures: use 1 or more";

/// A form and its settings in the lab file.
#[derive(Clone, Debug)]
pub struct Form {
    pub which: FormName,
    duration: Option<Duration>,
    warmup: Option<Duration>,
    restarts: Option<u32>,
    repeats: Option<u32>,
    share: f64,
    only: Vec<When>,
}

/// Durations and numbers of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Duration of the measurement.
    pub duration: Duration,
    /// Duration of the warm-up.
    pub warmup: Duration,
    /// Number of restarts.
    pub restarts: u32,
    /// Number of runs in each restart.
    pub repeats: u32,
}

impl Form {
    /// Reads `[forms.NAME]`.
    pub fn read(
        document: &Document,
        which: FormName,
        axes: &[Axis],
        problems: &mut Vec<Problem>,
    ) -> Form {
        let mut table = Table::new();
        for node in document.tables("forms") {
            let inner = node.table().and_then(|forms| forms.get(which.name()));
            if let Some(inner) = inner.and_then(|inner| inner.table()) {
                super::resolve::fields::lay(&mut table, inner, which.shape(), &[]);
            }
        }
        let text = |key: &str| table.get(key).and_then(|node| node.scalar());
        let mut problem = |key: &str, message: &str| {
            if let Some(node) = table.get(key) {
                problems.push(node.place.problem(message));
            }
        };
        let share: f64 = text("share").map_or(1.0, |text| text.parse().unwrap_or(-1.0));
        if !(share > 0.0 && share <= 1.0) {
            problem(
                "share",
                "the share of the cells must be above 0 and at most 1",
            );
        }
        let mut count = |key: &str| {
            let count = text(key).and_then(|text| text.parse().ok());
            if count == Some(0) {
                problem(key, NO_RUNS);
            }
            count
        };
        let (restarts, repeats) = (count("restarts"), count("repeats"));
        let mut only = Vec::new();
        for item in table.get("only").map_or(&[][..], |node| node.items()) {
            if let Some(table) = item.table() {
                let when = When::read(table);
                when.check(axes, problems);
                only.push(when);
            }
        }
        Form {
            which,
            duration: text("duration").and_then(|text| time(&text).ok()),
            warmup: text("warmup").and_then(|text| time(&text).ok()),
            restarts,
            repeats,
            share,
            only,
        }
    }

    /// Applies the form to a load's own values.
    pub fn apply(&self, own: Extent) -> Extent {
        let second = Duration::from_secs;
        let by_default = match self.which {
            // A load with a shorter duration keeps that duration.
            FormName::Quick => Extent {
                duration: own.duration.min(second(2)),
                warmup: own.warmup.min(second(1)),
                restarts: 1,
                repeats: 1,
            },
            FormName::Standard => own,
            FormName::Full => Extent {
                duration: own.duration.max(second(60)),
                warmup: own.warmup.max(second(10)),
                restarts: own.restarts.max(5),
                repeats: own.repeats,
            },
        };
        Extent {
            duration: self.duration.unwrap_or(by_default.duration),
            warmup: self.warmup.unwrap_or(by_default.warmup),
            restarts: self.restarts.unwrap_or(by_default.restarts),
            repeats: self.repeats.unwrap_or(by_default.repeats),
        }
    }

    /// Selects the cells that this form runs.
    pub fn choose(&self, cells: &[Coordinates]) -> Vec<bool> {
        let mut among = 0_u32;
        cells
            .iter()
            .map(|cell| {
                let wanted = self.only.is_empty() || self.only.iter().any(|when| when.holds(cell));
                if !wanted {
                    return false;
                }
                // Select the n-th cell if the share of n reaches the next whole number.
                let before = (f64::from(among) * self.share).ceil();
                among += 1;
                (f64::from(among) * self.share).ceil() > before
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(share: f64) -> Form {
        Form {
            which: FormName::Quick,
            duration: None,
            warmup: None,
            restarts: None,
            repeats: None,
            share,
            only: Vec::new(),
        }
    }

    #[test]
    fn a_share_is_spread_over_the_matrix_and_never_empty() {
        let cells = vec![Coordinates::default(); 12];
        let chosen = |share: f64| -> Vec<usize> {
            let chosen = form(share).choose(&cells);
            (0..cells.len()).filter(|at| chosen[*at]).collect()
        };
        assert_eq!(chosen(1.0).len(), 12);
        assert_eq!(chosen(0.25), [0, 4, 8]);
        assert_eq!(chosen(0.01), [0]);
    }

    #[test]
    fn a_quick_form_never_takes_longer_than_the_load_itself() {
        let second = Duration::from_secs;
        let extent = form(1.0).apply(Extent {
            duration: second(1),
            warmup: second(5),
            restarts: 3,
            repeats: 2,
        });
        assert_eq!(
            extent,
            Extent {
                duration: second(1),
                warmup: second(1),
                restarts: 1,
                repeats: 1,
            }
        );
    }
}
