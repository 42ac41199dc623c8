//! Builds summaries from recorded data.
#![allow(dead_code)] // No test file uses all of it.

pub mod run;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_samples::{
    Check, CheckTotal, Contains, Group, GroupPart, HttpOverview, Kind, LeftOut, MetricSummary,
    NameParts, ScenarioPart, Summary, ThresholdOutcome, Values,
};
use plimsoll_stats::Histogram;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Compares with the file of that name, in which `␛` represents an escape character.
pub fn expect(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/expected")
        .join(name);
    let text = text.replace('\x1b', "␛");
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(&path, &text).expect("the expected file can be written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == expected, "{name} differs:\n{text}");
}

/// One recorded run.
#[derive(Deserialize)]
pub struct Figures {
    /// The duration in seconds.
    elapsed: f64,
    metrics: Map<String, Value>,
    /// Metrics and sub-metrics that the summary must contain.
    listed: Vec<String>,
    /// Thresholds by metric or sub-metric: expressions, and whether they are met.
    thresholds: Map<String, Value>,
    points: Vec<(String, Map<String, Value>, Vec<f64>)>,
}

impl Figures {
    pub fn read(text: &str) -> Figures {
        serde_json::from_str(text).expect("recorded figures")
    }

    pub fn summary(&self) -> Summary {
        let all = |_: &Map<String, Value>| true;
        let metrics = self
            .listed
            .iter()
            .map(|name| self.metric(name, &all))
            .collect();
        Summary {
            elapsed: Duration::from_secs_f64(self.elapsed),
            metrics,
            root_group: self.group("", ""),
            checks: self.checks(&all),
            groups: Vec::new(),
            scenarios: self.scenarios(),
            load: None,
            http: HttpOverview::default(),
            names: NameParts::default(),
            left_out: LeftOut::default(),
            threw: 0,
            iterations: 0,
            work: Vec::new(),
        }
    }

    fn metric(&self, name: &str, wanted: &dyn Fn(&Map<String, Value>) -> bool) -> MetricSummary {
        let (base, tags) = selector(name);
        let definition = &self.metrics[base];
        let kind = match definition["type"].as_str() {
            Some("counter") => Kind::Counter,
            Some("gauge") => Kind::Gauge,
            Some("rate") => Kind::Rate,
            _ => Kind::Trend,
        };
        let contains = match definition["contains"].as_str() {
            Some("time") => Contains::Time,
            Some("data") => Contains::Data,
            _ => Contains::Default,
        };
        let values: Vec<f64> = self
            .points
            .iter()
            .filter(|(metric, of, _)| {
                let tagged = |(key, value): &(String, String)| tag(of, key) == Some(value);
                metric == base && tags.iter().all(tagged) && wanted(of)
            })
            .flat_map(|(_, _, values)| values.iter().copied())
            .collect();
        let values = self.values(kind, &values);
        let thresholds = self.thresholds.get(name).and_then(Value::as_array).cloned();
        let thresholds = thresholds
            .unwrap_or_default()
            .iter()
            .map(|threshold| {
                let source = threshold[0].as_str().unwrap_or_default().to_owned();
                let measured = measured(&source, &values);
                ThresholdOutcome {
                    source,
                    ok: threshold[1] == true,
                    measured,
                }
            })
            .collect();
        MetricSummary {
            name: name.to_owned(),
            kind,
            contains,
            extra: false,
            tags,
            values,
            thresholds,
        }
    }

    fn values(&self, kind: Kind, values: &[f64]) -> Values {
        let (sum, last) = (
            values.iter().sum::<f64>(),
            values.last().copied().unwrap_or(0.0),
        );
        let fold = |f: fn(f64, f64) -> f64| values.iter().copied().reduce(f).unwrap_or(0.0);
        match kind {
            Kind::Counter => Values::Counter {
                count: sum,
                rate: sum / self.elapsed,
            },
            Kind::Gauge => Values::Gauge {
                value: last,
                min: fold(f64::min),
                max: fold(f64::max),
            },
            Kind::Rate => {
                let passes = values.iter().filter(|value| **value != 0.0).count() as u64;
                Values::Rate {
                    passes,
                    fails: values.len() as u64 - passes,
                }
            }
            Kind::Trend => {
                let mut histogram = Histogram::new();
                values.iter().for_each(|value| histogram.record(*value));
                Values::Trend(Arc::new(histogram))
            }
        }
    }

    fn checks(&self, wanted: &dyn Fn(&Map<String, Value>) -> bool) -> Vec<CheckTotal> {
        let mut checks: Vec<CheckTotal> = Vec::new();
        for (metric, tags, values) in &self.points {
            if metric != "checks" || !wanted(tags) {
                continue;
            }
            let name = tag(tags, "check").cloned().unwrap_or_default();
            let place = checks
                .iter()
                .position(|check| check.name == name)
                .unwrap_or_else(|| {
                    checks.push(CheckTotal {
                        name,
                        passes: 0,
                        fails: 0,
                    });
                    checks.len() - 1
                });
            let passes = values.iter().filter(|value| **value != 0.0).count() as u64;
            checks[place].passes += passes;
            checks[place].fails += values.len() as u64 - passes;
        }
        checks
    }

    /// Paths of the groups directly below `parent`, in the order first seen.
    fn groups_below(&self, parent: &str, scenario: Option<&str>) -> Vec<(String, String)> {
        let mut groups: Vec<(String, String)> = Vec::new();
        for (_, tags, _) in &self.points {
            let path = tag(tags, "group").map_or("", String::as_str);
            let here = scenario.is_none() || tag(tags, "scenario").map(String::as_str) == scenario;
            let below = path
                .strip_prefix(parent)
                .and_then(|rest| rest.strip_prefix("::"));
            if let (true, Some(below)) = (here, below) {
                let name = below.split("::").next().unwrap_or_default().to_owned();
                let path = format!("{parent}::{name}");
                if name != "setup" && name != "teardown" && !groups.iter().any(|(_, p)| *p == path)
                {
                    groups.push((name, path));
                }
            }
        }
        groups
    }

    fn group(&self, name: &str, path: &str) -> Group {
        let checks = self.checks(&|tags| tag(tags, "group").is_some_and(|group| group == path));
        let check = |check: CheckTotal| Check {
            path: format!("{path}::{}", check.name),
            name: check.name,
            id: String::new(),
            passes: check.passes,
            fails: check.fails,
        };
        let below = self.groups_below(path, None);
        Group {
            name: name.to_owned(),
            path: path.to_owned(),
            id: String::new(),
            groups: below
                .iter()
                .map(|(name, path)| self.group(name, path))
                .collect(),
            checks: checks.into_iter().map(check).collect(),
        }
    }

    fn part(&self, wanted: &dyn Fn(&Map<String, Value>) -> bool) -> Vec<MetricSummary> {
        let seen = |name: &str| {
            self.points
                .iter()
                .any(|(metric, tags, _)| metric == name && wanted(tags))
        };
        let names = self
            .listed
            .iter()
            .filter(|name| !name.contains('{') && seen(name));
        names
            .map(|name| MetricSummary {
                thresholds: Vec::new(),
                ..self.metric(name, wanted)
            })
            .collect()
    }

    fn group_part(&self, scenario: &str, name: &str, path: &str) -> GroupPart {
        let wanted = |tags: &Map<String, Value>| {
            tag(tags, "scenario").is_some_and(|of| of == scenario)
                && tag(tags, "group").is_some_and(|of| of == path)
        };
        let below = self.groups_below(path, Some(scenario));
        GroupPart {
            name: name.to_owned(),
            path: path.to_owned(),
            metrics: self.part(&wanted),
            checks: self.checks(&wanted),
            groups: below
                .iter()
                .map(|(n, p)| self.group_part(scenario, n, p))
                .collect(),
        }
    }

    fn scenarios(&self) -> Vec<ScenarioPart> {
        let mut names: Vec<&str> = Vec::new();
        for (_, tags, _) in &self.points {
            let name = tag(tags, "scenario").map_or("", String::as_str);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
            .into_iter()
            .map(|name| {
                let wanted = |tags: &Map<String, Value>| {
                    tag(tags, "scenario").map_or("", String::as_str) == name
                };
                let below = self.groups_below("", Some(name));
                ScenarioPart {
                    name: name.to_owned(),
                    metrics: self.part(&wanted),
                    checks: self.checks(&wanted),
                    groups: below
                        .iter()
                        .map(|(n, p)| self.group_part(name, n, p))
                        .collect(),
                }
            })
            .collect()
    }
}

fn tag<'a>(tags: &'a Map<String, Value>, key: &str) -> Option<&'a String> {
    match tags.get(key) {
        Some(Value::String(value)) => Some(value),
        _ => None,
    }
}

/// Splits `name{tag:value,…}` into name and tags.
fn selector(name: &str) -> (&str, Vec<(String, String)>) {
    let Some((base, rest)) = name.split_once('{') else {
        return (name, Vec::new());
    };
    let pairs = rest
        .trim_end_matches('}')
        .split(',')
        .filter_map(|pair| pair.split_once(':'));
    let unquoted = |text: &str| text.trim_matches(['"', '\'', ' ']).to_owned();
    (
        base,
        pairs
            .map(|(key, value)| (unquoted(key), unquoted(value)))
            .collect(),
    )
}

/// The value of the left side of a threshold.
fn measured(source: &str, values: &Values) -> f64 {
    let method = source
        .split(['<', '>', '=', '!'])
        .next()
        .unwrap_or_default()
        .trim();
    let percent = method
        .strip_prefix("p(")
        .map(|rest| rest.trim_end_matches(')'));
    let quantile: Option<f64> = percent.and_then(|percent| percent.parse().ok());
    match (method, quantile) {
        (_, Some(percent)) => values.quantile(percent / 100.0),
        ("count", _) => values.count(),
        ("rate", _) => values.rate(),
        ("value", _) => values.value(),
        ("avg", _) => values.avg(),
        ("min", _) => values.min(),
        ("med", _) => values.med(),
        ("max", _) => values.max(),
        _ => None,
    }
    .unwrap_or_default()
}
