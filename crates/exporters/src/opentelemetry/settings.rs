//! k6's settings for OpenTelemetry, and the variables of OpenTelemetry's own libraries that k6 also reads.

use std::fs;
use std::time::Duration;

use plimsoll_net::{ClientCertificate, TlsSettings};

use crate::endpoint::{Endpoint, Protocol};
use crate::settings::Variables;

/// The gRPC method that receives metrics.
const EXPORT: &str = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";

/// The parsed settings.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The address and the headers of requests.
    pub endpoint: Endpoint,
    /// Time between requests.
    pub interval: Duration,
    /// The prefix of metric names.
    pub prefix: String,
    /// Whether a rate is one sum with an attribute, instead of two sums.
    pub has_single_rates: bool,
    /// The attributes of the program.
    pub resource: Vec<(String, String)>,
    /// The protocol and the address, for the banner.
    shown: String,
}

impl Settings {
    /// Parses the argument, which is `HOST:PORT` for gRPC or a URL for HTTP, and the environment variables. The
    /// argument takes precedence.
    ///
    /// # Errors
    /// If a value is invalid.
    pub fn parse(argument: &str, variables: Variables<'_>) -> Result<Settings, String> {
        let is_url = |text: &str| text.starts_with("http://") || text.starts_with("https://");
        let protocol = if is_url(argument) {
            "http/protobuf"
        } else {
            let named = [
                "K6_OTEL_EXPORTER_PROTOCOL",
                "K6_OTEL_EXPORTER_TYPE",
                "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL",
                "OTEL_EXPORTER_OTLP_PROTOCOL",
            ];
            first(variables, &named).unwrap_or("grpc")
        };
        let (mut endpoint, shown) = match protocol {
            "grpc" => call_endpoint(argument, variables)?,
            "http/protobuf" | "http" => post_endpoint(argument, variables)?,
            other => {
                return Err(format!(
                    "K6_OTEL_EXPORTER_PROTOCOL={other}: use grpc or http/protobuf"
                ));
            }
        };
        endpoint.tls = tls(variables)?;
        endpoint.trust = "K6_OTEL_TLS_CERTIFICATE=FILE trusts an authority, and \
                          K6_OTEL_TLS_INSECURE_SKIP_VERIFY=true accepts any certificate";
        let headers = ["K6_OTEL_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"];
        for (key, value) in pairs(variables, &headers)? {
            endpoint.add(&key, &value);
        }
        Ok(Settings {
            endpoint,
            interval: variables.duration("K6_OTEL_EXPORT_INTERVAL", Duration::from_secs(10))?,
            prefix: variables
                .text("K6_OTEL_METRIC_PREFIX")
                .unwrap_or_default()
                .to_owned(),
            has_single_rates: variables.boolean("K6_OTEL_SINGLE_COUNTER_FOR_RATE", true)?,
            resource: resource(variables)?,
            shown,
        })
    }

    /// The description of the receiver in a run's banner.
    pub fn describe(&self) -> String {
        format!("opentelemetry ({})", self.shown)
    }
}

fn call_endpoint(argument: &str, variables: Variables<'_>) -> Result<(Endpoint, String), String> {
    let named = [
        "K6_OTEL_GRPC_EXPORTER_ENDPOINT",
        "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
        "OTEL_EXPORTER_OTLP_ENDPOINT",
    ];
    let address = match argument {
        "" => first(variables, &named).unwrap_or("localhost:4317"),
        address => address,
    };
    let is_insecure = variables.boolean("K6_OTEL_GRPC_EXPORTER_INSECURE", false)?;
    let url = match address.split_once("://") {
        Some(_) => address.to_owned(),
        None if is_insecure => format!("http://{address}"),
        None => format!("https://{address}"),
    };
    plimsoll_grpc::Endpoint::parse(&url, true)?;
    let mut endpoint = Endpoint::new(&url)?;
    endpoint.protocol = Protocol::OtlpCall(EXPORT);
    let (security, host) = match url.split_once("://") {
        Some(("http", host)) => (" (insecure)", host),
        Some((_, host)) => ("", host),
        None => ("", url.as_str()),
    };
    Ok((endpoint, format!("grpc{security}, {host}")))
}

fn post_endpoint(argument: &str, variables: Variables<'_>) -> Result<(Endpoint, String), String> {
    const PATH: &str = "/v1/metrics";
    let own = variables.text("K6_OTEL_HTTP_EXPORTER_ENDPOINT");
    let url = match (argument, own) {
        ("", None) => {
            let whole = variables.text("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT");
            let base = variables.text("OTEL_EXPORTER_OTLP_ENDPOINT");
            let base = base.map(|base| format!("{}{PATH}", base.trim_end_matches('/')));
            whole.map(ToOwned::to_owned).or(base)
        }
        ("", Some(_)) => None,
        (argument, _) if argument.contains("://") => Some(argument.to_owned()),
        _ => None,
    };
    let url = match url {
        Some(url) => url,
        None => {
            let is_insecure = variables.boolean("K6_OTEL_HTTP_EXPORTER_INSECURE", false)?;
            let scheme = if is_insecure { "http" } else { "https" };
            let host = Some(argument).filter(|argument| !argument.is_empty());
            let host = host.or(own).unwrap_or("localhost:4318");
            let path = variables.text("K6_OTEL_HTTP_EXPORTER_URL_PATH");
            format!("{scheme}://{host}{}", path.unwrap_or(PATH))
        }
    };
    let mut endpoint = Endpoint::new(&url)?;
    endpoint.protocol = Protocol::OtlpPost;
    endpoint.add("Content-Type", "application/x-protobuf");
    let shown = format!("http/protobuf, {}", endpoint.shown());
    Ok((endpoint, shown))
}

/// The certificates that k6's variables name.
pub fn tls(variables: Variables<'_>) -> Result<TlsSettings, String> {
    let file = |name: &str| -> Result<Option<Vec<u8>>, String> {
        let Some(path) = variables.text(name) else {
            return Ok(None);
        };
        let bytes = fs::read(path).map_err(|error| format!("{name}={path}: {error}"))?;
        Ok(Some(bytes))
    };
    let certificate = file("K6_OTEL_TLS_CLIENT_CERTIFICATE")?;
    let key = file("K6_OTEL_TLS_CLIENT_KEY")?;
    let client_certificates = match (certificate, key) {
        (Some(certificate_pem), Some(key_pem)) => vec![ClientCertificate {
            domains: Vec::new(),
            certificate_pem,
            key_pem,
        }],
        (None, None) => Vec::new(),
        _ => {
            return Err(
                "K6_OTEL_TLS_CLIENT_CERTIFICATE and K6_OTEL_TLS_CLIENT_KEY must both be set"
                    .to_owned(),
            );
        }
    };
    Ok(TlsSettings {
        insecure_skip_verify: variables.boolean("K6_OTEL_TLS_INSECURE_SKIP_VERIFY", false)?,
        extra_roots: file("K6_OTEL_TLS_CERTIFICATE")?.into_iter().collect(),
        client_certificates,
        ..TlsSettings::default()
    })
}

/// The attributes of the program: first those from the variables, then the defaults.
pub fn resource(variables: Variables<'_>) -> Result<Vec<(String, String)>, String> {
    let mut all = pairs(variables, &["OTEL_RESOURCE_ATTRIBUTES"])?;
    let named = ["K6_OTEL_SERVICE_NAME", "OTEL_SERVICE_NAME"];
    if let Some(name) = first(variables, &named) {
        all.retain(|(key, _)| key != "service.name");
        all.push(("service.name".to_owned(), name.to_owned()));
    }
    if let Some(version) = variables.text("K6_OTEL_SERVICE_VERSION") {
        all.retain(|(key, _)| key != "service.version");
        all.push(("service.version".to_owned(), version.to_owned()));
    }
    let version = env!("CARGO_PKG_VERSION");
    for (key, value) in [
        ("service.name", "k6"),
        ("service.version", version),
        ("telemetry.sdk.language", "rust"),
        ("telemetry.sdk.name", "plimsoll"),
        ("telemetry.sdk.version", version),
    ] {
        if all.iter().all(|(known, _)| known != key) {
            all.push((key.to_owned(), value.to_owned()));
        }
    }
    Ok(all)
}

fn first<'a>(variables: Variables<'a>, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| variables.text(name))
}

/// Parses `KEY=VALUE,KEY=VALUE` from the first of these variables that is set. Values are percent-encoded.
fn pairs(variables: Variables<'_>, names: &[&str]) -> Result<Vec<(String, String)>, String> {
    let set = names
        .iter()
        .find_map(|name| Some((name, variables.text(name)?)));
    let Some((name, list)) = set else {
        return Ok(Vec::new());
    };
    let items = list.split(',').filter(|item| !item.trim().is_empty());
    let pair = |item: &str| {
        let (key, value) = item
            .split_once('=')
            .ok_or_else(|| format!("{name}: \"{item}\" has no equals sign; use KEY=VALUE"))?;
        Ok((key.trim().to_owned(), decoded(value.trim())))
    };
    items.map(pair).collect()
}

/// Decodes `%20` and other percent-encoded bytes.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = (byte == b'%')
            .then(|| after.get(..2))
            .flatten()
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(code.unwrap_or(byte));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
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
    fn protocol_and_address_are_those_of_k6() {
        let shown = |argument, variables: &[(&str, &str)]| {
            parsed(argument, variables)
                .expect("valid settings")
                .describe()
        };
        let insecure = ("K6_OTEL_GRPC_EXPORTER_INSECURE", "true");
        let post = ("K6_OTEL_EXPORTER_PROTOCOL", "http/protobuf");
        assert_eq!(shown("", &[]), "opentelemetry (grpc, localhost:4317)");
        assert_eq!(
            shown("a:1", &[insecure]),
            "opentelemetry (grpc (insecure), a:1)"
        );
        assert_eq!(
            shown("", &[post, ("K6_OTEL_HTTP_EXPORTER_INSECURE", "true")]),
            "opentelemetry (http/protobuf, http://localhost:4318/v1/metrics)"
        );
        assert_eq!(
            shown("http://a:1/x", &[]),
            "opentelemetry (http/protobuf, http://a:1/x)"
        );
        assert_eq!(
            shown("", &[post, ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1/")]),
            "opentelemetry (http/protobuf, http://a:1/v1/metrics)"
        );
    }

    #[test]
    fn attributes_of_the_program_have_defaults() {
        let settings = parsed(
            "",
            &[(
                "OTEL_RESOURCE_ATTRIBUTES",
                "service.name=a%20b,team=x%2Cy,odd=5%",
            )],
        );
        let resource = settings.expect("valid settings").resource;
        let value = |key: &str| {
            let mut all = resource.iter().filter(|(known, _)| known == key);
            let (_, value) = all.next().expect("an attribute");
            assert!(all.next().is_none(), "{key}");
            value.as_str()
        };
        assert_eq!(value("service.name"), "a b");
        assert_eq!(value("team"), "x,y");
        assert_eq!(value("odd"), "5%");
        assert_eq!(value("telemetry.sdk.name"), "plimsoll");
    }

    #[test]
    fn invalid_settings_are_named() {
        let error = |name: &str, value: &str| parsed("", &[(name, value)]).expect_err(name);
        assert!(error("K6_OTEL_EXPORTER_PROTOCOL", "x").contains("use grpc or http/protobuf"));
        assert!(error("K6_OTEL_HEADERS", "x").contains("KEY=VALUE"));
        assert!(error("K6_OTEL_TLS_CERTIFICATE", "/no/file").contains("/no/file"));
        assert!(error("K6_OTEL_TLS_CLIENT_KEY", "/dev/null").contains("must both be set"));
        assert!(parsed("a", &[]).is_err());
    }
}
