//! Values, rows, and the outcome of statements.

/// A value of any database.
#[derive(Clone, Debug, PartialEq)]
pub enum SqlValue {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
    /// Milliseconds since 1970.
    Time(f64),
}

/// The result of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<SqlValue>>,
}

/// The outcome of a statement without rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    pub rows: u64,
    /// The number that the database has generated for the last inserted row, if it reports that.
    pub last_id: Option<i64>,
}
