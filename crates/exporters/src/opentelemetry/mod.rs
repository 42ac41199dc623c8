//! Sends cumulative values with OpenTelemetry's protocol (OTLP), as protobuf messages over gRPC or HTTP.
//!
//! Names, units and attributes are those of k6. Counters are sums, rates are sums with the attribute `condition`, and
//! times are in milliseconds. Trends are exponential histograms.

pub mod message;
pub mod settings;

use std::collections::{BTreeMap, HashMap};
use std::time::SystemTime;

use plimsoll_output::output::{ShownUrl, shown_tag};
use plimsoll_samples::{Contains, Metric, SampleTags};
use prost::Message;

use crate::cumulative::Format;
use crate::exponential_histogram::{ExponentialHistogram, SCALE, ZERO_THRESHOLD};
use crate::value::Value;

use message::{
    Any, AnyValue, Buckets, CUMULATIVE, Data, ExportRequest, Gauge, Histogram, HistogramPoint,
    KeyValue, Number, NumberPoint, Resource, ResourceMetrics, Scope, ScopeMetrics, Sum,
};

pub use settings::Settings;

/// The OTLP format.
pub struct Otlp {
    prefix: String,
    /// Whether a rate is one sum with an attribute, instead of two sums.
    has_single_rates: bool,
    /// The attributes of the program.
    resource: Vec<KeyValue>,
    /// The start of the run, in nanoseconds since 1970.
    start: u64,
}

/// The name, unit and attributes of a series.
pub struct SeriesLabel {
    name: String,
    unit: &'static str,
    attributes: Vec<KeyValue>,
}

/// The values of a metric with a name, before they are converted to a message.
struct Points {
    unit: &'static str,
    data: Data,
}

impl Otlp {
    /// Creates the format with these settings, for a run that starts now.
    pub fn new(settings: &Settings) -> Otlp {
        let resource = settings.resource.iter();
        Otlp {
            prefix: settings.prefix.clone(),
            has_single_rates: settings.has_single_rates,
            resource: resource
                .map(|(key, value)| attribute(key, value.clone()))
                .collect(),
            start: nanos(SystemTime::now()),
        }
    }

    fn point(&self, label: &SeriesLabel, time: u64, value: Number) -> NumberPoint {
        NumberPoint {
            attributes: label.attributes.clone(),
            start: self.start,
            time,
            value: Some(value),
        }
    }

    /// The names of the metrics to which a value belongs, and its points.
    fn points(&self, label: &SeriesLabel, value: &Value, time: u64) -> Vec<(String, Data)> {
        let count = |count: u64| Number::Integer(i64::try_from(count).unwrap_or(i64::MAX));
        let named = |suffix: &str, data: Data| (format!("{}{suffix}", label.name), data);
        match value {
            Value::Counter(value) => {
                vec![named(
                    "",
                    sum(vec![self.point(label, time, Number::Double(*value))]),
                )]
            }
            Value::Gauge(value, _) => {
                let data_points = vec![self.point(label, time, Number::Double(*value))];
                vec![named("", Data::Gauge(Gauge { data_points }))]
            }
            Value::Rate(nonzero, zero) if self.has_single_rates => {
                let counts = [("nonzero", *nonzero), ("zero", *zero)];
                let counted = counts.into_iter().filter(|(_, number)| *number > 0);
                let points = counted.map(|(condition, number)| {
                    let mut point = self.point(label, time, count(number));
                    let condition = attribute("condition", condition.to_owned());
                    point.attributes.push(condition);
                    point
                });
                vec![named(".total", sum(points.collect()))]
            }
            Value::Rate(nonzero, zero) => {
                let point = |number| sum(vec![self.point(label, time, count(number))]);
                vec![
                    named(".occurred", point(*nonzero)),
                    named(".total", point(nonzero + zero)),
                ]
            }
            Value::Trend(histogram, _) => {
                let point = HistogramPoint {
                    attributes: label.attributes.clone(),
                    start: self.start,
                    time,
                    ..histogram_point(histogram)
                };
                let data = Data::Histogram(Histogram {
                    data_points: vec![point],
                    temporality: CUMULATIVE,
                });
                vec![named("", data)]
            }
            // Only other formats request figures.
            Value::Figures(..) => Vec::new(),
        }
    }
}

impl Format for Otlp {
    type Label = SeriesLabel;

    fn start(
        &self,
        metric: &Metric,
        tags: &SampleTags,
        shown_url: ShownUrl,
    ) -> (SeriesLabel, Value) {
        // Sorted, with one value per key.
        let tags: BTreeMap<&str, &str> =
            tags.iter().filter(|(_, value)| !value.is_empty()).collect();
        let tags = tags.into_iter();
        let label = SeriesLabel {
            name: format!("{}{}", self.prefix, metric.name),
            unit: match metric.contains {
                Contains::Default => "",
                Contains::Time => "ms",
                Contains::Data => "By",
            },
            attributes: tags
                .map(|(key, value)| attribute(key, shown_tag(shown_url, key, value).into_owned()))
                .collect(),
        };
        (label, Value::new(metric, 1.0, false))
    }

    fn request<'a>(
        &self,
        series: impl Iterator<Item = (&'a SeriesLabel, &'a Value)>,
        at: SystemTime,
    ) -> Vec<u8> {
        let time = nanos(at);
        let mut metrics: Vec<(String, Points)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for (label, value) in series {
            for (name, data) in self.points(label, value, time) {
                match places.get(&name) {
                    Some(place) => append(&mut metrics[*place].1.data, data),
                    None => {
                        places.insert(name.clone(), metrics.len());
                        let unit = label.unit;
                        metrics.push((name, Points { unit, data }));
                    }
                }
            }
        }
        let metrics = metrics.into_iter().map(|(name, points)| message::Metric {
            name,
            unit: points.unit.to_owned(),
            data: Some(points.data),
        });
        let request = ExportRequest {
            resource_metrics: vec![ResourceMetrics {
                resource: Some(Resource {
                    attributes: self.resource.clone(),
                }),
                scope_metrics: vec![ScopeMetrics {
                    scope: Some(Scope {
                        name: "k6".to_owned(),
                    }),
                    metrics: metrics.collect(),
                }],
            }],
        };
        request.encode_to_vec()
    }
}

fn sum(data_points: Vec<NumberPoint>) -> Data {
    Data::Sum(Sum {
        data_points,
        temporality: CUMULATIVE,
        is_monotonic: true,
    })
}

/// Adds the points of another series of the same metric.
fn append(data: &mut Data, more: Data) {
    match (data, more) {
        (Data::Gauge(all), Data::Gauge(more)) => all.data_points.extend(more.data_points),
        (Data::Sum(all), Data::Sum(more)) => all.data_points.extend(more.data_points),
        (Data::Histogram(all), Data::Histogram(more)) => all.data_points.extend(more.data_points),
        // The kind of a metric never changes.
        _ => {}
    }
}

fn histogram_point(histogram: &ExponentialHistogram) -> HistogramPoint {
    HistogramPoint {
        count: histogram.count,
        sum: Some(histogram.sum),
        scale: SCALE,
        zero_count: histogram.zeros,
        positive: buckets(&histogram.positive),
        negative: buckets(&histogram.negative),
        min: histogram.range.map(|(min, _)| min),
        max: histogram.range.map(|(_, max)| max),
        zero_threshold: ZERO_THRESHOLD,
        ..HistogramPoint::default()
    }
}

/// All buckets from the first to the last.
fn buckets(counts: &BTreeMap<i32, u64>) -> Option<Buckets> {
    let (first, last) = (*counts.keys().next()?, *counts.keys().next_back()?);
    let counts = (first..=last).map(|index| counts.get(&index).copied().unwrap_or(0));
    Some(Buckets {
        // Bucket indices are one lower than in Prometheus.
        offset: first - 1,
        counts: counts.collect(),
    })
}

pub fn attribute(key: &str, value: String) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue {
            value: Some(Any::Text(value)),
        }),
    }
}

/// An attribute with an integer value. `None` if the string is not an integer.
pub fn number_attribute(key: &str, text: &str) -> Option<KeyValue> {
    let number = text.parse().ok()?;
    Some(KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue {
            value: Some(Any::Integer(number)),
        }),
    })
}

/// Nanoseconds since 1970.
pub fn nanos(time: SystemTime) -> u64 {
    let since_1970 = time.duration_since(SystemTime::UNIX_EPOCH);
    since_1970.map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_buckets_between_others_are_written() {
        let mut histogram = ExponentialHistogram::default();
        for value in [1.0, 1.0, 4.0, 0.0, -1.0] {
            histogram.add(value);
        }
        let point = histogram_point(&histogram);
        assert_eq!((point.count, point.zero_count), (5, 1));
        assert_eq!((point.min, point.max), (Some(-1.0), Some(4.0)));
        let positive = point.positive.expect("positive values");
        assert_eq!(positive.offset, -1);
        assert_eq!(positive.counts.len(), 17);
        assert_eq!((positive.counts[0], positive.counts[16]), (2, 1));
        assert_eq!(positive.counts.iter().sum::<u64>(), 3);
        assert_eq!(point.negative.expect("a negative value").counts, [1]);
    }
}
