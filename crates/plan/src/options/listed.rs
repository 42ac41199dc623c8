//! Options with a fixed list of values. The command line uses them, too.

use serde_json::Value;

use plimsoll_address::{CipherSuite, DnsPolicy, DnsSelect, TlsVersion};
use plimsoll_units::{UnknownName, named_values};

use crate::dns::DnsTtl;
use crate::error::{Fault, excerpt};
use crate::option_value::{OptionValue, Reader, from_string, text_value};

/// The time unit of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    Seconds,
    Millis,
    Micros,
}
named_values! { TimeUnit, "time unit": Seconds = "s", Millis = "ms", Micros = "us" }

/// The time unit of a summary in a script. As in k6, it may be any string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenTimeUnit(String);

impl GivenTimeUnit {
    /// The unit as the script wrote it. If it is unknown, the summary chooses one.
    pub fn unit(&self) -> Option<TimeUnit> {
        TimeUnit::parse(&self.0).ok()
    }
}

/// The HTTP protocol to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/2 if TLS negotiates it, otherwise HTTP/1.1.
    #[default]
    Auto,
    /// Always HTTP/1.1.
    Http1,
    /// HTTP/2 over TLS.
    Http2,
    /// HTTP/2 without TLS, with prior knowledge.
    H2c,
    /// HTTP/3, over QUIC.
    Http3,
}
named_values! { Protocol, "HTTP protocol": Auto = "auto", Http1 = "http1", Http2 = "http2", H2c = "h2c", Http3 = "http3" }

/// A tag that the program sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SystemTag {
    Check,
    Error,
    ErrorCode,
    ExpectedResponse,
    Group,
    Ip,
    Iter,
    Method,
    Name,
    OcspStatus,
    Proto,
    Scenario,
    Service,
    Status,
    Subproto,
    /// Whether the tag is an addition to k6's tags.
    TlsCipherSuite,
    TlsVersion,
    Url,
    Vu,
}
named_values! { SystemTag, "system tag":
Check = "check", Error = "error", ErrorCode = "error_code", ExpectedResponse = "expected_response",
Group = "group", Ip = "ip", Iter = "iter", Method = "method", Name = "name", OcspStatus = "ocsp_status",
Proto = "proto", Scenario = "scenario", Service = "service", Status = "status", Subproto = "subproto",
TlsCipherSuite = "tls_cipher_suite", TlsVersion = "tls_version", Url = "url", Vu = "vu" }

impl SystemTag {
    /// Whether the tag is enabled by default.
    pub const fn is_default(self) -> bool {
        !matches!(
            self,
            SystemTag::Ip
                | SystemTag::Iter
                | SystemTag::OcspStatus
                | SystemTag::TlsCipherSuite
                | SystemTag::Vu
        )
    }

    /// The tags that are enabled by default.
    pub fn defaults() -> Vec<SystemTag> {
        SystemTag::ALL
            .iter()
            .copied()
            .filter(|tag| tag.is_default())
            .collect()
    }
}

text_value! {
    DnsSelect: DnsSelect::parse, |v| v.to_string();
    DnsPolicy: DnsPolicy::parse, |v| v.to_string();
    DnsTtl: DnsTtl::parse, |v| v.to_string();
    TlsVersion: TlsVersion::parse, |v| v.to_string();
    CipherSuite: CipherSuite::parse, |v| v.name().to_owned();
    Protocol: Protocol::parse, |v| v.to_string();
    TrendStat: TrendStat::parse, |v| v.as_str().to_owned();
    HttpDebug: |text| Ok::<_, Fault>(HttpDebug::parse(text)), |v| v.name().to_owned();
}

/// The system tags of samples, sorted and without duplicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemTags(pub Vec<SystemTag>);

impl Default for SystemTags {
    /// The tags that are enabled by default.
    fn default() -> SystemTags {
        SystemTags(SystemTag::defaults())
    }
}

impl SystemTags {
    /// Parses `url,status,…`, as in `--system-tags`.
    ///
    /// # Errors
    /// If one of them is not a system tag.
    pub fn parse(text: &str) -> Result<SystemTags, Fault> {
        let parts = text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty());
        let tags = parts.map(SystemTag::parse).collect::<Result<Vec<_>, _>>()?;
        Ok(SystemTags::of(tags))
    }

    fn of(mut tags: Vec<SystemTag>) -> SystemTags {
        tags.sort_unstable();
        tags.dedup();
        SystemTags(tags)
    }
}

impl OptionValue for SystemTags {
    /// An unknown system tag causes a warning. k6 drops it silently.
    fn from_json(value: &Value, reader: &mut Reader<'_>) -> Option<SystemTags> {
        let names = Vec::<String>::from_json(value, reader)?;
        let mut tags = Vec::new();
        for name in names {
            match SystemTag::parse(&name) {
                Ok(tag) => tags.push(tag),
                Err(fault) => reader.warn(fault.to_string()),
            }
        }
        Some(SystemTags::of(tags))
    }

    fn from_text(text: &str) -> Result<SystemTags, String> {
        SystemTags::parse(text).map_err(|fault| fault.to_string())
    }

    /// The empty set is shown as `null`.
    fn to_json(&self) -> Value {
        if self.0.is_empty() {
            return Value::Null;
        }
        self.0.iter().map(|tag| Value::from(tag.name())).collect()
    }
}

impl OptionValue for GivenTimeUnit {
    fn from_json(value: &Value, reader: &mut Reader<'_>) -> Option<GivenTimeUnit> {
        String::from_json(value, reader).map(GivenTimeUnit)
    }

    fn from_text(text: &str) -> Result<GivenTimeUnit, String> {
        let unit = TimeUnit::parse(text).map_err(|fault| fault.to_string())?;
        Ok(GivenTimeUnit(unit.name().to_owned()))
    }

    fn to_json(&self) -> Value {
        Value::from(self.0.as_str())
    }
}

/// The parts of requests and responses to log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpDebug {
    Off,
    /// Everything except the bodies.
    Headers,
    Full,
}

impl HttpDebug {
    /// `full` includes the bodies. Any other string that is not empty excludes them.
    pub fn parse(text: &str) -> HttpDebug {
        match text {
            "" => HttpDebug::Off,
            "full" => HttpDebug::Full,
            _ => HttpDebug::Headers,
        }
    }

    /// The string for the value.
    pub const fn name(self) -> &'static str {
        match self {
            HttpDebug::Off => "",
            HttpDebug::Headers => "headers",
            HttpDebug::Full => "full",
        }
    }
}

/// A statistic of a trend in the summary: `avg`, `min`, `med`, `max`, `count`, or a percentile such as `p(99.9)`.
#[derive(Clone, Debug, PartialEq)]
pub struct TrendStat {
    written: String,
    /// The parsed form.
    pub figure: Figure,
}

/// The parsed form of a [`TrendStat`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    Avg,
    Min,
    Med,
    Max,
    Count,
    /// A percentile from 0 to 100.
    Percentile(f64),
}

impl TrendStat {
    /// The names of the statistics that are shown by default.
    pub const DEFAULTS: [&'static str; 6] = ["avg", "min", "med", "max", "p(90)", "p(95)"];

    /// The statistics that are shown by default.
    pub fn defaults() -> Vec<TrendStat> {
        let read = TrendStat::DEFAULTS.into_iter().map(TrendStat::parse);
        read.filter_map(Result::ok).collect()
    }

    /// Parses the name of a statistic, or `p(N)` with N from 0 to 100.
    ///
    /// # Errors
    /// If it is neither.
    pub fn parse(text: &str) -> Result<TrendStat, Fault> {
        let figure = match text {
            "avg" => Figure::Avg,
            "min" => Figure::Min,
            "med" => Figure::Med,
            "max" => Figure::Max,
            "count" => Figure::Count,
            other => Figure::Percentile(crate::threshold::percentile(other).ok_or_else(|| {
                UnknownName::new(
                    "trend stat",
                    other,
                    &[
                        "avg",
                        "min",
                        "med",
                        "max",
                        "count",
                        "p(N) with N from 0 to 100",
                    ],
                )
            })?),
        };
        Ok(TrendStat {
            written: text.to_owned(),
            figure,
        })
    }

    /// The name as written. It is the key in summaries.
    pub fn as_str(&self) -> &str {
        &self.written
    }
}

/// Parses `avg,p(95),…`, as in `--summary-trend-stats`.
///
/// # Errors
/// If one of them is not a trend statistic.
pub fn parse_trend_stats(text: &str) -> Result<Vec<TrendStat>, Fault> {
    let parts = text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    parts.map(TrendStat::parse).collect()
}

/// Parses `name=value`, as in `--tag`.
///
/// # Errors
/// If the name, the value or the equals sign is missing.
pub fn parse_tag(text: &str) -> Result<(String, String), Fault> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err(Fault::at(
            "",
            format!(
                "\"{}\" is not a tag: write name=value, with neither part empty",
                excerpt(text)
            ),
        )),
    }
}
