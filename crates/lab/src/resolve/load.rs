//! The load of a cell, its sanity check, and its link.

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use super::fields::Fields;
use super::process::template_of;
use super::scope::Scope;
use super::until::Until;
use super::{text_of_path, text_of_time};
use crate::file::keys;
use crate::file::node::Node;
use crate::form::{Extent, Form, NO_RUNS};
use crate::problem::Location;

/// A load must have exactly one of these keys.
pub const SOURCES: [&str; 6] = ["script", "http", "targets", "grpc", "throughput", "command"];

#[derive(Clone, Debug, Serialize)]
pub struct Load {
    /// The source of the requests.
    pub source: Source,
    /// The tool that generates the load.
    pub tool: String,
    /// The tool's path, if set.
    pub program: Option<String>,
    /// Users in the closed model.
    pub users: Option<u32>,
    /// Requests per second in the open model.
    pub rate: Option<f64>,
    /// A fixed amount of work.
    pub work: Option<Work>,
    /// Duration of the measurement.
    #[serde(serialize_with = "text_of_time")]
    pub duration: Duration,
    /// Duration of the warm-up.
    #[serde(serialize_with = "text_of_time")]
    pub warmup: Duration,
    /// How often the systems are restarted and each cell is measured.
    pub restarts: u32,
    /// Number of runs of each cell in each restart.
    pub repeats: u32,
    /// The precision that ends the restarts early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
    /// Variables of a script, or the environment of a command.
    pub environment: Vec<(String, String)>,
    /// Additional flags.
    pub arguments: Vec<String>,
    /// The protocol that the connection must negotiate.
    pub protocol: Option<String>,
    /// The trend that is the latency, if it is not the default trend.
    pub latency: Option<String>,
    /// Processors to which the generator is pinned; empty for any.
    pub cpus: Vec<u32>,
    /// Time limit after which a run is stopped.
    #[serde(serialize_with = "text_of_time")]
    pub within: Duration,
    /// Its location in the lab file.
    #[serde(skip)]
    pub place: Location,
    /// The location of its source in the lab file.
    #[serde(skip)]
    pub place_of_source: Location,
}

/// The source of requests.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A k6 script.
    Script(#[serde(serialize_with = "text_of_path")] PathBuf),
    /// One request.
    Http(Http),
    /// A target list.
    Targets(Template),
    /// One gRPC call.
    Grpc(Grpc),
    /// The throughput of one stream.
    Throughput(Throughput),
    Command(Vec<String>),
}

/// A file that may contain variables: a target list or request bodies.
#[derive(Clone, Debug, Serialize)]
pub struct Template {
    #[serde(serialize_with = "text_of_path")]
    pub file: PathBuf,
    /// Its text, if it contains variables.
    #[serde(skip)]
    pub template: Option<String>,
}

/// A request that is repeated.
#[derive(Clone, Debug, Serialize)]
pub struct Http {
    /// The address.
    pub url: String,
    pub method: String,
    /// Header fields.
    pub headers: Vec<(String, String)>,
    /// The body, or `@` followed by a file.
    pub body: Option<String>,
    /// A file with one body on each line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_lines: Option<Template>,
    /// `kept`, `fresh` or `shared`.
    pub connections: String,
    /// Whether connections are opened within the makespan.
    pub include_connecting: bool,
    /// Whether any certificate is accepted.
    pub insecure: bool,
    /// The client's certificate and its key.
    pub identity: Option<(String, String)>,
}

/// A gRPC call that is repeated.
#[derive(Clone, Debug, Serialize)]
pub struct Grpc {
    /// Host and port.
    pub address: String,
    /// `package.Service/Method`.
    pub call: String,
    /// The `.proto` file.
    pub proto: Option<String>,
    /// The message, or `@` followed by a file.
    pub data: String,
    pub metadata: Vec<(String, String)>,
    /// `kept`, `fresh` or `shared`.
    pub connections: String,
    /// Whether connections are opened within the makespan.
    pub include_connecting: bool,
    /// Whether TLS is used.
    pub tls: bool,
    /// Whether any certificate is accepted.
    pub insecure: bool,
    /// Number of bytes of a payload to send instead of the message.
    pub size: Option<String>,
}

/// The throughput of one stream.
#[derive(Clone, Debug, Serialize)]
pub struct Throughput {
    /// `tcp` or `udp`.
    pub protocol: String,
    /// The address of the server.
    pub to: String,
    /// Whether the server sends to the generator.
    pub reverse: bool,
}

/// A fixed amount of work.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Work {
    /// Number of concurrent users.
    pub workers: u32,
    /// Number of repetitions by each user.
    pub loops: u32,
}

impl Load {
    /// Duration of a run, unless the work is fixed.
    pub fn whole(&self) -> Duration {
        self.warmup + self.duration
    }

    /// Number of runs of the cell over all restarts. With `until`, fewer may be enough.
    pub fn runs(&self) -> u32 {
        self.restarts.saturating_mul(self.repeats)
    }

    /// The restart to which a run belongs, counted from 1.
    pub fn restart_of(&self, run: u32) -> u32 {
        run.saturating_sub(1) / self.repeats.max(1) + 1
    }

    /// Whether it is a search for a limit by this program.
    pub fn is_search(&self) -> bool {
        match &self.source {
            Source::Command(words) => {
                let word = |at: usize| words.get(at).map(String::as_str);
                (word(0), word(1)) == (Some("plimsoll"), Some("find"))
            }
            _ => false,
        }
    }

    /// Whether its duration is unknown, regardless of the durations in the file.
    pub fn is_open_ended(&self) -> bool {
        self.work.is_some() || self.is_search()
    }

    /// Reads the load. The form determines the durations and the number of runs.
    pub fn read(fields: &mut Fields<'_>, form: &Form, scope: &Scope<'_>) -> Load {
        let source = source(fields, scope);
        let tool = fields.text("tool").unwrap_or_else(|| "plimsoll".to_owned());
        let work = fields.table("work", &keys::WORK).map(|mut work| {
            work.required("workers");
            work.required("loops");
            Work {
                workers: work.count("workers").unwrap_or(1).max(1),
                loops: work.count("loops").unwrap_or(1).max(1),
            }
        });
        check_pair(fields, &source, &tool, work.is_some());
        let own = form.apply(Extent {
            duration: fields.time("duration").unwrap_or(Duration::from_secs(10)),
            warmup: fields.time("warmup").unwrap_or(Duration::from_secs(2)),
            restarts: fields.count("restarts").unwrap_or(3),
            repeats: fields.count("repeats").unwrap_or(1),
        });
        if own.duration.is_zero() {
            fields.problem_at(
                "duration",
                "a duration of 0 measures nothing: use a longer one",
            );
        }
        for (key, count) in [("restarts", own.restarts), ("repeats", own.repeats)] {
            if count == 0 {
                fields.problem_at(key, NO_RUNS);
            }
        }
        let until = fields
            .text("until")
            .map(|text| Until::parse(&text))
            .and_then(|until| until.map_err(|why| fields.problem_at("until", why)).ok());
        let whole = own.duration + own.warmup;
        let waits = if work.is_some() {
            Duration::from_secs(600)
        } else {
            whole + Duration::from_secs(60)
        };
        let rate = fields.number("rate");
        if rate.is_some_and(|rate| rate <= 0.0) {
            fields.problem_at("rate", "the rate must be above 0");
        }
        if fields.count("users") == Some(0) {
            fields.problem_at("users", "without users there is no load: use 1 or more");
        }
        if let Source::Http(http) = &source
            && http.connections == "shared"
            && work.is_none()
        {
            fields.problem_at(
                "http",
                "connections = \"shared\" is only for fixed work: add work, or use kept or fresh",
            );
        }
        let key = SOURCES.iter().find(|key| fields.has(key));
        Load {
            source,
            tool,
            program: fields.text("program"),
            users: fields.count("users"),
            rate,
            work,
            duration: own.duration,
            warmup: own.warmup,
            restarts: own.restarts.max(1),
            repeats: own.repeats.max(1),
            until,
            environment: fields.string_map("environment"),
            arguments: fields.strings("arguments"),
            protocol: fields.text("protocol"),
            latency: read_latency(fields),
            cpus: fields.counts("cpus"),
            within: fields.time("within").unwrap_or(waits),
            place: fields.place.clone(),
            place_of_source: fields.place_of(key.copied().unwrap_or("script")),
        }
    }
}

fn source(fields: &mut Fields<'_>, scope: &Scope<'_>) -> Source {
    match fields.one_of(&SOURCES) {
        Some("script") => Source::Script(fields.path("script").unwrap_or_default()),
        Some("targets") => Source::Targets(read_template(fields, "targets", scope)),
        Some("throughput") => Source::Throughput(Throughput {
            protocol: fields.text("throughput").unwrap_or_default(),
            to: fields.required("to"),
            reverse: fields.flag("reverse").unwrap_or(false),
        }),
        Some("http") => fields
            .table("http", &keys::HTTP)
            .map(|mut http| Source::Http(read_http(&mut http, scope)))
            .unwrap_or(Source::Command(Vec::new())),
        Some("grpc") => fields
            .table("grpc", &keys::GRPC)
            .map(|mut grpc| Source::Grpc(read_grpc(&mut grpc)))
            .unwrap_or(Source::Command(Vec::new())),
        _ => Source::Command(fields.words("command").unwrap_or_default()),
    }
}

fn read_template(fields: &mut Fields<'_>, key: &str, scope: &Scope<'_>) -> Template {
    let file = fields.path(key).unwrap_or_default();
    let template = file
        .is_file()
        .then(|| template_of(fields, key, None, scope))
        .flatten()
        .filter(|text| crate::template::has_variables(text));
    Template { file, template }
}

fn read_http(http: &mut Fields<'_>, scope: &Scope<'_>) -> Http {
    if http.has("body") && http.has("body-lines") {
        http.problem("body and body-lines exclude each other: set one of them");
    }
    let body_lines = http
        .has("body-lines")
        .then(|| read_template(http, "body-lines", scope));
    let identity = match (http.text("cert"), http.text("key")) {
        (Some(cert), Some(key)) => Some((cert, key)),
        (None, None) => None,
        _ => {
            http.problem("cert and key belong together: set both or neither");
            None
        }
    };
    Http {
        url: http.required("url"),
        method: http.text("method").unwrap_or_else(|| "GET".to_owned()),
        headers: http.string_map("headers"),
        body: file_or_text(http, "body"),
        body_lines,
        connections: http.text("connections").unwrap_or_else(default_connections),
        include_connecting: http.flag("include-connecting").unwrap_or(false),
        insecure: http.flag("insecure").unwrap_or(false),
        identity,
    }
}

/// The trend that is the latency. A trend of groups is rejected, because a group includes the
/// script's own work and pauses.
fn read_latency(fields: &mut Fields<'_>) -> Option<String> {
    let name = fields.text("latency")?;
    if name == "group_duration" {
        fields.problem_at(
            "latency",
            "group_duration includes the script's own work and its pauses, so it is not a latency of the service; \
             write http_req_duration or grpc_req_duration (wire only), or http_req_total or grpc_req_total \
             (with connection setup)",
        );
    }
    Some(name)
}

fn read_grpc(grpc: &mut Fields<'_>) -> Grpc {
    Grpc {
        address: grpc.required("address"),
        call: grpc.required("call"),
        proto: grpc.path("proto").map(|path| path.display().to_string()),
        data: file_or_text(grpc, "data").unwrap_or_else(|| "{}".to_owned()),
        metadata: grpc.string_map("metadata"),
        connections: grpc.text("connections").unwrap_or_else(default_connections),
        include_connecting: grpc.flag("include-connecting").unwrap_or(false),
        tls: grpc.flag("tls").unwrap_or(false),
        insecure: grpc.flag("insecure").unwrap_or(false),
        size: grpc.text("size"),
    }
}

fn default_connections() -> String {
    "kept".to_owned()
}

/// A string. For `@FILE`, the path relative to the working directory.
fn file_or_text(fields: &mut Fields<'_>, key: &str) -> Option<String> {
    let text = fields.text(key)?;
    let Some(name) = text.strip_prefix('@') else {
        return Some(text);
    };
    let path = super::fields::relative_to(&fields.place_of(key).file, name);
    if !path.is_file() {
        fields.problem_at(key, format!("the file {} does not exist", path.display()));
    }
    Some(format!("@{}", path.display()))
}

fn check_pair(fields: &mut Fields<'_>, source: &Source, tool: &str, work: bool) {
    let fits = match tool {
        "k6" => matches!(source, Source::Script(_)),
        "wrk" => matches!(source, Source::Http(_)),
        "vegeta" => matches!(source, Source::Targets(_)),
        "iperf3" => matches!(source, Source::Throughput(_)),
        _ => true,
    };
    if !fits && !matches!(source, Source::Command(_)) {
        fields.problem_at(
            "tool",
            format!("{tool} cannot generate this load: k6 runs script, wrk http, vegeta targets, iperf3 throughput"),
        );
    }
    if work && !matches!(source, Source::Http(_) | Source::Grpc(_)) {
        fields.problem_at("work", "work needs http or grpc");
    }
    if matches!(source, Source::Targets(_)) && !fields.has("rate") && !fields.has("users") {
        fields.problem_at(
            "targets",
            "a list of targets needs a rate: set it in requests per second",
        );
    }
}

/// The check that must pass before a cell is measured.
#[derive(Clone, Debug, Serialize)]
pub struct Sanity {
    /// The kind of check.
    pub how: SanityKind,
    /// Additional variables of a script.
    pub environment: Vec<(String, String)>,
    /// The expected response.
    pub expect: Expect,
    /// The time limit.
    #[serde(serialize_with = "text_of_time")]
    pub within: Duration,
    /// Its location in the lab file.
    #[serde(skip)]
    pub place: Location,
}

/// The kinds of sanity checks.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SanityKind {
    /// One iteration of the load's script, or one request of the load.
    TheLoad,
    /// One iteration of another script.
    Script(#[serde(serialize_with = "text_of_path")] PathBuf),
    Command(Vec<String>),
}

/// The expected response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Expect {
    /// The status. By default 200, or 0 for gRPC.
    pub status: Option<u32>,
    /// A string that the body must contain.
    pub contains: Option<String>,
    /// JSON pointers and values.
    pub json: Vec<(String, String)>,
}

impl Sanity {
    /// Reads the check, or returns the default.
    pub fn read(fields: Option<&mut Fields<'_>>, load: &Location) -> Sanity {
        let Some(fields) = fields else {
            return Sanity {
                how: SanityKind::TheLoad,
                environment: Vec::new(),
                expect: Expect {
                    status: None,
                    contains: None,
                    json: Vec::new(),
                },
                within: Duration::from_secs(30),
                place: load.clone(),
            };
        };
        let how = if fields.has("command") {
            SanityKind::Command(fields.words("command").unwrap_or_default())
        } else if fields.has("script") {
            SanityKind::Script(fields.path("script").unwrap_or_default())
        } else {
            SanityKind::TheLoad
        };
        if fields.has("command") && fields.has("script") {
            fields.one_of(&["command", "script"]);
        }
        let expect = fields
            .table("expect", &keys::EXPECT)
            .map(|mut expect| Expect {
                status: expect.count("status"),
                contains: expect.text("contains"),
                json: expect
                    .nodes("json")
                    .into_iter()
                    .filter_map(|(pointer, node): (String, Node)| Some((pointer, node.scalar()?)))
                    .collect(),
            });
        Sanity {
            how,
            environment: fields.string_map("environment"),
            expect: expect.unwrap_or(Expect {
                status: None,
                contains: None,
                json: Vec::new(),
            }),
            within: fields.time("within").unwrap_or(Duration::from_secs(30)),
            place: fields.place.clone(),
        }
    }
}
