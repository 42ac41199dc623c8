//! Numbers as Go prints them. k6 is written in Go.

/// 2^53. Above it, an `f64` cannot represent every whole number.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// A number as Go's `%v` prints it: whole numbers without an exponent; others like `1.5e+06` if they are at least a
/// million or less than a ten-thousandth.
pub fn text(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    if number == 0.0 || (number.fract() == 0.0 && number.abs() <= WHOLE) {
        return number.to_string();
    }
    let scientific = format!("{number:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    match exponent.parse::<i32>() {
        Ok(-4..=5) | Err(_) => number.to_string(),
        Ok(exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn numbers_are_printed_as_in_go() {
        for (number, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (100_000.0, "100000"),
            (9_007_199_254_740_992.0, "9007199254740992"),
            (1e21, "1e+21"),
            (123_456_789_012_345_680_000.0, "1.2345678901234568e+20"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1_234_567.891, "1.234567891e+06"),
            (123_456.5, "123456.5"),
            (0.000_1, "0.0001"),
            (1e-7, "1e-07"),
            (-1.5e-10, "-1.5e-10"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Inf"),
        ] {
            assert_eq!(text(number), expected);
        }
    }
}
