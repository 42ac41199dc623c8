//! The figures of a run with and without its warm-up.

use plimsoll_results::fail_on::{self, Failures};
use plimsoll_results::figures::{Figure, RunFigures};
use plimsoll_results::record::Record;

use crate::{Settings, Skip};

/// A run prepared for comparison.
pub(crate) struct PreparedRun {
    pub figures: RunFigures,
    pub left_out: Option<ExcludedWarmUp>,
    /// Reasons to doubt its figures.
    pub doubts: Vec<String>,
    /// The conditions on this run alone.
    pub failures: Failures,
}

/// The warm-up that was excluded from a run.
pub(crate) struct ExcludedWarmUp {
    /// The name of the run.
    pub name: String,
    pub seconds: u64,
    /// The figures including the warm-up, in the order of the compared figures.
    pub with: Vec<(&'static Figure, Option<f64>)>,
}

impl PreparedRun {
    /// Prepares a run for the comparison.
    ///
    /// # Errors
    /// If nothing was measured, or if nothing remains.
    pub fn of(settings: &Settings, name: &str, record: &Record) -> Result<PreparedRun, String> {
        let named = |why| format!("{name}: {why}");
        let failures = fail_on::judge(&settings.fail_on, name, record);
        let mut doubts: Vec<String> = doubt(name, record).into_iter().collect();
        let Skip::Seconds(seconds) = settings.skip else {
            let (figures, warm_up) = RunFigures::without_warm_up(record).map_err(named)?;
            doubts.extend(warm_up.doubt().map(|doubt| format!("{name} {doubt}")));
            let left_out = match warm_up.seconds() {
                0 => None,
                seconds => Some(ExcludedWarmUp::of(settings, name, record, seconds)?),
            };
            return Ok(PreparedRun {
                figures,
                left_out,
                doubts,
                failures,
            });
        };
        Ok(PreparedRun {
            figures: RunFigures::of(record, seconds).map_err(named)?,
            left_out: None,
            doubts,
            failures,
        })
    }
}

impl ExcludedWarmUp {
    fn of(
        settings: &Settings,
        name: &str,
        record: &Record,
        seconds: u64,
    ) -> Result<ExcludedWarmUp, String> {
        let whole = RunFigures::of(record, 0)?;
        let with = settings.figures.iter();
        Ok(ExcludedWarmUp {
            name: name.to_owned(),
            seconds,
            with: with.map(|figure| (*figure, whole.value(figure))).collect(),
        })
    }

    /// Describes the exclusion in a sentence.
    pub fn text(&self) -> String {
        let with: Vec<String> = self
            .with
            .iter()
            .filter_map(|(figure, value)| {
                Some(format!("{} {:.2}{}", figure.name, (*value)?, figure.unit))
            })
            .collect();
        format!(
            "left out: the first {} s of {}, its warm-up (MSER-5); with them: {}",
            self.seconds,
            self.name,
            with.join(", ")
        )
    }
}

pub(crate) fn is_invalid(record: &Record) -> bool {
    record
        .end
        .as_ref()
        .is_some_and(|end| end.generator.verdict == "invalid")
}

/// Reasons to doubt a run's own figures.
fn doubt(name: &str, record: &Record) -> Option<String> {
    let Some(end) = &record.end else {
        return Some(format!(
            "{name} was killed, so its last seconds are missing"
        ));
    };
    let generator = &end.generator;
    (generator.verdict != "valid").then(|| {
        let reason = generator
            .reasons
            .first()
            .map_or(String::new(), |(cause, text)| format!(" ({cause}: {text})"));
        format!("{name} is {}{reason}", generator.verdict)
    })
}
