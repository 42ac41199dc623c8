/// Formats a number with at least three significant digits: all digits before the decimal point,
/// and at most three after it.
pub fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_or_all_before_the_point() {
        assert_eq!(
            [12_345.6, 123.4, -12.34, 1.234, 0.1234, 0.0].map(three_digits),
            ["12346", "123", "-12.3", "1.23", "0.123", "0.000"]
        );
    }
}
