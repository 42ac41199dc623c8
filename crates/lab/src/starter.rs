//! Creates a lab file to start from, for a service that the lab starts or that is already running.

use std::path::Path;

use crate::file::Document;
use crate::form::FormName;
use crate::resolve::Lab;

/// The system that a new lab measures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct System {
    /// The name that people use for it.
    title: String,
    /// The lines of its table.
    lines: String,
    /// The path and the query to request.
    path: String,
}

impl System {
    /// A service that this command starts. `{port}` in the command is replaced with its port, unless
    /// the port is fixed.
    ///
    /// # Errors
    /// If the command has no place for the port.
    pub fn command(command: &str, port: Option<u16>) -> Result<System, String> {
        let words: Vec<&str> = command.split_whitespace().collect();
        let Some(first) = words.first() else {
            return Err("the command is empty".to_owned());
        };
        let mut lines = format!("command = {}\n", quoted(command));
        match port {
            Some(port) => lines.push_str(&format!("port = {port}\n")),
            None if command.contains("{port}") => {}
            None => {
                return Err(format!(
                    "the command does not contain the port of the service: use {{port}} in it, \
                     which becomes a free port, or add the port that the service uses: --command {} --port 8080",
                    quoted(command)
                ));
            }
        }
        lines.push_str(
            "directory = \"{lab}\"                    # its working directory, which contains this file\n",
        );
        lines.push_str(
            "ready = { tcp = \"\", within = \"30s\" }   # or { http = \"/healthz\", within = \"30s\" }\n",
        );
        let name = Path::new(first).file_name();
        Ok(System {
            title: name.map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            lines,
            path: "/".to_owned(),
        })
    }

    /// A service that is already running, given by the URL to request.
    ///
    /// # Errors
    /// If it is not the URL of an HTTP server.
    pub fn running(url: &str) -> Result<System, String> {
        let rest = url
            .strip_prefix("http://")
            .or_else(|| url.strip_prefix("https://"))
            .unwrap_or_default();
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.is_empty() || url.contains(char::is_whitespace) {
            return Err(format!(
                "{url} is not the URL of an HTTP server, such as http://127.0.0.1:8080/"
            ));
        }
        let origin = url.get(..url.len() - path.len()).unwrap_or(url);
        let path = path.split('#').next().unwrap_or_default();
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(System {
            title: authority.rsplit('@').next().unwrap_or_default().to_owned(),
            lines: format!(
                "# It is already running: the lab does not start, restart or observe it.\nurl = {}\n",
                quoted(&braces(origin))
            ),
            path: format!("{slash}{}", braces(path)),
        })
    }
}

/// Formats a TOML string. The escapes of JSON are also valid in TOML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Escapes text whose braces are not variables.
fn braces(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

/// The text of a lab file for the path `file`.
///
/// # Errors
/// The first problem that `plimsoll lab run` would find in the file.
pub fn text(system: &System, file: &Path) -> Result<String, String> {
    let text = unchecked(system, file);
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let read = Document::of_text(&absolute, &text)
        .and_then(|document| Lab::of(document, FormName::Standard));
    match read {
        Ok(_) => Ok(text),
        Err(problems) => {
            let first = problems
                .first()
                .map_or_else(String::new, ToString::to_string);
            Err(format!("the lab would not be valid: {first}"))
        }
    }
}

fn unchecked(system: &System, file: &Path) -> String {
    let title = quoted(&format!("{} under load", system.title));
    let request = quoted(&format!("{{service.url}}{}", system.path));
    let lines = &system.lines;
    let shown = file.display();
    format!(
        "# A lab: the question, what is measured, and how. All keys: docs/lab.md of Plimsoll.
#   plimsoll lab plan {shown}          show every cell and effective value; run nothing
#   plimsoll lab run {shown} --quick   a run of a minute, to check that it works
#   plimsoll lab run {shown}           the measurement and its report

[lab]
title = {title}
question = \"How does latency grow with the rate of requests?\"

# Every value is a cell. With several axes, every combination is one.
[axes]
rate = [20, 50, 100]

[[system]]
name = \"service\"
{lines}
# One request. For several, or with checks: script = \"script.js\" (plimsoll new writes one).
[load]
http = {{ url = {request} }}
rate = \"{{rate}}\"
duration = \"10s\"
warmup = \"2s\"
restarts = 3

[[objective]]
metric = \"latency\"
p = 95
at-most = \"200ms\"

[forms.quick]
duration = \"3s\"
warmup = \"1s\"
restarts = 1
"
    )
}
