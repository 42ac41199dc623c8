//! Values, rows, and the outcome of statements.

/// A value of any database.
#[derive(Clone, Debug, PartialEq)]
pub enum SqlValue {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    /// Binary data.
    Bytes(Vec<u8>),
    /// A string or binary data. The database does not specify which.
    Octets(Vec<u8>),
    /// A date as milliseconds since 1970.
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
    /// The id that the database has generated for the last inserted row, if the database reports it.
    pub last_id: Option<i64>,
}

/// Formats a time as UTC. `between` separates date and time of day.
pub fn moment(milliseconds: f64, between: &str) -> String {
    match jiff::Timestamp::from_millisecond(milliseconds as i64) {
        Ok(time) => {
            let (date, clock) = (time.strftime("%Y-%m-%d"), time.strftime("%H:%M:%S%.3f"));
            format!("{date}{between}{clock}")
        }
        // No database supports years like this.
        Err(_) => format!("0000-00-00{between}00:00:00"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_utc_with_milliseconds() {
        assert_eq!(moment(1_700_000_000_123.0, "T"), "2023-11-14T22:13:20.123");
        assert_eq!(moment(-1.0, " "), "1969-12-31 23:59:59.999");
        assert_eq!(moment(0.0, " "), "1970-01-01 00:00:00.000");
        assert_eq!(moment(f64::MAX, " "), "0000-00-00 00:00:00");
    }
}
