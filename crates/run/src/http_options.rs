//! `plimsoll http`: converts its options to a run that is ready to start.

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use plimsoll_http::Protocol;
use plimsoll_scriptless::RequestSpec;

use crate::attack_options::UNLIMITED;
use crate::connection_options::ConnectionOptions;
use crate::load_options::LoadOptions;
use crate::request::{Http, Load};
use crate::resolved::ResolvedLoad;
use crate::settings;

/// The limit exists because each worker keeps every body encoded with its request.
const MAX_BODIES: usize = 1_000_000;

/// The options for the request and the load.
pub struct HttpOptions {
    pub url: String,
    /// The default is GET, or POST if there is a body.
    pub method: Option<String>,
    /// Lines `NAME: VALUE`.
    pub headers: Vec<String>,
    /// The body, or `@` and the name of a file with it.
    pub body: Option<String>,
    /// A file with one body per line, sent in rotation.
    pub body_lines: Option<PathBuf>,
    pub timeout: Duration,
    pub protocol: Option<plimsoll_plan::Protocol>,
    /// Users per connection, each with its own stream.
    pub streams: Option<u32>,
    pub load: LoadOptions,
    pub connection: ConnectionOptions,
}

impl HttpOptions {
    /// Fills in the options that are not set.
    ///
    /// # Errors
    /// If an option is invalid.
    pub fn resolve(mut self) -> Result<ResolvedLoad, String> {
        self.load.check()?;
        self.load.settle_arrivals()?;
        let request = self.request()?;
        let (users, streams) = self.users()?;
        let scenario = self.load.scenario("http", users)?;
        let protocol = self.protocol(&request, streams)?;
        let mut configuration = self.load.describe(users, &scenario);
        self.describe(&request, &mut configuration);
        self.connection.describe(&mut configuration);
        let settings = plimsoll_http::Settings {
            user_agent: format!("plimsoll/{}", env!("CARGO_PKG_VERSION")),
            no_connection_reuse: self.load.opens_connection_per_request(),
            protocol,
            connections_per_host: streams.map(|_| 1),
            streams_per_connection: streams.map(|streams| streams as usize),
            discard_response_bodies: true,
            network: self.connection.network(self.load.rate.is_some())?,
            ..plimsoll_http::Settings::default()
        };
        Ok(ResolvedLoad {
            title: self.title(&request, users, streams),
            configuration,
            duration: self.load.fixed_duration(),
            is_fixed_work: self.load.is_fixed_work(),
            threads: self.load.threads,
            load: Load::Http(Box::new(Http {
                request,
                settings,
                scenario,
                users_per_connection: streams.unwrap_or(1),
                connects_before_start: self.load.connects_before_start(),
            })),
        })
    }

    fn request(&self) -> Result<RequestSpec, String> {
        let bodies = self.bodies()?;
        let headers = self.headers.iter();
        let headers =
            headers.map(|line| plimsoll_scriptless::attack_values::header("--header", line));
        let method = match &self.method {
            Some(method) => method.clone(),
            None if !bodies.is_empty() => "POST".to_owned(),
            None => "GET".to_owned(),
        };
        let url = if self.url.contains("://") {
            self.url.clone()
        } else {
            format!("http://{}", self.url)
        };
        Ok(RequestSpec {
            method,
            url,
            headers: headers.collect::<Result<_, String>>()?,
            bodies,
            timeout: match self.timeout {
                Duration::ZERO => UNLIMITED,
                timeout => timeout,
            },
        })
    }

    fn bodies(&self) -> Result<Vec<Bytes>, String> {
        if let Some(path) = &self.body_lines {
            let wrong = |why: String| format!("--body-lines {}: {why}", path.display());
            let text = plimsoll_machine::read_file(path)
                .map_err(|error| wrong(format!("cannot read it: {error}")))?;
            // Slices of one allocation.
            let text = Bytes::from(text);
            let bodies: Vec<Bytes> = text
                .split(|byte| *byte == b'\n')
                .map(|line| text.slice_ref(line.strip_suffix(b"\r").unwrap_or(line)))
                .filter(|line| !line.is_empty())
                .collect();
            if bodies.is_empty() {
                return Err(wrong("it has no line with a body".to_owned()));
            }
            if bodies.len() > MAX_BODIES {
                return Err(wrong(format!(
                    "it has {} bodies; at most {MAX_BODIES} are possible, because each is kept ready to send",
                    bodies.len()
                )));
            }
            return Ok(bodies);
        }
        Ok(match &self.body {
            None => Vec::new(),
            Some(text) => vec![match text.strip_prefix('@') {
                Some(path) => plimsoll_machine::read_file(path.as_ref())
                    .map_err(|error| format!("--body @{path}: cannot read it: {error}"))?
                    .into(),
                None => text.clone().into(),
            }],
        })
    }

    /// The number of users, and how many of them share each connection. `None` if each user has its own connection.
    fn users(&self) -> Result<(u32, Option<u32>), String> {
        let streams = match self.streams {
            Some(0) => return Err("--streams 0: at least one is needed".to_owned()),
            streams => streams,
        };
        let users = self.load.users(streams.unwrap_or(1))?;
        let Some(connections) = self.load.shared() else {
            return Ok((users, streams));
        };
        let each = streams.unwrap_or_else(|| users / connections.max(1));
        if each.checked_mul(connections) != Some(users) || each == 0 {
            return Err(format!(
                "--users {users} cannot share {connections} connections evenly: use a multiple"
            ));
        }
        Ok((users, (each > 1 || streams.is_some()).then_some(each)))
    }

    fn protocol(&self, request: &RequestSpec, streams: Option<u32>) -> Result<Protocol, String> {
        use plimsoll_plan::Protocol as Wanted;
        let is_tls = request
            .url
            .get(..8)
            .is_some_and(|start| start.eq_ignore_ascii_case("https://"));
        let flag = match self.streams {
            Some(_) => "--streams",
            None => "sharing connections (--connections)",
        };
        let wanted = self.protocol.unwrap_or_default();
        match wanted {
            Wanted::Http1 if streams.is_some() => Err(format!(
                "{flag}: an HTTP/1.1 connection can transfer only one request at a time; use HTTP/2 or HTTP/3"
            )),
            Wanted::Auto if streams.is_some() && !is_tls => Err(format!(
                "{flag} needs HTTP/2 or HTTP/3: add --h2c if the server supports HTTP/2 without TLS, \
                 or give an https:// URL"
            )),
            Wanted::Auto if streams.is_some() => Ok(Protocol::Http2),
            _ => settings::protocol(wanted),
        }
    }

    fn title(&self, request: &RequestSpec, users: u32, streams: Option<u32>) -> String {
        let load = match self.load.rate {
            Some(rate) => self.load.describe_rate(rate, "requests"),
            None if self.load.is_fixed_work() => {
                let noun = if users == 1 { "user" } else { "users" };
                format!("{users} {noun}, {}", self.load.describe_connections())
            }
            None => match users / streams.unwrap_or(1) {
                1 => "1 connection".to_owned(),
                connections => format!("{connections} connections"),
            },
        };
        let load = match (streams, self.load.rate) {
            (Some(_), None) if self.load.is_fixed_work() => load,
            (Some(streams), None) => format!("{load} × {streams} streams"),
            (Some(streams), Some(_)) => format!("{load}, {streams} streams on each connection"),
            (None, _) => load,
        };
        format!("{} {}, {load}", request.method, request.url)
    }

    /// Adds the request to the settings of a record. Files are identified by their contents.
    fn describe(&self, request: &RequestSpec, record: &mut serde_json::Value) {
        let headers = request.headers.iter();
        let headers = headers.map(|(name, value)| format!("{name}: {value}"));
        record["method"] = request.method.clone().into();
        record["url"] = request.url.clone().into();
        record["headers"] = headers.collect::<Vec<_>>().into();
        let bytes: usize = request.bodies.iter().map(Bytes::len).sum();
        record["body_bytes"] = (bytes / request.bodies.len().max(1)).into();
        if request.bodies.len() > 1 {
            record["bodies"] = request.bodies.len().into();
        }
        record["streams"] = self.streams.into();
        record["timeout"] = plimsoll_units::duration::format(self.timeout).into();
        record["protocol"] = self.protocol.unwrap_or_default().name().into();
    }
}
