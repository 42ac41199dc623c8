//! Formats times with a constant width.

use std::fmt::Write;
use std::time::Duration;

/// Formats `time` to a tenth of a second, padded to the width of `longest`: `0m01.5s` for five minutes, `01.5s` for 30
/// seconds, `1d02h00m01.5s` for two days.
pub fn fixed_width(time: Duration, longest: Duration) -> String {
    let tenths = (time.as_millis() + 50) / 100;
    let (seconds, tenth) = (tenths / 10, tenths % 10);
    let widest = longest.as_secs();
    let (minutes, hours, days) = (widest / 60, widest / 3_600, widest / 86_400);
    let mut text = String::new();
    // Writing to a string cannot fail.
    let mut part = |value: u128, digits: usize, unit: &str| {
        let _ = write!(text, "{value:0digits$}{unit}");
    };
    if days > 0 {
        part(seconds / 86_400, days.to_string().len(), "d");
    }
    if hours > 0 {
        let value = if days > 0 {
            seconds / 3_600 % 24
        } else {
            seconds / 3_600
        };
        part(value, if hours > 9 { 2 } else { 1 }, "h");
    }
    if minutes > 0 {
        let value = if hours > 0 {
            seconds / 60 % 60
        } else {
            seconds / 60
        };
        part(value, if minutes > 9 { 2 } else { 1 }, "m");
    }
    let value = if minutes > 0 { seconds % 60 } else { seconds };
    part(value, if widest > 9 { 2 } else { 1 }, ".");
    let _ = write!(text, "{tenth}s");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_wide_as_the_longest() {
        let cases = [
            (0, 2, "1.0s"),
            (0, 11, "01.0s"),
            (0, 61, "0m01.0s"),
            (0, 12 * 60, "00m01.0s"),
            (0, 3 * 3_600, "0h00m01.0s"),
            (0, 12 * 3_600, "00h00m01.0s"),
            (0, 30 * 3_600, "0d00h00m01.0s"),
            (0, 300 * 3_600, "00d00h00m01.0s"),
            (90_060, 30 * 3_600, "1d01h01m01.0s"),
            (90, 30, "91.0s"),
            (4_000, 61, "66m41.0s"),
        ];
        for (seconds, longest, text) in cases {
            let time = Duration::from_millis(seconds * 1_000 + 984);
            assert_eq!(fixed_width(time, Duration::from_secs(longest)), text);
        }
    }
}
