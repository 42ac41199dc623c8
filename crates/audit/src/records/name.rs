//! Parses the name of a column, a row or a line: the statistic, the quantity and the unit.

use super::cell::{Kind, parse_unit};
use super::foreign::english;
use crate::quantity::is_rate_unit;

/// The meaning of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meaning {
    Min,
    Mean,
    Max,
    Quantile(f64),
    Rate,
    Requests,
    Failed,
    Passed,
    FailedShare,
    PassedShare,
    /// The duration of a run.
    Duration,
    Users,
    Other,
}

/// A name, split into its parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    pub text: String,
    pub meaning: Meaning,
    /// The words that are neither a statistic nor a unit: the quantity.
    pub quantity: String,
    /// The unit in the name: `Latency (ms)`.
    pub unit: Option<(f64, Kind)>,
}

const LATENCY: [&str; 11] = [
    "latency",
    "latencies",
    "lat",
    "response time",
    "response times",
    "duration",
    "time",
    "request time",
    "request duration",
    "http_req_duration",
    "rt",
];
/// Names of rates in words; `is_rate_unit` recognizes the units.
const RATE: [&str; 11] = [
    "transaction rate",
    "throughput summary",
    "throughput",
    "rate",
    "request rate",
    "req sec",
    "reqs sec",
    "requests sec",
    "ops sec",
    "queries sec",
    "requests second",
];
const REQUESTS: [&str; 23] = [
    "number of transactions actually processed",
    "total number of transactions",
    "requests",
    "total operations",
    "operations",
    "total ops",
    "total messages",
    "messages",
    "total queries",
    "queries",
    "total events",
    "requests sent",
    "requests completed",
    "completed requests",
    "total transactions",
    "total requests",
    "number of requests",
    "reqs",
    "samples",
    "iterations",
    "total reqs",
    "transactions",
    "events",
];
const FAILED: [&str; 15] = [
    "failed transactions",
    "number of failed transactions",
    "에러 건수",
    "실패",
    "ошибки",
    "erros",
    "failed",
    "errors",
    "failures",
    "failed requests",
    "fails",
    "error count",
    "timeouts",
    "total errors",
    "error",
];
const PASSED: [&str; 9] = [
    "successful transactions",
    "passes",
    "successful",
    "success",
    "succeeded",
    "ok",
    "passed",
    "successful requests",
    "successes",
];
const FAILED_SHARE: [&str; 8] = [
    "에러율",
    "错误率",
    "tasa de error",
    "error rate",
    "failure rate",
    "fail rate",
    "failed rate",
    "errors rate",
];
const PASSED_SHARE: [&str; 4] = ["success rate", "pass rate", "success ratio", "availability"];
const DURATION: [&str; 15] = [
    "completed in",
    "duration",
    "total duration",
    "run duration",
    "test time",
    "runtime",
    "total run time",
    "wall clock",
    "total time",
    "elapsed",
    "elapsed time",
    "time taken",
    "run time",
    "test duration",
    "wall time",
];
const USERS: [&str; 15] = [
    "number of clients",
    "parallel clients",
    "users",
    "vus",
    "concurrency",
    "connections",
    "clients",
    "threads",
    "concurrent users",
    "vu",
    "virtual users",
    "conns",
    "concurrent",
    "concurrent connections",
    "c",
];

/// Splits text into lower-case words of letters, digits, `.`, `%` and `_`, without `.` and `_` at
/// their ends.
pub fn tokenize(text: &str) -> Vec<String> {
    let lower = text.to_lowercase().replace("p(", "p");
    lower
        .split(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '.' | '%' | '_')))
        .map(|word| word.trim_matches(['.', '_']).to_owned())
        .filter(|word| !word.is_empty())
        .collect()
}

/// The statistic that a word names.
fn parse_statistic(word: &str) -> Option<Meaning> {
    Some(match word {
        "min" | "minimum" | "fastest" => Meaning::Min,
        "max" | "maximum" | "slowest" => Meaning::Max,
        "avg" | "average" | "mean" | "средн" | "среднее" | "平均" => Meaning::Mean,
        "median" | "med" => Meaning::Quantile(0.5),
        _ => {
            let ordinal = word.strip_suffix("th").or_else(|| word.strip_suffix('%'));
            let digits = ordinal.or_else(|| word.strip_prefix('p'))?;
            let percent: f64 = digits.parse().ok()?;
            // p999 is p99.9.
            let percent = match percent {
                value if value >= 9990.0 => value / 100.0,
                value if value >= 990.0 => value / 10.0,
                value => value,
            };
            ((50.0..100.0).contains(&percent) || [1.0, 5.0, 10.0, 25.0].contains(&percent))
                // Round to the nearest decimal number: 99.9 / 100 is not the same as 0.999.
                .then_some(Meaning::Quantile((percent * 1e3).round() / 1e5))?
        }
    })
}

impl Name {
    /// Reads a name in English or, if that has no meaning, in another language.
    pub fn read(text: &str) -> Name {
        let name = Name::read_english(text);
        if name.meaning != Meaning::Other || name.quantity == "latency" || text.len() > 80 {
            return name;
        }
        match english(text) {
            Some(translated) => Name {
                text: name.text,
                unit: name.unit,
                ..Name::read_english(&translated)
            },
            None => name,
        }
    }

    fn read_english(text: &str) -> Name {
        let plain = strip_remark(text).trim_matches(['*', '`', ' ', '↑', '↓', ':']);
        let (plain, unit) = match split_unit(plain) {
            Some((before, unit)) => (before, Some(unit)),
            None => (plain, parse_whole_as_unit(plain)),
        };
        let mut meanings = Vec::new();
        let mut rest: Vec<String> = Vec::new();
        for word in tokenize(plain) {
            match parse_statistic(&word) {
                Some(meaning) => meanings.push(meaning),
                None if matches!(word.as_str(), "percentile" | "line" | "the" | "of" | "%") => {}
                None => rest.push(word),
            }
        }
        let quantity = rest.join(" ");
        let is = |names: &[&str]| names.contains(&quantity.as_str());
        let percent = matches!(unit, Some((_, Kind::Percent))) || plain.contains('%');
        let meaning = match &meanings[..] {
            [] if is(&RATE) || is_rate(plain) => Meaning::Rate,
            [] if is(&FAILED_SHARE) || percent && is(&FAILED) => Meaning::FailedShare,
            [] if is(&PASSED_SHARE) || percent && is(&PASSED) => Meaning::PassedShare,
            [] if percent => Meaning::Other,
            [] if is(&REQUESTS) => Meaning::Requests,
            [] if is(&FAILED) => Meaning::Failed,
            [] if is(&PASSED) => Meaning::Passed,
            [] if is(&DURATION) => Meaning::Duration,
            [] if is(&USERS) => Meaning::Users,
            [Meaning::Mean] if is(&RATE) || is_rate_unit(&rest.join("/")) => Meaning::Rate,
            [one] => *one,
            _ => Meaning::Other,
        };
        let quantity = match is(&LATENCY) {
            true => "latency".to_owned(),
            false => quantity,
        };
        Name {
            text: text.trim().to_owned(),
            meaning,
            quantity,
            unit,
        }
    }

    /// Whether it is a statistic.
    pub fn is_statistic(&self) -> bool {
        matches!(
            self.meaning,
            Meaning::Min | Meaning::Mean | Meaning::Max | Meaning::Quantile(_)
        )
    }

    /// Whether its words denote a share in percent.
    pub fn is_share(&self) -> bool {
        matches!(self.meaning, Meaning::FailedShare | Meaning::PassedShare)
            && self.text.contains('%')
    }

    /// Whether its words denote a latency.
    pub fn is_latency(&self) -> bool {
        self.quantity == "latency"
            || self.quantity.contains("latency")
            || matches!(self.unit, Some((_, Kind::Time)))
            || self.quantity.is_empty() && matches!(self.meaning, Meaning::Quantile(_))
    }

    /// Whether it names a measured value.
    pub fn is_known(&self) -> bool {
        self.meaning != Meaning::Other
            || self.unit.is_some()
            || self.quantity == "latency"
            || self.quantity.contains("transferred")
            || self.is_of_each()
    }

    /// Whether it is the number of requests per user.
    pub fn is_of_each(&self) -> bool {
        const EACH: [&str; 8] = [
            "per user",
            "per client",
            "per connection",
            "per vu",
            "per thread",
            "per worker",
            "/user",
            "/client",
        ];
        let lower = self.text.to_lowercase();
        let counted = ["request", "req", "operation", "ops", "message", "iteration"];
        counted.iter().any(|word| lower.contains(word))
            && EACH.iter().any(|word| lower.contains(word))
    }
}

/// The name without "(higher is better)".
fn strip_remark(name: &str) -> &str {
    let name = name.trim();
    match name.rsplit_once('(') {
        Some((before, remark)) if remark.contains("better") => before.trim_end(),
        _ => name,
    }
}

/// The unit of a column whose name is a unit: `ms`, `ns/op`, `MB/s`.
fn parse_whole_as_unit(name: &str) -> Option<(f64, Kind)> {
    if name.len() < 2 || parse_statistic(&name.to_lowercase()).is_some() {
        return None;
    }
    parse_unit(name).filter(|(_, kind)| matches!(kind, Kind::Time | Kind::DataRate))
}

/// Whether its unit or its last words denote events per second.
fn is_rate(name: &str) -> bool {
    let lower = name.to_lowercase();
    let data = [
        "mb",
        "gb",
        "kb",
        "mib",
        "byte",
        "data",
        "transfer",
        "bandwidth",
    ];
    let requested = [
        "target",
        "limit",
        "goal",
        "expected",
        "request rate",
        "threshold",
        "sl",
    ];
    let last = lower.rsplit(' ').next().unwrap_or(&lower);
    is_rate_unit(&lower.replace(' ', ""))
        || is_rate_unit(last) && !requested.iter().any(|word| lower.starts_with(word))
        || lower.ends_with(" per second") && !data.iter().any(|word| lower.starts_with(word))
}

/// Splits a name and its unit: `Latency (ms)`, `p99 [µs]`, `Mean, s`, `avg_ms`.
fn split_unit(name: &str) -> Option<(&str, (f64, Kind))> {
    let closed = name.trim_end_matches([')', ']']);
    let at = match closed.len() < name.len() {
        true => closed.rfind(['(', '['])?,
        false => closed.rfind([',', '_'])?,
    };
    let (before, unit) = (closed.get(..at)?, closed.get(at + 1..)?.trim());
    let (scale, kind) = parse_unit(unit)?;
    (!unit.is_empty() && !before.trim().is_empty() && kind != Kind::Plain)
        .then_some((before.trim_end(), (scale, kind)))
}

#[cfg(test)]
mod tests {
    use super::{Meaning, Name};

    #[test]
    fn names_are_split() {
        for (text, meaning, quantity) in [
            ("P99 (ms)", Meaning::Quantile(0.99), ""),
            ("p(95) latency", Meaning::Quantile(0.95), "latency"),
            ("**Avg Latency**", Meaning::Mean, "latency"),
            ("99.9%", Meaning::Quantile(0.999), ""),
            ("TTFT p50", Meaning::Quantile(0.5), "ttft"),
            ("Requests/sec", Meaning::Rate, "requests sec"),
            ("Average RPS", Meaning::Rate, "rps"),
            ("Max RPS", Meaning::Max, "rps"),
            ("Error rate (%)", Meaning::FailedShare, "error rate"),
            ("Errors", Meaning::Failed, "errors"),
            ("p95/p99", Meaning::Other, ""),
            ("CPU %", Meaning::Other, "cpu"),
            ("90% Line", Meaning::Quantile(0.9), ""),
            ("Error %", Meaning::FailedShare, "error"),
            ("Framework", Meaning::Other, "framework"),
            ("Req/s (higher is better)", Meaning::Rate, "req s"),
            ("Messages per second", Meaning::Rate, "messages per second"),
            ("MB per second", Meaning::Other, "mb per second"),
            ("Go req/s", Meaning::Rate, "go req s"),
            ("Target RPS", Meaning::Other, "target rps"),
            ("Средняя задержка (мс)", Meaning::Mean, "latency"),
            ("平均延迟", Meaning::Mean, "latency"),
            ("Latencia promedio", Meaning::Mean, "latency"),
            ("Taxa de erro", Meaning::FailedShare, "error rate"),
        ] {
            let name = Name::read(text);
            assert_eq!(
                (name.meaning, name.quantity.as_str()),
                (meaning, quantity),
                "{text}"
            );
        }
    }
}
