//! Writes a log in HdrHistogram's format: one line with the distribution per second and trend of times.
//!
//! Values are nanoseconds with three significant digits. The tag of a line is the name of the metric.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::SystemTime;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use plimsoll_output::catalog::Catalog;
use plimsoll_output::output::{Output, OutputError, OutputSetting};
use plimsoll_output::wall_clock::WallClock;
use plimsoll_samples::{Contains, Kind, MetricId, SampleRecord};

use crate::windows::Windows;

/// Nanoseconds per millisecond. Samples and the column with the maximum are in milliseconds.
const NANOS: f64 = 1e6;

/// Writes a log.
pub struct HistogramLog {
    name: String,
    file: BufWriter<File>,
    catalog: Catalog,
    clock: WallClock,
    start: SystemTime,
    /// The names of metrics by number. `None` for metrics that are not trends of times.
    names: Vec<Option<Option<String>>>,
    windows: Windows<Distribution>,
    serializer: V2DeflateSerializer,
    /// The number of samples that are not times.
    dropped: u64,
}

struct Distribution(Histogram<u64>);

impl Default for Distribution {
    fn default() -> Self {
        // HdrHistogram allows up to 5 digits.
        let mut histogram = Histogram::new(DIGITS).unwrap_or_else(|_| unreachable!());
        histogram.auto(true);
        Distribution(histogram)
    }
}

/// The number of significant digits.
const DIGITS: u8 = 3;

impl HistogramLog {
    /// Creates the file.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(
        path: &Path,
        setting: &OutputSetting,
        name: String,
    ) -> Result<HistogramLog, String> {
        let file = File::create(path).map_err(|error| format!("output {name}: {error}"))?;
        let mut log = HistogramLog {
            name,
            file: BufWriter::new(file),
            catalog: setting.catalog.clone(),
            clock: setting.clock,
            start: SystemTime::now(),
            names: Vec::new(),
            windows: Windows::default(),
            serializer: V2DeflateSerializer::new(),
            dropped: 0,
        };
        let started = log.begin();
        started.map_err(|error| format!("output {}: {error}", log.name))?;
        Ok(log)
    }

    fn begin(&mut self) -> io::Result<()> {
        let since_1970 = self.start.duration_since(SystemTime::UNIX_EPOCH);
        let start = since_1970.unwrap_or_default().as_secs_f64();
        writeln!(
            self.file,
            "#[Plimsoll {}: times in nanoseconds, maximum in milliseconds]\n\
             #[Histogram log format version 1.3]\n\
             #[StartTime: {start:.3} (seconds since epoch)]\n\
             #[BaseTime: {start:.3} (seconds since epoch)]\n\
             \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"",
            env!("CARGO_PKG_VERSION")
        )?;
        self.file.flush()
    }

    /// Whether the samples of this metric are times.
    fn has_times(&mut self, id: MetricId) -> bool {
        let place = id.index();
        if self.names.len() <= place {
            self.names.resize(place + 1, None);
        }
        let Some(name) = self.names.get_mut(place) else {
            return false;
        };
        if name.is_none() {
            *name = self.catalog.find(id).map(|(metric, _)| {
                let is_time = metric.kind == Kind::Trend && metric.contains == Contains::Time;
                is_time.then_some(metric.name)
            });
        }
        matches!(name, Some(Some(_)))
    }

    fn add(&mut self, sample: &SampleRecord) {
        if !self.has_times(sample.metric) {
            return;
        }
        let since_start = self.clock.date(sample.at).duration_since(self.start);
        let second = since_start.unwrap_or_default().as_secs();
        let nanos = (sample.value * NANOS).round();
        if !(0.0..=u64::MAX as f64 / 4.0).contains(&nanos) {
            self.dropped += 1;
            return;
        }
        let window = self.windows.at(second, sample.metric.index());
        if window.0.record(nanos as u64).is_err() {
            self.dropped += 1;
        }
    }

    fn write(&mut self, is_last: bool) -> io::Result<()> {
        loop {
            let closed = if is_last {
                self.windows.take_oldest()
            } else {
                self.windows.take_closed()
            };
            let Some((second, distributions)) = closed else {
                return self.file.flush();
            };
            for (metric, Distribution(histogram)) in distributions {
                let Some(Some(Some(name))) = self.names.get(metric) else {
                    continue;
                };
                let mut bytes = Vec::new();
                let packed = self.serializer.serialize(&histogram, &mut bytes);
                packed.map_err(|error| io::Error::other(format!("{error:?}")))?;
                let max = histogram.max() as f64 / NANOS;
                let text = STANDARD.encode(&bytes);
                writeln!(self.file, "Tag={name},{second}.000,1.000,{max:.3},{text}")?;
            }
        }
    }

    fn failed(&self, source: io::Error) -> OutputError {
        OutputError {
            output: self.name.clone(),
            source,
        }
    }
}

impl Output for HistogramLog {
    fn batch(&mut self, samples: &[SampleRecord]) -> Result<(), OutputError> {
        for sample in samples {
            self.add(sample);
        }
        self.write(false).map_err(|error| self.failed(error))
    }

    fn finish(&mut self) -> Result<(), OutputError> {
        self.write(true).map_err(|error| self.failed(error))?;
        if self.dropped == 0 {
            return Ok(());
        }
        let text = format!(
            "{} values are not in it, because they are not times",
            self.dropped
        );
        Err(self.failed(io::Error::other(text)))
    }
}
