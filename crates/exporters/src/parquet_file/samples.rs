//! Rows that each contain a sample.

use std::time::SystemTime;

use plimsoll_output::output::OutputSetting;
use plimsoll_output::wall_clock::WallClock;
use plimsoll_samples::SampleRecord;

use super::RowKind;
use super::columns::{Column, Columns, SeriesNames};

pub const SCHEMA: &str = "message samples {
    REQUIRED INT64 time (TIMESTAMP(NANOS,true));
    REQUIRED BYTE_ARRAY metric (UTF8);
    REQUIRED BYTE_ARRAY type (UTF8);
    REQUIRED BYTE_ARRAY tags (UTF8);
    REQUIRED DOUBLE value;
}";
/// The first column after the strings of the series.
const VALUE: usize = 4;

/// Rows of samples that wait to be written.
pub struct SampleRows {
    clock: WallClock,
    /// The number of the series, the time in nanoseconds since 1970, and the value.
    waiting: Vec<(usize, i64, f64)>,
    columns: Columns,
}

impl SampleRows {
    pub fn new(setting: &OutputSetting) -> SampleRows {
        let texts = || Column::Texts(Vec::new());
        let columns = vec![
            Column::Integers(Vec::new()),
            texts(),
            texts(),
            texts(),
            Column::Numbers(Vec::new()),
        ];
        SampleRows {
            clock: setting.clock,
            waiting: Vec::new(),
            columns: Columns(columns),
        }
    }
}

impl RowKind for SampleRows {
    fn add(&mut self, series: usize, sample: &SampleRecord) {
        let since_1970 = self
            .clock
            .date(sample.at)
            .duration_since(SystemTime::UNIX_EPOCH);
        let time = since_1970.map_or(0, |time| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX));
        self.waiting.push((series, time, sample.value));
    }

    fn complete(&mut self, names: &SeriesNames, _is_last: bool) -> &mut Columns {
        for (series, time, value) in self.waiting.drain(..) {
            if let Some(texts) = names.get(series) {
                self.columns.begin_row(time, texts);
                self.columns.put(VALUE, Some(value));
            }
        }
        &mut self.columns
    }
}
