//! Parses `--traces-output` in k6's form, and the variables of OpenTelemetry's libraries that control sampling.

use crate::endpoint::{Endpoint, Protocol};
use crate::opentelemetry::settings::{resource, tls};
use crate::settings::Variables;

/// The destination of traces, and the share of requests to trace.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The address and the headers of requests.
    pub endpoint: Endpoint,
    /// The share of requests to trace, from 0 to 1.
    pub share: f64,
    /// The attributes of the program.
    pub resource: Vec<(String, String)>,
    /// The protocol and the address, for the banner.
    shown: String,
}

/// The gRPC method that receives spans.
const EXPORT: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
const FORM: &str =
    "use none, or otel=HOST:PORT,proto=grpc|http,header.NAME=VALUE with any of these parts";

impl Settings {
    /// Parses `none`, or `otel[=HOST:PORT][,proto=grpc|http][,header.NAME=VALUE…]`.
    ///
    /// # Errors
    /// If a part is invalid.
    pub fn parse(text: &str, variables: Variables<'_>) -> Result<Option<Settings>, String> {
        let mut parts = text.split(',').map(str::trim);
        let (kind, address) = match parts.next().unwrap_or_default() {
            "" | "none" => return Ok(None),
            first => first.split_once('=').unwrap_or((first, "")),
        };
        if kind != "otel" {
            return Err(format!("unknown destination \"{kind}\"; {FORM}"));
        }
        let (mut is_call, mut headers) = (true, Vec::new());
        for part in parts {
            let (key, value) = part
                .split_once('=')
                .ok_or_else(|| format!("\"{part}\" has no equals sign; {FORM}"))?;
            match (key, value) {
                ("proto", "grpc") => is_call = true,
                ("proto", "http") => is_call = false,
                ("proto", other) => return Err(format!("proto={other}: use grpc or http")),
                _ => match key.strip_prefix("header.") {
                    Some(name) => headers.push((name, value)),
                    None => return Err(format!("unknown part \"{key}\"; {FORM}")),
                },
            }
        }
        let mut endpoint = endpoint(address, is_call)?;
        endpoint.tls = tls(variables)?;
        endpoint.trust = "K6_OTEL_TLS_CERTIFICATE=FILE trusts an authority, and \
                          K6_OTEL_TLS_INSECURE_SKIP_VERIFY=true accepts any certificate";
        for (name, value) in headers {
            endpoint.add(name, value);
        }
        let protocol = if is_call { "grpc" } else { "http/protobuf" };
        Ok(Some(Settings {
            shown: format!("{protocol}, {}", endpoint.shown()),
            endpoint,
            share: share(variables)?,
            resource: resource(variables)?,
        }))
    }

    /// The description of the destination in a run's banner.
    pub fn describe(&self) -> String {
        format!("traces ({})", self.shown)
    }
}

/// An address without a scheme uses no TLS.
fn endpoint(address: &str, is_call: bool) -> Result<Endpoint, String> {
    let default = if is_call {
        "127.0.0.1:4317"
    } else {
        "127.0.0.1:4318"
    };
    let address = if address.is_empty() { default } else { address };
    let mut url = match address.contains("://") {
        true => address.to_owned(),
        false => format!("http://{address}"),
    };
    if is_call {
        plimsoll_grpc::Endpoint::parse(&url, true)?;
        let mut endpoint = Endpoint::new(&url)?;
        endpoint.protocol = Protocol::OtlpCall(EXPORT);
        return Ok(endpoint);
    }
    let (_, host) = url.split_once("://").unwrap_or(("", url.as_str()));
    if !host.trim_end_matches('/').contains('/') {
        url = format!("{}/v1/traces", url.trim_end_matches('/'));
    }
    let mut endpoint = Endpoint::new(&url)?;
    endpoint.protocol = Protocol::OtlpPost;
    endpoint.add("Content-Type", "application/x-protobuf");
    Ok(endpoint)
}

/// The share that `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` select.
fn share(variables: Variables<'_>) -> Result<f64, String> {
    const NAME: &str = "OTEL_TRACES_SAMPLER";
    const SHARE: &str = "OTEL_TRACES_SAMPLER_ARG";
    match variables
        .text(NAME)
        .map(|name| (name, name.trim_start_matches("parentbased_")))
    {
        None | Some((_, "always_on")) => Ok(1.0),
        Some((_, "always_off")) => Ok(0.0),
        Some((_, "traceidratio")) => {
            let share: f64 = variables.parsed(SHARE, 1.0)?;
            if (0.0..=1.0).contains(&share) {
                Ok(share)
            } else {
                Err(format!("{SHARE}={share}: use a number from 0 to 1"))
            }
        }
        Some((name, _)) => Err(format!(
            "{NAME}={name}: use always_on, always_off or traceidratio"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str, variables: &[(&str, &str)]) -> Result<Option<Settings>, String> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let all: Vec<_> = variables.iter().map(owned).collect();
        Settings::parse(text, Variables::new(&all))
    }

    #[test]
    fn destinations_have_k6s_form() {
        let shown = |text| {
            let parsed = parsed(text, &[]).expect(text);
            parsed.map(|settings| settings.describe())
        };
        assert_eq!(shown("none"), None);
        assert_eq!(shown(""), None);
        for (text, expected) in [
            ("otel", "traces (grpc, http://127.0.0.1:4317)"),
            ("otel=a:1", "traces (grpc, http://a:1)"),
            ("otel=https://a:1,proto=grpc", "traces (grpc, https://a:1)"),
            (
                "otel=,proto=http",
                "traces (http/protobuf, http://127.0.0.1:4318/v1/traces)",
            ),
            (
                "otel=a:1,proto=http",
                "traces (http/protobuf, http://a:1/v1/traces)",
            ),
            (
                "otel=http://a:1/x,proto=http",
                "traces (http/protobuf, http://a:1/x)",
            ),
        ] {
            assert_eq!(shown(text).as_deref(), Some(expected));
        }
        let settings = parsed("otel=a:1,header.X-One=two=3", &[])
            .expect("valid")
            .expect("a destination");
        assert_eq!(
            settings.endpoint.headers,
            [("X-One".to_owned(), "two=3".to_owned())]
        );
    }

    #[test]
    fn a_share_of_requests_is_recorded_if_requested() {
        let share = |variables: &[(&str, &str)]| {
            let settings = parsed("otel", variables)?;
            Ok::<_, String>(settings.expect("a destination").share)
        };
        let ratio = ("OTEL_TRACES_SAMPLER", "parentbased_traceidratio");
        assert_eq!(share(&[]), Ok(1.0));
        assert_eq!(share(&[("OTEL_TRACES_SAMPLER", "always_off")]), Ok(0.0));
        assert_eq!(
            share(&[ratio, ("OTEL_TRACES_SAMPLER_ARG", "0.01")]),
            Ok(0.01)
        );
        let error = share(&[ratio, ("OTEL_TRACES_SAMPLER_ARG", "2")]).expect_err("above 1");
        assert!(error.contains("from 0 to 1"), "{error}");
        let error = share(&[("OTEL_TRACES_SAMPLER", "jaeger_remote")]).expect_err("unknown");
        assert!(error.contains("traceidratio"), "{error}");
    }

    #[test]
    fn invalid_parts_are_named() {
        for (text, part) in [
            ("jaeger=a:1", "jaeger"),
            ("otel=a:1,proto=udp", "proto=udp"),
            ("otel=a:1,insecure", "\"insecure\" has no equals sign"),
            ("otel=a:1,retries=2", "retries"),
            ("otel=ftp://a:1,proto=http", "ftp"),
        ] {
            let error = parsed(text, &[]).expect_err(text);
            assert!(error.contains(part), "{error}");
        }
    }
}
