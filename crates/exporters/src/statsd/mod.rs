//! Sends samples to StatsD and DogStatsD over UDP.
//!
//! Counters are counters, gauges are gauges, and trends are timers. A rate is two counters, `NAME.pass` and
//! `NAME.fail`, because StatsD has no rates. Samples of counters and rates are summed for one second, because that
//! loses no information.

mod datagrams;
mod settings;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use plimsoll_output::output::{Output, OutputError, OutputSetting, ShownUrl, shown_tag};
use plimsoll_samples::{Kind, Metric, SampleRecord, SampleTags};
use plimsoll_units::Moment;

use crate::sender::ended;
use crate::series::SeriesTable;

use datagrams::{Datagram, Datagrams};

pub use settings::Settings;

/// Maximum size of a datagram in bytes. It fits into an Ethernet frame.
const MAX_LENGTH: usize = 1_432;

/// Sends samples as datagrams.
pub struct StatsD {
    name: String,
    settings: Settings,
    datagrams: Datagrams,
    series: SeriesTable<Series>,
    shown_url: ShownUrl,
    next: Instant,
    datagram: String,
    /// The number of lines in the datagram.
    lines: u64,
}

struct Series {
    /// The name of the metric, with its prefix.
    name: String,
    /// The tags in DogStatsD's format. Empty if tags are disabled.
    tags: String,
    kind: Kind,
    /// The sum since the last datagram. For a rate, the number of values that are not zero.
    sum: f64,
    /// For a rate, the number of values that are zero.
    zeros: f64,
    latest: Moment,
    has_changed: bool,
}

impl StatsD {
    /// Starts the thread that sends.
    ///
    /// # Errors
    /// If the host name cannot be resolved, or if the system refuses a socket or a thread.
    pub fn open(
        settings: &Settings,
        setting: &OutputSetting,
        name: String,
    ) -> Result<StatsD, String> {
        let socket = settings
            .connect()
            .map_err(|error| format!("output {name}: {error}"))?;
        Ok(StatsD {
            name,
            settings: settings.clone(),
            datagrams: Datagrams::start(socket)?,
            series: SeriesTable::new(setting.catalog.clone()),
            shown_url: setting.shown_url,
            next: Instant::now() + settings.interval,
            datagram: String::new(),
            lines: 0,
        })
    }

    fn add(&mut self, sample: &SampleRecord) {
        if !sample.value.is_finite() {
            let account = self.datagrams.account();
            return account.count_lost(1, "not a finite number");
        }
        if self.series.is_full() {
            self.flush();
            self.series.clear();
        }
        let (settings, shown_url) = (&self.settings, self.shown_url);
        let found = self.series.of(sample, |metric, tags| {
            Series::new(metric, tags, settings, shown_url)
        });
        let Some(series) = found else { return };
        match series.kind {
            Kind::Counter => series.sum += sample.value,
            Kind::Rate if sample.value != 0.0 => series.sum += 1.0,
            Kind::Rate => series.zeros += 1.0,
            Kind::Gauge if sample.at >= series.latest => {
                (series.sum, series.latest) = (sample.value, sample.at);
            }
            Kind::Gauge => {}
            Kind::Trend => {
                let line = series.line("", sample.value, "ms");
                return self.put(&line);
            }
        }
        series.has_changed = true;
    }

    /// Sends the sums.
    fn flush(&mut self) {
        let mut lines = Vec::new();
        for series in self.series.values().filter(|series| series.has_changed) {
            series.take(&mut lines);
        }
        for line in lines {
            self.put(&line);
        }
        self.send();
    }

    fn put(&mut self, line: &str) {
        if !self.datagram.is_empty() && self.datagram.len() + 1 + line.len() > MAX_LENGTH {
            self.send();
        }
        if !self.datagram.is_empty() {
            self.datagram.push('\n');
        }
        self.datagram.push_str(line);
        self.lines += 1;
    }

    fn send(&mut self) {
        if self.datagram.is_empty() {
            return;
        }
        self.datagrams.offer(Datagram {
            text: std::mem::take(&mut self.datagram),
            lines: std::mem::take(&mut self.lines),
        });
    }
}

impl Output for StatsD {
    fn batch(&mut self, samples: &[SampleRecord]) -> Result<(), OutputError> {
        for sample in samples {
            self.add(sample);
        }
        let now = Instant::now();
        if now >= self.next {
            self.next = now + self.settings.interval;
            self.flush();
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), OutputError> {
        self.flush();
        self.datagrams.finish();
        let account = self.datagrams.account();
        let lost = account.lost.load(Ordering::Relaxed);
        if lost == 0 {
            return Ok(());
        }
        let text = format!(
            "{lost} of {} values could not be sent ({})",
            lost + account.sent.load(Ordering::Relaxed),
            account.reason()
        );
        Err(ended(&self.name, text))
    }
}

impl Series {
    fn new(
        metric: &Arc<Metric>,
        tags: &SampleTags,
        settings: &Settings,
        shown_url: ShownUrl,
    ) -> Series {
        let mut text = String::new();
        if settings.has_tags {
            let kept = tags.iter().filter(|(key, value)| {
                !value.is_empty() && !settings.blocked.iter().any(|tag| tag == key)
            });
            // Sorted, with one value per key.
            let kept: BTreeMap<_, _> = kept.collect();
            for (place, (key, value)) in kept.into_iter().enumerate() {
                let value = shown_tag(shown_url, key, value);
                text.push_str(if place == 0 { "|#" } else { "," });
                // Writing to a string cannot fail.
                let _ = write!(text, "{}:{}", clean(key), clean_value(&value));
            }
        }
        Series {
            name: format!("{}{}", settings.namespace, metric.name),
            tags: text,
            kind: metric.kind,
            sum: 0.0,
            zeros: 0.0,
            latest: Moment::ZERO,
            has_changed: false,
        }
    }

    /// Appends the lines with the sums, and resets the sums to zero.
    fn take(&mut self, lines: &mut Vec<String>) {
        self.has_changed = false;
        match self.kind {
            Kind::Gauge => {
                if self.sum < 0.0 {
                    // A signed number changes a gauge relatively, so a zero must precede a negative value.
                    lines.push(self.line("", 0.0, "g"));
                }
                lines.push(self.line("", self.sum, "g"));
            }
            Kind::Counter | Kind::Trend => {
                let sum = std::mem::take(&mut self.sum);
                lines.push(self.line("", sum, "c"));
            }
            Kind::Rate => {
                let (pass, fail) = (
                    std::mem::take(&mut self.sum),
                    std::mem::take(&mut self.zeros),
                );
                if pass > 0.0 {
                    lines.push(self.line(".pass", pass, "c"));
                }
                if fail > 0.0 {
                    lines.push(self.line(".fail", fail, "c"));
                }
            }
        }
    }

    fn line(&self, suffix: &str, value: f64, kind: &str) -> String {
        format!("{}{suffix}:{value}|{kind}{}", self.name, self.tags)
    }
}

/// Removes the characters that separate the parts of a line from a name.
fn clean(text: &str) -> String {
    text.replace([':', '|', ',', '@', '#', '\n', '\r'], "_")
}

/// A tag's value may contain colons, such as those of a URL.
fn clean_value(text: &str) -> String {
    text.replace(['|', ',', '#', '\n', '\r'], "_")
}
