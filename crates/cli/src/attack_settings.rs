//! How `plimsoll attack` connects and sends.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::time::Duration;

use plimsoll_http::BodyLimit;

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

/// The fields of CONNECT.
fn proxy_fields(headers: &[String]) -> Result<plimsoll_http::Fields, String> {
    let mut fields = plimsoll_http::Fields::new();
    for line in headers {
        let (name, value) = header("-proxy-header", line)?;
        fields
            .append(&name, &value)
            .map_err(|error| format!("-proxy-header \"{line}\": {error}"))?;
    }
    Ok(fields)
}

/// `IP` or `IP:PORT`, with commas between them; a name server's port is 53.
fn name_servers(text: &str) -> Result<Vec<SocketAddr>, String> {
    let servers = text.split(',').map(str::trim);
    servers
        .map(|server| {
            let bare = server.trim_start_matches('[').trim_end_matches(']');
            let alone = bare.parse().map(|ip: IpAddr| SocketAddr::new(ip, 53));
            server.parse().or(alone).map_err(|_| {
                format!(
                    "-resolvers={text}: \"{server}\" is no address; write them like 192.0.2.1 or 192.0.2.1:5353, \
                     with commas between them"
                )
            })
        })
        .collect()
}

fn network(args: &AttackArgs, open: bool) -> Result<plimsoll_net::NetworkSettings, String> {
    let local_ips = match args.laddr {
        any if any.is_unspecified() => Vec::new(),
        ip => vec![plimsoll_net::IpRange::parse(&ip.to_string())?],
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

/// `HOST:PORT:OTHER:PORT`, with addresses of version 6 in brackets. What is led to
/// several places takes them in turn.
fn rules(connect_to: &[String]) -> Result<plimsoll_net::HostRules, String> {
    let mut rules = plimsoll_net::HostRules::default();
    for text in connect_to {
        let wrong = |why: &str| {
            format!("-connect-to={text}: {why}; write it like example.com:80:127.0.0.1:8080")
        };
        let colons: Vec<usize> = text
            .match_indices(':')
            .map(|(at, _)| at)
            .filter(|at| {
                let before = text.get(..*at).unwrap_or_default();
                before.matches('[').count() == before.matches(']').count()
            })
            .collect();
        let &[_, middle, _] = colons.as_slice() else {
            return Err(wrong("it is not two addresses with their ports"));
        };
        let (from, to) = text.split_at(middle);
        let to = to.trim_start_matches(':');
        let address = to
            .to_socket_addrs()
            .map_err(|error| wrong(&format!("{to}: {error}")))?
            .next()
            .ok_or_else(|| wrong(&format!("{to} has no address")))?;
        rules.add_override(from, &address.to_string())?;
    }
    Ok(rules)
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

/// A length of time as Go's flags take it: with a unit, or 0.
///
/// # Errors
/// Names the flag.
pub fn positive_time(flag: &str, text: &str) -> Result<Duration, String> {
    plimsoll_units::duration::parse_with_unit(text)
        .map_err(|error| format!("{flag}={text}: {error}"))
}

/// Splits `NAME: VALUE`.
///
/// # Errors
/// Names the flag.
pub fn header(flag: &str, line: &str) -> Result<(String, String), String> {
    let (name, value) = line.split_once(':').ok_or_else(|| {
        format!("{flag} \"{line}\": write it as NAME: VALUE, like \"Accept: text/plain\"")
    })?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// `-1` for everything, or a number of bytes with or without a unit; units are
/// powers of 1024, as in vegeta.
///
/// # Errors
/// When it is neither.
pub fn body_limit(text: &str) -> Result<BodyLimit, String> {
    if text == "-1" {
        return Ok(BodyLimit::None);
    }
    let wrong =
        || format!("-max-body={text}: write a number of bytes, like 4096 or 64KB, or -1 for all");
    let digits = text
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let shift = match unit.trim().to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" => 10,
        "M" | "MB" => 20,
        "G" | "GB" => 30,
        _ => return Err(wrong()),
    };
    number
        .checked_mul(1 << shift)
        .map(BodyLimit::Cut)
        .ok_or_else(wrong)
}

/// Only so that a test can ask where a rule leads.
#[cfg(test)]
fn lead(connect_to: &str) -> Option<(std::net::IpAddr, Option<u16>)> {
    let rules = rules(&[connect_to.to_owned()]).ok()?;
    rules
        .lookup("example.com", 80)
        .map(|target| (target.ip, target.port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_led_elsewhere() {
        let to = lead("example.com:80:127.0.0.1:8080").unwrap();
        assert_eq!(to, ("127.0.0.1".parse().unwrap(), Some(8080)));
        let to = lead("example.com:80:[::1]:8080").unwrap();
        assert_eq!(to, ("::1".parse().unwrap(), Some(8080)));
        assert_eq!(lead("example.com:81:127.0.0.1:8080"), None);
        let told = rules(&["a:1:b".to_owned()]).unwrap_err();
        assert!(told.contains("two addresses"), "{told}");
    }

    #[test]
    fn name_servers_have_a_port_or_the_usual_one() {
        let read = |text: &str| {
            let servers = name_servers(text)?;
            Ok::<_, String>(servers.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        assert_eq!(
            read("192.0.2.1, 192.0.2.2:5353,::1,[::1],[::1]:54").unwrap(),
            [
                "192.0.2.1:53",
                "192.0.2.2:5353",
                "[::1]:53",
                "[::1]:53",
                "[::1]:54"
            ]
        );
        for wrong in ["", "a", "192.0.2.1:x", "192.0.2.1,,192.0.2.2"] {
            assert!(
                read(wrong).unwrap_err().contains("is no address"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn fields_for_a_proxy_are_checked() {
        assert!(proxy_fields(&["X-A: b".to_owned()]).is_ok());
        for wrong in ["X-A", "X-A: b\r\nX-B: c", ": b"] {
            let told = proxy_fields(&[wrong.to_owned()]).unwrap_err();
            assert!(told.starts_with("-proxy-header"), "{told}");
        }
    }

    #[test]
    fn a_body_is_kept_as_far_as_was_said() {
        assert_eq!(body_limit("-1"), Ok(BodyLimit::None));
        assert_eq!(body_limit("0"), Ok(BodyLimit::Cut(0)));
        assert_eq!(body_limit("4kb"), Ok(BodyLimit::Cut(4096)));
        for wrong in ["", "-2", "1.5MB", "5x", "99999999999GB"] {
            assert!(body_limit(wrong).is_err(), "{wrong}");
        }
    }
}
