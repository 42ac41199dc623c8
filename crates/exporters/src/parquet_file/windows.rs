//! Rows that each contain one second of a series.

use std::time::SystemTime;

use plimsoll_output::output::OutputSetting;
use plimsoll_output::wall_clock::WallClock;
use plimsoll_samples::{Kind, SampleRecord};
use plimsoll_stats::Histogram;
use plimsoll_units::Moment;

use super::RowKind;
use super::columns::{Column, Columns, SeriesNames};
use crate::windows::Windows;

/// The percentiles are only for trends, and `last` is only for gauges.
pub const SCHEMA: &str = "message windows {
    REQUIRED INT64 time (TIMESTAMP(MILLIS,true));
    REQUIRED BYTE_ARRAY metric (UTF8);
    REQUIRED BYTE_ARRAY type (UTF8);
    REQUIRED BYTE_ARRAY tags (UTF8);
    REQUIRED INT64 count;
    REQUIRED DOUBLE sum;
    REQUIRED DOUBLE min;
    REQUIRED DOUBLE max;
    OPTIONAL DOUBLE last;
    OPTIONAL DOUBLE p50;
    OPTIONAL DOUBLE p90;
    OPTIONAL DOUBLE p95;
    OPTIONAL DOUBLE p99;
    OPTIONAL DOUBLE p999;
}";
/// The columns that start with the count.
const COUNT: usize = 4;
const SUM: usize = 5;
const MIN: usize = 6;
const MAX: usize = 7;
const LAST: usize = 8;
const PERCENTILES: [(usize, f64); 5] = [(9, 0.5), (10, 0.9), (11, 0.95), (12, 0.99), (13, 0.999)];

/// Rows of windows that wait to be written.
pub struct WindowRows {
    clock: WallClock,
    windows: Windows<Second>,
    columns: Columns,
}

/// The samples of a series in a second.
struct Second {
    values: Histogram,
    last: f64,
    at: Moment,
}

impl Default for Second {
    fn default() -> Self {
        Second {
            values: Histogram::new(),
            last: 0.0,
            at: Moment::ZERO,
        }
    }
}

impl WindowRows {
    pub fn new(setting: &OutputSetting) -> WindowRows {
        let texts = || Column::Texts(Vec::new());
        let numbers = || Column::Numbers(Vec::new());
        let integers = || Column::Integers(Vec::new());
        let mut columns = vec![integers(), texts(), texts(), texts(), integers()];
        columns.extend([numbers(), numbers(), numbers()]);
        columns
            .extend((0..=PERCENTILES.len()).map(|_| Column::SomeNumbers(Vec::new(), Vec::new())));
        WindowRows {
            clock: setting.clock,
            windows: Windows::default(),
            columns: Columns(columns),
        }
    }
}

impl RowKind for WindowRows {
    fn add(&mut self, series: usize, sample: &SampleRecord) {
        let since_1970 = self
            .clock
            .date(sample.at)
            .duration_since(SystemTime::UNIX_EPOCH);
        let second = since_1970.map_or(0, |time| time.as_secs());
        let window = self.windows.at(second, series);
        window.values.record(sample.value);
        if sample.at >= window.at {
            (window.last, window.at) = (sample.value, sample.at);
        }
    }

    fn complete(&mut self, names: &SeriesNames, is_last: bool) -> &mut Columns {
        loop {
            let closed = if is_last {
                self.windows.take_oldest()
            } else {
                self.windows.take_closed()
            };
            let Some((second, series)) = closed else {
                return &mut self.columns;
            };
            let time = i64::try_from(second)
                .unwrap_or(i64::MAX)
                .saturating_mul(1000);
            for (number, window) in series {
                let Some(texts) = names.get(number) else {
                    continue;
                };
                let (values, columns) = (&window.values, &mut self.columns);
                columns.begin_row(time, texts);
                if let Some(Column::Integers(counts)) = columns.0.get_mut(COUNT) {
                    counts.push(i64::try_from(values.count()).unwrap_or(i64::MAX));
                }
                columns.put(SUM, Some(values.sum()));
                columns.put(MIN, Some(values.min()));
                columns.put(MAX, Some(values.max()));
                columns.put(LAST, (texts.kind == Kind::Gauge).then_some(window.last));
                for (column, quantile) in PERCENTILES {
                    let figure = (texts.kind == Kind::Trend).then(|| values.quantile(quantile));
                    columns.put(column, figure);
                }
            }
        }
    }
}
