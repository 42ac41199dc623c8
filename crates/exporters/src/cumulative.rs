//! Sends the values of all series since the start of the run, at regular intervals.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};

use plimsoll_output::output::{Output, OutputError, OutputSetting, ShownUrl};
use plimsoll_samples::{Metric, SampleRecord, SampleTags};

use crate::endpoint::Endpoint;
use crate::sender::{Push, Sender, ended};
use crate::series::SeriesTable;
use crate::value::Value;

/// Maximum number of series per request, because receivers limit the size of a request.
const MAX_SERIES: usize = 5_000;

/// The format of values for one kind of receiver.
pub trait Format: Send {
    /// The name and tags of a series.
    type Label: Send;

    /// Creates the name and tags of a series, and its value before the first sample.
    fn start(
        &self,
        metric: &Metric,
        tags: &SampleTags,
        shown_url: ShownUrl,
    ) -> (Self::Label, Value);

    /// Creates the request with the values of some series.
    fn request<'a>(
        &self,
        series: impl Iterator<Item = (&'a Self::Label, &'a Value)>,
        at: SystemTime,
    ) -> Vec<u8>
    where
        Self: 'a;
}

/// An output that sends cumulative values.
pub struct Cumulative<F: Format> {
    name: String,
    format: F,
    interval: Duration,
    sender: Sender,
    series: SeriesTable<Series<F::Label>>,
    shown_url: ShownUrl,
    next: Instant,
    /// The number of failed requests when values were last sent. After a failure, all values are sent again.
    failed_before: u64,
    /// The number of samples that were dropped because there were too many series.
    dropped: u64,
    /// The number of samples that were not finite.
    dropped_values: u64,
}

struct Series<L> {
    label: L,
    value: Value,
    /// Whether the value changed since it was last sent.
    has_changed: bool,
}

impl<F: Format> Cumulative<F> {
    /// Starts the thread that sends.
    ///
    /// # Errors
    /// If the system cannot create a thread.
    pub fn open(
        format: F,
        endpoint: &Endpoint,
        interval: Duration,
        setting: &OutputSetting,
        name: String,
    ) -> Result<Cumulative<F>, String> {
        Ok(Cumulative {
            name,
            format,
            interval,
            sender: Sender::start(endpoint.clone(), None)?,
            series: SeriesTable::new(setting.catalog.clone()),
            shown_url: setting.shown_url,
            next: Instant::now() + interval,
            failed_before: 0,
            dropped: 0,
            dropped_values: 0,
        })
    }

    fn add(&mut self, sample: &SampleRecord) {
        if !sample.value.is_finite() {
            self.dropped_values += 1;
            return;
        }
        let (format, shown_url) = (&self.format, self.shown_url);
        let found = self.series.of(sample, |metric: &Arc<Metric>, tags| {
            let (label, value) = format.start(metric, tags, shown_url);
            Series {
                label,
                value,
                has_changed: false,
            }
        });
        match found {
            Some(series) => {
                series.value.add(sample);
                series.has_changed = true;
            }
            None => self.dropped += 1,
        }
    }

    fn failures(&self) -> String {
        let account = self.sender.account();
        let failed = account.failed.load(Ordering::Relaxed);
        let all = failed + account.accepted.load(Ordering::Relaxed);
        format!("{failed} of {all} requests failed ({})", account.reason())
    }

    /// Creates requests with all values that changed since they were last accepted.
    fn pushes(&mut self) -> Vec<Push> {
        let failed = self.sender.account().failed.load(Ordering::Relaxed);
        let all = failed != self.failed_before;
        self.failed_before = failed;
        let mut changed = Vec::new();
        for series in self.series.values() {
            if all || series.has_changed {
                series.has_changed = false;
                changed.push(&*series);
            }
        }
        let at = SystemTime::now();
        let chunks = changed.chunks(MAX_SERIES);
        let pushes = chunks.map(|chunk| {
            let series = chunk.iter().map(|series| (&series.label, &series.value));
            Push {
                body: self.format.request(series, at),
                samples: 0,
            }
        });
        pushes.collect()
    }
}

impl<F: Format> Output for Cumulative<F> {
    fn batch(&mut self, samples: &[SampleRecord]) -> Result<(), OutputError> {
        for sample in samples {
            self.add(sample);
        }
        let now = Instant::now();
        if now >= self.next {
            self.next = now + self.interval;
            for push in self.pushes() {
                if self.sender.offer(push).is_err() {
                    // The values are cumulative, so the next request will contain these samples.
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
        let mut parts = Vec::new();
        if account.last_failed.load(Ordering::Relaxed) {
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
        if self.dropped_values > 0 {
            parts.push(format!(
                "{} values were not finite numbers",
                self.dropped_values
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
