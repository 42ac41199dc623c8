//! Parses a boolean of k6's flags and variables.

/// Parses a boolean as Go's `strconv.ParseBool` does. `None` for any other text.
pub fn parse(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn only_the_forms_of_go_are_accepted() {
        assert_eq!(["1", "t", "True", "TRUE"].map(parse), [Some(true); 4]);
        assert_eq!(["0", "f", "False", "FALSE"].map(parse), [Some(false); 4]);
        assert_eq!(["", "yes", "tRUE", " true"].map(parse), [None; 4]);
    }
}
