//! k6's settings for InfluxDB 1, and the settings of k6's extension for InfluxDB 2.

use std::time::Duration;

use super::Fields;
use crate::endpoint::Endpoint;
use crate::settings::Variables;

/// The parsed settings.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The endpoint to which lines are written.
    pub write: Endpoint,
    /// The endpoint that creates the database, if the server supports that.
    pub create: Option<Endpoint>,
    /// Time between requests.
    pub interval: Duration,
    pub precision: Precision,
    /// The tags that become fields.
    pub fields: Fields,
    /// The server, as shown to the user.
    server: String,
}

/// The type of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    Text,
    Integer,
    Float,
    Boolean,
}

/// The unit of timestamps, by the name that the server uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Precision(&'static str);

impl Precision {
    const ALL: [(&'static str, u128); 6] = [
        ("ns", 1),
        ("us", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ];

    /// The number of nanoseconds in the unit.
    pub fn nanos(self) -> u128 {
        Precision::ALL
            .iter()
            .find(|(name, _)| *name == self.0)
            .map_or(1, |(_, nanos)| *nanos)
    }

    /// Whether the unit is so short that two samples rarely share a timestamp.
    pub fn is_finest(self) -> bool {
        self.0 == "ns"
    }

    fn parse(text: &str) -> Result<Precision, String> {
        let name = match text {
            "n" => "ns",
            "u" | "µ" => "us",
            name => name,
        };
        let found = Precision::ALL.iter().find(|(known, _)| *known == name);
        found
            .map(|(known, _)| Precision(known))
            .ok_or_else(|| format!("K6_INFLUXDB_PRECISION={text}: use ns, us, ms, s, m or h"))
    }
}

impl Settings {
    /// Parses the argument, `http://USER:PASSWORD@HOST:PORT/DATABASE`, and the environment variables. The argument
    /// takes precedence. If a bucket or a token is set, the receiver is InfluxDB 2.
    ///
    /// # Errors
    /// If a value is invalid.
    pub fn parse(argument: &str, variables: Variables<'_>) -> Result<Settings, String> {
        let text = |name: &str| variables.text(&format!("K6_INFLUXDB_{name}"));
        let address = match argument {
            "" => text("ADDR").unwrap_or("http://localhost:8086"),
            address => address,
        };
        let (base, path) = split_path(address);
        let mut endpoint = Endpoint::new(base)?;
        endpoint.tls.insecure_skip_verify = variables.boolean("K6_INFLUXDB_INSECURE", false)?;
        endpoint.trust = "K6_INFLUXDB_INSECURE=true accepts any certificate";
        endpoint.add("Content-Type", "text/plain; charset=utf-8");
        let server = endpoint.url.trim_end_matches('/').to_owned();
        let precision = text("PRECISION").map_or(Ok(Precision("ns")), Precision::parse)?;
        let (bucket, token) = (text("BUCKET"), text("TOKEN"));
        let (target, create) = if bucket.is_some() || token.is_some() {
            let bucket = bucket
                .or(path)
                .ok_or("InfluxDB 2 needs a bucket: set K6_INFLUXDB_BUCKET")?;
            if let Some(token) = token {
                endpoint.add("Authorization", &format!("Token {token}"));
            }
            if !matches!(precision.0, "ns" | "us" | "ms" | "s") {
                return Err("K6_INFLUXDB_PRECISION: InfluxDB 2 has ns, us, ms and s".to_owned());
            }
            let organization = encoded(text("ORGANIZATION").unwrap_or_default());
            let bucket = encoded(bucket);
            let query = format!(
                "org={organization}&bucket={bucket}&precision={}",
                precision.0
            );
            (format!("{server}/api/v2/write?{query}"), None)
        } else {
            if let Some(user) = text("USERNAME") {
                endpoint.log_in(user, text("PASSWORD").unwrap_or_default());
            }
            let database = path.or_else(|| text("DB")).unwrap_or("k6");
            let mut query = format!("db={}&precision={}", encoded(database), precision.0);
            for (key, variable) in [("rp", "RETENTION"), ("consistency", "CONSISTENCY")] {
                if let Some(value) = text(variable) {
                    query.push_str(&format!("&{key}={}", encoded(value)));
                }
            }
            let statement = format!("CREATE DATABASE \"{}\"", database.replace('"', "\\\""));
            let mut create = endpoint.clone();
            create.url = format!("{server}/query?q={}", encoded(&statement));
            (format!("{server}/write?{query}"), Some(create))
        };
        endpoint.url = target;
        Ok(Settings {
            write: endpoint,
            create,
            interval: variables.duration("K6_INFLUXDB_PUSH_INTERVAL", Duration::from_secs(1))?,
            precision,
            fields: fields(text("TAGS_AS_FIELDS").unwrap_or("vu:int,iter:int,url"))?,
            server,
        })
    }

    /// The description of the receiver in a run's banner.
    pub fn describe(&self) -> String {
        let version = if self.create.is_some() {
            "InfluxDBv1"
        } else {
            "InfluxDBv2"
        };
        format!("{version} ({})", self.server)
    }
}

/// Splits off the database, which follows the URL of the server.
fn split_path(address: &str) -> (&str, Option<&str>) {
    let host = address.find("://").map_or(0, |at| at + 3);
    let Some(at) = address.get(host..).and_then(|rest| rest.find('/')) else {
        return (address, None);
    };
    let (base, path) = address.split_at(host + at);
    let path = path.trim_matches('/');
    (base, (!path.is_empty()).then_some(path))
}

/// Percent-encodes all characters except for unreserved ones (RFC 3986, 2.3).
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(byte.into())
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn fields(list: &str) -> Result<Fields, String> {
    let parse = |item: &str| {
        let (name, kind) = item
            .trim()
            .split_once(':')
            .unwrap_or((item.trim(), "string"));
        let kind = match kind {
            "string" => FieldType::Text,
            "int" => FieldType::Integer,
            "float" => FieldType::Float,
            "bool" => FieldType::Boolean,
            _ => {
                return Err(format!(
                    "K6_INFLUXDB_TAGS_AS_FIELDS: \"{item}\" has an unknown type; use string, int, float or bool"
                ));
            }
        };
        Ok((name.to_owned(), kind))
    };
    list.split(',')
        .filter(|item| !item.trim().is_empty())
        .map(parse)
        .collect()
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
    fn the_argument_has_server_and_database() {
        let url = |argument, variables: &[(&str, &str)]| {
            parsed(argument, variables).expect("valid").write.url
        };
        assert_eq!(
            url("", &[]),
            "http://localhost:8086/write?db=k6&precision=ns"
        );
        assert_eq!(
            url("http://h:1/my db", &[]),
            "http://h:1/write?db=my%20db&precision=ns"
        );
        let variables = [
            ("K6_INFLUXDB_DB", "x"),
            ("K6_INFLUXDB_RETENTION", "r"),
            ("K6_INFLUXDB_PRECISION", "ms"),
        ];
        assert_eq!(
            url("http://h:1", &variables),
            "http://h:1/write?db=x&precision=ms&rp=r"
        );
        let create = parsed("http://h:1/d", &[])
            .expect("valid")
            .create
            .expect("InfluxDB 1");
        assert_eq!(create.url, "http://h:1/query?q=CREATE%20DATABASE%20%22d%22");
    }

    #[test]
    fn a_bucket_selects_influxdb_2() {
        let variables = [
            ("K6_INFLUXDB_BUCKET", "b"),
            ("K6_INFLUXDB_ORGANIZATION", "o"),
            ("K6_INFLUXDB_TOKEN", "t"),
        ];
        let settings = parsed("http://h:1", &variables).expect("valid");
        assert_eq!(
            settings.write.url,
            "http://h:1/api/v2/write?org=o&bucket=b&precision=ns"
        );
        assert!(
            settings
                .write
                .headers
                .contains(&("Authorization".to_owned(), "Token t".to_owned()))
        );
        assert_eq!(settings.describe(), "InfluxDBv2 (http://h:1)");
    }

    #[test]
    fn invalid_settings_are_named() {
        let error = |name: &str, value: &str| parsed("", &[(name, value)]).expect_err(name);
        assert!(error("K6_INFLUXDB_PRECISION", "days").contains("use ns"));
        assert!(error("K6_INFLUXDB_TAGS_AS_FIELDS", "vu:integer").contains("unknown type"));
        assert!(error("K6_INFLUXDB_INSECURE", "maybe").contains("true or false"));
    }
}
