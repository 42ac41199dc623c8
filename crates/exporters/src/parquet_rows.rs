//! What a row of a Parquet file represents.

/// What a row represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// One second of a series.
    Windows,
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
