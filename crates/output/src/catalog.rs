//! Describes metrics to outputs: kinds, thresholds, sub-metrics.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use plimsoll_plan::Threshold;
use plimsoll_plan::threshold::MetricSelector;
use plimsoll_samples::{Mask, Metric, MetricId, Registry};
use serde_json::Value;

/// The selector of the sub-metric that always exists.
const EXPECTED_RESPONSES: &str = "expected_response:true";

/// The metrics of a run with their thresholds and sub-metrics.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    registry: Arc<Registry>,
    by_metric: HashMap<String, MetricThresholds>,
    mask: Option<Arc<Mask>>,
}

/// The thresholds and sub-metrics of one metric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MetricThresholds {
    /// Its thresholds: plain expressions, or objects if they may abort the run.
    pub thresholds: Vec<Value>,
    /// Its sub-metrics.
    pub submetrics: Vec<Submetric>,
}

/// The samples of a metric with certain tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submetric {
    /// The full selector: `metric{tag:value}`.
    pub name: String,
    /// The part between the braces.
    pub suffix: String,
    /// The tags and values.
    pub tags: Vec<(String, String)>,
}

impl Catalog {
    /// Describes the metrics of `registry` with their thresholds, and with the sub-metrics that have thresholds or are
    /// among `watched`.
    pub fn new(
        registry: Arc<Registry>,
        thresholds: &[Threshold],
        watched: &[MetricSelector],
    ) -> Catalog {
        let mut by_metric: HashMap<String, MetricThresholds> = HashMap::new();
        for threshold in thresholds {
            let on = &threshold.metric;
            let of = by_metric.entry(on.name.clone()).or_default();
            if on.tags.is_empty() {
                of.thresholds.push(threshold.to_json());
            } else {
                of.add(&on.source, &on.tags);
            }
        }
        for on in watched.iter().filter(|on| !on.tags.is_empty()) {
            let of = by_metric.entry(on.name.clone()).or_default();
            of.add(&on.source, &on.tags);
        }
        // k6 always has this sub-metric.
        let always = [("expected_response".to_owned(), "true".to_owned())];
        by_metric
            .entry("http_req_duration".to_owned())
            .or_default()
            .add("http_req_duration{expected_response:true}", &always);
        Catalog {
            registry,
            by_metric,
            mask: None,
        }
    }

    /// The same for a run whose outputs must not show these secrets.
    #[must_use]
    pub fn masked(mut self, mask: Option<Arc<Mask>>) -> Catalog {
        self.mask = mask;
        self
    }

    /// The same catalog for a run whose samples do not have the tag `expected_response`.
    #[must_use]
    pub fn without_expected_responses(mut self) -> Catalog {
        if let Some(thresholds) = self.by_metric.get_mut("http_req_duration") {
            thresholds
                .submetrics
                .retain(|submetric| submetric.suffix != EXPECTED_RESPONSES);
        }
        self
    }

    /// The properties of a metric, and its thresholds and sub-metrics.
    pub fn find(&self, id: MetricId) -> Option<(Metric, MetricThresholds)> {
        let mut metric = self.registry.get(id)?;
        let mut thresholds = self
            .by_metric
            .get(&metric.name)
            .cloned()
            .unwrap_or_default();
        if let Some(mask) = &self.mask {
            thresholds.hide(mask, id);
            metric.name = mask.apply_to_metric(id, &metric.name).into_owned();
        }
        Some((metric, thresholds))
    }
}

impl MetricThresholds {
    /// Hides the secrets in thresholds, names and tags.
    fn hide(&mut self, mask: &Mask, metric: MetricId) {
        let hide = |text: &mut String| {
            if let Cow::Owned(masked) = mask.apply(text) {
                *text = masked;
            }
        };
        for threshold in &mut self.thresholds {
            let expression = match threshold {
                Value::Object(fields) => fields.get_mut("threshold"),
                text => Some(text),
            };
            if let Some(Value::String(text)) = expression {
                hide(text);
            }
        }
        let submetrics = self.submetrics.iter_mut();
        // No script chose the name of the one that always exists.
        for submetric in submetrics.filter(|submetric| submetric.suffix != EXPECTED_RESPONSES) {
            submetric.name = mask.apply_to_metric(metric, &submetric.name).into_owned();
            hide(&mut submetric.suffix);
            for (key, value) in &mut submetric.tags {
                hide(key);
                hide(value);
            }
        }
    }

    fn add(&mut self, name: &str, tags: &[(String, String)]) {
        let (metric, rest) = name.split_once('{').unwrap_or((name, ""));
        let suffix = rest.strip_suffix('}').unwrap_or(rest).trim();
        let name = format!("{metric}{{{suffix}}}");
        if self.submetrics.iter().any(|known| known.name == name) {
            return;
        }
        self.submetrics.push(Submetric {
            name,
            suffix: suffix.to_owned(),
            tags: tags.to_vec(),
        });
    }
}
