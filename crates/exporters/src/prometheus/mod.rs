//! Prometheus remote write, version 1: snappy-compressed protobuf messages of cumulative values.
//!
//! Names are those of k6: the prefix `k6_`, and `_total` for counters, `_rate` for rates, `_seconds` for times. Trends
//! are native histograms, unless `K6_PROMETHEUS_RW_TREND_STATS` asks for figures such as `p(99)`.

mod message;
mod native_histogram;
mod series_messages;
mod settings;

use std::time::SystemTime;

use plimsoll_output::output::{ShownUrl, shown_tag};
use plimsoll_samples::{Metric, SampleTags};
use prost::Message;

use crate::cumulative::Format;
use crate::value::Value;

use message::{Label, TimeSeries, WriteRequest};
use settings::Figure;

pub use settings::Settings;

/// The form of remote write.
pub struct RemoteWrite {
    /// The figures of a trend; if there are none, trends are native histograms.
    figures: Vec<Figure>,
}

impl RemoteWrite {
    /// The form that these settings ask for.
    pub fn new(settings: &Settings) -> RemoteWrite {
        RemoteWrite {
            figures: settings.figures.clone(),
        }
    }
}

/// One series, or several with the same labels for the figures of a trend.
pub struct SeriesLabel {
    /// Sorted by name, without the series' own name.
    labels: Vec<Label>,
    name: String,
}

impl Format for RemoteWrite {
    type Label = SeriesLabel;

    fn start(
        &self,
        metric: &Metric,
        tags: &SampleTags,
        shown_url: ShownUrl,
    ) -> (SeriesLabel, Value) {
        let mut labels: Vec<Label> = Vec::with_capacity(tags.len());
        for (key, value) in tags.iter().filter(|(_, value)| !value.is_empty()) {
            let value = shown_tag(shown_url, key, value).into_owned();
            labels.push(Label {
                name: label_name(key),
                value,
            });
        }
        labels.sort_by(|a, b| a.name.cmp(&b.name));
        // Two tags whose names differ in a character that labels cannot have.
        labels.dedup_by(|a, b| a.name == b.name);
        let factor = series_messages::factor(metric);
        let value = Value::new(metric, factor, !self.figures.is_empty());
        let name = series_messages::name(&value, metric);
        (SeriesLabel { labels, name }, value)
    }

    fn request<'a>(
        &self,
        series: impl Iterator<Item = (&'a SeriesLabel, &'a Value)>,
        at: SystemTime,
    ) -> Vec<u8> {
        let since_1970 = at.duration_since(SystemTime::UNIX_EPOCH);
        let at = since_1970.map_or(0, |time| {
            i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
        });
        let messages = series.flat_map(|(label, value)| {
            series_messages::messages(value, at, &self.figures, |suffix| label.message(suffix))
        });
        let request = WriteRequest {
            timeseries: messages.collect(),
        };
        compressed(&request)
    }
}

impl SeriesLabel {
    /// A message without values.
    fn message(&self, suffix: &str) -> TimeSeries {
        let mut labels = Vec::with_capacity(self.labels.len() + 1);
        let name = Label {
            name: "__name__".to_owned(),
            value: format!("{}{suffix}", self.name),
        };
        // Labels are sorted by name, and upper case comes before an underscore.
        let place = self.labels.partition_point(|label| label.name < name.name);
        labels.extend_from_slice(&self.labels[..place]);
        labels.push(name);
        labels.extend_from_slice(&self.labels[place..]);
        TimeSeries {
            labels,
            ..TimeSeries::default()
        }
    }
}

/// A name of letters, digits and underscores that does not start with a digit.
fn label_name(key: &str) -> String {
    let valid = |character: char| match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => character,
        _ => '_',
    };
    let name: String = key.chars().map(valid).collect();
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        format!("_{name}")
    } else {
        name
    }
}

fn compressed(request: &WriteRequest) -> Vec<u8> {
    let bytes = request.encode_to_vec();
    // It fails only above 4 GiB, and the series of a request are limited.
    snap::raw::Encoder::new()
        .compress_vec(&bytes)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_names_have_only_valid_characters() {
        assert_eq!(label_name("status"), "status");
        assert_eq!(label_name("my tag-1"), "my_tag_1");
        assert_eq!(label_name("1st"), "_1st");
        assert_eq!(label_name("é"), "_");
    }
}
