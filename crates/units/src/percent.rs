//! Parses percentages.

/// Parses a number and `%`, from 0 (inclusive) to 100 (exclusive), and returns a share from 0 to 1.
///
/// # Errors
/// Returns a message with the expected format.
pub fn parse(text: &str) -> Result<f64, String> {
    let number = text
        .strip_suffix('%')
        .ok_or_else(|| format!("{text:?} has no % sign: write it like 0.1%"))?;
    match number.trim().parse::<f64>() {
        Ok(value) if (0.0..100.0).contains(&value) => Ok(value / 100.0),
        _ => Err(format!(
            "{text:?} is not a share between 0% and 100%: write it like 0.1%"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_have_their_sign_and_their_range() {
        assert_eq!(parse("0.5%"), Ok(0.005));
        assert_eq!(parse("0%"), Ok(0.0));
        for wrong in ["", "5", "100%", "-1%", "x%", "NaN%"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
