//! The kinds of rows in a Parquet file.

/// The subject of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// A second of a series.
    Windows,
    /// A sample.
    Samples,
}

impl Rows {
    /// The name of the output.
    pub fn name(self) -> &'static str {
        match self {
            Rows::Windows => "parquet",
            Rows::Samples => "parquet-samples",
        }
    }
}
