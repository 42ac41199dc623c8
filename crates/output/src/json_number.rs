//! Numbers in JSON as JavaScript writes them.

use serde_json::Value;

/// The largest magnitude up to which every whole `f64` is that whole number.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// Whole numbers without a decimal point, and `null` for what JSON has no
/// number for: infinities and NaN.
pub(crate) fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() <= WHOLE {
        Value::from(value as i64)
    } else {
        Value::from(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_have_no_point() {
        let texts = [41.0, -3.0, -0.0, 0.25, 1e21, f64::NAN, f64::INFINITY]
            .map(|value| number(value).to_string());
        assert_eq!(texts, ["41", "-3", "0", "0.25", "1e+21", "null", "null"]);
    }
}
