//! Writes samples as JSON in k6's format, one object per line.
//!
//! A line with `"type":"Metric"` precedes the first sample of each metric and describes the metric. Samples are lines
//! with `"type":"Point"`.

use std::fmt::Write;
use std::sync::Arc;

use plimsoll_samples::{Metric, MetricId, SampleRecord, SampleTags};
use serde_json::{Map, Value, json};

use crate::catalog::{Catalog, MetricThresholds};
use crate::json_number::number;
use crate::sample_output::{NamedSink, Output, OutputError, OutputSetting, ShownUrl, shown_tag};
use crate::wall_clock::{DateWriter, WallClock};

pub(crate) struct JsonOutput {
    sink: NamedSink,
    catalog: Catalog,
    clock: WallClock,
    shown_url: ShownUrl,
    /// The quoted names of the metrics that have occurred, by id.
    names: Vec<Option<String>>,
    /// The tags of the previous sample, and their JSON. All samples of an exchange share their tags.
    tags: Option<(Arc<SampleTags>, String)>,
    text: String,
}

impl JsonOutput {
    pub fn new(sink: NamedSink, setting: &OutputSetting) -> JsonOutput {
        JsonOutput {
            sink,
            catalog: setting.catalog.clone(),
            clock: setting.clock,
            shown_url: setting.shown_url,
            names: Vec::new(),
            tags: None,
            text: String::new(),
        }
    }

    /// Describes a metric when it first occurs.
    fn meet(&mut self, id: MetricId) {
        if self.names.len() <= id.index() {
            self.names.resize(id.index() + 1, None);
        }
        let Some(name) = self.names.get_mut(id.index()) else {
            return;
        };
        if name.is_none()
            && let Some((metric, of_metric)) = self.catalog.find(id)
        {
            self.text
                .push_str(&description(&metric, &of_metric).to_string());
            self.text.push('\n');
            *name = Some(quoted(&metric.name));
        }
    }

    fn point(&mut self, sample: &SampleRecord, dates: &mut DateWriter) {
        let Some(name) = self
            .names
            .get(sample.metric.index())
            .and_then(Option::as_deref)
        else {
            return;
        };
        let text = &mut self.text;
        text.push_str("{\"metric\":");
        text.push_str(name);
        text.push_str(",\"type\":\"Point\",\"data\":{\"time\":\"");
        dates.push(text, self.clock.date(sample.at));
        text.push_str("\",\"value\":");
        // Writing to a string cannot fail.
        let _ = write!(text, "{}", number(sample.value));
        text.push_str(",\"tags\":{");
        match &self.tags {
            Some((tags, known)) if Arc::ptr_eq(tags, &sample.tags) => text.push_str(known),
            _ => {
                let mut pairs = String::new();
                for (place, (key, value)) in sample.tags.iter().enumerate() {
                    push_pair(
                        &mut pairs,
                        place,
                        key,
                        &shown_tag(self.shown_url, key, value),
                    );
                }
                text.push_str(&pairs);
                self.tags = Some((Arc::clone(&sample.tags), pairs));
            }
        }
        text.push('}');
        if let Some(metadata) = sample.metadata.as_deref().filter(|data| !data.is_empty()) {
            text.push_str(",\"metadata\":{");
            push_pairs(
                text,
                metadata
                    .iter()
                    .map(|(key, value)| (key.as_str(), value.as_str())),
            );
            text.push('}');
        }
        text.push_str("}}\n");
    }
}

impl Output for JsonOutput {
    fn batch(&mut self, samples: &[SampleRecord]) -> Result<(), OutputError> {
        let Some(first) = samples.first() else {
            return Ok(());
        };
        // The offset is determined once per batch. In the seconds around a change of the offset, dates may have the
        // previous one.
        let mut dates = DateWriter::new(self.clock.local_offset(first.at), true);
        self.text.clear();
        for sample in samples {
            self.meet(sample.metric);
            self.point(sample, &mut dates);
        }
        self.sink.write(self.text.as_bytes(), false)
    }

    fn finish(&mut self) -> Result<(), OutputError> {
        self.sink.write(&[], true)
    }
}

fn description(metric: &Metric, of_metric: &MetricThresholds) -> Value {
    let submetrics: Vec<_> = of_metric
        .submetrics
        .iter()
        .map(|submetric| {
            let tags: Map<_, _> = submetric
                .tags
                .iter()
                .map(|(key, value)| (key.clone(), Value::from(value.as_str())))
                .collect();
            json!({ "name": submetric.name, "suffix": submetric.suffix, "tags": tags })
        })
        .collect();
    let submetrics = if submetrics.is_empty() {
        Value::Null
    } else {
        submetrics.into()
    };
    json!({
        "type": "Metric",
        "data": {
            "name": metric.name,
            "type": metric.kind,
            "contains": metric.contains,
            "thresholds": of_metric.thresholds,
            "submetrics": submetrics,
        },
        "metric": metric.name,
    })
}

fn push_pairs<'a>(text: &mut String, pairs: impl Iterator<Item = (&'a str, &'a str)>) {
    for (place, (key, value)) in pairs.enumerate() {
        push_pair(text, place, key, value);
    }
}

fn push_pair(text: &mut String, place: usize, key: &str, value: &str) {
    if place > 0 {
        text.push(',');
    }
    text.push_str(&quoted(key));
    text.push(':');
    text.push_str(&quoted(value));
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
