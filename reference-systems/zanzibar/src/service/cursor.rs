//! The end of a page of a list, as an opaque token.

use crate::failure::Failure;

/// The cursor after the tuple with that number.
pub fn write(number: i64) -> String {
    format!("t{number:016x}")
}

/// The number in a cursor; 0, before all tuples, if there is none.
pub fn read(cursor: &str) -> Result<i64, Failure> {
    if cursor.is_empty() {
        return Ok(0);
    }
    cursor
        .strip_prefix('t')
        .filter(|digits| digits.len() == 16)
        .and_then(|digits| i64::from_str_radix(digits, 16).ok())
        .filter(|number| *number >= 0 && write(*number) == cursor)
        .ok_or_else(|| {
            Failure::Invalid(
                "pagination.cursor: it is none that List has given; leave it out for the first page"
                    .to_owned(),
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_written_is_read() {
        for number in [0, 1, 4711, i64::MAX] {
            assert_eq!(read(&write(number)), Ok(number));
        }
        assert_eq!(read(""), Ok(0));
        for wrong in [
            "t",
            "0",
            "t000000000000000g",
            "tffffffffffffffff",
            "t+00000000000001",
            "T0000000000000001",
            "t0000000000000001 ",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
