//! The result of a comparison, as text and as JSON.

use plimsoll_results::change_text::p_value;
use plimsoll_results::compare::Compared;
use plimsoll_results::differences::Difference;
use plimsoll_results::fail_on::{Failures, Judgment};
use plimsoll_stats::comparison::Outcome;
use serde_json::{Value, json};

use crate::prepared_run::ExcludedWarmUp;

/// A completed comparison.
pub struct Comparison {
    pub compared: Vec<Compared>,
    pub method: String,
    /// What the times in the output are.
    pub times: &'static str,
    pub differences: Vec<Difference>,
    pub(crate) left_out: Vec<ExcludedWarmUp>,
    pub doubts: Vec<String>,
    /// The results of `--fail-on`.
    pub failures: Failures,
}

impl Comparison {
    /// Whether a condition was met.
    pub fn judgment(&self) -> Judgment {
        self.failures.judgment()
    }

    /// Formats the comparison as text.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{:<8} {:>12} {:>12} {:>11}  {:<22} {}\n",
            "", "A", "B", "change", "95 % interval", "outcome"
        );
        for one in &self.compared {
            text += &row(one);
        }
        text += &format!("Times are the {}. Method: {}.\n", self.times, self.method);
        for (name, a, b) in &self.differences {
            text += &format!("differs: {name}: {a} | {b}\n");
        }
        for warm_up in &self.left_out {
            text += &format!("{}\n", warm_up.text());
        }
        for doubt in &self.doubts {
            text += &format!("doubt: {doubt}\n");
        }
        for found in &self.failures.found {
            text += &format!("failed on {found}\n");
        }
        for open in &self.failures.open {
            text += &format!("could not judge {open}\n");
        }
        text
    }

    /// Formats the comparison as one JSON object.
    pub fn json(&self) -> Value {
        let figures: Vec<Value> = self.compared.iter().map(figure).collect();
        let differences: Vec<Value> = self
            .differences
            .iter()
            .map(|(name, a, b)| json!({"name": name, "a": a, "b": b}))
            .collect();
        let left_out: Vec<Value> = self.left_out.iter().map(warm_up).collect();
        json!({
            "schema": "plimsoll/compare-result/2",
            "method": self.method,
            "times": self.times,
            "figures": figures,
            "differences": differences,
            "warm_up": left_out,
            "doubts": self.doubts,
            "failed_on": self.failures.found,
            "not_judged": self.failures.open,
        })
    }
}

fn warm_up(left_out: &ExcludedWarmUp) -> Value {
    let with: serde_json::Map<String, Value> = left_out
        .with
        .iter()
        .map(|(figure, value)| (figure.name.to_owned(), json!(value)))
        .collect();
    json!({
        "run": left_out.name,
        "rule": "MSER-5",
        "seconds_left_out": left_out.seconds,
        "figures_with_it": with,
    })
}

fn figure(one: &Compared) -> Value {
    json!({
        "figure": one.figure.name,
        "unit": one.figure.unit,
        "a": one.a,
        "b": one.b,
        "change_is": if one.is_difference() { "b - a" } else { "b / a" },
        "change": one.change.map(|change| change.estimate),
        "interval": one.change.map(|change| (bounded(change.low), bounded(change.high))),
        "p": one.p,
        "noise": one.noise,
        "outcome": one.outcome.name(),
        "at_most": one.at_most,
        "pairs_would_decide": one.would_decide,
        "worse": one.is_different() && one.is_worse(),
        "why": one.why,
    })
}

/// JSON has no infinity, so an unbounded end of an interval is null.
fn bounded(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

fn row(one: &Compared) -> String {
    let value = |value: Option<f64>| match (value, one.is_difference()) {
        (None, _) => "–".to_owned(),
        (Some(value), true) => format!("{:.3} %", value * 100.0),
        (Some(value), false) => format!("{value:.2} {}", one.figure.unit),
    };
    let unit = if one.is_difference() { "points" } else { "%" };
    let verdict = if one.is_worse() { "worse" } else { "better" };
    let why = || {
        one.why
            .as_ref()
            .map_or(String::new(), |why| format!(": {why}"))
    };
    let outcome = match (one.outcome, one.at_most, one.would_decide) {
        (Outcome::Larger, ..) => format!("larger, {verdict}"),
        (Outcome::Smaller, ..) => format!("smaller, {verdict}"),
        (Outcome::NoDifference, at_most, _) => format!(
            "no difference larger than {:.1} {unit}",
            at_most.unwrap_or_default() * 100.0
        ),
        (Outcome::Uncertain, _, Some(pairs)) => {
            format!("uncertain: {pairs} pairs would decide{}", why())
        }
        (Outcome::Uncertain, ..) => format!("uncertain{}", why()),
        (Outcome::NotMeasured, ..) if one.a.is_some() && one.b.is_some() => {
            format!("not compared{}", why())
        }
        (Outcome::NotMeasured, ..) => format!("not measured{}", why()),
    };
    let p = one
        .p
        .map_or(String::new(), |p| format!(" ({})", p_value(p)));
    let (change, interval) = one
        .change_texts()
        .unwrap_or_else(|| ("–".to_owned(), String::new()));
    format!(
        "{:<8} {:>12} {:>12} {change:>11}  {interval:<22} {outcome}{p}\n",
        one.figure.name,
        value(one.a),
        value(one.b),
    )
}
