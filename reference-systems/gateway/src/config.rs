//! The gateway's configuration file, parsed and checked.
//!
//! Values that are the same in two versions of the file are equal, so a reload knows what it may
//! keep.

mod entries;
mod headers;
mod invalid;
mod routes;
mod services;
mod upstreams;
mod values;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub use entries::{Entry, Forwarded, Protocol};
pub use headers::HeaderRules;
use invalid::{Invalid, Problem, explain, hint, problem};
#[cfg(test)]
pub use routes::Pattern;
pub use routes::{Key, RateLimit, Rewrite, Route};
use serde::{Deserialize, Deserializer};
use serde_saphyr::{Options, with_deserializer_from_str_with_options};
#[cfg(test)]
pub use services::Retries;
pub use services::Service;
#[cfg(test)]
pub use upstreams::Target;
pub use upstreams::{ActiveCheck, HashBy, PassiveCheck, Strategy, Upstream, Wire};
use values::{bytes, duration, named};

use crate::tls;

/// Maximum size of the file.
const LARGEST_FILE: u64 = 4 << 20;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    #[serde(default)]
    pub access_log: AccessLog,
    #[serde(default)]
    pub limits: Limits,
    #[serde(deserialize_with = "section")]
    pub entries: Vec<Entry>,
    /// Tried in this order.
    #[serde(deserialize_with = "section")]
    pub routes: Vec<Route>,
    #[serde(deserialize_with = "section")]
    pub services: Vec<Service>,
    #[serde(deserialize_with = "section")]
    pub upstreams: Vec<Upstream>,
}

/// The destination of the log line for each request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub enum AccessLog {
    #[default]
    Off,
    StandardError,
    File(PathBuf),
}

impl From<String> for AccessLog {
    fn from(text: String) -> AccessLog {
        match text.as_str() {
            "off" => AccessLog::Off,
            "stderr" => AccessLog::StandardError,
            _ => AccessLog::File(text.into()),
        }
    }
}

/// Limits for clients.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Bytes of a request's headers.
    #[serde(deserialize_with = "bytes")]
    pub head: u64,
    /// Bytes of a request's body.
    #[serde(deserialize_with = "bytes")]
    pub body: u64,
    /// Bodies up to this many bytes are read completely before the request is sent, so they can
    /// also be sent again.
    #[serde(deserialize_with = "bytes")]
    pub buffer: u64,
    /// Maximum time until the next piece of a body.
    #[serde(deserialize_with = "duration")]
    pub body_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            head: 32 << 10,
            body: 10 << 20,
            buffer: 64 << 10,
            body_timeout: Duration::from_secs(30),
        }
    }
}

/// A member of a section, whose key is its name.
trait Member {
    fn name(&mut self) -> &mut String;
}

macro_rules! members {
    ($($member:ty),*) => {
        $(impl Member for $member {
            fn name(&mut self) -> &mut String {
                &mut self.name
            }
        })*
    };
}
members!(Entry, Route, Service, Upstream);

/// All members of a section, which must have at least one.
fn section<'de, T, D>(from: D) -> Result<Vec<T>, D::Error>
where
    T: Member + Deserialize<'de>,
    D: Deserializer<'de>,
{
    let named = named::<T, D>(from)?;
    if named.is_empty() {
        return Err(serde::de::Error::custom("there must be at least one"));
    }
    let name = |(name, mut member): (String, T)| {
        *member.name() = name;
        member
    };
    Ok(named.into_iter().map(name).collect())
}

/// Parses and checks the file.
pub fn load(file: &Path) -> Result<Config, Invalid> {
    let unreadable = |what: String| Invalid {
        file: file.to_owned(),
        problems: vec![problem("", what)],
    };
    let length = std::fs::metadata(file)
        .map_err(|error| unreadable(format!("{error}; name the configuration with --config")))?
        .len();
    if length > LARGEST_FILE {
        let what = format!("{length} bytes; at most {LARGEST_FILE} are read");
        return Err(unreadable(what));
    }
    let text = std::fs::read_to_string(file).map_err(|error| unreadable(error.to_string()))?;
    read(&text, file.parent().unwrap_or(Path::new(""))).map_err(|problems| Invalid {
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
    let mut path = String::new();
    let parsed = with_deserializer_from_str_with_options(text, Options::default(), |yaml| {
        serde_path_to_error::deserialize(yaml).map_err(|error| {
            path = error.path().to_string();
            error.into_inner()
        })
    });
    let mut config: Config = parsed.map_err(|error| vec![explain(&error, path)])?;
    let mut problems = Vec::new();
    check_names(&config, &mut problems);
    complete(&mut config, folder, &mut problems);
    if problems.is_empty() {
        Ok(config)
    } else {
        Err(problems)
    }
}

/// Checks what depends on several keys, and loads certificates.
fn complete(config: &mut Config, folder: &Path, problems: &mut Vec<Problem>) {
    if let AccessLog::File(path) = &mut config.access_log {
        *path = folder.join(&*path);
    }
    if !(8 << 10..=1 << 20).contains(&config.limits.head) {
        let what = "a limit from 8KiB to 1MiB belongs here";
        problems.push(problem("limits.head", what));
    }
    if config.limits.buffer > 16 << 20 {
        let what = "at most 16MiB of each body are kept in memory";
        problems.push(problem("limits.buffer", what));
    }
    for entry in &mut config.entries {
        if let Some(tls) = &mut entry.tls {
            let (certificate, key) = (folder.join(&tls.certificate), folder.join(&tls.key));
            match tls::server(&certificate, &key, entry.protocol) {
                Ok(config) => tls.config = Some(Arc::new(config)),
                Err(what) => problems.push(problem(format!("entries.{}.tls", entry.name), what)),
            }
        }
    }
    for route in &config.routes {
        if matches!(route.rewrite, Rewrite::Prefix(_)) && route.prefix.is_none() {
            let what = "what is replaced is the route's own 'prefix', which is missing";
            problems.push(problem(format!("routes.{}.rewrite", route.name), what));
        }
    }
    for upstream in &mut config.upstreams {
        let path = |key: &str| format!("upstreams.{}.{key}", upstream.name);
        if upstream.targets.is_empty() {
            problems.push(problem(path("targets"), "there must be at least one"));
        }
        match (upstream.strategy, &upstream.hash_by) {
            (Strategy::Hash, None) => {
                let what = "'hash' needs 'hash_by': address, header NAME or cookie NAME";
                problems.push(problem(path("strategy"), what));
            }
            (Strategy::Hash, _) | (_, None) => {}
            _ => {
                let what = "only the strategy 'hash' hashes";
                problems.push(problem(path("hash_by"), what));
            }
        }
        if let Some(tls) = &mut upstream.tls {
            tls.ca = folder.join(&tls.ca);
            match tls::client(&tls.ca, upstream.wire) {
                Ok(config) => tls.config = Some(Arc::new(config)),
                Err(what) => problems.push(problem(path("tls"), what)),
            }
        }
    }
}

/// Names that refer to another section must exist there, and addresses must differ.
fn check_names(config: &Config, problems: &mut Vec<Problem>) {
    let mut refer = |path: String, kind: &str, name: &str, names: &[&str]| {
        if !names.contains(&name) {
            let what = format!("there is no {kind} '{name}'{}", hint(name, names));
            problems.push(problem(path, what));
        }
    };
    let entries: Vec<_> = config.entries.iter().map(|one| one.name.as_str()).collect();
    let services: Vec<_> = config
        .services
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    let upstreams: Vec<_> = config
        .upstreams
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    for Route {
        name,
        entries: listed,
        service,
        ..
    } in &config.routes
    {
        for entry in listed {
            refer(format!("routes.{name}.entries"), "entry", entry, &entries);
        }
        refer(
            format!("routes.{name}.service"),
            "service",
            service,
            &services,
        );
    }
    for Service { name, upstream, .. } in &config.services {
        refer(
            format!("services.{name}.upstream"),
            "upstream",
            upstream,
            &upstreams,
        );
    }
    for (index, entry) in config.entries.iter().enumerate() {
        let same = |other: &&Entry| other.bind == entry.bind && entry.bind.port() != 0;
        if let Some(other) = config.entries.iter().take(index).find(same) {
            let what = format!("'{}' has {} already", other.name, entry.bind);
            problems.push(problem(format!("entries.{}.bind", entry.name), what));
        }
    }
}

#[cfg(test)]
mod tests;
