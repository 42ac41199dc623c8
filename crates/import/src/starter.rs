//! Starter scripts for a URL.

use std::path::{Path, PathBuf};

use crate::javascript::string;
use crate::url;

const MINIMAL: &str = include_str!("../templates/minimal.js");
const PROTOCOL: &str = include_str!("../templates/protocol.js");
/// The default URL of the templates: the address of `plimsoll serve payload`.
pub const PAYLOAD: &str = "http://127.0.0.1:10080/";
/// The file of a new script.
const SCRIPT: &str = "script.js";

pub fn template(name: &str) -> Option<&'static str> {
    match name {
        "minimal" => Some(MINIMAL),
        "protocol" => Some(PROTOCOL),
        _ => None,
    }
}

pub fn script(template: &str, url: &str) -> String {
    template.replace(&string(PAYLOAD), &string(url))
}

/// The URL, if any, and the file. A single argument is the URL if it looks like one, and otherwise the file, as in `k6
/// new FILE`.
///
/// # Errors
/// If the URL is not an HTTP or HTTPS URL.
pub fn places(
    first: Option<&str>,
    second: Option<&Path>,
) -> Result<(Option<String>, PathBuf), String> {
    Ok(match (first, second) {
        (None, _) => (None, SCRIPT.into()),
        (Some(url), Some(file)) => (Some(complete(url)?), file.to_owned()),
        (Some(url), None) if is_url(url) => (Some(complete(url)?), SCRIPT.into()),
        (Some(file), None) => (None, file.into()),
    })
}

/// Whether a string starts with a scheme, or with a host and a port.
fn is_url(text: &str) -> bool {
    let authority = text.split(['/', '?', '#']).next().unwrap_or_default();
    let port = authority.rsplit_once(':');
    text.contains("://") || port.is_some_and(|(_, port)| is_number(port))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The URL with its scheme.
///
/// # Errors
/// If the text is not the URL of an HTTP server.
pub fn complete(text: &str) -> Result<String, String> {
    let text = match text.contains("://") {
        true => text.to_owned(),
        false => format!("http://{text}"),
    };
    let is_valid = url::split(&text).is_some_and(|(origin, _)| {
        let authority = origin.rsplit(['/', '@']).next().unwrap_or_default();
        let port = match authority.rsplit_once(']') {
            Some((_, rest)) => rest.strip_prefix(':'),
            None => authority.split_once(':').map(|(_, port)| port),
        };
        !authority.starts_with(':') && port.is_none_or(|port| port.parse::<u16>().is_ok())
    });
    match is_valid && !text.contains(char::is_whitespace) && !text.contains(char::is_control) {
        true => Ok(text),
        false => Err(format!(
            "{text} is not the URL of an HTTP server, such as http://127.0.0.1:8080/"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_argument_is_a_url_or_a_file() {
        for url in [
            "http://127.0.0.1/",
            "https://me@[::1]:8443/a?b=c",
            "localhost:8080",
            "[::1]:80/path",
        ] {
            assert!(is_url(url), "{url}");
            complete(url).unwrap();
        }
        for file in ["script.js", "tests/a.js", "c:script.js", "a", "-", "x:"] {
            assert!(!is_url(file), "{file}");
        }
        for wrong in [
            "ftp://host/",
            "http://",
            "http://a b/",
            "http://h:x/",
            "http://h:99999/",
            "http://:80/",
        ] {
            assert!(complete(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_url_is_quoted() {
        for name in ["minimal", "protocol"] {
            let text = script(template(name).unwrap(), "http://h/it's\\");
            assert!(text.contains(r"|| 'http://h/it\'s\\';"), "{text}");
            assert!(!text.contains(PAYLOAD));
        }
    }
}
