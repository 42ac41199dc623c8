//! Writes samples as comma-separated values (RFC 4180) in k6's columns. Each enabled system tag has its own column; all
//! other tags share `extra_tags`.

use std::fmt::Write;
use std::sync::Arc;
use std::time::SystemTime;

use plimsoll_samples::{SampleRecord, SampleTags, SystemTag};

use crate::catalog::Catalog;
use crate::sample_output::{NamedSink, Output, OutputError, OutputSetting, ShownUrl, shown_tag};
use crate::wall_clock::{DateWriter, WallClock, unix_time};

pub use crate::time_format::TimeFormat;

pub(crate) struct CsvOutput {
    sink: NamedSink,
    catalog: Catalog,
    clock: WallClock,
    shown_url: ShownUrl,
    time: TimeFormat,
    /// The tags with their own columns, sorted.
    columns: Vec<&'static str>,
    /// The names of the metrics that have occurred, by id.
    names: Vec<Option<String>>,
    /// The tags of the previous sample, and their columns. All samples of an exchange share their tags.
    tags: Option<(Arc<SampleTags>, String)>,
    text: String,
    /// Buffer for a field that may need quotes.
    field: String,
}

impl CsvOutput {
    /// Writes the header line.
    pub fn new(mut sink: NamedSink, setting: &OutputSetting) -> Result<CsvOutput, OutputError> {
        let mut columns: Vec<_> = setting
            .system_tags
            .iter()
            .filter(|tag| !tag.is_metadata())
            .map(|tag: &SystemTag| tag.key())
            .collect();
        columns.sort_unstable();
        columns.dedup();
        let fixed = ["metric_name", "timestamp", "metric_value"];
        let titles = [&fixed, columns.as_slice(), &["extra_tags", "metadata"]].concat();
        sink.write((titles.join(",") + "\n").as_bytes(), false)?;
        Ok(CsvOutput {
            sink,
            catalog: setting.catalog.clone(),
            clock: setting.clock,
            shown_url: setting.shown_url,
            time: setting.csv_time,
            columns,
            names: Vec::new(),
            tags: None,
            text: String::new(),
            field: String::new(),
        })
    }

    fn push_name(&mut self, sample: &SampleRecord) {
        let id = sample.metric;
        if self.names.len() <= id.index() {
            self.names.resize(id.index() + 1, None);
        }
        if let Some(name) = self.names.get_mut(id.index()) {
            let find = || {
                self.catalog
                    .find(id)
                    .map(|(metric, _)| metric.name)
                    .unwrap_or_default()
            };
            self.text.push_str(name.get_or_insert_with(find));
        }
    }

    fn line(&mut self, sample: &SampleRecord, dates: &mut DateWriter) {
        self.push_name(sample);
        self.text.push(',');
        push_time(&mut self.text, self.clock.date(sample.at), self.time, dates);
        // Writing to a string cannot fail.
        let _ = write!(self.text, ",{:.6}", sample.value);
        self.push_tags(&sample.tags);
        self.field.clear();
        if let Some(metadata) = sample.metadata.as_deref() {
            let pairs = metadata
                .iter()
                .map(|(key, value)| (key.as_str(), value.as_str()));
            push_pairs(&mut self.field, pairs);
        }
        self.text.push(',');
        push_field(&mut self.text, &self.field);
        self.text.push('\n');
    }

    /// Splits tags into those with their own columns and the others.
    fn push_tags(&mut self, tags: &Arc<SampleTags>) {
        if let Some((_, columns)) = self
            .tags
            .as_ref()
            .filter(|(known, _)| Arc::ptr_eq(known, tags))
        {
            self.text.push_str(columns);
            return;
        }
        let mut columns = String::new();
        for column in &self.columns {
            columns.push(',');
            let value = tags.get(column).unwrap_or("");
            push_field(&mut columns, &shown_tag(self.shown_url, column, value));
        }
        let others = tags
            .iter()
            .filter(|(key, _)| self.columns.binary_search(key).is_err());
        self.field.clear();
        push_pairs(&mut self.field, others);
        columns.push(',');
        push_field(&mut columns, &self.field);
        self.text.push_str(&columns);
        self.tags = Some((Arc::clone(tags), columns));
    }
}

impl Output for CsvOutput {
    fn batch(&mut self, samples: &[SampleRecord]) -> Result<(), OutputError> {
        let Some(first) = samples.first() else {
            return Ok(());
        };
        let nanos = self.time == TimeFormat::Rfc3339Nano;
        let mut dates = DateWriter::new(self.clock.local_offset(first.at), nanos);
        self.text.clear();
        for sample in samples {
            self.line(sample, &mut dates);
        }
        self.sink.write(self.text.as_bytes(), false)
    }

    fn finish(&mut self) -> Result<(), OutputError> {
        self.sink.write(&[], true)
    }
}

fn push_time(text: &mut String, date: SystemTime, format: TimeFormat, dates: &mut DateWriter) {
    let since = unix_time(date);
    // Writing to a string cannot fail.
    let _ = match format {
        TimeFormat::Unix => write!(text, "{}", since.as_secs()),
        TimeFormat::UnixMilli => write!(text, "{}", since.as_millis()),
        TimeFormat::UnixMicro => write!(text, "{}", since.as_micros()),
        TimeFormat::UnixNano => write!(text, "{}", since.as_nanos()),
        TimeFormat::Rfc3339 | TimeFormat::Rfc3339Nano => {
            dates.push(text, date);
            Ok(())
        }
    };
}

fn push_pairs<'a>(field: &mut String, pairs: impl Iterator<Item = (&'a str, &'a str)>) {
    for (place, (key, value)) in pairs.enumerate() {
        if place > 0 {
            field.push('&');
        }
        field.push_str(key);
        field.push('=');
        field.push_str(value);
    }
}

/// Quotes fields with commas, quotes or line breaks, and doubles quotes in them (RFC 4180, section 2, rules 6 and 7).
/// Also quotes fields that begin with a space, because some readers would trim it.
fn push_field(text: &mut String, field: &str) {
    if !field.contains([',', '"', '\r', '\n']) && !field.starts_with(' ') {
        text.push_str(field);
        return;
    }
    text.push('"');
    text.push_str(&field.replace('"', "\"\""));
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_needed() {
        for (field, written) in [
            ("", ""),
            ("plain é", "plain é"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            (" x", "\" x\""),
        ] {
            let mut text = String::new();
            push_field(&mut text, field);
            assert_eq!(text, written);
        }
    }
}
