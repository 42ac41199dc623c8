//! How `plimsoll attack` connects and sends.

use std::path::Path;
use std::time::Duration;

use plimsoll_address::IpPool;
use plimsoll_scriptless::attack_values::{name_servers, positive_time, proxy_fields, rules};

use crate::args::AttackArgs;

/// The settings of connections, for so many threads, in the `open` model or the closed one.
///
/// # Errors
/// What is wrong with a flag.
pub fn http_settings(
    args: &AttackArgs,
    threads: usize,
    open: bool,
) -> Result<plimsoll_http::Settings, String> {
    let protocol = match (args.h2c, args.http2) {
        (true, _) if args.http3 => {
            return Err("-http3 and -h2c exclude each other".to_owned());
        }
        _ if args.http3 => plimsoll_http::Protocol::Http3,
        (true, _) => plimsoll_http::Protocol::H2c,
        (false, true) => plimsoll_http::Protocol::Auto,
        (false, false) => plimsoll_http::Protocol::Http1,
    };
    let idle = match args.connections {
        // What Go's client makes of 0.
        0 => 2,
        connections => connections,
    };
    // A proxy is a place to connect to, and so is a socket.
    let proxies = match args.unix_socket {
        Some(_) => plimsoll_http::Proxies::default(),
        None => plimsoll_http::Proxies::from_env(|name| std::env::var(name).ok())?,
    }
    .with_connect_fields(proxy_fields(&args.proxy_headers)?);
    Ok(plimsoll_http::Settings {
        user_agent: format!("plimsoll/{}", env!("CARGO_PKG_VERSION")),
        no_connection_reuse: !args.keepalive,
        idle_per_host: idle.div_ceil(threads),
        idle_total: usize::MAX,
        connections_per_host: match args.max_connections {
            0 => None,
            most => Some((most / threads).max(1)),
        },
        protocol,
        proxies,
        network: network(args, open)?,
        ..plimsoll_http::Settings::default()
    })
}

fn network(args: &AttackArgs, open: bool) -> Result<plimsoll_net::NetworkSettings, String> {
    let local_ips = match args.laddr {
        any if any.is_unspecified() => IpPool::default(),
        ip => ip.into(),
    };
    let ttl = match args.dns_ttl.as_str() {
        text if text.starts_with("-1") => Duration::ZERO,
        text => match positive_time("-dns-ttl", text)? {
            Duration::ZERO => Duration::MAX,
            ttl => ttl,
        },
    };
    Ok(plimsoll_net::NetworkSettings {
        rules: rules(&args.connect_to)?,
        dns: plimsoll_net::DnsSettings {
            ttl,
            ..plimsoll_net::DnsSettings::default()
        },
        name_servers: match &args.resolvers {
            Some(text) => name_servers(text)?,
            None => Vec::new(),
        },
        local_ips,
        tls: tls(args)?,
        io: plimsoll_run::settings::io(args.io.io, open)?,
        unix_socket: args
            .unix_socket
            .as_deref()
            .map(|path| plimsoll_run::settings::unix_socket("-unix-socket", path))
            .transpose()?,
        ..plimsoll_net::NetworkSettings::default()
    })
}

fn tls(args: &AttackArgs) -> Result<plimsoll_net::TlsSettings, String> {
    let read = |flag: &str, path: &Path| {
        plimsoll_script::read_file(path)
            .map_err(|error| format!("{flag}={}: cannot read it: {error}", path.display()))
    };
    let client_certificates = match &args.cert {
        Some(cert) => {
            let key = args.key.as_ref().unwrap_or(cert);
            vec![plimsoll_net::ClientCertificate {
                domains: Vec::new(),
                certificate_pem: read("-cert", cert)?,
                key_pem: read("-key", key)?,
            }]
        }
        None if args.key.is_some() => {
            return Err("-key needs -cert: the certificate that the key belongs to".to_owned());
        }
        None => Vec::new(),
    };
    let extra_roots = args
        .root_certs
        .iter()
        .map(|path| read("-root-certs", path))
        .collect::<Result<_, String>>()?;
    let tls = plimsoll_net::TlsSettings {
        insecure_skip_verify: args.insecure,
        client_certificates,
        extra_roots,
        resume_sessions: args.session_tickets,
        ..plimsoll_net::TlsSettings::default()
    };
    tls.check()?;
    Ok(tls)
}
