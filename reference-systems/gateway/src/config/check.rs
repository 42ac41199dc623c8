//! Parses the file and checks the rules that its types cannot express. Each error explains the fix.

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;
use plimsoll_serving::certificates;
use serde_saphyr::{Error, Options, with_deserializer_from_str_with_options};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::{Config, Strategy, Wire};

/// Maximum size of the file.
const MAX_FILE: u64 = 4 << 20;

/// Parses and checks the file.
pub fn load(file: &Path) -> Result<Config, String> {
    let with_path = |error: &dyn Display| format!("{}: {error}", file.display());
    let length = std::fs::metadata(file)
        .map_err(|error| with_path(&format!("{error}; name the configuration with --config")))?
        .len();
    if length > MAX_FILE {
        return Err(with_path(&format!(
            "{length} bytes; at most {MAX_FILE} are read"
        )));
    }
    read(
        &std::fs::read_to_string(file).map_err(|error| with_path(&error))?,
        file,
    )
}

/// Parses and checks the text of `file`. Returns one error per line.
pub fn read(text: &str, file: &Path) -> Result<Config, String> {
    let mut path = String::new();
    let parsed = with_deserializer_from_str_with_options(text, Options::default(), |yaml| {
        serde_path_to_error::deserialize(yaml).map_err(|error| {
            path = error.path().to_string();
            error.into_inner()
        })
    });
    let mut config: Config = parsed.map_err(|error| explain(&error, file, &path))?;
    let mut problems = names(&config);
    problems.extend(complete(&mut config, file.parent().unwrap_or(file)));
    if problems.is_empty() {
        return Ok(config);
    }
    let line = |problem: &String| format!("{}: {problem}", file.display());
    Err(problems.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// Names that refer to another section must exist there, and addresses must differ.
fn names(config: &Config) -> Vec<String> {
    let mut problems = Vec::new();
    let mut refer = |path: String, kind: &str, name: &str, names: Vec<&str>| {
        if !names.contains(&name) {
            let hint = hint(name, &names);
            problems.push(format!("{path}: there is no {kind} '{name}'{hint}"));
        }
    };
    for (name, route) in &config.routes {
        for entry in &route.entries {
            let path = format!("routes.{name}.entries");
            refer(path, "entry", entry, keys(&config.entries));
        }
        let path = format!("routes.{name}.service");
        refer(path, "service", &route.service, keys(&config.services));
    }
    for (name, service) in &config.services {
        let path = format!("services.{name}.upstream");
        refer(path, "upstream", &service.upstream, keys(&config.upstreams));
    }
    for (index, (name, entry)) in config.entries.iter().enumerate() {
        let mut before = config.entries.iter().take(index);
        let same = before.find(|(_, other)| other.bind == entry.bind && entry.bind.port() != 0);
        if let Some((other, _)) = same {
            let bind = entry.bind;
            problems.push(format!("entries.{name}.bind: '{other}' has {bind} already"));
        }
    }
    problems
}

fn keys<T>(section: &IndexMap<String, T>) -> Vec<&str> {
    section.keys().map(String::as_str).collect()
}

/// Checks rules that involve several keys, and loads certificates.
fn complete(config: &mut Config, folder: &Path) -> Vec<String> {
    let mut problems = Vec::new();
    let mut check = |right: bool, path: String, what: &str| {
        if !right {
            problems.push(format!("{path}: {what}"));
        }
    };
    let Config {
        access_log,
        limits,
        entries,
        routes,
        services,
        upstreams,
    } = config;
    for (section, length) in [
        ("entries", entries.len()),
        ("routes", routes.len()),
        ("services", services.len()),
        ("upstreams", upstreams.len()),
    ] {
        check(length > 0, section.to_owned(), "there must be at least one");
    }
    if let Some(place) = access_log
        && !matches!(place.as_str(), "off" | "stderr")
    {
        *place = folder.join(&*place).to_string_lossy().into_owned();
    }
    let fits = (8 << 10..=1 << 20).contains(&limits.head);
    let expected = "a limit from 8KiB to 1MiB belongs here";
    check(fits, "limits.head".to_owned(), expected);
    let expected = "at most 16MiB of each body are kept in memory";
    check(
        limits.buffer <= 16 << 20,
        "limits.buffer".to_owned(),
        expected,
    );
    for (name, entry) in entries {
        if let Some(tls) = &mut entry.tls {
            let (certificate, key) = (folder.join(&tls.certificate), folder.join(&tls.key));
            match certificates::with_files(&certificate, &key, None) {
                Ok(mut config) => {
                    config.alpn_protocols = entry.protocol.alpn();
                    tls.config = Some(Arc::new(config));
                }
                Err(what) => check(false, format!("entries.{name}.tls"), &what),
            }
        }
    }
    for (name, route) in routes {
        if let Some(rewrite) = &route.rewrite {
            let by_regex = rewrite.regex.is_some();
            let fits = rewrite.prefix.is_none() == by_regex && rewrite.to.is_some() == by_regex;
            let expected = "either 'prefix', or 'regex' and 'to', belong here";
            check(fits, format!("routes.{name}.rewrite"), expected);
            let fits = by_regex || route.prefix.is_some();
            let expected = "what is replaced is the route's own 'prefix', which is missing";
            check(fits, format!("routes.{name}.rewrite"), expected);
        }
    }
    for (name, upstream) in upstreams {
        let path = |key: &str| format!("upstreams.{name}.{key}");
        let some = !upstream.targets.is_empty();
        check(some, path("targets"), "there must be at least one");
        let fits = (upstream.strategy == Strategy::Hash) == upstream.hash_by.is_some();
        let expected = "the strategy 'hash', and no other, needs 'hash_by'";
        check(fits, path("hash_by"), expected);
        if let Some(tls) = &mut upstream.tls {
            tls.ca = folder.join(&tls.ca);
            match trusting(&tls.ca, upstream.wire) {
                Ok(config) => tls.config = Some(Arc::new(config)),
                Err(what) => check(false, path("tls"), &what),
            }
        }
    }
    problems
}

/// The TLS configuration of a client that only trusts the authorities in `ca`.
fn trusting(ca: &Path, wire: Wire) -> Result<ClientConfig, String> {
    let with_path = |error: &dyn Display| format!("{}: {error}", ca.display());
    let mut roots = RootCertStore::empty();
    for authority in CertificateDer::pem_file_iter(ca).map_err(|error| with_path(&error))? {
        let authority = authority.map_err(|error| with_path(&error))?;
        roots.add(authority).map_err(|error| with_path(&error))?;
    }
    if roots.is_empty() {
        return Err(with_path(&"there is no certificate in it"));
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| with_path(&error))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = match wire {
        Wire::H1 => vec![b"http/1.1".to_vec()],
        Wire::H2 => vec![b"h2".to_vec()],
    };
    Ok(config)
}

/// The parser's error, with its line, its key and the closest valid name.
fn explain(error: &Error, file: &Path, path: &str) -> String {
    let error = error.without_snippet();
    let what = match error {
        Error::Message { msg, .. } => msg.clone(),
        Error::SerdeUnknownField {
            field, expected, ..
        } => format!("there is no such key{}", hint(field, expected)),
        Error::SerdeUnknownVariant {
            variant, expected, ..
        } => format!("'{variant}' is unknown{}", hint(variant, expected)),
        Error::SerdeMissingField { field, .. } => format!("'{field}' is missing"),
        other => other.to_string(),
    };
    let mut place = file.display().to_string();
    let line = error.location().map_or(0, |location| location.line());
    if line > 0 {
        place += &format!(":{line}");
    }
    if !path.is_empty() && path != "." {
        place += &format!(": {path}");
    }
    format!("{place}: {what}")
}

/// `; did you mean 'x'?`, or the valid names. At most a third of the letters may differ.
fn hint(written: &str, names: &[&str]) -> String {
    let distance = |name: &&&str| strsim::osa_distance(written, name);
    let nearest = names.iter().min_by_key(distance);
    match nearest.filter(|name| distance(name) * 3 <= name.len().max(written.len())) {
        Some(name) => format!("; did you mean '{name}'?"),
        None if names.is_empty() => String::new(),
        None => format!("; there are: {}", names.join(", ")),
    }
}
