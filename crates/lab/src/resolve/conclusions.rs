//! Objectives, comparisons and published figures.

use std::time::Duration;

use serde::Serialize;

use super::fields::Fields;
use super::scope::Scope;
use crate::file::shape::time;
use crate::file::{Document, keys, unknown};
use crate::matrix::{Axis, When};
use crate::problem::{Location, Problem};

/// Figures of a cell that a lab file may name, with their units. A script's own counters are also
/// available, as `NAME` and `NAME_per_second`.
pub const FIGURES: &[(&str, &str)] = &[
    ("requests_per_second", "requests/s"),
    ("iterations_per_second", "iterations/s"),
    ("latency_p50", "ms"),
    ("latency_p90", "ms"),
    ("latency_p95", "ms"),
    ("latency_p99", "ms"),
    ("latency_p999", "ms"),
    ("latency_mean", "ms"),
    ("latency_max", "ms"),
    ("iteration_p95", "ms"),
    ("connect_p50", "ms"),
    ("tls_p50", "ms"),
    ("failed_share", "%"),
    ("cpu_time_per_request", "CPU µs"),
    ("makespan", "ms"),
    ("payload_megabytes_per_second", "MB/s"),
    ("payload_megabits_per_second", "Mbit/s"),
    ("received_megabytes_per_second", "MB/s"),
    ("throughput", "Mbit/s"),
    ("limit", "requests/s"),
    // As a share of one processor.
    ("generator_cpu", "%"),
];

#[derive(Clone, Debug, Serialize)]
pub struct Objective {
    /// The figure that it limits.
    pub figure: String,
    /// The objective as shown to readers: `latency_p95 at most 50ms`.
    pub text: String,
    /// The limit, in the figure's unit.
    pub limit: f64,
    /// Whether the limit is an upper limit. Otherwise it is a lower limit.
    pub at_most: bool,
    /// The cells to which it applies.
    #[serde(skip)]
    pub when: When,
}

/// A comparison of cells.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// The axis in which the cells differ.
    pub axis: String,
    /// The value of the base.
    pub base: String,
    /// The values that are compared with the base.
    pub against: Vec<String>,
    /// The figures to compare; the headline figures if empty.
    pub figures: Vec<String>,
    /// The share up to which a difference counts as noise, if the lab sets one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise: Option<f64>,
    /// Whether the lab exists for this comparison. All such comparisons are corrected together.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub primary: bool,
    /// Its location in the lab file; `None` if the lab declares no comparisons.
    #[serde(skip)]
    pub place: Option<Location>,
    /// The cells to which it applies.
    #[serde(skip)]
    pub when: When,
}

/// A published figure.
#[derive(Clone, Debug, Serialize)]
pub struct Published {
    pub figure: String,
    pub value: f64,
    /// A note for readers.
    pub note: String,
    /// The cells to which it applies.
    #[serde(skip)]
    pub when: When,
}

/// An error of the published document.
#[derive(Clone, Debug, Serialize)]
pub struct Avoided {
    /// The error.
    pub wrong: String,
    /// The reason why it cannot happen here.
    pub avoided: String,
}

/// Reads all tables of a section.
pub(super) fn each<T>(
    document: &Document,
    section: &str,
    problems: &mut Vec<Problem>,
    mut read: impl FnMut(&mut Fields<'_>, When) -> Option<T>,
) -> Vec<T> {
    let shape = match section {
        "objective" => &keys::OBJECTIVE,
        "compare" => &keys::COMPARE,
        "published" => &keys::PUBLISHED,
        "table" => &keys::TABLE,
        "question" => &keys::QUESTION,
        _ => &keys::AVOIDS,
    };
    let scope = Scope::default();
    let mut all = Vec::new();
    for node in document.tables(section) {
        let Some(table) = node.table() else { continue };
        let when = When::of(table);
        let table = table
            .iter()
            .filter(|(name, _)| *name != "when")
            .map(|(name, node)| (name.clone(), node.clone()))
            .collect();
        let mut fields = Fields::new(shape, node.place.clone(), &table, &scope, problems);
        all.extend(read(&mut fields, when));
    }
    all
}

/// `[[objective]]`
pub fn objectives(document: &Document, problems: &mut Vec<Problem>) -> Vec<Objective> {
    each(document, "objective", problems, |fields, when| {
        let metric = fields.required("metric");
        // A script's own counters can have any name, but hardly one like that of a figure.
        let known = || FIGURES.iter().map(|(name, _)| *name).chain(["latency"]);
        if !known().any(|name| name == metric)
            && let Some(near) = plimsoll_units::nearest(&metric, known())
        {
            fields.problem_at(
                "metric",
                format!("unknown figure {metric:?}; did you mean {near}?"),
            );
            return None;
        }
        let figure = match (metric.as_str(), fields.number("p")) {
            ("latency", Some(p)) => {
                let figure = figure_of_percentile(p);
                if !FIGURES.iter().any(|(name, _)| *name == figure) {
                    fields.problem_at("p", format!("p must be 50, 90, 95, 99 or 99.9, not {p}"));
                    return None;
                }
                figure
            }
            ("latency", None) => {
                fields.problem("an objective for latency needs the key \"p\": the percentile");
                return None;
            }
            (other, None) => other.to_owned(),
            (_, Some(_)) => {
                fields.problem_at("p", "p is only for the figure latency");
                return None;
            }
        };
        let bound = fields.one_of(&["at-most", "at-least"])?;
        let written = fields.text(bound)?;
        let place = fields.place_of(bound);
        let limit = match limit(&figure, &written) {
            Ok(limit) => limit,
            Err(why) => {
                fields.problem_in(&place, why);
                return None;
            }
        };
        let at_most = bound == "at-most";
        let relation = if at_most { "at most" } else { "at least" };
        Some(Objective {
            text: format!("{figure} {relation} {written}"),
            figure,
            limit,
            at_most,
            when,
        })
    })
}

/// For example `latency_p95` or `latency_p999`.
pub fn figure_of_percentile(p: f64) -> String {
    format!("latency_p{p}").replace('.', "")
}

/// Parses a limit in the unit of its figure.
fn limit(figure: &str, written: &str) -> Result<f64, String> {
    let unit = FIGURES
        .iter()
        .find(|(name, _)| *name == figure)
        .map(|(_, unit)| *unit);
    let is_number = written.parse::<f64>().is_ok();
    match unit {
        Some("ms") if !is_number => time(written).map(|time: Duration| time.as_secs_f64() * 1000.0),
        Some("ms") => Err(format!(
            "{figure} is a time: give the limit a unit, such as {written}ms"
        )),
        _ => written.parse::<f64>().map_err(|_| {
            format!(
                "{figure} is a number{}, not {written}",
                unit.map(|unit| format!(" of {unit}")).unwrap_or_default()
            )
        }),
    }
}

/// Reads `[[compare]]`. Without any, compares each axis with its first value.
pub fn compared(document: &Document, axes: &[Axis], problems: &mut Vec<Problem>) -> Vec<Compared> {
    if document.tables("compare").is_empty() {
        return axes
            .iter()
            .filter_map(|axis| {
                let mut values = axis.values().map(str::to_owned);
                Some(Compared {
                    axis: axis.name.clone(),
                    base: values.next()?,
                    against: values.collect(),
                    figures: Vec::new(),
                    noise: None,
                    primary: false,
                    place: None,
                    when: When::default(),
                })
            })
            .filter(|compared| !compared.against.is_empty())
            .collect();
    }
    each(document, "compare", problems, |fields, when| {
        let name = fields.required("axis");
        let Some(axis) = axes.iter().find(|axis| axis.name == name) else {
            let place = fields.place_of("axis");
            let known = axes.iter().map(|axis| axis.name.as_str());
            let problem = unknown(&place, "axis", &name, known);
            fields.problem_in(&place, problem.message);
            return None;
        };
        let first = axis.values().next().unwrap_or_default();
        let base = fields.text("base").unwrap_or_else(|| first.to_owned());
        let mut against = fields.strings("against");
        if against.is_empty() {
            against = axis
                .values()
                .filter(|value| *value != base)
                .map(str::to_owned)
                .collect();
        }
        for (key, value) in
            std::iter::once(("base", &base)).chain(against.iter().map(|one| ("against", one)))
        {
            if !axis.values().any(|known| known == value) {
                let place: Location = fields.place_of(key);
                let problem = unknown(
                    &place,
                    &format!("value of the axis {name}"),
                    value,
                    axis.values(),
                );
                fields.problem_in(&place, problem.message);
            }
        }
        let figures = fields.strings("figures");
        let primary = fields.flag("primary").unwrap_or(false);
        if primary && figures.is_empty() {
            fields.problem_at("primary", "a primary comparison needs the key \"figures\"");
        }
        Some(Compared {
            figures,
            noise: fields.percent("noise"),
            primary,
            place: Some(fields.place_of("axis")),
            axis: name,
            base,
            against,
            when,
        })
    })
}

/// `[[published]]`
pub fn published(document: &Document, problems: &mut Vec<Problem>) -> Vec<Published> {
    each(document, "published", problems, |fields, when| {
        fields.required("value");
        Some(Published {
            figure: fields.required("figure"),
            value: fields.number("value")?,
            note: fields.text("note").unwrap_or_default(),
            when,
        })
    })
}

/// `[[avoids]]`
pub fn avoided(document: &Document, problems: &mut Vec<Problem>) -> Vec<Avoided> {
    each(document, "avoids", problems, |fields, _| {
        Some(Avoided {
            wrong: fields.required("wrong"),
            avoided: fields.required("avoided"),
        })
    })
}
