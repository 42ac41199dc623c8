//! Sends cumulative values with Prometheus remote write, version 1, as protobuf messages compressed with snappy.
//!
//! Names are those of k6: the prefix `k6_`, and the suffixes `_total` for counters, `_rate` for rates and `_seconds`
//! for times. Trends are native histograms, unless `K6_PROMETHEUS_RW_TREND_STATS` requests figures such as `p(99)`.

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

/// The remote write format.
pub struct RemoteWrite {
    /// The figures of a trend. If it is empty, trends are native histograms.
    figures: Vec<Figure>,
}

impl RemoteWrite {
    /// Creates the format with these settings.
    pub fn new(settings: &Settings) -> RemoteWrite {
        RemoteWrite {
            figures: settings.figures.clone(),
        }
    }
}

/// One series, or several series with the same labels for the figures of a trend.
pub struct SeriesLabel {
    /// Sorted by name. Does not include the name of the series.
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
        // The names of two tags may differ only in a character that labels cannot contain.
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
        // Labels are sorted by name, and upper-case letters precede an underscore.
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

/// Converts to a name of letters, digits and underscores that does not start with a digit.
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
    // This fails only above 4 GiB, and the number of series per request is limited.
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
