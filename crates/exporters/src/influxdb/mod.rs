//! Sends samples in InfluxDB's line protocol. Each sample is a line.
//!
//! The measurement is the metric, the field `value` is the value, and tags are tags, except for those that
//! `K6_INFLUXDB_TAGS_AS_FIELDS` lists. A line replaces an earlier line with the same measurement, tags and time, so the
//! later line gets the next free nanosecond.

mod line;
mod settings;
mod timestamps;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Instant, SystemTime};

use plimsoll_output::output::{Output, OutputError, OutputSetting, ShownUrl};
use plimsoll_output::wall_clock::WallClock;
use plimsoll_samples::SampleRecord;

use crate::sender::{Push, Sender, ended};
use crate::series::SeriesTable;

use line::LineStart;
use timestamps::Timestamps;

pub use settings::Settings;

/// A request of this size in bytes is sent even before the interval ends.
const MAX_LENGTH: usize = 1 << 20;

/// Sends all samples.
pub struct InfluxDb {
    name: String,
    settings: Settings,
    sender: Sender,
    series: SeriesTable<LineStart>,
    timestamps: Timestamps,
    clock: WallClock,
    shown_url: ShownUrl,
    next: Instant,
    /// The lines that wait to be sent, and their number.
    lines: Vec<u8>,
    count: u64,
    /// The number of samples that were dropped because the receiver was too slow.
    dropped: u64,
    /// The number of samples that were not finite.
    dropped_values: u64,
}

impl InfluxDb {
    /// Starts the thread that sends.
    ///
    /// # Errors
    /// If the system cannot create a thread.
    pub fn open(
        settings: &Settings,
        setting: &OutputSetting,
        name: String,
    ) -> Result<InfluxDb, String> {
        Ok(InfluxDb {
            name,
            settings: settings.clone(),
            sender: Sender::start(settings.write.clone(), settings.create.clone())?,
            series: SeriesTable::new(setting.catalog.clone()),
            timestamps: Timestamps::default(),
            clock: setting.clock,
            shown_url: setting.shown_url,
            next: Instant::now() + settings.interval,
            lines: Vec::new(),
            count: 0,
            dropped: 0,
            dropped_values: 0,
        })
    }

    fn take(&mut self) -> Push {
        Push {
            body: std::mem::take(&mut self.lines),
            samples: std::mem::take(&mut self.count),
        }
    }

    fn send(&mut self) {
        if self.count > 0 {
            let push = self.take();
            if let Err(refused) = self.sender.offer(push) {
                self.dropped += refused.samples;
            }
        }
    }

    fn add(&mut self, sample: &SampleRecord) {
        if !sample.value.is_finite() {
            // The protocol supports only finite numbers, and one invalid line makes the whole request fail.
            self.dropped_values += 1;
            return;
        }
        let since_1970 = self
            .clock
            .date(sample.at)
            .duration_since(SystemTime::UNIX_EPOCH);
        let nanos = since_1970.map_or(0, |time| time.as_nanos());
        if self.series.is_full() {
            // The cache only saves time, so it can be cleared.
            self.series.clear();
            self.timestamps.clear();
        }
        let (settings, shown_url) = (&self.settings, self.shown_url);
        let timestamps = &mut self.timestamps;
        let found = self.series.of(sample, |metric, tags| {
            let mut start = LineStart::new(&metric.name, tags, &settings.fields, shown_url);
            start.number = timestamps.number_of(&start);
            start
        });
        let Some(start) = found else { return };
        let at = nanos / settings.precision.nanos();
        // With a coarser precision, the user wants lines with equal times to be merged.
        let at = if settings.precision.is_finest() {
            timestamps.free(start.number, at)
        } else {
            at
        };
        let metadata = sample.metadata.as_deref();
        let lines = &mut self.lines;
        start.write(lines, sample.value, metadata, &settings.fields, at);
        self.count += 1;
    }
}

impl Output for InfluxDb {
    fn batch(&mut self, samples: &[SampleRecord]) -> Result<(), OutputError> {
        for sample in samples {
            self.add(sample);
            if self.lines.len() >= MAX_LENGTH {
                self.send();
            }
        }
        let now = Instant::now();
        if now >= self.next {
            self.next = now + self.settings.interval;
            self.send();
            self.timestamps.age();
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), OutputError> {
        let last = (self.count > 0).then(|| self.take());
        self.sender.finish(last);
        let account = self.sender.account();
        let failed = account.failed.load(Ordering::Relaxed);
        let lost = account.lost.load(Ordering::Relaxed);
        if failed == 0 && self.dropped == 0 && self.dropped_values == 0 {
            return Ok(());
        }
        let mut parts = Vec::new();
        if failed > 0 {
            parts.push(format!("{failed} requests failed ({})", account.reason()));
        }
        if self.dropped > 0 {
            parts.push("it was slower than the run".to_owned());
        }
        if self.dropped_values > 0 {
            parts.push(format!(
                "{} values were not finite numbers",
                self.dropped_values
            ));
        }
        let text = format!(
            "{}; {} samples are not in it",
            parts.join(", and "),
            lost + self.dropped + self.dropped_values
        );
        Err(ended(&self.name, text))
    }
}

/// The tags that become fields, with the types of their values.
pub type Fields = Arc<[(String, settings::FieldType)]>;
