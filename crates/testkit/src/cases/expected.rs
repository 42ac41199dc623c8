//! `expected.json`: the common part of several runs of k6.

use std::collections::BTreeMap;

use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::metrics::{Metric, Series};
use super::observe::Observation;

/// Matches any word of a line. It stands for words in which k6's own runs differ.
pub const ANY: &str = "*";

/// The expected result of a run, in the same form as an [`Observation`]. [`ANY`] and `null` match
/// anything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Expected(pub Observation);

/// The phases of an exchange have the same tags and counts as this metric, so these are written
/// only once.
const SHARED_METRIC: &str = "http_reqs";

impl Expected {
    /// The text of `expected.json`.
    pub fn to_text(&self) -> Result<String, serde_json::Error> {
        let mut value = serde_json::to_value(self)?;
        if let Some(metrics) = value.get_mut("metrics").and_then(Value::as_object_mut) {
            for metric in metrics.values_mut().filter_map(Value::as_object_mut) {
                if metric.get("series").is_some_and(|series| !series.is_null()) {
                    metric.remove("tags");
                }
            }
            let alike = self.0.metrics.get(SHARED_METRIC).and_then(counts);
            for (name, metric) in &self.0.metrics {
                if name != SHARED_METRIC
                    && metric.contains == "time"
                    && alike.is_some()
                    && counts(metric) == alike
                    && let Some(metric) = metrics.get_mut(name)
                {
                    metric["series"] = Value::from(SHARED_METRIC);
                }
            }
        }
        Ok(serde_json::to_string_pretty(&value)? + "\n")
    }

    /// Parses the output of [`Expected::to_text`].
    pub fn from_text(text: &str) -> Result<Expected, serde_json::Error> {
        let mut value: Value = serde_json::from_str(text)?;
        let mut alike = value["metrics"][SHARED_METRIC]["series"].clone();
        for series in alike
            .as_object_mut()
            .into_iter()
            .flat_map(|map| map.values_mut())
        {
            let text = series.as_str().unwrap_or_default();
            *series = Value::from(text.split(',').next().unwrap_or_default());
        }
        if let Some(metrics) = value.get_mut("metrics").and_then(Value::as_object_mut) {
            for metric in metrics
                .values_mut()
                .filter(|metric| metric["series"] == SHARED_METRIC)
            {
                metric["series"] = alike.clone();
            }
        }
        serde_json::from_value(value)
    }

    /// Applies the replacements of a case to every line and tag.
    pub fn replace(&mut self, replacements: &[(String, String)]) -> Result<(), regex::Error> {
        for (pattern, with) in replacements {
            let pattern = Regex::new(pattern)?;
            let replaced = |text: &String| pattern.replace_all(text, with.as_str()).into_owned();
            let all = |lines: &mut Vec<String>| {
                lines.iter_mut().for_each(|line| *line = replaced(line));
            };
            all(&mut self.0.logs);
            all(&mut self.0.screen);
            self.0.files.values_mut().for_each(all);
            for metric in self.0.metrics.values_mut() {
                if let Some(series) = &mut metric.series {
                    let old = std::mem::take(series);
                    series.extend(old.into_iter().map(|(tags, of)| (replaced(&tags), of)));
                }
            }
        }
        Ok(())
    }

    /// The common part of the runs. An error if they differ too much.
    pub fn common(runs: &[Observation]) -> Result<Expected, String> {
        let (first, others) = runs.split_first().ok_or("no run")?;
        let mut common = first.clone();
        for other in others {
            if common.exit != other.exit {
                return Err(format!("exit statuses {} and {}", common.exit, other.exit));
            }
            common.logs = common_lines(&common.logs, &other.logs)
                .map_err(|error| format!("logs: {error}"))?;
            common.screen = common_lines(&common.screen, &other.screen)
                .map_err(|error| format!("screen: {error}"))?;
            common.metrics = common_metrics(&common.metrics, &other.metrics)?;
            for (name, lines) in &mut common.files {
                let others = other.files.get(name).map(Vec::as_slice).unwrap_or_default();
                *lines = common_lines(lines, others).map_err(|error| format!("{name}: {error}"))?;
            }
        }
        Ok(Expected(common))
    }
}

fn counts(metric: &Metric) -> Option<BTreeMap<&str, Option<u64>>> {
    let series = metric.series.as_ref()?.iter();
    Some(
        series
            .map(|(tags, series)| (tags.as_str(), series.count))
            .collect(),
    )
}

fn common_lines(one: &[String], other: &[String]) -> Result<Vec<String>, String> {
    if one.len() != other.len() {
        return Err(format!(
            "{} and {} lines:\n{}\n--\n{}",
            one.len(),
            other.len(),
            one.join("\n"),
            other.join("\n")
        ));
    }
    let pairs = one.iter().zip(other);
    Ok(pairs.map(|(one, other)| common_line(one, other)).collect())
}

fn common_line(one: &str, other: &str) -> String {
    let (ones, others): (Vec<&str>, Vec<&str>) = (words(one), words(other));
    if ones.len() != others.len() {
        return ANY.to_owned();
    }
    let words = ones
        .iter()
        .zip(others)
        .map(|(&one, other)| if one == other { one } else { ANY });
    words.collect::<Vec<_>>().join(" ")
}

/// The words of a line. Leading spaces yield empty words, so the indentation counts.
pub fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

fn common_metrics(
    one: &BTreeMap<String, Metric>,
    other: &BTreeMap<String, Metric>,
) -> Result<BTreeMap<String, Metric>, String> {
    let names = |metrics: &BTreeMap<String, Metric>| metrics.keys().cloned().collect::<Vec<_>>();
    if !one.keys().eq(other.keys()) {
        return Err(format!("metrics: {:?} and {:?}", names(one), names(other)));
    }
    let mut common = one.clone();
    for (name, metric) in &mut common {
        let Some(other) = other.get(name) else {
            continue;
        };
        metric.tags = metric.tags.intersection(&other.tags).cloned().collect();
        metric.series = match (metric.series.take(), &other.series) {
            (Some(one), Some(other)) if one.keys().eq(other.keys()) => {
                let pairs = one.into_iter().zip(other.values());
                Some(
                    pairs
                        .map(|((tags, one), other)| (tags, common_series(&one, other)))
                        .collect(),
                )
            }
            _ => None,
        };
    }
    Ok(common)
}

fn common_series(one: &Series, other: &Series) -> Series {
    let near = |one: f64, other: f64| (one - other).abs() <= 1e-9 * one.abs().max(1.0);
    Series {
        count: one.count.filter(|count| Some(*count) == other.count),
        sum: one
            .sum
            .filter(|sum| other.sum.is_some_and(|other| near(*sum, other))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(metric: &str, tags: &str, count: u64) -> Observation {
        let series = Series {
            count: Some(count),
            sum: None,
        };
        let of = |contains: &str| Metric {
            kind: "trend".to_owned(),
            contains: contains.to_owned(),
            thresholds: Vec::new(),
            submetrics: Vec::new(),
            tags: Default::default(),
            series: Some(BTreeMap::from([(tags.to_owned(), series.clone())])),
        };
        Observation {
            exit: 0,
            logs: vec!["info: took 5 ms".to_owned()],
            screen: Vec::new(),
            metrics: BTreeMap::from([
                (SHARED_METRIC.to_owned(), of("default")),
                (metric.to_owned(), of("time")),
            ]),
            files: BTreeMap::new(),
        }
    }

    #[test]
    fn written_recordings_read_back_the_same() -> Result<(), Box<dyn std::error::Error>> {
        let expected = Expected(seen("http_req_waiting", "status=200", 4));
        let text = expected.to_text()?;
        assert!(text.contains("\"series\": \"http_reqs\""), "{text}");
        assert_eq!(Expected::from_text(&text)?, expected);
        Ok(())
    }

    #[test]
    fn replacements_apply_to_recordings() -> Result<(), Box<dyn std::error::Error>> {
        let mut expected = Expected(seen("t", "url=http://host:4711/", 4));
        let replacements = [("host:\\d+", "host:<port>"), ("\\d+ ms", "# ms")];
        let replacements = replacements.map(|(from, to)| (from.to_owned(), to.to_owned()));
        expected.replace(&replacements)?;
        assert_eq!(expected.0.logs, ["info: took # ms"]);
        let series = expected.0.metrics.get("t").and_then(|t| t.series.as_ref());
        let tags: Vec<&String> = series.into_iter().flat_map(BTreeMap::keys).collect();
        assert_eq!(tags, ["url=http://host:<port>/"]);
        Ok(())
    }

    #[test]
    fn varying_values_become_placeholders() -> Result<(), String> {
        let mut other = seen("t", "a=1", 5);
        other.logs = vec!["info: took 7 ms".to_owned()];
        let common = Expected::common(&[seen("t", "a=1", 4), other])?.0;
        assert_eq!(common.logs, ["info: took * ms"]);
        let series = common
            .metrics
            .get("t")
            .and_then(|metric| metric.series.clone());
        assert_eq!(
            series,
            Some(BTreeMap::from([("a=1".to_owned(), Series::default())]))
        );
        Ok(())
    }

    #[test]
    fn runs_that_differ_in_more_than_words_are_refused() {
        let mut other = seen("t", "a=1", 4);
        other.exit = 99;
        assert!(Expected::common(&[seen("t", "a=1", 4), other]).is_err());
        assert!(Expected::common(&[seen("t", "a=1", 4), seen("u", "a=1", 4)]).is_err());
    }
}
