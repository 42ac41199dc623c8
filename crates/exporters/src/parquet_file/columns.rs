//! Columns that are waiting to be written, and the strings of series.

use std::fs::File;

use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedFileWriter;
use plimsoll_output::output::{OutputSetting, ShownUrl, shown_tag};
use plimsoll_samples::{Kind, Metric, SampleRecord, SampleTags};

use crate::series::SeriesTable;

/// A column of values.
pub enum Column {
    Integers(Vec<i64>),
    Numbers(Vec<f64>),
    /// Numbers of some rows. The definition level is 1 for each row that has one.
    SomeNumbers(Vec<f64>, Vec<i16>),
    Texts(Vec<ByteArray>),
}

/// The columns of a file, in the order of its schema.
pub struct Columns(pub Vec<Column>);

impl Columns {
    /// The number of waiting rows.
    pub fn len(&self) -> usize {
        match self.0.first() {
            Some(Column::Integers(values)) => values.len(),
            _ => 0,
        }
    }

    /// Writes the waiting rows, and removes them.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn write(&mut self, writer: &mut SerializedFileWriter<File>) -> Result<(), ParquetError> {
        let mut group = writer.next_row_group()?;
        for column in &mut self.0 {
            let missing = || ParquetError::General("the schema has fewer columns".to_owned());
            let mut to = group.next_column()?.ok_or_else(missing)?;
            match column {
                Column::Integers(values) => {
                    to.typed::<Int64Type>().write_batch(values, None, None)?;
                    values.clear();
                }
                Column::Numbers(values) => {
                    to.typed::<DoubleType>().write_batch(values, None, None)?;
                    values.clear();
                }
                Column::SomeNumbers(values, levels) => {
                    let typed = to.typed::<DoubleType>();
                    typed.write_batch(values, Some(levels), None)?;
                    values.clear();
                    levels.clear();
                }
                Column::Texts(values) => {
                    to.typed::<ByteArrayType>()
                        .write_batch(values, None, None)?;
                    values.clear();
                }
            }
            to.close()?;
        }
        group.close()?;
        Ok(())
    }

    /// Begins a row with its time and series, which are the first columns of each schema.
    pub fn begin_row(&mut self, time: i64, series: &SeriesTexts) {
        if let [
            Column::Integers(times),
            Column::Texts(metrics),
            Column::Texts(kinds),
            Column::Texts(tags),
            ..,
        ] = self.0.as_mut_slice()
        {
            times.push(time);
            metrics.push(series.metric.clone());
            kinds.push(series.kind_name.clone());
            tags.push(series.tags.clone());
        }
    }

    /// Adds a number to a column. `None` if the row has none.
    pub fn put(&mut self, column: usize, number: Option<f64>) {
        match (self.0.get_mut(column), number) {
            (Some(Column::Numbers(values)), Some(number)) => values.push(number),
            (Some(Column::SomeNumbers(values, levels)), number) => {
                levels.push(i16::from(number.is_some()));
                values.extend(number);
            }
            _ => {}
        }
    }
}

/// The strings of a series in a row.
pub struct SeriesTexts {
    pub kind: Kind,
    metric: ByteArray,
    kind_name: ByteArray,
    /// The tags as a JSON object.
    tags: ByteArray,
}

/// Assigns numbers to the series.
pub struct SeriesNames {
    numbers: SeriesTable<usize>,
    texts: Vec<SeriesTexts>,
    shown_url: ShownUrl,
}

impl SeriesNames {
    pub fn new(setting: &OutputSetting) -> SeriesNames {
        SeriesNames {
            numbers: SeriesTable::new(setting.catalog.clone()),
            texts: Vec::new(),
            shown_url: setting.shown_url,
        }
    }

    /// The number of a sample's series. `None` if there are too many series.
    pub fn number_of(&mut self, sample: &SampleRecord) -> Option<usize> {
        let (texts, shown_url) = (&mut self.texts, self.shown_url);
        let number = self.numbers.of(sample, |metric, tags| {
            texts.push(SeriesTexts::new(metric, tags, shown_url));
            texts.len() - 1
        });
        number.copied()
    }

    pub fn get(&self, number: usize) -> Option<&SeriesTexts> {
        self.texts.get(number)
    }
}

impl SeriesTexts {
    fn new(metric: &Metric, tags: &SampleTags, shown_url: ShownUrl) -> SeriesTexts {
        let text = |value: &str| serde_json::Value::from(value);
        let tags = tags.iter().filter(|(_, value)| !value.is_empty());
        let tags: serde_json::Map<_, _> = tags
            .map(|(key, value)| (key.to_owned(), text(&shown_tag(shown_url, key, value))))
            .collect();
        let kind_name = match metric.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Rate => "rate",
            Kind::Trend => "trend",
        };
        SeriesTexts {
            kind: metric.kind,
            metric: metric.name.as_str().into(),
            kind_name: kind_name.into(),
            tags: serde_json::Value::Object(tags).to_string().as_str().into(),
        }
    }
}
