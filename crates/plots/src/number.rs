//! Formats numbers with only their significant digits.

/// The decimal place to which a value is rounded: `2` means hundredths, `-1` means tens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(i32);

/// Maximum number of digits, however narrow the interval is.
const MAX_DIGITS: i32 = 5;
/// Number of digits of a value without an interval.
const USUAL_DIGITS: i32 = 3;

impl Place {
    /// A precision of `places` digits after the decimal point.
    pub fn decimals(places: u8) -> Place {
        Place(i32::from(places))
    }

    /// Limits the precision to `places` digits after the decimal point.
    #[must_use]
    pub fn at_most(self, places: u8) -> Place {
        Place(self.0.min(i32::from(places)))
    }

    /// The precision of a value with this interval: two digits of half the interval's width (JCGM
    /// 100, 7.2.6), but at most five digits in total. Three digits if there is no interval or its
    /// width is zero.
    pub fn of(value: f64, interval: Option<(f64, f64)>) -> Place {
        let largest = interval
            .map_or(0.0, |(low, high)| low.abs().max(high.abs()))
            .max(value.abs());
        let magnitude = magnitude(largest);
        let half = interval.map_or(0.0, |(low, high)| (high - low).abs() / 2.0);
        if half > 0.0 && half.is_finite() {
            let known = 1 - self::magnitude(half);
            // Keep the first digit of the value even if the interval is wider than the value.
            Place(known.clamp(-magnitude, MAX_DIGITS - 1 - magnitude))
        } else {
            Place::digits(value, USUAL_DIGITS)
        }
    }

    /// The place at which `value` has this number of significant digits.
    fn digits(value: f64, digits: i32) -> Place {
        // Three digits of 1.23 are far less precise than three digits of 9.87, so a leading 1 gets
        // one more digit.
        let scaled = value.abs() / 10_f64.powi(magnitude(value.abs()));
        let digits = digits + i32::from(scaled < 2.0 && value != 0.0);
        Place(digits - 1 - magnitude(value.abs()))
    }

    /// Formats `value` at this precision, with commas between thousands and a real minus sign.
    pub fn print(self, value: f64) -> String {
        if !value.is_finite() {
            return "–".to_owned();
        }
        let places = self.0.clamp(-15, 9);
        let text = if places > 0 {
            format!("{:.*}", places.unsigned_abs() as usize, value.abs())
        } else {
            let step = 10_f64.powi(-places);
            format!("{:.0}", (value.abs() / step).round() * step)
        };
        let nothing = text.chars().all(|c| matches!(c, '0' | '.'));
        let sign = if value < 0.0 && !nothing { "−" } else { "" };
        format!("{sign}{}", grouped(&text))
    }
}

/// Formats `value` with the digits of [`Place::of`] for a missing interval: `1.234`, `98.7`, `48,100`.
pub fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    Place::digits(value, USUAL_DIGITS).print(value)
}

/// Formats a count: `129,386`.
pub fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// Like [`short`], but without trailing zeros, for the number at a tick.
pub fn tick(value: f64) -> String {
    let text = format!("{:.9}", value.abs());
    let text = text.trim_end_matches('0').trim_end_matches('.');
    let sign = if value < 0.0 && text != "0" {
        "−"
    } else {
        ""
    };
    format!("{sign}{}", grouped(text))
}

/// The power of ten of a value's first digit. 0 for 0.
fn magnitude(value: f64) -> i32 {
    if value > 0.0 && value.is_finite() {
        // Rounding to three digits may carry into the next power, which only adds one digit.
        (value.log10() + 1e-12).floor() as i32
    } else {
        0
    }
}

/// Groups the integer part of an unsigned decimal number by three digits. Four digits are not separated.
fn grouped(text: &str) -> String {
    let (whole, rest) = text.find('.').map_or((text, ""), |at| text.split_at(at));
    if whole.len() <= 4 {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + whole.len() / 3);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_decides_the_number_of_digits() {
        let print = |value, low, high| Place::of(value, Some((low, high))).print(value);
        assert_eq!(print(3.912_34, 3.85, 3.97), "3.912");
        assert_eq!(print(3.912_34, 3.5, 4.4), "3.91");
        assert_eq!(print(48_133.6, 48_010.0, 48_250.0), "48,130");
        assert_eq!(print(48_133.6, 30_000.0, 60_000.0), "48,000");
        assert_eq!(print(0.005, 0.004, 0.006), "0.0050");
        // The interval is so narrow that the maximum number of digits applies.
        assert_eq!(print(3.912_345_678, 3.912_345_6, 3.912_345_7), "3.9123");
        // The interval is wider than the value.
        assert_eq!(print(3.9, 0.0, 100.0), "4");
        assert_eq!(print(0.0, 0.0, 0.0), "0.00");
    }

    #[test]
    fn without_an_interval_three_digits() {
        let cases = [
            (0.0, "0"),
            (1.234_1, "1.234"),
            (9.876, "9.88"),
            (123.41, "123.4"),
            (987.6, "988"),
            (4309.48, "4310"),
            (48_133.5, "48,100"),
            (129_386.0, "129,400"),
            (0.000_123_4, "0.0001234"),
            (-2.5, "−2.50"),
            (f64::NAN, "–"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text, "{value}");
        }
    }

    #[test]
    fn ticks_have_no_needless_zeros() {
        assert_eq!(tick(0.1 + 0.2), "0.3");
        assert_eq!(tick(20_000.0), "20,000");
        assert_eq!(tick(1000.0), "1000");
        assert_eq!(tick(-0.5), "−0.5");
        assert_eq!(tick(-0.0), "0");
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(count(0), "0");
        assert_eq!(count(9_999), "9999");
        assert_eq!(count(129_386), "129,386");
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
    }
}
