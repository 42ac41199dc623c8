//! Parses the values of vegeta's flags.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::time::Duration;

use plimsoll_address::HostPattern;
use plimsoll_http::{BodyLimit, Fields};
use plimsoll_net::HostRules;

/// The header fields of CONNECT.
///
/// # Errors
/// If it is invalid. The message contains the correct syntax.
pub fn proxy_fields(headers: &[String]) -> Result<Fields, String> {
    let mut fields = Fields::new();
    for line in headers {
        let (name, value) = header("-proxy-header", line)?;
        fields
            .append(&name, &value)
            .map_err(|error| format!("-proxy-header \"{line}\": {error}"))?;
    }
    Ok(fields)
}

/// `IP` or `IP:PORT`, separated by commas. The default port of a name server is 53.
///
/// # Errors
/// If it is invalid. The message contains the correct syntax.
pub fn name_servers(text: &str) -> Result<Vec<SocketAddr>, String> {
    let servers = text.split(',').map(str::trim);
    servers
        .map(|server| {
            let bare = server.trim_start_matches('[').trim_end_matches(']');
            let alone = bare.parse().map(|ip: IpAddr| SocketAddr::new(ip, 53));
            server.parse().or(alone).map_err(|_| {
                format!(
                    "-resolvers={text}: \"{server}\" is not an address; write them like 192.0.2.1 or 192.0.2.1:5353, \
                     with commas between them"
                )
            })
        })
        .collect()
}

/// `HOST:PORT:OTHER:PORT`, with IPv6 addresses in brackets. An address that is mapped to several others uses them in
/// turn.
///
/// # Errors
/// If it is invalid. The message contains the correct syntax.
pub fn rules(connect_to: &[String]) -> Result<HostRules, String> {
    let mut rules = HostRules::default();
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
        let (host, port) = from
            .rsplit_once(':')
            .ok_or_else(|| wrong("it has no port"))?;
        let port = port
            .parse()
            .map_err(|_| wrong(&format!("{port} is not a port")))?;
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let pattern = match bare.parse::<IpAddr>() {
            Ok(ip) => ip.into(),
            Err(_) => HostPattern::parse(host).map_err(|error| wrong(&error.to_string()))?,
        };
        rules.add_override(pattern, Some(port), address.into());
    }
    Ok(rules)
}

/// A duration as Go's flags accept it: with a unit, or 0.
///
/// # Errors
/// If it is invalid. The message names the flag.
pub fn positive_time(flag: &str, text: &str) -> Result<Duration, String> {
    plimsoll_units::duration::parse_with_unit(text)
        .map_err(|error| format!("{flag}={text}: {error}"))
}

/// Splits `NAME: VALUE`.
///
/// # Errors
/// If it is invalid. The message names the flag.
pub fn header(flag: &str, line: &str) -> Result<(String, String), String> {
    let (name, value) = line.split_once(':').ok_or_else(|| {
        format!("{flag} \"{line}\": write it as NAME: VALUE, like \"Accept: text/plain\"")
    })?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// `-1` for the whole body, or a number of bytes with or without a unit. As in vegeta, units are powers of 1024.
///
/// # Errors
/// If it is neither.
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

/// Only so that a test can check where a rule leads.
#[cfg(test)]
fn parse_target(connect_to: &str) -> Option<(std::net::IpAddr, Option<u16>)> {
    let rules = rules(&[connect_to.to_owned()]).ok()?;
    rules
        .lookup("example.com", 80)
        .map(|target| (target.ip, target.port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_mapped_to_other_addresses() {
        let to = parse_target("example.com:80:127.0.0.1:8080").unwrap();
        assert_eq!(to, ("127.0.0.1".parse().unwrap(), Some(8080)));
        let to = parse_target("example.com:80:[::1]:8080").unwrap();
        assert_eq!(to, ("::1".parse().unwrap(), Some(8080)));
        assert_eq!(parse_target("example.com:81:127.0.0.1:8080"), None);
        let output = rules(&["a:1:b".to_owned()]).unwrap_err();
        assert!(output.contains("two addresses"), "{output}");
    }

    #[test]
    fn name_servers_have_a_port_or_the_default_one() {
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
                read(wrong).unwrap_err().contains("is not an address"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn fields_for_a_proxy_are_checked() {
        assert!(proxy_fields(&["X-A: b".to_owned()]).is_ok());
        for wrong in ["X-A", "X-A: b\r\nX-B: c", ": b"] {
            let output = proxy_fields(&[wrong.to_owned()]).unwrap_err();
            assert!(output.starts_with("-proxy-header"), "{output}");
        }
    }

    #[test]
    fn bodies_are_kept_up_to_the_limit() {
        assert_eq!(body_limit("-1"), Ok(BodyLimit::None));
        assert_eq!(body_limit("0"), Ok(BodyLimit::Cut(0)));
        assert_eq!(body_limit("4kb"), Ok(BodyLimit::Cut(4096)));
        for wrong in ["", "-2", "1.5MB", "5x", "99999999999GB"] {
            assert!(body_limit(wrong).is_err(), "{wrong}");
        }
    }
}
