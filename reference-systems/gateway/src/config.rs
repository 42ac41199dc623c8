//! The gateway's configuration: the parsed and checked file, with all errors reported at once.
//!
//! Values that are the same in two versions of the file are equal, so a reload knows what it may
//! keep.

mod document;
mod entries;
mod fields;
mod headers;
mod nearest;
mod routes;
mod services;
mod upstreams;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use entries::{Entry, Forwarded, Protocol};
use fields::{Field, Fields, Problem, Problems};
pub use headers::HeaderRules;
use nearest::way_out;
#[cfg(test)]
pub use routes::Pattern;
pub use routes::{Key, RateLimit, Rewrite, Route};
#[cfg(test)]
pub use services::Retries;
pub use services::Service;
#[cfg(test)]
pub use upstreams::Target;
pub use upstreams::{ActiveCheck, HashBy, PassiveCheck, Strategy, Upstream, Wire};

/// Maximum size of the file.
const LARGEST_FILE: u64 = 4 << 20;

#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    pub access_log: AccessLog,
    pub limits: Limits,
    pub entries: Vec<Entry>,
    /// Tried in this order.
    pub routes: Vec<Route>,
    pub services: Vec<Service>,
    pub upstreams: Vec<Upstream>,
}

/// The destination of the log line for each request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessLog {
    Off,
    StandardError,
    File(PathBuf),
}

/// Limits for clients.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Bytes of a request's headers.
    pub head: u64,
    /// Bytes of a request's body.
    pub body: u64,
    /// Bodies up to this many bytes are read completely before the request is sent, so they can
    /// also be sent again.
    pub buffer: u64,
    /// Maximum time until the next piece of a body.
    pub body_timeout: Duration,
}

/// Why a configuration is invalid.
#[derive(Debug)]
pub struct Invalid {
    file: PathBuf,
    problems: Vec<Problem>,
}

impl fmt::Display for Invalid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            write!(out, "{}", self.file.display())?;
            if problem.line > 0 {
                write!(out, ":{}", problem.line)?;
            }
            if !problem.path.is_empty() {
                write!(out, ": {}", problem.path)?;
            }
            write!(out, ": {}", problem.what)?;
        }
        Ok(())
    }
}

/// Parses and checks the file.
pub fn load(file: &Path) -> Result<Config, Invalid> {
    let unreadable = |line, what: String| Invalid {
        file: file.to_owned(),
        problems: vec![Problem {
            line,
            path: String::new(),
            what,
        }],
    };
    let length = std::fs::metadata(file)
        .map_err(|error| unreadable(0, format!("{error}; name the configuration with --config")))?
        .len();
    if length > LARGEST_FILE {
        return Err(unreadable(
            0,
            format!("{length} bytes; at most {LARGEST_FILE} are read"),
        ));
    }
    let text = std::fs::read_to_string(file).map_err(|error| unreadable(0, error.to_string()))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    read(&text, folder).map_err(|problems| Invalid {
        file: file.to_owned(),
        problems,
    })
}

/// Parses and checks a text as [`load`] does with a file.
pub fn check(text: &str) -> Result<Config, Invalid> {
    read(text, Path::new("")).map_err(|problems| Invalid {
        file: PathBuf::from("text"),
        problems,
    })
}

/// Parses and checks a text; paths in it are relative to `folder`.
fn read(text: &str, folder: &Path) -> Result<Config, Vec<Problem>> {
    let mut problems = Problems::default();
    let root = match document::parse(text) {
        Ok(root) => root,
        Err(unreadable) => {
            problems.at(unreadable.line, "", unreadable.what);
            return Err(problems.into_sorted());
        }
    };
    let known = [
        "access_log",
        "limits",
        "entries",
        "routes",
        "services",
        "upstreams",
    ];
    let fields = Field::root(&root).fields(&known, &mut problems);
    let config = Config {
        access_log: access_log(&fields, folder, &mut problems),
        limits: limits(fields.get("limits"), &mut problems),
        entries: each(
            &fields,
            "entries",
            &mut problems,
            |name, field, problems| entries::read(name, field, folder, problems),
        ),
        routes: each(&fields, "routes", &mut problems, routes::read),
        services: each(&fields, "services", &mut problems, services::read),
        upstreams: each(
            &fields,
            "upstreams",
            &mut problems,
            |name, field, problems| upstreams::read(name, field, folder, problems),
        ),
    };
    check_names(&config, &fields, &mut problems);
    let problems = problems.into_sorted();
    if problems.is_empty() {
        Ok(config)
    } else {
        Err(problems)
    }
}

/// Every entry of the mapping `section`, which must have at least one.
fn each<T>(
    fields: &Fields<'_>,
    section: &str,
    problems: &mut Problems,
    mut read: impl FnMut(&str, &Field<'_>, &mut Problems) -> Option<T>,
) -> Vec<T> {
    let Some(field) = fields.need(section, problems) else {
        return Vec::new();
    };
    let named = field.named(problems);
    if named.is_empty() {
        problems.add(field, "there must be at least one");
    }
    named
        .iter()
        .filter_map(|(key, field)| read(&key.name, field, problems))
        .collect()
}

fn access_log(fields: &Fields<'_>, folder: &Path, problems: &mut Problems) -> AccessLog {
    match fields
        .get("access_log")
        .and_then(|field| field.text(problems))
    {
        None | Some("off") => AccessLog::Off,
        Some("stderr") => AccessLog::StandardError,
        Some(path) => AccessLog::File(folder.join(path)),
    }
}

fn limits(field: Option<&Field<'_>>, problems: &mut Problems) -> Limits {
    let mut limits = Limits {
        head: 32 << 10,
        body: 10 << 20,
        buffer: 64 << 10,
        body_timeout: Duration::from_secs(30),
    };
    let Some(field) = field else { return limits };
    let fields = field.fields(&["head", "body", "buffer", "body_timeout"], problems);
    if let Some(field) = fields.get("head")
        && let Some(head) = field.bytes(problems)
    {
        if (8 << 10..=1 << 20).contains(&head) {
            limits.head = head;
        } else {
            problems.add(field, "a limit from 8KiB to 1MiB belongs here");
        }
    }
    if let Some(body) = fields.get("body").and_then(|field| field.bytes(problems)) {
        limits.body = body;
    }
    if let Some(field) = fields.get("buffer")
        && let Some(buffer) = field.bytes(problems)
    {
        if buffer <= 16 << 20 {
            limits.buffer = buffer;
        } else {
            problems.add(field, "at most 16MiB of each body are kept in memory");
        }
    }
    if let Some(timeout) = fields
        .get("body_timeout")
        .and_then(|field| field.duration(problems))
    {
        limits.body_timeout = timeout;
    }
    limits
}

/// Names that refer to another section must exist there.
fn check_names(config: &Config, fields: &Fields<'_>, problems: &mut Problems) {
    // Errors in the sections themselves were already reported.
    let mut scratch = Problems::default();
    for (section, key, kind, others) in [
        ("routes", "service", "service", "services"),
        ("routes", "entries", "entry", "entries"),
        ("services", "upstream", "upstream", "upstreams"),
    ] {
        let mut members = |section| {
            let field: Option<&Field<'_>> = fields.get(section);
            field
                .map(|field| field.named(&mut scratch))
                .unwrap_or_default()
        };
        let known: Vec<&str> = members(others)
            .iter()
            .map(|(key, _)| key.name.as_str())
            .collect();
        for (_, member) in members(section) {
            let pointing = member
                .named(&mut scratch)
                .into_iter()
                .find(|(name, _)| name.name == key);
            for field in pointing.iter().flat_map(|(_, field)| field.items()) {
                if let Some(name) = field.text(&mut scratch)
                    && !known.contains(&name)
                {
                    let way = way_out(name, &known);
                    problems.add(&field, format!("there is no {kind} '{name}'{way}"));
                }
            }
        }
    }
    for (index, entry) in config.entries.iter().enumerate() {
        let taken = config
            .entries
            .iter()
            .take(index)
            .find(|other| other.bind == entry.bind && entry.bind.port() != 0);
        if let Some(other) = taken {
            let path = format!("entries.{}.bind", entry.name);
            problems.at(
                entry.line,
                &path,
                format!("'{}' has {} already", other.name, entry.bind),
            );
        }
    }
}

#[cfg(test)]
mod tests;
