//! Formats values as k6 prints them for people.
//!
//! * Times: `0s`, whole `ns` below a microsecond, then `µs`, `ms` and `s` with at most two decimals. From a minute on
//!   `1m3s`, from an hour on `1h2m3s`.
//! * Shares: percent with two decimals.
//! * Data: decimal units (`1.2 kB`), one decimal below ten.
//! * Anything else: at most six decimals.
//!
//! Times and shares are truncated, never rounded up: 99.999 % is not 100 %. They are truncated as decimal numbers, so
//! 29 out of 100 prints as `29.00%`, although the nearest binary fraction is slightly smaller.

use plimsoll_plan::TimeUnit;
use plimsoll_samples::Contains;
use plimsoll_units::Bytes;

/// A metric's value with its unit.
pub fn value(value: f64, contains: Contains, unit: Option<TimeUnit>) -> String {
    match contains {
        Contains::Time => time(value, unit),
        Contains::Data => data(value),
        Contains::Default => plain(value),
    }
}

/// Formats a time in milliseconds in `unit`, or in the best unit.
pub fn time(milliseconds: f64, unit: Option<TimeUnit>) -> String {
    if !milliseconds.is_finite() {
        return plain(milliseconds);
    }
    match unit {
        Some(TimeUnit::Seconds) => format!("{:.2}s", milliseconds * 0.001),
        Some(TimeUnit::Millis) => format!("{milliseconds:.2}ms"),
        Some(TimeUnit::Micros) => format!("{:.2}µs", milliseconds * 1000.0),
        None if milliseconds < 0.0 => format!("-{}", fitting_time(-milliseconds, cut)),
        None => fitting_time(milliseconds, cut),
    }
}

/// Formats a nonnegative time in milliseconds in the best unit, rounded as in reports. k6 truncates.
pub fn rounded_time(milliseconds: f64) -> String {
    let round = |value: f64, decimals| {
        let scale = 10f64.powi(decimals);
        (value * scale).round() / scale
    };
    fitting_time(milliseconds, round)
}

/// `digits` reduces a number to this number of decimals.
fn fitting_time(milliseconds: f64, digits: impl Fn(f64, i32) -> f64) -> String {
    if milliseconds == 0.0 {
        "0s".to_owned()
    } else if milliseconds < 0.001 {
        format!("{}ns", digits(milliseconds * 1e6, 0))
    } else if milliseconds < 1.0 {
        format!("{}µs", shortest(digits(milliseconds * 1e3, 2)))
    } else if milliseconds < 1_000.0 {
        format!("{}ms", shortest(digits(milliseconds, 2)))
    } else if milliseconds < 60_000.0 {
        format!("{}s", shortest(digits(milliseconds / 1e3, 2)))
    } else {
        let seconds = digits(milliseconds / 1e3, 0);
        let (hours, rest) = ((seconds / 3600.0).floor(), seconds % 3600.0);
        let (minutes, seconds) = ((rest / 60.0).floor(), rest % 60.0);
        if hours > 0.0 {
            format!("{hours:.0}h{minutes:.0}m{seconds:.0}s")
        } else {
            format!("{minutes:.0}m{seconds:.0}s")
        }
    }
}

/// Formats an amount of data, given in bytes.
pub fn data(bytes: f64) -> String {
    if bytes < 0.0 {
        return format!("-{}", Bytes::format_f64(-bytes));
    }
    Bytes::format_f64(bytes)
}

/// Formats a share from 0 to 1 as `12.34%`.
pub fn percent(share: f64) -> String {
    if !share.is_finite() {
        return plain(share);
    }
    format!("{:.2}%", cut(share * 100.0, 2))
}

/// `part` as a whole percentage of `whole`, truncated. 0 if `whole` is 0.
pub fn whole_percent(part: u64, whole: u64) -> u64 {
    (u128::from(part) * 100)
        .checked_div(u128::from(whole))
        .map_or(0, |percent| percent as u64)
}

/// Formats a number with at most six decimals.
pub fn plain(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if value.abs() >= 1e21 {
        // From this magnitude on, JavaScript, and therefore k6, writes an exponent.
        return format!("{value:e}").replace('e', "e+");
    }
    // Rounds, then uses the shortest form that still identifies the number, because six decimals of a large number mean
    // nothing.
    let rounded = format!("{value:.6}").parse().unwrap_or(value);
    if rounded == 0.0 {
        "0".to_owned()
    } else {
        format!("{rounded}")
    }
}

/// Truncates a nonnegative `value` to this number of decimals. If only the rounding error of a few operations keeps it
/// below the next step, it counts as that step.
fn cut(value: f64, decimals: i32) -> f64 {
    let scale = 10f64.powi(decimals);
    let scaled = value * scale;
    let nearest = scaled.round();
    let steps = if (nearest - scaled).abs() <= scaled.abs() * 4.0 * f64::EPSILON {
        nearest
    } else {
        scaled.floor()
    };
    steps / scale
}

/// Formats a number with at most two decimals, without trailing zeros.
fn shortest(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_use_the_best_unit_and_are_truncated() {
        let cases = [
            (0.0, "0s"),
            (1e-7, "0ns"),
            (0.000_561, "561ns"),
            (0.001, "1µs"),
            (0.012_345_6, "12.34µs"),
            (0.29, "290µs"),
            (0.999_999, "999.99µs"),
            (1.0, "1ms"),
            (4.35, "4.35ms"),
            (43.999_9, "43.99ms"),
            (999.999, "999.99ms"),
            (1500.25, "1.5s"),
            (59_999.9, "59.99s"),
            (60_000.0, "1m0s"),
            (61_234.567, "1m1s"),
            (3_599_999.0, "59m59s"),
            (3_723_456.789, "1h2m3s"),
            (25_307_842.84, "7h1m47s"),
            (90_061_001.0, "25h1m1s"),
            (-12.345, "-12.34ms"),
            (f64::INFINITY, "Infinity"),
        ];
        for (milliseconds, text) in cases {
            assert_eq!(time(milliseconds, None), text, "{milliseconds} ms");
        }
    }

    #[test]
    fn a_fixed_unit_keeps_two_decimals() {
        assert_eq!(time(2.4826, Some(TimeUnit::Micros)), "2482.60µs");
        assert_eq!(time(999.9995, Some(TimeUnit::Seconds)), "1.00s");
        assert_eq!(time(5.15, Some(TimeUnit::Millis)), "5.15ms");
    }

    #[test]
    fn shares_are_truncated_as_decimal_numbers() {
        for hundredths in 0..=10_000_u32 {
            let share = f64::from(hundredths) / 10_000.0;
            let text = format!("{}.{:02}%", hundredths / 100, hundredths % 100);
            assert_eq!(percent(share), text);
        }
        assert_eq!(percent(1999.0 / 2000.0), "99.95%");
        assert_eq!(percent(0.999_99), "99.99%");
        assert_eq!(percent(14.0 / 41.0), "34.14%");
        assert_eq!(whole_percent(2, 3), 66);
        assert_eq!(whole_percent(0, 0), 0);
        assert_eq!(whole_percent(u64::MAX, u64::MAX), 100);
    }

    #[test]
    fn plain_numbers_have_at_most_six_decimals() {
        let cases = [
            (41.0, "41"),
            (1.234_567_89, "1.234568"),
            (4e-7, "0"),
            (-4e-7, "0"),
            (-1.5, "-1.5"),
            (120.0, "120"),
            (12_345_678_901_234.0, "12345678901234"),
            (2_052_072_895_400_235.5, "2052072895400235.5"),
            (1.5e22, "1.5e+22"),
            (f64::NAN, "NaN"),
        ];
        for (number, text) in cases {
            assert_eq!(plain(number), text);
        }
    }

    #[test]
    fn data_keeps_its_sign() {
        assert_eq!(data(6536.0), "6.5 kB");
        assert_eq!(data(-6536.0), "-6.5 kB");
        assert_eq!(value(781.4, Contains::Data, None), "781 B");
    }
}
