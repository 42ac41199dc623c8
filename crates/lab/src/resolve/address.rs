//! The address of a process that is already running, from its URL.

use super::process::ProcessKind;

/// Parses the host and the port of a URL, or of an address without a scheme.
///
/// # Errors
/// A sentence that states what is missing and how to write it.
pub fn address_of(kind: ProcessKind, url: &str) -> Result<String, String> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let wrong = |why: &str| {
        Err(format!(
            "\"{url}\" {why}; write it as http://127.0.0.1:8080"
        ))
    };
    if host.is_empty() || host.starts_with(':') || host.contains(char::is_whitespace) {
        return wrong("has no host");
    }
    if !host.ends_with(']')
        && let Some((_, port)) = host.rsplit_once(':')
    {
        return match port.parse::<u16>() {
            Ok(_) => Ok(host.to_owned()),
            Err(_) => wrong("has no valid port"),
        };
    }
    let port = match (kind, scheme.to_ascii_lowercase().as_str()) {
        (ProcessKind::Postgres, _) => 5432,
        (ProcessKind::Redis, _) => 6379,
        (_, "http" | "ws") => 80,
        (_, "https" | "wss") => 443,
        _ => return wrong("has no port"),
    };
    Ok(format!("{host}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_that_of_the_scheme_unless_the_url_has_one() {
        for (kind, url, address) in [
            (ProcessKind::Command, "http://h", "h:80"),
            (ProcessKind::Command, "https://me@h/path", "h:443"),
            (ProcessKind::Command, "http://[::1]", "[::1]:80"),
            (ProcessKind::Command, "http://[::1]:8080?x", "[::1]:8080"),
            (ProcessKind::Command, "127.0.0.1:50051", "127.0.0.1:50051"),
            (ProcessKind::Postgres, "postgres://me:pw@h/db", "h:5432"),
            (ProcessKind::Redis, "redis://h", "h:6379"),
        ] {
            assert_eq!(address_of(kind, url).as_deref(), Ok(address), "{url}");
        }
        for (url, why) in [
            ("", "no host"),
            ("http://", "no host"),
            ("http://:80", "no host"),
            ("h", "no port"),
            ("ftp://h", "no port"),
            ("http://h:x", "no valid port"),
        ] {
            let error = address_of(ProcessKind::Command, url).unwrap_err();
            assert!(error.contains(why), "{url}: {error}");
        }
    }
}
