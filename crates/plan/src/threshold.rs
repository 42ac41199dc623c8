//! Conditions that a running or finished test must meet: `"http_req_duration{status:200}": ["p(95)<500"]`.

mod expression;
mod selector;

use std::time::Duration;

use serde_json::{Map, Value};

use crate::error::{Errors, Fault};
use crate::option_value::{Fields, OptionValue, Reader};

pub(crate) use expression::percentile;
pub use expression::{Expression, Method, MetricKind, Operator};
pub use selector::MetricSelector;

/// One threshold on one metric or sub-metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// The metric or sub-metric.
    pub metric: MetricSelector,
    /// The condition.
    pub expression: Expression,
    /// The condition as written. Reports use it as its name.
    pub source: String,
    /// Whether to abort the test as soon as the condition is false.
    pub abort_on_fail: bool,
    /// How long after the start of the test the threshold cannot abort it.
    pub delay_abort_eval: Duration,
}

impl Threshold {
    /// Parses a threshold from two strings, such as `http_reqs` and `rate>100`.
    ///
    /// # Errors
    /// If either is invalid.
    pub fn parse(metric: &str, source: &str) -> Result<Threshold, Fault> {
        let place = |fault: Fault| Fault::at(format!("thresholds.{metric}"), fault.message);
        Ok(Threshold {
            metric: MetricSelector::parse(metric).map_err(place)?,
            expression: Expression::parse(source).map_err(place)?,
            source: source.to_owned(),
            abort_on_fail: false,
            delay_abort_eval: Duration::ZERO,
        })
    }

    /// Checks that a metric of that kind has the value that this threshold uses.
    ///
    /// # Errors
    /// If it does not. The message lists the values that it has.
    pub fn validate(&self, kind: MetricKind) -> Result<(), Fault> {
        let method = self.expression.method;
        if kind.has(method) {
            return Ok(());
        }
        Err(Fault::at(
            format!("thresholds.{}", self.metric.source),
            format!(
                "\"{}\": {kind} metrics have no \"{method}\"; use {}",
                self.source,
                kind.methods().join(", ")
            ),
        ))
    }

    /// The threshold for outputs: its short form, or with all its settings if it may abort the run.
    pub fn to_json(&self) -> Value {
        ThresholdOptions {
            threshold: self.source.clone(),
            abort_on_fail: self.abort_on_fail,
            delay_abort_eval: Some(self.delay_abort_eval).filter(|delay| !delay.is_zero()),
        }
        .to_json()
    }
}

/// A threshold as written, before it is parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThresholdOptions {
    pub threshold: String,
    pub abort_on_fail: bool,
    pub delay_abort_eval: Option<Duration>,
}

impl OptionValue for ThresholdOptions {
    /// `"p(95)<500"`, or an object with `threshold`.
    fn from_json(value: &Value, reader: &mut Reader<'_>) -> Option<ThresholdOptions> {
        if let Value::String(threshold) = value {
            return Some(ThresholdOptions {
                threshold: threshold.clone(),
                ..ThresholdOptions::default()
            });
        }
        if !value.is_object() {
            return reader.wrong_kind(
                "a string such as \"p(95)<500\" or an object with threshold",
                value,
            );
        }
        let mut fields = Fields::of(value, reader)?;
        let threshold: Option<String> = fields.take("threshold", reader);
        let abort_on_fail = fields.take("abortOnFail", reader).unwrap_or_default();
        let delay_abort_eval = fields.take("delayAbortEval", reader);
        fields.warn_rest(&["threshold", "abortOnFail", "delayAbortEval"], reader);
        Some(ThresholdOptions {
            threshold: threshold.unwrap_or_default(),
            abort_on_fail,
            delay_abort_eval,
        })
    }

    fn from_text(text: &str) -> Result<ThresholdOptions, String> {
        Ok(ThresholdOptions {
            threshold: text.to_owned(),
            ..ThresholdOptions::default()
        })
    }

    /// The short form if it is sufficient.
    fn to_json(&self) -> Value {
        if !self.abort_on_fail {
            return Value::from(self.threshold.as_str());
        }
        let mut object = Map::new();
        object.insert("threshold".to_owned(), Value::from(self.threshold.as_str()));
        object.insert("abortOnFail".to_owned(), Value::Bool(true));
        let delay = self
            .delay_abort_eval
            .as_ref()
            .map_or(Value::Null, OptionValue::to_json);
        object.insert("delayAbortEval".to_owned(), delay);
        Value::Object(object)
    }
}

/// The content of a `thresholds` map.
#[derive(Debug, Default)]
pub(crate) struct ThresholdMap {
    /// All conditions.
    pub thresholds: Vec<Threshold>,
    /// The metrics with an empty list of conditions.
    pub watched: Vec<MetricSelector>,
}

impl ThresholdMap {
    /// Parses a whole `thresholds` map.
    pub fn read<'a>(
        all: impl IntoIterator<Item = (&'a String, &'a Vec<ThresholdOptions>)>,
        errors: &mut Errors,
    ) -> ThresholdMap {
        let mut map = ThresholdMap::default();
        for (metric, conditions) in all {
            // An invalid key is reported once, not once per condition.
            let selector = match MetricSelector::parse(metric) {
                Ok(selector) => selector,
                Err(fault) => {
                    errors.push(format!("thresholds.{metric}"), fault.message);
                    continue;
                }
            };
            if conditions.is_empty() {
                map.watched.push(selector);
            }
            for written in conditions {
                match Threshold::parse(metric, &written.threshold) {
                    Ok(threshold) => map.thresholds.push(Threshold {
                        abort_on_fail: written.abort_on_fail,
                        delay_abort_eval: written.delay_abort_eval.unwrap_or_default(),
                        ..threshold
                    }),
                    Err(fault) => errors.0.push(fault),
                }
            }
        }
        map
    }
}
