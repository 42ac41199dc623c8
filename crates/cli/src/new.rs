//! `plimsoll new`: a script to start from.

mod child;
mod imported;

use std::io::Write;
use std::path::{Path, PathBuf};

use plimsoll_http::Url;
use plimsoll_terminal::messages::{complain, say};
use plimsoll_terminal::prompt;

use crate::args::NewArgs;
use crate::exit::Exit;

const MINIMAL: &str = include_str!("../templates/minimal.js");
const PROTOCOL: &str = include_str!("../templates/protocol.js");
/// What the built-in templates load: the address of `plimsoll serve payload`.
pub const PAYLOAD: &str = "http://127.0.0.1:10080/";
/// The file of a new script.
const SCRIPT: &str = "script.js";

/// Writes the file, unless one is there already.
pub fn new(args: &NewArgs) -> Exit {
    match create(args) {
        Ok(Created { message, is_failed }) => {
            say(&message);
            match is_failed {
                true => Exit::SOME_FAILED,
                false => Exit::SUCCESS,
            }
        }
        Err(message) => {
            complain(&message);
            Exit::GENERIC
        }
    }
}

/// A new script.
struct Created {
    message: String,
    /// Whether the run of an imported script failed.
    is_failed: bool,
}

fn create(args: &NewArgs) -> Result<Created, String> {
    let (url, file) = places(args)?;
    // The question comes only when a script can be written.
    if !args.force && file.exists() {
        return Err(exists(&file));
    }
    if let Some(from) = &args.from {
        return imported::create(args, from, url.as_deref(), &file);
    }
    let (text, target) = match args.template.as_str() {
        "minimal" => built_in(MINIMAL, url.as_deref())?,
        "protocol" => built_in(PROTOCOL, url.as_deref())?,
        path if url.is_some() => {
            return Err(format!(
                "the template {path} is copied unchanged, so a URL has no effect; leave it out"
            ));
        }
        path => {
            let text = plimsoll_script::read_text_file(path.as_ref()).map_err(|error| {
                format!("cannot read the template {path}: {error}; the built-in ones are minimal and protocol")
            })?;
            (text, None)
        }
    };
    write(&file, &text, args.force)?;
    let shown = file.display();
    let mut message = format!("New script created: {shown}. Run it with: plimsoll run {shown}");
    match target.as_deref() {
        Some(PAYLOAD) => {
            message.push_str(&format!(
                "\nIt loads {PAYLOAD}. For a server there: plimsoll serve payload"
            ));
        }
        Some(target) => message.push_str(&format!("\nIt loads {target}")),
        None => {}
    }
    Ok(Created {
        message,
        is_failed: false,
    })
}

/// The URL, if given, and the file. A single argument is the URL if it looks like one, and the file
/// otherwise, as in `k6 new FILE`.
fn places(args: &NewArgs) -> Result<(Option<String>, PathBuf), String> {
    Ok(match (args.url.as_deref(), &args.file) {
        (None, _) => (None, SCRIPT.into()),
        (Some(url), Some(file)) => (Some(complete(url)?), file.clone()),
        (Some(url), None) if is_url(url) => (Some(complete(url)?), SCRIPT.into()),
        (Some(file), None) => (None, file.into()),
    })
}

/// Whether a text starts with a scheme, or with a host and a port.
fn is_url(text: &str) -> bool {
    let authority = text.split(['/', '?', '#']).next().unwrap_or_default();
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    text.contains("://")
        || authority
            .rsplit_once(':')
            .is_some_and(|(_, port)| is_port(port))
}

/// The URL with its scheme.
fn complete(text: &str) -> Result<String, String> {
    let text = match text.contains("://") {
        true => text.to_owned(),
        false => format!("http://{text}"),
    };
    let url = Url::parse(&text).map_err(|error| error.to_string())?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_empty() {
        return Err(format!(
            "{text} is not the URL of an HTTP server, such as http://127.0.0.1:8080/"
        ));
    }
    Ok(text)
}

/// A built-in template for `url`, or for the URL that the user enters; and that URL.
fn built_in(template: &str, url: Option<&str>) -> Result<(String, Option<String>), String> {
    let url = match url {
        Some(url) => url.to_owned(),
        None => complete(&prompt::ask("URL to load", PAYLOAD))?,
    };
    let text = template.replace(&format!("'{PAYLOAD}'"), &quoted(&url));
    Ok((text, Some(url)))
}

/// The text as a string of JavaScript.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// Writes a file, unless one is there already and `force` is not set.
///
/// # Errors
/// The message for the user.
pub fn write(file: &Path, text: &str, force: bool) -> Result<(), String> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true);
    if force {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    let written = options
        .open(file)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => exists(file),
        _ => format!("cannot write {}: {error}", file.display()),
    })
}

/// The message about a file that is kept.
pub fn exists(file: &Path) -> String {
    format!(
        "{} already exists; give --force to write over it",
        file.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_argument_is_a_url_or_a_file() {
        for url in [
            "http://127.0.0.1/",
            "https://[::1]:8443/a?b=c",
            "localhost:8080",
            "[::1]:80/path",
        ] {
            assert!(is_url(url), "{url}");
            complete(url).unwrap();
        }
        for file in ["script.js", "tests/a.js", "c:script.js", "a", "-", "x:"] {
            assert!(!is_url(file), "{file}");
        }
        for wrong in ["ftp://host/", "http://", "http://a b/", "http://h:x/"] {
            assert!(complete(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_url_is_quoted() {
        let (text, _) = built_in(MINIMAL, Some("http://h/it's\\")).unwrap();
        assert!(text.contains(r"|| 'http://h/it\'s\\';"), "{text}");
        assert!(!text.contains(PAYLOAD));
    }
}
