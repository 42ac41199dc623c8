//! A system or a service of a cell, with all effective values.

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use super::address::address_of;
use super::fields::{Fields, relative_to};
use super::host::Host;
use super::scope::{ProcessNames, Scope};
use super::text_of_time;
use crate::file::keys;
use crate::file::node::Node;
use crate::problem::{Location, Problem};
use crate::template;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessKind {
    /// Any command.
    Command,
    /// PostgreSQL.
    Postgres,
    Redis,
    Nginx,
    Haproxy,
    Caddy,
}

impl ProcessKind {
    fn of(name: &str) -> ProcessKind {
        match name {
            "postgres" => ProcessKind::Postgres,
            "redis" => ProcessKind::Redis,
            "nginx" => ProcessKind::Nginx,
            "haproxy" => ProcessKind::Haproxy,
            "caddy" => ProcessKind::Caddy,
            _ => ProcessKind::Command,
        }
    }

    /// Whether it is a proxy with a configuration file.
    pub fn has_configuration(self) -> bool {
        matches!(
            self,
            ProcessKind::Nginx | ProcessKind::Haproxy | ProcessKind::Caddy
        )
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Process {
    pub name: String,
    /// Whether it is a measured system. Otherwise it is a service.
    pub measured: bool,
    pub kind: ProcessKind,
    /// The words of its command; empty if its kind implies the command.
    pub command: Vec<String>,
    /// The URL of an existing service to use instead of starting one.
    pub url: Option<String>,
    /// The program's path, if set.
    pub program: Option<String>,
    /// Its working directory; by default a private one.
    pub directory: Option<String>,
    /// Its port; 0 for any free one.
    pub port: u16,
    /// Names of additional ports.
    pub ports: Vec<String>,
    /// Files to write for it: name and text.
    pub files: Vec<(String, String)>,
    /// The paths of the templates of these files and of the configuration.
    #[serde(skip)]
    pub templates: Vec<PathBuf>,
    /// Its configuration as text.
    pub config: Option<String>,
    /// Settings for postgres and redis.
    pub settings: Vec<(String, String)>,
    /// redis: when its append-only file is flushed.
    pub fsync: String,
    /// postgres: the name of the database to create.
    pub database: String,
    /// postgres: the extensions to create in the database.
    pub extensions: Vec<String>,
    /// The condition for it to be ready.
    pub ready: Ready,
    /// The time limit for it to be ready.
    #[serde(serialize_with = "text_of_time")]
    pub within: Duration,
    /// Values to read from it when it is ready.
    pub capture: Vec<Capture>,
    /// Environment variables.
    pub environment: Vec<(String, String)>,
    /// Processors to which it is pinned; empty for any.
    pub cpus: Vec<u32>,
    /// Whether its processor time is part of the measured usage.
    pub counts: bool,
    /// The URL of Prometheus metrics.
    pub metrics: Option<String>,
    /// The words of a command that prints its version.
    pub version: Option<Vec<String>>,
    /// The user that runs it.
    pub user: Option<String>,
    /// The host on which it runs, if it is another host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
    /// Its location in the lab file.
    #[serde(skip)]
    pub place: Location,
    /// The location of its command or configuration in the lab file.
    #[serde(skip)]
    pub place_of_command: Location,
    /// The location of its port in the lab file.
    #[serde(skip)]
    pub place_of_port: Location,
}

/// The condition for a process to be ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ready {
    /// A path or URL responds.
    Http(String),
    /// This port or address, or its own port if empty, accepts connections.
    Tcp(String),
    /// Its output contains a string.
    Log(String),
    /// Its first line of output is JSON.
    Json,
    /// The default of its kind.
    ByKind,
}

/// A value to read from a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Capture {
    /// The variable.
    pub name: String,
    /// The path or URL to request.
    pub http: String,
    /// The position in the response; the complete response if empty.
    pub json: String,
}

/// The variables of a process, which are known before its table is read.
pub fn names_of(name: &str, table: &crate::file::node::Table) -> ProcessNames {
    let list = |key: &str| -> Vec<String> {
        let items = table.get(key).map_or(&[][..], Node::items);
        items.iter().filter_map(Node::scalar).collect()
    };
    let command = table.get("command").and_then(Node::scalar);
    let ready = table.get("ready").and_then(Node::table);
    let json = match ready {
        Some(ready) => ready.get("json").and_then(Node::scalar).as_deref() == Some("true"),
        None => command.is_some_and(|command| serves(&command)),
    };
    ProcessNames {
        name: name.to_owned(),
        ports: list("ports"),
        captured: table
            .get("capture")
            .and_then(Node::table)
            .map(|captured| captured.keys().cloned().collect())
            .unwrap_or_default(),
        any: json,
    }
}

/// Whether a command starts one of our own systems, which print JSON when they are ready.
fn serves(command: &str) -> bool {
    let mut words = command.split_whitespace();
    let first = words.next();
    first == Some("plimsoll-serve") || first == Some("plimsoll") && words.next() == Some("serve")
}

impl Process {
    /// Reads a system or a service.
    pub fn read(
        measured: bool,
        place: &Location,
        table: &crate::file::node::Table,
        scope: &Scope<'_>,
        problems: &mut Vec<Problem>,
    ) -> Process {
        let shape = if measured {
            &keys::SYSTEM
        } else {
            &keys::SERVICE
        };
        let mut fields = Fields::new(shape, place.clone(), table, scope, problems);
        let kind = ProcessKind::of(&fields.text("kind").unwrap_or_default());
        let url = fields.text("url");
        if kind == ProcessKind::Command && url.is_none() && !fields.has("command") {
            if measured {
                fields.problem(
                    "a system needs a \"command\" that starts it, or the \"url\" of a running one",
                );
            } else {
                fields.required("command");
            }
        }
        if measured && url.is_some() && fields.has("command") {
            fields.problem_at(
                "url",
                "a system has either a command, which the lab runs, or the url of a running service: remove one of them"
                    .to_owned(),
            );
        }
        // Values in braces are known only when the lab runs.
        if let Some(given) = url.as_deref().filter(|url| !url.contains('{'))
            && let Err(why) = address_of(kind, given)
        {
            fields.problem_at("url", why);
        }
        if kind.has_configuration() && !fields.has("config") {
            fields.problem(
                "this service needs the key \"config\": the template of its configuration",
            );
        }
        let command = fields.words("command").unwrap_or_default();
        // All systems that are part of this program provide metrics at this path.
        let uses_port = command
            .iter()
            .any(|word| template::names(word).any(|name| name == "port"));
        let metrics = fields
            .text("metrics")
            .or_else(|| (serves(&command.join(" ")) && uses_port).then(|| "/metrics".to_owned()));
        let ready = ready(&mut fields, kind, &command);
        let within = fields
            .table("ready", &keys::READY)
            .and_then(|mut ready| ready.time("within"))
            .unwrap_or(Duration::from_secs(30));
        let port = fields.count("port").unwrap_or(0);
        let port = u16::try_from(port).unwrap_or_else(|_| {
            fields.problem_at(
                "port",
                format!("{port} is not a port: the highest port is 65535"),
            );
            0
        });
        let mut templates: Vec<PathBuf> = Vec::new();
        if let Some(name) = fields.text("config") {
            templates.push(relative_to(&fields.place_of("config").file, &name));
        }
        let config = fields
            .has("config")
            .then(|| template_of(&mut fields, "config", None, scope))
            .flatten();
        let names: Vec<(String, Node)> = fields.nodes("files");
        let files = names
            .iter()
            .filter_map(|(name, node)| {
                Some((
                    name.clone(),
                    template_of(&mut fields, "files", Some(node), scope)?,
                ))
            })
            .collect();
        for (_, node) in &names {
            let name = node.scalar().unwrap_or_default();
            templates.push(relative_to(&node.place.file, &name));
        }
        let capture = captures(&mut fields);
        let version = fields.words("version");
        Process {
            name: fields.text("name").unwrap_or_default(),
            measured,
            kind,
            command,
            url,
            program: fields.text("program"),
            directory: fields.text("directory"),
            port,
            ports: fields.strings("ports"),
            files,
            templates,
            config,
            settings: fields.string_map("settings"),
            fsync: fields.text("fsync").unwrap_or_else(|| "always".to_owned()),
            database: fields
                .text("database")
                .unwrap_or_else(|| "plimsoll".to_owned()),
            extensions: fields.strings("extensions"),
            ready,
            within,
            capture,
            environment: fields.string_map("environment"),
            cpus: fields.counts("cpus"),
            counts: fields.flag("counts").unwrap_or(true),
            metrics,
            version,
            user: fields.text("user"),
            host: None,
            place: place.clone(),
            place_of_command: fields.place_of(if fields.has("command") {
                "command"
            } else if fields.has("url") {
                "url"
            } else {
                "kind"
            }),
            place_of_port: fields.place_of("port"),
        }
    }
}

fn ready(fields: &mut Fields<'_>, kind: ProcessKind, command: &[String]) -> Ready {
    let by_default = match kind {
        ProcessKind::Command if serves(&command.join(" ")) => Ready::Json,
        ProcessKind::Command => Ready::Tcp(String::new()),
        _ => Ready::ByKind,
    };
    let Some(mut ready) = fields.table("ready", &keys::READY) else {
        return by_default;
    };
    let methods = ["http", "tcp", "log", "json"];
    if !methods.iter().any(|method| ready.has(method)) {
        return by_default;
    }
    let text = |ready: &Fields<'_>, key| ready.text(key).unwrap_or_default();
    match ready.one_of(&methods) {
        Some("http") => Ready::Http(text(&ready, "http")),
        Some("tcp") => Ready::Tcp(text(&ready, "tcp")),
        Some("log") => Ready::Log(text(&ready, "log")),
        Some(_) if ready.flag("json") == Some(true) => Ready::Json,
        _ => by_default,
    }
}

fn captures(fields: &mut Fields<'_>) -> Vec<Capture> {
    let nodes = fields.nodes("capture");
    let mut captures = Vec::new();
    for (name, node) in nodes {
        let Some(table) = node.table() else { continue };
        let text = |key: &str| table.get(key).and_then(Node::scalar).unwrap_or_default();
        if text("http").is_empty() {
            fields.problem_at(
                "capture",
                format!("the captured value \"{name}\" needs the key \"http\": the path or URL to request"),
            );
        }
        captures.push(Capture {
            name,
            http: text("http"),
            json: text("json"),
        });
    }
    captures
}

/// The contents of a template, with all known variables substituted.
pub(super) fn template_of(
    fields: &mut Fields<'_>,
    key: &str,
    node: Option<&Node>,
    scope: &Scope<'_>,
) -> Option<String> {
    let (name, place) = match node {
        Some(node) => (node.scalar()?, node.place.clone()),
        None => (fields.text(key)?, fields.place_of(key)),
    };
    let path: PathBuf = relative_to(&place.file, &name);
    let text = match read_text(&path) {
        Ok(text) => text,
        Err(why) => {
            fields.problem_at(
                key,
                format!(
                    "cannot read the template {}: {why}; its path is relative to the file that contains it",
                    path.display()
                ),
            );
            return None;
        }
    };
    let mut out = String::with_capacity(text.len());
    for (at, line) in text.split_inclusive('\n').enumerate() {
        match template::expand(line, |name| scope.look_up(name)) {
            Ok(line) => out.push_str(&line),
            Err(why) => {
                fields.problem_in(&Location::new(&path, at + 1), why);
                return None;
            }
        }
    }
    Some(out)
}

/// Reads a regular file whose size is plausible for a configuration.
fn read_text(path: &std::path::Path) -> Result<String, String> {
    const MAX_SIZE: u64 = 4 << 20;
    let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    if metadata.len() > MAX_SIZE {
        return Err(format!("it has more than {MAX_SIZE} bytes"));
    }
    std::fs::read_to_string(path).map_err(|error| error.to_string())
}

/// Process names must be unique within a cell.
pub fn check(processes: &[Process], problems: &mut Vec<Problem>) {
    for (at, process) in processes.iter().enumerate() {
        if processes[..at].iter().any(|one| one.name == process.name) {
            problems.push(process.place.problem(format!(
                "a system and a service are both called \"{}\": rename one",
                process.name
            )));
        }
    }
}
