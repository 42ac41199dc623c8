//! The conditions of `--fail-on`, which are the same for every command with this flag.

use crate::figures::{self, Figure};
use crate::record::Record;

/// A condition that makes a command fail.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// A run is invalid or was not measured.
    Invalid,
    /// A run is suspect or invalid, or was not measured.
    Suspect,
    /// An objective or a threshold was missed.
    Objective,
    /// A metric is different from the one it is compared with, and worse.
    Regression,
    /// A metric is different.
    Difference,
    /// The runs do not show whether a metric is different.
    Uncertain,
    /// A metric is different by more than a given bound.
    Beyond {
        /// The condition as written.
        text: String,
        /// The metric.
        figure: &'static Figure,
        /// The bound for the change: +0.1 for ten percent more.
        bound: f64,
    },
}

/// The names of the conditions that do not refer to a metric.
const NAMES: [(&str, Condition); 6] = [
    ("invalid", Condition::Invalid),
    ("suspect", Condition::Suspect),
    ("objective", Condition::Objective),
    ("regression", Condition::Regression),
    ("difference", Condition::Difference),
    ("uncertain", Condition::Uncertain),
];

impl Condition {
    /// Parses a condition.
    ///
    /// # Errors
    /// Returns a message that lists the valid conditions.
    pub fn parse(text: &str) -> Result<Condition, String> {
        match Condition::named(text) {
            Some(condition) => Ok(condition),
            None => Condition::beyond(text),
        }
    }

    /// Parses a condition for a command that compares no metrics, and so has no conditions like
    /// `p95:+10%`.
    ///
    /// # Errors
    /// Returns a message that lists the valid conditions.
    pub fn parse_name(text: &str) -> Result<Condition, String> {
        Condition::named(text).ok_or_else(|| unknown(text, ""))
    }

    fn named(text: &str) -> Option<Condition> {
        let found = NAMES.iter().find(|(name, _)| *name == text);
        found.map(|(_, condition)| condition.clone())
    }

    fn beyond(text: &str) -> Result<Condition, String> {
        const BOUND: &str = ", or a figure and a bound like p95:+10%";
        let Some((name, bound)) = text.split_once(':') else {
            return Err(unknown(text, BOUND));
        };
        let figure = figures::find(name)?;
        let (sign, share) = if let Some(share) = bound.strip_prefix('+') {
            (1.0, share)
        } else if let Some(share) = bound.strip_prefix('-') {
            (-1.0, share)
        } else {
            return Err(format!(
                "the bound {bound:?} has no sign, so it is unknown whether more or less of the figure fails; use {}{BOUND}",
                names()
            ));
        };
        Ok(Condition::Beyond {
            text: text.to_owned(),
            figure,
            bound: sign * plimsoll_units::percent::parse(share)?,
        })
    }

    /// The condition as written.
    pub fn name(&self) -> &str {
        if let Condition::Beyond { text, .. } = self {
            return text;
        }
        let found = NAMES.iter().find(|(_, condition)| condition == self);
        found.map_or("", |(name, _)| name)
    }

    /// Whether the condition compares a run with another one.
    pub fn compares(&self) -> bool {
        !matches!(
            self,
            Condition::Invalid | Condition::Suspect | Condition::Objective
        )
    }
}

fn unknown(text: &str, bound: &str) -> String {
    let meant = plimsoll_units::nearest(text, NAMES.map(|(name, _)| name))
        .map_or(String::new(), |meant| format!(", did you mean {meant}?"));
    format!("{text:?} is not a condition{meant}; use {}{bound}", names())
}

fn names() -> String {
    NAMES.map(|(name, _)| name).join(", ")
}

/// The results of checking the conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failures {
    /// The conditions that apply, each as a sentence.
    pub found: Vec<String>,
    /// The conditions that could not be checked, each as a sentence.
    pub open: Vec<String>,
}

/// The combined result of all conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgment {
    /// No condition applies.
    Passed,
    /// At least one condition applies.
    Failed,
    /// No condition applies, but at least one could not be checked.
    Open,
}

impl Failures {
    /// The combined result.
    pub fn judgment(&self) -> Judgment {
        if !self.found.is_empty() {
            Judgment::Failed
        } else if !self.open.is_empty() {
            Judgment::Open
        } else {
            Judgment::Passed
        }
    }

    /// Adds the results of other checks.
    pub fn add(&mut self, other: Failures) {
        self.found.extend(other.found);
        self.open.extend(other.open);
    }
}

/// Checks the conditions that need no other run: the verdict and the thresholds. `name` refers to
/// the run in sentences.
pub fn judge(conditions: &[Condition], name: &str, record: &Record) -> Failures {
    let mut failures = Failures::default();
    for condition in conditions {
        match condition {
            Condition::Invalid => verdict(&["invalid"], name, record, &mut failures),
            Condition::Suspect => verdict(&["invalid", "suspect"], name, record, &mut failures),
            Condition::Objective => thresholds(name, record, &mut failures),
            _ => {}
        }
    }
    failures
}

fn verdict(expected: &[&str], name: &str, record: &Record, failures: &mut Failures) {
    let Some(end) = &record.end else {
        let text = format!("{name} was killed, so it has no verdict");
        failures.found.push(text);
        return;
    };
    let generator = &end.generator;
    if expected.contains(&generator.verdict.as_str()) {
        let reasons: Vec<String> = generator
            .reasons
            .iter()
            .map(|(cause, text)| format!("{cause}: {text}"))
            .collect();
        failures.found.push(format!(
            "{name} is {}: {}",
            generator.verdict,
            reasons.join("; ")
        ));
    }
}

fn thresholds(name: &str, record: &Record, failures: &mut Failures) {
    let Some(end) = record.end.as_ref() else {
        let text = format!("{name} was killed, so its objectives are not judged");
        failures.open.push(text);
        return;
    };
    let open = end.objectives_not_judged.iter();
    failures
        .open
        .extend(open.map(|text| format!("{name}: {text}")));
    if end.thresholds.is_empty() && end.objectives_not_judged.is_empty() {
        failures.open.push(format!(
            "{name} has no objective: add a threshold to the script, or --objective 'p95<50ms'"
        ));
    }
    for (at, (metric, text, met)) in end.thresholds.iter().enumerate() {
        if !met {
            let measured = end.thresholds_measured.get(at).copied().flatten();
            let measured = measured.map_or(String::new(), |value| {
                format!(" (measured {value:.3}{})", unit_of_threshold(metric))
            });
            let text = format!("{name} misses {metric} {text}{measured}");
            failures.found.push(text);
        }
    }
}

/// The unit of the value that a threshold compares, with a space before it. Empty if it is not known.
pub fn unit_of_threshold(metric: &str) -> &'static str {
    if is_time(metric) { " ms" } else { "" }
}

/// Whether the program knows that a metric is a time. Those of the script itself may be anything.
fn is_time(metric: &str) -> bool {
    let name = metric.split('{').next().unwrap_or_default();
    let is_of_request = name.starts_with("http_req_") || name.starts_with("grpc_req_");
    name.ends_with(" time")
        || name == "iteration_duration"
        || is_of_request && !name.ends_with("_failed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{End, Generator};

    #[test]
    fn conditions_are_read_and_named() {
        for (name, condition) in NAMES {
            assert_eq!(Condition::parse(name), Ok(condition.clone()));
            assert_eq!(condition.name(), name);
        }
        let Ok(Condition::Beyond { figure, bound, .. }) = Condition::parse("rate:-5%") else {
            panic!("a bound");
        };
        assert_eq!((figure.name, bound), ("rate", -0.05));
        for (text, part) in [
            ("regresion", "did you mean regression?"),
            ("p96:+1%", "did you mean p90?"),
            ("p95:10%", "no sign"),
            ("p95:+10", "no %"),
            ("p95:", "no sign"),
        ] {
            let error = Condition::parse(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(Condition::parse_name("p95:+10%").is_err());
    }

    fn record(verdict: &str, thresholds: &[(&str, bool, Option<f64>)]) -> Record {
        let end = End {
            thresholds: thresholds
                .iter()
                .map(|(text, met, _)| ("http_req_duration".to_owned(), (*text).to_owned(), *met))
                .collect(),
            thresholds_measured: thresholds.iter().map(|(.., measured)| *measured).collect(),
            generator: Generator {
                verdict: verdict.to_owned(),
                reasons: vec![("client".to_owned(), "it was late".to_owned())],
                ..Generator::default()
            },
            ..End::default()
        };
        Record {
            header: crate::record::tests_header(),
            seconds: Vec::new(),
            tail: Vec::new(),
            end: Some(end),
        }
    }

    #[test]
    fn a_verdict_meets_its_condition() {
        let suspect = record("suspect", &[]);
        let of = |condition| judge(&[condition], "the run", &suspect);
        assert_eq!(of(Condition::Invalid), Failures::default());
        assert_eq!(
            of(Condition::Suspect).found,
            ["the run is suspect: client: it was late"]
        );
        let killed = Record {
            end: None,
            ..suspect
        };
        let failures = judge(&[Condition::Invalid], "A", &killed);
        assert_eq!(failures.judgment(), Judgment::Failed);
    }

    #[test]
    fn thresholds_are_met_missed_or_open() {
        let judged = |thresholds: &[(&str, bool, Option<f64>)]| {
            judge(&[Condition::Objective], "it", &record("valid", thresholds))
        };
        assert_eq!(judged(&[]).judgment(), Judgment::Open);
        assert_eq!(judged(&[("p(95)<5", true, Some(4.0))]), Failures::default());
        let missed = judged(&[("p(95)<5", false, Some(6.5)), ("p(99)<5", false, None)]);
        assert_eq!(
            missed.found,
            [
                "it misses http_req_duration p(95)<5 (measured 6.500 ms)",
                "it misses http_req_duration p(99)<5"
            ]
        );
        let mut unjudged = record("valid", &[]);
        if let Some(end) = &mut unjudged.end {
            end.objectives_not_judged
                .push("p99<1s: too few values".to_owned());
        }
        let failures = judge(&[Condition::Objective], "it", &unjudged);
        assert_eq!(failures.open, ["it: p99<1s: too few values"]);
    }
}
