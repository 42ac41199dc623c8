//! Pools, as configured: their lists, and how many indices are reserved ahead of need.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use plimsoll_serving::secret::ApiKey;
use serde::Deserialize;

use crate::status::Width;

/// The built-in pools.
pub const EMBEDDED: &str = include_str!("pools.yaml");

/// Maximum statuses of one list: a list is in memory while it is signed.
const MAX_SIZE: u32 = 10_000_000;
/// Maximum reserved indices of one pool.
const MAX_READY: u32 = 1_000_000;
const MAX_PRECREATED: u32 = 100;

/// All pools, by name.
#[derive(Debug, Clone)]
pub struct Pools(pub BTreeMap<String, Pool>);

#[derive(Debug, Clone)]
pub struct Pool {
    pub name: String,
    pub key: ApiKey,
    /// The start of the lists' URIs; `None` uses the server's URL.
    pub issuer: Option<String>,
    pub shape: Shape,
    pub precreation: Precreation,
    pub prefetch: Prefetch,
    pub tokens: Tokens,
}

/// Properties of all lists of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Number of statuses in a list.
    pub size: u32,
    pub width: Width,
}

/// Lists that are created ahead of need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Precreation {
    /// Number of unused lists to keep.
    pub lists: u32,
    /// Interval between checks.
    #[serde(deserialize_with = "duration")]
    pub check_delay: Duration,
}

impl Default for Precreation {
    fn default() -> Self {
        Precreation {
            lists: 1,
            check_delay: Duration::from_secs(40),
        }
    }
}

/// Indices that are reserved ahead of need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Prefetch {
    /// If fewer than these are available, more are reserved …
    pub threshold: u32,
    /// … up to this number.
    pub capacity: u32,
    pub on_underflow: Underflow,
}

impl Default for Prefetch {
    fn default() -> Self {
        Prefetch {
            threshold: 1_000,
            capacity: 10_000,
            on_underflow: Underflow::Delay,
        }
    }
}

/// The treatment of requests for more indices than are available.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Underflow {
    /// The response is delayed.
    Delay,
    /// The response is 429.
    Fail,
}

/// The validity of signed lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Tokens {
    /// From `iat` to `exp`.
    #[serde(deserialize_with = "duration")]
    pub lifetime: Duration,
    /// How long others may cache one (`ttl`).
    #[serde(deserialize_with = "duration")]
    pub time_to_live: Duration,
}

impl Default for Tokens {
    fn default() -> Self {
        Tokens {
            lifetime: Duration::from_secs(24 * 3600),
            time_to_live: Duration::from_secs(3600),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    pools: BTreeMap<String, Written>,
}

/// A pool as written in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Written {
    api_key: Option<String>,
    issuer: Option<String>,
    #[serde(default = "usual_size")]
    size: u32,
    #[serde(default = "usual_bits")]
    bits: Width,
    #[serde(default)]
    precreation: Precreation,
    #[serde(default)]
    prefetch: Prefetch,
    #[serde(default)]
    tokens: Tokens,
}

fn usual_size() -> u32 {
    50_000
}

fn usual_bits() -> Width {
    Width::One
}

impl Pools {
    /// The pools of a file, or the built-in ones. `key` is for pools without one.
    pub fn load(file: Option<&Path>, key: Option<&ApiKey>) -> Result<Pools, String> {
        match file {
            None => Pools::read(EMBEDDED, Syntax::Yaml, key),
            Some(path) => {
                let syntax = Syntax::of(path)?;
                let text = std::fs::read_to_string(path).map_err(|error| {
                    format!("cannot read the pools of {}: {error}", path.display())
                })?;
                Pools::read(&text, syntax, key)
                    .map_err(|reason| format!("{}: {reason}", path.display()))
            }
        }
    }

    fn read(text: &str, syntax: Syntax, key: Option<&ApiKey>) -> Result<Pools, String> {
        let file = syntax.read(text)?;
        if file.pools.is_empty() {
            return Err("there is no pool under 'pools'".to_owned());
        }
        let mut pools = BTreeMap::new();
        for (name, written) in file.pools {
            let pool = written
                .checked(&name, key)
                .map_err(|reason| format!("pool '{name}': {reason}"))?;
            pools.insert(name, pool);
        }
        Ok(Pools(pools))
    }
}

impl Written {
    fn checked(self, name: &str, key: Option<&ApiKey>) -> Result<Pool, String> {
        let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || name.len() > 64 || !name.chars().all(letters) {
            return Err("a name has 1 to 64 letters, digits, '-', '_' and '.'".to_owned());
        }
        within("size", self.size, 1, MAX_SIZE)?;
        within("prefetch.capacity", self.prefetch.capacity, 1, MAX_READY)?;
        within(
            "prefetch.threshold",
            self.prefetch.threshold,
            1,
            self.prefetch.capacity,
        )?;
        within(
            "precreation.lists",
            self.precreation.lists,
            0,
            MAX_PRECREATED,
        )?;
        if self.precreation.check_delay < Duration::from_millis(100) {
            return Err("precreation.check-delay is at least 100ms".to_owned());
        }
        if self.tokens.lifetime < Duration::from_secs(10) {
            return Err("tokens.lifetime is at least 10s".to_owned());
        }
        if let Some(issuer) = &self.issuer
            && !(issuer.starts_with("http://") || issuer.starts_with("https://"))
        {
            return Err("issuer is a URL: http://… or https://…".to_owned());
        }
        let key = match (&self.api_key, key) {
            (Some(written), _) => ApiKey::new(written)?,
            (None, Some(key)) => key.clone(),
            (None, None) => return Err(
                "it names no api-key; write one, or give --api-key or PLIMSOLL_STATUSLIST_API_KEY"
                    .to_owned(),
            ),
        };
        Ok(Pool {
            name: name.to_owned(),
            key,
            issuer: self
                .issuer
                .map(|issuer| issuer.trim_end_matches('/').to_owned()),
            shape: Shape {
                size: self.size,
                width: self.bits,
            },
            precreation: self.precreation,
            prefetch: self.prefetch,
            tokens: self.tokens,
        })
    }
}

fn within(name: &str, value: u32, least: u32, most: u32) -> Result<(), String> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(format!(
            "{name} is {value}, but {least} to {most} is possible"
        ))
    }
}

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Syntax {
    Yaml,
    Toml,
    Json,
}

impl Syntax {
    fn of(path: &Path) -> Result<Syntax, String> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("yaml" | "yml") => Ok(Syntax::Yaml),
            Some("toml") => Ok(Syntax::Toml),
            Some("json") => Ok(Syntax::Json),
            _ => Err(format!(
                "{}: pools are read from .yaml, .yml, .toml and .json",
                path.display()
            )),
        }
    }

    fn read(self, text: &str) -> Result<File, String> {
        match self {
            Syntax::Yaml => serde_saphyr::from_str(text).map_err(|error| error.to_string()),
            Syntax::Toml => toml::from_str(text).map_err(|error| error.to_string()),
            Syntax::Json => serde_json::from_str(text).map_err(|error| error.to_string()),
        }
    }
}

/// A duration such as `40s`: a whole number and its unit.
fn duration<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(from)?;
    parse_duration(&text).map_err(serde::de::Error::custom)
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("'{text}' is not a duration; write 500ms, 40s, 10m or 24h");
    let digits = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let milliseconds = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(wrong()),
    };
    let year = 366 * 24 * 3_600_000;
    number
        .checked_mul(milliseconds)
        .filter(|total| *total <= year)
        .map(Duration::from_millis)
        .ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_pools_are_those_of_the_benchmark() {
        let key = ApiKey::new("k").unwrap();
        let pools = Pools::load(None, Some(&key)).unwrap().0;
        let delay = &pools["tests"];
        assert_eq!(delay.shape.size, 50_000);
        assert_eq!(delay.shape.width, Width::One);
        assert_eq!(delay.prefetch, Prefetch::default());
        assert_eq!(delay.precreation, Precreation::default());
        let fail = &pools["tests-fail"];
        assert_eq!(fail.prefetch.on_underflow, Underflow::Fail);
    }

    #[test]
    fn the_three_syntaxes_say_the_same() {
        let yaml = "pools:\n  a:\n    api-key: k\n    bits: 2\n    prefetch: {capacity: 5, threshold: 2}\n";
        let toml = "[pools.a]\napi-key='k'\nbits=2\n[pools.a.prefetch]\ncapacity=5\nthreshold=2\n";
        let json =
            r#"{"pools":{"a":{"api-key":"k","bits":2,"prefetch":{"capacity":5,"threshold":2}}}}"#;
        for (text, syntax) in [
            (yaml, Syntax::Yaml),
            (toml, Syntax::Toml),
            (json, Syntax::Json),
        ] {
            let pools = Pools::read(text, syntax, None).unwrap().0;
            assert_eq!(pools["a"].shape.width, Width::Two);
            assert_eq!(pools["a"].prefetch.capacity, 5);
        }
    }

    #[test]
    fn mistakes_are_named() {
        let cases = [
            ("pools: {}", "no pool"),
            ("pools: {a: {}}", "--api-key"),
            ("pools: {a: {api-key: k, bits: 3}}", "1, 2, 4 or 8"),
            ("pools: {a: {api-key: k, size: 0}}", "size is 0"),
            ("pools: {a: {api-key: k, szie: 1}}", "szie"),
            ("pools: {'a b': {api-key: k}}", "letters"),
            (
                "pools: {a: {api-key: k, prefetch: {capacity: 5, threshold: 6}}}",
                "prefetch.threshold is 6",
            ),
            (
                "pools: {a: {api-key: k, precreation: {check-delay: 40}}}",
                "40s",
            ),
            ("pools: {a: {api-key: k, issuer: here}}", "URL"),
        ];
        for (text, expected) in cases {
            let error = Pools::read(text, Syntax::Yaml, None).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(parse_duration("40s"), Ok(Duration::from_secs(40)));
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        for wrong in ["", "40", "s", "-1s", "1d", "99999999999h"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }
}
