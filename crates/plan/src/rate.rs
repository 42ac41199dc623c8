//! Rates on the command line: `200`, `10.5`, `600/m`, `3/2s`.

use std::time::Duration;

use crate::Rate;

impl Rate {
    /// Parses a number of requests per second, or per the time after a slash. A decimal fraction becomes a whole number
    /// in a longer time (`10.5` is 105 in 10 s), so that no start time is rounded.
    ///
    /// # Errors
    /// If it is invalid. The message contains the correct syntax.
    pub fn parse(text: &str) -> Result<Rate, String> {
        let wrong = |why: &str| format!("{text}: {why}; write it like 200, 10.5, 600/m or 3/2s");
        let (count, per) = text.split_once('/').unwrap_or((text, "1s"));
        let (whole, fraction) = count.trim().split_once('.').unwrap_or((count.trim(), ""));
        let digits = format!("{whole}{fraction}");
        let is_number = !whole.is_empty()
            && digits.bytes().all(|digit| digit.is_ascii_digit())
            && count.contains('.') != fraction.is_empty();
        if !is_number {
            return Err(wrong("the rate is not a number of at least 0"));
        }
        let fraction = fraction.trim_end_matches('0');
        let count = format!("{whole}{fraction}").parse::<u64>().ok();
        let scale = u32::try_from(fraction.len())
            .ok()
            .and_then(|places| 10_u32.checked_pow(places));
        let per = match unit_as_time(per.trim()) {
            Ok(per) => scale.and_then(|scale| per.checked_mul(scale)),
            Err(error) => return Err(wrong(&error)),
        };
        match (count, per) {
            // A number per zero time counts as a rate of zero. The caller decides what that means.
            (Some(_), Some(Duration::ZERO)) => Ok(Rate {
                count: 0,
                per: Duration::from_secs(1),
            }),
            (Some(count), Some(per)) if per <= plimsoll_units::duration::LONGEST => {
                Ok(Rate { count, per })
            }
            _ => Err(wrong("the rate has too many digits")),
        }
    }
}

/// Parses a time such as `2s`. A unit alone, such as `s`, means `1s`.
fn unit_as_time(text: &str) -> Result<Duration, String> {
    let has_number = text.starts_with(|first: char| !first.is_alphabetic());
    if has_number {
        plimsoll_units::duration::parse_with_unit(text)
    } else {
        plimsoll_units::duration::parse_with_unit(&format!("1{text}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_exactly() {
        for (text, count, per) in [
            ("50", 50, 1_000),
            ("10.5", 105, 10_000),
            ("0.25", 25, 100_000),
            ("10.0", 10, 1_000),
            ("600/m", 600, 60_000),
            ("50/s", 50, 1_000),
            ("3/2s", 3, 2_000),
            ("1.5/1m", 15, 600_000),
            ("5/500ms", 5, 500),
            ("0", 0, 1_000),
            ("5/0s", 0, 1_000),
        ] {
            let per = Duration::from_millis(per);
            assert_eq!(Rate::parse(text), Ok(Rate { count, per }), "{text}");
        }
    }

    #[test]
    fn invalid_rates_are_refused() {
        for text in [
            "",
            "x",
            "-1",
            "+1",
            "1.",
            ".5",
            "1.5.5",
            "1e3",
            "5/",
            "5/x",
            "5/5",
            "5/-1s",
            "/s",
            "inf",
            "NaN",
            "99999999999999999999",
            "1.0000000000001",
            "0.000000001/200000h",
        ] {
            let error = Rate::parse(text).expect_err(text);
            assert!(error.contains("write it like 200, 10.5, 600/m"), "{error}");
        }
    }
}
