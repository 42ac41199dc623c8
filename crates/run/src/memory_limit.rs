//! `PLIMSOLL_DECOMPRESSION_MEMORY`: the memory limit for decompressed data.

use plimsoll_http::MemoryBudget;

const VARIABLE: &str = "PLIMSOLL_DECOMPRESSION_MEMORY";

/// Applies the environment variable, if it is set.
///
/// # Errors
/// If its value is not a size.
pub fn apply() -> Result<(), String> {
    let Some(value) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) else {
        return Ok(());
    };
    let text = value.to_string_lossy();
    let bytes = parse(&text).ok_or_else(|| {
        format!("{VARIABLE}={text}: not a size; write a number with a unit, such as 512MB or 4GB")
    })?;
    MemoryBudget::process().set_limit(bytes);
    Ok(())
}

fn parse(text: &str) -> Option<usize> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim().to_ascii_uppercase().as_str() {
        "B" => 1,
        "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KIB" => 1 << 10,
        "MIB" => 1 << 20,
        "GIB" => 1 << 30,
        _ => return None,
    };
    number.parse::<usize>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse("512MB"), Some(512_000_000));
        assert_eq!(parse("2 GiB"), Some(2 << 30));
        for wrong in [
            "",
            "5",
            "MB",
            "1.5GB",
            "-1GB",
            "99999999999999999999GB",
            "1 TB2",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
