//! Prometheus remote write, version 1: snappy-compressed protobuf messages of cumulative values.
//!
//! Names are those of k6: the prefix `k6_`, and `_total` for counters, `_rate` for rates, `_seconds` for times. Trends
//! are native histograms, unless `K6_PROMETHEUS_RW_TREND_STATS` asks for figures such as `p(99)`.

mod message;
mod native_histogram;
mod settings;
mod value;

use std::sync::atomic::Ordering;
use std::time::{Instant, SystemTime};

use plimsoll_output::output::{Output, OutputError, OutputSetting, ShownUrl, shown_tag};
use plimsoll_samples::{Metric, SampleRecord, SampleTags};
use prost::Message;

use crate::sender::{Push, Sender, ended};
use crate::series::SeriesTable;

use message::{Label, TimeSeries, WriteRequest};
use value::Value;

pub use settings::Settings;

/// Series in one request. Receivers limit the size of a request.
const MOST_SERIES: usize = 5_000;

/// Sends cumulative values at an interval.
pub struct Prometheus {
    name: String,
    settings: Settings,
    sender: Sender,
    series: SeriesTable<Series>,
    shown_url: ShownUrl,
    next: Instant,
    /// Failed requests when values were last sent: after a failure all values are sent again.
    failed_before: u64,
    /// Samples of series that found no place.
    dropped: u64,
}

/// One series, or several with the same labels for the figures of a trend.
struct Series {
    /// Sorted by name, without the series' own name.
    labels: Vec<Label>,
    name: String,
    value: Value,
    /// Whether it changed since it was last sent.
    has_changed: bool,
}

impl Prometheus {
    /// Starts to send.
    ///
    /// # Errors
    /// When the system refuses a thread.
    pub fn open(
        settings: &Settings,
        setting: &OutputSetting,
        name: String,
    ) -> Result<Prometheus, String> {
        Ok(Prometheus {
            name,
            settings: settings.clone(),
            sender: Sender::start(settings.endpoint.clone(), None)?,
            series: SeriesTable::new(setting.catalog.clone()),
            shown_url: setting.shown_url,
            next: Instant::now() + settings.interval,
            failed_before: 0,
            dropped: 0,
        })
    }

    fn failures(&self) -> String {
        let account = self.sender.account();
        let failed = account.failed.load(Ordering::Relaxed);
        let all = failed + account.accepted.load(Ordering::Relaxed);
        format!("{failed} of {all} requests failed ({})", account.reason())
    }

    /// Requests with all values that changed since they were last accepted.
    fn pushes(&mut self) -> Vec<Push> {
        let failed = self.sender.account().failed.load(Ordering::Relaxed);
        let all = failed != self.failed_before;
        self.failed_before = failed;
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let at = since_1970.map_or(0, |time| {
            i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
        });
        let mut series = Vec::new();
        for one in self.series.values().filter(|one| all || one.has_changed) {
            one.has_changed = false;
            series.extend(one.messages(at, &self.settings));
        }
        let requests = series.chunks(MOST_SERIES).map(|chunk| WriteRequest {
            timeseries: chunk.to_vec(),
        });
        requests
            .map(|request| Push {
                body: compressed(&request),
                samples: 0,
            })
            .collect()
    }
}

impl Output for Prometheus {
    fn batch(&mut self, samples: &[SampleRecord]) -> Result<(), OutputError> {
        for sample in samples {
            let (shown_url, settings) = (self.shown_url, &self.settings);
            let found = self.series.of(sample, |metric, tags| {
                Series::new(metric, tags, shown_url, settings)
            });
            match found {
                Some(series) => {
                    series.value.add(sample);
                    series.has_changed = true;
                }
                None => self.dropped += 1,
            }
        }
        let now = Instant::now();
        if now >= self.next {
            self.next = now + self.settings.interval;
            for push in self.pushes() {
                if self.sender.offer(push).is_err() {
                    // They are cumulative: the next request has them too.
                    self.failed_before = u64::MAX;
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), OutputError> {
        let last = self.pushes();
        self.sender.finish(last);
        let account = self.sender.account();
        let is_incomplete = account.last_failed.load(Ordering::Relaxed);
        let mut parts = Vec::new();
        if is_incomplete {
            parts.push(format!(
                "{}; the last values are missing there",
                self.failures()
            ));
        }
        if self.dropped > 0 {
            parts.push(format!(
                "{} samples of further series are missing, because the run has too many different tags",
                self.dropped
            ));
        }
        if parts.is_empty() {
            return Ok(());
        }
        Err(ended(&self.name, parts.join("; ")))
    }

    fn remark(&self) -> Option<String> {
        let account = self.sender.account();
        let has_failed = account.failed.load(Ordering::Relaxed) > 0;
        let is_complete = !account.last_failed.load(Ordering::Relaxed);
        (has_failed && is_complete).then(|| {
            format!(
                "output {}: {}; later requests had the same values, so the totals are complete",
                self.name,
                self.failures()
            )
        })
    }
}

impl Series {
    fn new(metric: &Metric, tags: &SampleTags, shown_url: ShownUrl, settings: &Settings) -> Series {
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
        let value = Value::new(metric, !settings.figures.is_empty());
        Series {
            labels,
            name: value.name(metric),
            value,
            has_changed: false,
        }
    }

    fn messages(&self, at: i64, settings: &Settings) -> Vec<TimeSeries> {
        let of = |suffix: &str| {
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
        };
        self.value.messages(at, &settings.figures, of)
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
    // It fails only above 4 GiB, and a request has at most `MOST_SERIES` series.
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
