//! Converts a run's options to network settings.

use std::net::IpAddr;
use std::time::Duration;

use plimsoll_address::{HostPattern, TlsVersion};
use plimsoll_net::{ClientCertificate, DnsSettings, HostRules, Io, NetworkSettings, TlsSettings};
use plimsoll_plan::{DnsOptions, Options, Plan, Protocol};

use crate::tls_files::TlsFiles;

/// Restricts all connections of this process to these hosts, until the process exits. An empty list means no
/// restriction.
///
/// # Errors
/// If one of them is not a valid host.
pub fn allow_only_hosts(hosts: &[String]) -> Result<(), String> {
    if hosts.is_empty() {
        return Ok(());
    }
    let hosts = hosts.iter().map(|host| match host.parse::<IpAddr>() {
        Ok(address) => Ok(HostPattern::from(address)),
        Err(_) => HostPattern::parse(host).map_err(|error| format!("--allow-hosts: {error}")),
    });
    plimsoll_net::allow_only(hosts.collect::<Result<_, _>>()?);
    Ok(())
}

/// The kernel interface for plain TCP connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoMode {
    /// The best choice for most runs, which is epoll. Never fails.
    #[default]
    Auto,
    Epoll,
    /// io_uring. The run does not start if the kernel refuses it.
    Uring,
}

impl IoMode {
    /// Parses a mode. An empty string means `auto`, because CI systems often set empty variables.
    ///
    /// # Errors
    /// If the name is unknown.
    pub fn parse(text: &str) -> Result<IoMode, String> {
        match text {
            "" | "auto" => Ok(IoMode::Auto),
            "epoll" => Ok(IoMode::Epoll),
            "uring" => Ok(IoMode::Uring),
            _ => Err("use auto, epoll or uring (also in PLIMSOLL_IO)".to_owned()),
        }
    }

    /// The name of the interface in use, for records.
    pub fn name(self) -> &'static str {
        match self {
            IoMode::Auto | IoMode::Epoll => "epoll",
            IoMode::Uring => "uring",
        }
    }
}

/// Selects the kernel interface for a run. Open models can spare the processor time for the kernel's receive
/// timestamps. In a closed model, the rate is more important.
///
/// # Errors
/// If io_uring is requested but not available.
pub fn io(mode: IoMode, open: bool) -> Result<Io, String> {
    match mode {
        IoMode::Uring => match plimsoll_net::check_uring() {
            Ok(()) => Ok(Io::Uring),
            Err(error) => Err(format!(
                "--io uring: io_uring is not available here: {}. Use --io epoll, or leave --io and \
                 PLIMSOLL_IO out",
                plimsoll_net::describe(&error)
            )),
        },
        IoMode::Auto | IoMode::Epoll if open => Ok(Io::Stamped),
        IoMode::Auto | IoMode::Epoll => Ok(Io::Epoll),
    }
}

/// Whether any scenario of the plan has a schedule.
pub fn is_open(plan: &Plan) -> bool {
    let mut scenarios = plan.scenarios.iter();
    scenarios.any(|scenario| scenario.executor.is_open())
}

/// The `Settings` for the options of a plan.
///
/// # Errors
/// If the network does not support an option. The error contains the option's name.
pub fn settings(
    plan: &Plan,
    user_agent: &str,
    mode: IoMode,
    files: &TlsFiles,
) -> Result<plimsoll_http::Settings, String> {
    let options = &plan.options;
    let defaults = plimsoll_http::Settings::default();
    let count = |value: Option<i64>, default: usize| {
        value
            .and_then(|value| usize::try_from(value).ok())
            .unwrap_or(default)
    };
    let mut tls = tls(options);
    tls.check()?;
    let given = files.read()?;
    tls.insecure_skip_verify |= given.insecure_skip_verify;
    tls.extra_roots = given.extra_roots;
    tls.client_certificates.extend(given.client_certificates);
    Ok(plimsoll_http::Settings {
        network: NetworkSettings {
            rules: rules(options),
            dns: dns(options.dns.as_ref()),
            local_ips: options.local_ips.clone().unwrap_or_default(),
            tls,
            io: io(mode, is_open(plan))?,
            unix_socket: options
                .unix_socket
                .as_deref()
                .map(|path| unix_socket("unixSocket", path))
                .transpose()?,
            ..NetworkSettings::default()
        },
        max_redirects: options
            .max_redirects
            .and_then(|value| u32::try_from(value).ok())
            .unwrap_or(defaults.max_redirects),
        user_agent: options
            .user_agent
            .clone()
            .unwrap_or_else(|| user_agent.to_owned()),
        no_connection_reuse: options.no_connection_reuse.unwrap_or(false),
        idle_per_host: count(options.batch_per_host, defaults.idle_per_host).max(1),
        idle_total: count(options.batch, defaults.idle_total).max(1),
        connections_per_host: at_least_one("connectionsPerUser", options.connections_per_user)?,
        streams_per_connection: at_least_one(
            "streamsPerConnection",
            options.streams_per_connection,
        )?,
        protocol: protocol(options.protocol.unwrap_or_default())?,
        rate_limit: options
            .rps
            .and_then(|value| u32::try_from(value).ok())
            .filter(|rate| *rate > 0)
            .map(|rate| std::sync::Arc::new(plimsoll_http::RateLimit::new(rate))),
        // Each request of a script decides whether to read its body.
        discard_response_bodies: false,
        ..defaults
    })
}

/// The HTTP version of the client.
///
/// # Errors
/// If this program was built without that version.
pub(crate) fn protocol(protocol: Protocol) -> Result<plimsoll_http::Protocol, String> {
    built_with(match protocol {
        Protocol::Auto => plimsoll_http::Protocol::Auto,
        Protocol::Http1 => plimsoll_http::Protocol::Http1,
        Protocol::Http2 => plimsoll_http::Protocol::Http2,
        Protocol::H2c => plimsoll_http::Protocol::H2c,
        Protocol::Http3 => plimsoll_http::Protocol::Http3,
    })
}

/// Rejects HTTP/3 in a program that was built without it.
///
/// # Errors
/// How to build the program with HTTP/3.
pub(crate) fn built_with(
    protocol: plimsoll_http::Protocol,
) -> Result<plimsoll_http::Protocol, String> {
    match protocol {
        plimsoll_http::Protocol::Http3 if !cfg!(feature = "http3") => {
            Err(plimsoll_http::NO_HTTP3.to_owned())
        }
        protocol => Ok(protocol),
    }
}

/// Parses the path of a Unix socket. `name` is the flag or option.
///
/// # Errors
/// Why the path is invalid. Contains `name`.
pub fn unix_socket(name: &str, path: &str) -> Result<plimsoll_net::UnixPath, String> {
    plimsoll_net::UnixPath::parse(path).map_err(|error| format!("{name} {path}: {error}"))
}

fn at_least_one(name: &str, value: Option<i64>) -> Result<Option<usize>, String> {
    value
        .map(|value| match usize::try_from(value) {
            Ok(count) if count > 0 => Ok(count),
            _ => Err(format!("{name} {value}: give a number of at least 1")),
        })
        .transpose()
}

fn rules(options: &Options) -> HostRules {
    let mut rules = HostRules::default();
    for (key, address) in options.hosts.iter().flat_map(|hosts| &hosts.0) {
        rules.add_override(key.pattern(), key.port(), *address);
    }
    for pattern in options.block_hostnames.iter().flatten() {
        rules.block_host(pattern.clone());
    }
    for range in options.blacklist_ips.iter().flatten() {
        rules.blacklist(range.clone());
    }
    rules
}

/// Converts the options for resolving host names to settings.
pub(crate) fn dns(options: Option<&DnsOptions>) -> DnsSettings {
    let defaults = DnsSettings::default();
    let Some(dns) = options else {
        return defaults;
    };
    DnsSettings {
        ttl: match &dns.ttl {
            Some(ttl) => ttl.keep.unwrap_or(Duration::MAX),
            None => defaults.ttl,
        },
        select: dns.select.unwrap_or_default(),
        policy: dns.policy.unwrap_or_default(),
    }
}

fn tls(options: &Options) -> TlsSettings {
    TlsSettings {
        versions: options.tls_version.map(|versions| {
            (
                versions.min.unwrap_or(TlsVersion::Tls12),
                versions.max.unwrap_or(TlsVersion::Tls13),
            )
        }),
        cipher_suites: options.tls_cipher_suites.clone().unwrap_or_default(),
        insecure_skip_verify: options.insecure_skip_tls_verify.unwrap_or(false),
        client_certificates: options
            .tls_auth
            .iter()
            .flatten()
            .map(|auth| ClientCertificate {
                domains: auth.domains.clone().unwrap_or_default(),
                certificate_pem: auth.cert.clone().into_bytes(),
                key_pem: auth.key.clone().into_bytes(),
            })
            .collect(),
        ..TlsSettings::default()
    }
}
