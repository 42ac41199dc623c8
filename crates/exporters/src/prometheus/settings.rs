//! k6's settings for Prometheus remote write.

use std::time::Duration;

use plimsoll_stats::Histogram;

use crate::endpoint::Endpoint;
use crate::settings::Variables;

/// The parsed settings.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The URL and the headers of requests.
    pub endpoint: Endpoint,
    /// Time between requests.
    pub interval: Duration,
    /// The figures of a trend. If it is empty, trends are native histograms.
    pub figures: Vec<Figure>,
}

/// A figure of a trend.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The suffix of the series' name, such as `_p99`.
    pub suffix: String,
    kind: FigureKind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum FigureKind {
    Count,
    Sum,
    Min,
    Max,
    Average,
    Quantile(f64),
}

const PREFIX: &str = "K6_PROMETHEUS_RW_";
/// Settings of k6 that Plimsoll does not support. Accepting them silently would mislead the user.
const UNSUPPORTED: [&str; 6] = [
    "CLIENT_CERTIFICATE",
    "CLIENT_CERTIFICATE_KEY",
    "STALE_MARKERS",
    "SIGV4_ACCESS_KEY",
    "SIGV4_SECRET_KEY",
    "SIGV4_REGION",
];

impl Settings {
    /// Parses the argument, which is a URL, and the environment variables. The argument takes precedence.
    ///
    /// # Errors
    /// If a value is invalid.
    pub fn parse(argument: &str, variables: Variables<'_>) -> Result<Settings, String> {
        let name = |rest: &str| format!("{PREFIX}{rest}");
        for rest in UNSUPPORTED {
            if variables
                .text(&name(rest))
                .is_some_and(|value| value != "false")
            {
                return Err(format!("{} is not supported; remove it", name(rest)));
            }
        }
        let url = match argument {
            "" => variables
                .text(&name("SERVER_URL"))
                .unwrap_or("http://localhost:9090/api/v1/write"),
            url => url,
        };
        let mut endpoint = Endpoint::new(url)?;
        endpoint.tls.insecure_skip_verify =
            variables.boolean(&name("INSECURE_SKIP_TLS_VERIFY"), false)?;
        endpoint.trust = "K6_PROMETHEUS_RW_INSECURE_SKIP_TLS_VERIFY=true accepts any certificate";
        // The protocol determines these headers.
        endpoint.add("Content-Type", "application/x-protobuf");
        endpoint.add("Content-Encoding", "snappy");
        endpoint.add("X-Prometheus-Remote-Write-Version", "0.1.0");
        for pair in variables
            .text(&name("HTTP_HEADERS"))
            .into_iter()
            .flat_map(|list| list.split(','))
        {
            let (key, value) = pair.split_once(':').ok_or_else(|| {
                format!(
                    "{}: \"{pair}\" has no colon; use NAME:VALUE",
                    name("HTTP_HEADERS")
                )
            })?;
            endpoint.add(key.trim(), value.trim());
        }
        for (key, value) in variables.starting_with("K6_PROMETHEUS_RW_HEADERS_") {
            endpoint.add(key, value);
        }
        if let Some(user) = variables.text(&name("USERNAME")) {
            endpoint.log_in(user, variables.text(&name("PASSWORD")).unwrap_or_default());
        }
        if let Some(token) = variables.text(&name("BEARER_TOKEN")) {
            endpoint.add("Authorization", &format!("Bearer {token}"));
        }
        let listed = variables.text(&name("TREND_STATS"));
        let figures =
            match variables.boolean(&name("TREND_AS_NATIVE_HISTOGRAM"), listed.is_none())? {
                true => Vec::new(),
                false => listed
                    .unwrap_or("p(99)")
                    .split(',')
                    .map(Figure::parse)
                    .collect::<Result<_, _>>()?,
            };
        Ok(Settings {
            endpoint,
            interval: variables.duration(&name("PUSH_INTERVAL"), Duration::from_secs(5))?,
            figures,
        })
    }
}

impl Figure {
    fn parse(text: &str) -> Result<Figure, String> {
        let text = text.trim();
        let kind = match text {
            "count" => FigureKind::Count,
            "sum" => FigureKind::Sum,
            "min" => FigureKind::Min,
            "max" => FigureKind::Max,
            "avg" => FigureKind::Average,
            "med" => FigureKind::Quantile(0.5),
            _ => {
                let percent = text
                    .strip_prefix("p(")
                    .and_then(|rest| rest.strip_suffix(')'));
                let percent = percent.and_then(|digits| digits.parse::<f64>().ok());
                let percent = percent.filter(|percent| (0.0..=100.0).contains(percent)).ok_or_else(|| {
                    format!("{PREFIX}TREND_STATS: unknown figure \"{text}\"; use count, sum, min, max, avg, med or p(N)")
                })?;
                FigureKind::Quantile(percent / 100.0)
            }
        };
        let short: String = text.chars().filter(|one| !"().".contains(*one)).collect();
        Ok(Figure {
            suffix: format!("_{short}"),
            kind,
        })
    }

    /// The figure of a distribution. `factor` converts its values to the unit. A count has no unit.
    pub fn of(&self, histogram: &Histogram, factor: f64) -> f64 {
        match self.kind {
            FigureKind::Count => histogram.count() as f64,
            FigureKind::Sum => histogram.sum() * factor,
            FigureKind::Min => histogram.min() * factor,
            FigureKind::Max => histogram.max() * factor,
            FigureKind::Average => histogram.mean() * factor,
            FigureKind::Quantile(quantile) => histogram.quantile(quantile) * factor,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(argument: &str, variables: &[(&str, &str)]) -> Result<Settings, String> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let all: Vec<_> = variables.iter().map(owned).collect();
        Settings::parse(argument, Variables::new(&all))
    }

    #[test]
    fn trends_are_histograms_unless_figures_are_listed() {
        let suffixes = |variables: &[(&str, &str)]| -> Vec<String> {
            let figures = parsed("", variables).expect("valid settings").figures;
            figures.into_iter().map(|figure| figure.suffix).collect()
        };
        assert!(suffixes(&[]).is_empty());
        assert_eq!(
            suffixes(&[("K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM", "false")]),
            ["_p99"]
        );
        let listed = ("K6_PROMETHEUS_RW_TREND_STATS", "p(99.9), avg,med,p(5)");
        assert_eq!(suffixes(&[listed]), ["_p999", "_avg", "_med", "_p5"]);
        assert!(
            suffixes(&[
                listed,
                ("K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM", "true")
            ])
            .is_empty()
        );
    }

    #[test]
    fn invalid_settings_are_named() {
        let error = |name: &str, value: &str| parsed("", &[(name, value)]).expect_err(name);
        assert!(
            error("K6_PROMETHEUS_RW_TREND_STATS", "p(101)").contains("unknown figure \"p(101)\"")
        );
        assert!(error("K6_PROMETHEUS_RW_PUSH_INTERVAL", "5").contains("with a unit"));
        assert!(error("K6_PROMETHEUS_RW_HTTP_HEADERS", "x").contains("NAME:VALUE"));
        assert!(error("K6_PROMETHEUS_RW_SIGV4_REGION", "x").contains("not supported"));
        assert!(parsed("ftp://x/", &[]).is_err());
    }

    #[test]
    fn credentials_are_headers_and_not_shown() {
        let settings =
            parsed("http://me:secret@host:9090/api/v1/write?token=x", &[]).expect("a URL");
        assert_eq!(settings.endpoint.shown(), "http://host:9090/api/v1/write");
        let header = ("Authorization".to_owned(), "Basic bWU6c2VjcmV0".to_owned());
        assert!(settings.endpoint.headers.contains(&header));
    }
}
