//! `--name value` arguments of the measuring programs.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

/// The arguments, by name without the dashes.
pub struct Arguments(BTreeMap<String, String>);

impl Arguments {
    /// Reads `--name value` pairs; `known` lists the names that exist.
    pub fn parse(
        arguments: impl IntoIterator<Item = String>,
        known: &[&str],
    ) -> Result<Arguments, String> {
        let mut found = BTreeMap::new();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let name = argument
                .strip_prefix("--")
                .filter(|name| known.contains(name))
                .ok_or_else(|| {
                    format!(
                        "`{argument}` is not an argument; the arguments are --{}",
                        known.join(", --")
                    )
                })?;
            let value = arguments
                .next()
                .ok_or_else(|| format!("--{name} needs a value after it"))?;
            found.insert(name.to_owned(), value);
        }
        Ok(Arguments(found))
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The value of `name` read as a number (or whatever else `T` reads).
    pub fn value<T: FromStr>(&self, name: &str) -> Result<Option<T>, String> {
        self.text(name)
            .map(|text| {
                text.parse()
                    .map_err(|_| format!("--{name} {text}: not a valid value"))
            })
            .transpose()
    }
}

/// Reads `150us`, `1ms`, `2.5s`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let split = text
        .find(|letter: char| letter.is_ascii_alphabetic())
        .ok_or_else(|| format!("`{text}` lacks a unit (us, ms or s)"))?;
    let (number, unit) = text.split_at(split);
    let number: f64 = number
        .parse()
        .map_err(|_| format!("`{text}` is not a duration such as 1ms"))?;
    let seconds = match unit {
        "us" => number / 1e6,
        "ms" => number / 1e3,
        "s" => number,
        _ => return Err(format!("`{unit}` is not a unit; use us, ms or s")),
    };
    Duration::try_from_secs_f64(seconds).map_err(|_| format!("`{text}` is out of range"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_need_a_known_unit() {
        assert_eq!(duration("1ms"), Ok(Duration::from_millis(1)));
        assert_eq!(duration("2.5s"), Ok(Duration::from_millis(2500)));
        assert_eq!(duration("20us"), Ok(Duration::from_micros(20)));
        for wrong in ["5", "ms", "1h", "-1s", "1e400s"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_unknown_argument_names_those_that_exist() {
        let wrong = ["--prot", "80"].map(String::from);
        let message = Arguments::parse(wrong, &["port", "cpu"]).err();
        assert_eq!(
            message.as_deref(),
            Some("`--prot` is not an argument; the arguments are --port, --cpu")
        );
        let right = Arguments::parse(["--port", "80"].map(String::from), &["port"]).ok();
        assert_eq!(
            right.map(|found| found.value::<u16>("port")),
            Some(Ok(Some(80)))
        );
    }
}
