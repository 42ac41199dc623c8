//! A coordinate on Earth.

/// A valid coordinate, in degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coordinate {
    /// -90 to 90.
    pub latitude: f64,
    /// -180 to 180.
    pub longitude: f64,
}

/// Maximum length of a number.
const MAX_LENGTH: usize = 40;

impl Coordinate {
    /// Parses the two numbers. The error says which one is invalid and why.
    pub fn parse(latitude: Option<&str>, longitude: Option<&str>) -> Result<Coordinate, String> {
        Ok(Coordinate {
            latitude: parse_degrees("lat", latitude, 90.0)?,
            longitude: parse_degrees("lng", longitude, 180.0)?,
        })
    }
}

fn parse_degrees(name: &str, text: Option<&str>, max: f64) -> Result<f64, String> {
    let text = text.ok_or_else(|| format!("{name} is missing"))?;
    text.parse()
        .ok()
        .filter(|degrees| text.len() <= MAX_LENGTH && (-max..=max).contains(degrees))
        .ok_or_else(|| format!("{name} must be a number from -{max} to {max}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn possible_coordinates_are_read() {
        let parse = |latitude, longitude| Coordinate::parse(Some(latitude), Some(longitude));
        assert!(parse("48.8566", "2.3522").is_ok());
        assert!(parse("-90", "180").is_ok());
        assert!(parse("+1.", "-0").is_ok());
        for (latitude, longitude, message) in [
            ("90.0001", "0", "lat"),
            ("0", "-180.1", "lng"),
            ("nan", "0", "lat"),
            ("0", "inf", "lng"),
            ("", "0", "lat"),
            ("1,5", "0", "lat"),
            ("0", "1e400", "lng"),
        ] {
            let error = parse(latitude, longitude).unwrap_err();
            assert!(error.starts_with(message), "{error}");
        }
        let long = "0".repeat(1000);
        assert!(parse(&long, "0").is_err());
        assert_eq!(
            Coordinate::parse(None, Some("0")),
            Err("lat is missing".to_owned())
        );
    }
}
