//! Formats numbers in JSON as JavaScript does.

use serde_json::Value;

/// Up to this magnitude, every whole `f64` is exact.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

/// Writes whole numbers without a decimal point. Infinities and NaN, which JSON cannot represent, become `null`.
pub(crate) fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() <= MAX_EXACT_INTEGER {
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
