//! The metrics of a run, parsed from the output of `--out json`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::normalize::Normalizer;

/// Metrics that Plimsoll provides in addition to k6's.
pub const ADDITIONAL: &[&str] = &[
    "http_req_looking_up",
    "http_req_response_time",
    "http_req_total",
    "grpc_req_total",
    "http_req_failed_duration",
    "iteration_send_lag",
];
/// Metrics that are sampled at intervals, so their number of samples in a short run varies.
pub const SAMPLED: &[&str] = &["vus", "vus_max"];
/// Totals that depend on the headers that each client sends, for example its name.
const CLIENT_DEPENDENT: &[&str] = &["data_sent", "data_received"];

/// One metric of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    #[serde(rename = "type")]
    pub kind: String,
    pub contains: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub submetrics: Vec<String>,
    /// All tags of its samples, if the series do not contain them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tags: BTreeSet<String>,
    /// Its samples by their tags, as `name=value` joined by commas. `None` if runs differ.
    pub series: Option<BTreeMap<String, Series>>,
}

/// The samples with one set of tags, for example `4 samples, sum 8`. `None` if runs differ.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Series {
    pub count: Option<u64>,
    pub sum: Option<f64>,
}

impl From<Series> for String {
    fn from(series: Series) -> String {
        let count = series
            .count
            .map_or("some".to_owned(), |count| count.to_string());
        match series.sum {
            Some(sum) => format!("{count} samples, sum {sum}"),
            None => format!("{count} samples"),
        }
    }
}

impl TryFrom<String> for Series {
    type Error = String;

    fn try_from(text: String) -> Result<Series, String> {
        let (count, sum) = match text.split_once(" samples, sum ") {
            Some((count, sum)) => (count, Some(sum.parse().map_err(|_| text.clone())?)),
            None => (text.strip_suffix(" samples").ok_or(text.clone())?, None),
        };
        let count = match count {
            "some" => None,
            count => Some(count.parse().map_err(|_| text.clone())?),
        };
        Ok(Series { count, sum })
    }
}

/// Parses the lines. Invalid JSON is ignored, because a killed run may leave an incomplete line.
pub fn read(text: &str, normalizer: &Normalizer) -> BTreeMap<String, Metric> {
    let mut found: BTreeMap<String, Metric> = BTreeMap::new();
    for line in text.lines() {
        let Ok(line) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let name = line["metric"].as_str().unwrap_or_default();
        if SAMPLED.contains(&name) || ADDITIONAL.contains(&name) {
            continue;
        }
        let data = &line["data"];
        if line["type"] == "Metric" {
            found.insert(name.to_owned(), declared(data));
        } else if let Some(metric) = found.get_mut(name) {
            add(metric, name, data, normalizer);
        }
    }
    found
}

fn declared(data: &Value) -> Metric {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut submetrics: Vec<String> = list(&data["submetrics"])
        .iter()
        .map(|sub| text(&sub["suffix"]))
        .collect();
    submetrics.sort();
    Metric {
        kind: text(&data["type"]),
        contains: text(&data["contains"]),
        thresholds: list(&data["thresholds"]).iter().map(written).collect(),
        submetrics,
        tags: BTreeSet::new(),
        series: Some(BTreeMap::new()),
    }
}

/// A threshold: its expression, or the JSON of a threshold with settings.
fn written(threshold: &Value) -> String {
    match threshold.as_str() {
        Some(text) => text.to_owned(),
        None => threshold.to_string(),
    }
}

fn add(metric: &mut Metric, name: &str, data: &Value, normalizer: &Normalizer) {
    let mut tags: Vec<String> = Vec::new();
    for (tag, value) in data["tags"].as_object().into_iter().flatten() {
        let value = normalizer.text(value.as_str().unwrap_or_default());
        tags.push(format!("{tag}={value}"));
        metric.tags.insert(tag.clone());
    }
    // Metadata is not indexed, so it is distinguished from a tag with the same name.
    for (key, value) in data["metadata"].as_object().into_iter().flatten() {
        let value = normalizer.text(value.as_str().unwrap_or_default());
        tags.push(format!("metadata.{key}={value}"));
        metric.tags.insert(format!("metadata.{key}"));
    }
    tags.sort();
    let time = metric.contains == "time";
    let Some(series) = &mut metric.series else {
        return;
    };
    let series = series.entry(tags.join(",")).or_default();
    series.count = Some(series.count.unwrap_or(0) + 1);
    if !time && !CLIENT_DEPENDENT.contains(&name) {
        let value = data["value"].as_f64().unwrap_or(f64::NAN);
        let sum = series.sum.unwrap_or(0.0);
        // The sum of a gauge is meaningless; its last value counts.
        series.sum = Some(if metric.kind == "gauge" {
            value
        } else {
            sum + value
        });
    }
}
