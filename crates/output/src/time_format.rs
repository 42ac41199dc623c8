use plimsoll_units::nearest;

/// The format of dates in CSV files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeFormat {
    /// Seconds since 1970.
    #[default]
    Unix,
    /// Milliseconds since 1970.
    UnixMilli,
    /// Microseconds since 1970.
    UnixMicro,
    /// Nanoseconds since 1970.
    UnixNano,
    /// RFC 3339 in whole seconds.
    Rfc3339,
    /// RFC 3339 to the nanosecond.
    Rfc3339Nano,
}

impl TimeFormat {
    /// Reads the format from `K6_CSV_TIME_FORMAT`. `None` if the variable is not set.
    ///
    /// # Errors
    /// If the format is unknown.
    pub fn from_environment() -> Result<TimeFormat, String> {
        match std::env::var("K6_CSV_TIME_FORMAT") {
            Ok(name) => TimeFormat::parse(&name),
            Err(_) => Ok(TimeFormat::default()),
        }
    }

    const NAMES: [(&str, TimeFormat); 6] = [
        ("unix", TimeFormat::Unix),
        ("unix_milli", TimeFormat::UnixMilli),
        ("unix_micro", TimeFormat::UnixMicro),
        ("unix_nano", TimeFormat::UnixNano),
        ("rfc3339", TimeFormat::Rfc3339),
        ("rfc3339_nano", TimeFormat::Rfc3339Nano),
    ];

    /// Parses the value of `K6_CSV_TIME_FORMAT`.
    ///
    /// # Errors
    /// If the format is unknown. The error suggests the closest one.
    pub fn parse(name: &str) -> Result<TimeFormat, String> {
        let found = TimeFormat::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, format)| *format).ok_or_else(|| {
            let names = TimeFormat::NAMES.map(|(name, _)| name);
            let hint = match nearest(name, names) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("use one of {}", names.join(", ")),
            };
            format!("K6_CSV_TIME_FORMAT: \"{name}\" is not a date format; {hint}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_of_dates_are_named() {
        for (name, format) in TimeFormat::NAMES {
            assert_eq!(TimeFormat::parse(name), Ok(format));
        }
        let error = TimeFormat::parse("unix_mili").expect_err("a slip");
        assert!(error.contains("did you mean unix_milli?"), "{error}");
    }
}
