//! `plimsoll lab new`: a lab for a service, which the lab starts or which is already running.

use std::path::{Path, PathBuf};

use plimsoll_http::Url;
use plimsoll_lab::file::Document;
use plimsoll_lab::{Lab, Which};
use plimsoll_terminal::messages::say;
use plimsoll_terminal::prompt;

use crate::args::LabNewArgs;
use crate::new::{PAYLOAD, write};

/// Writes the lab file, unless one is there already.
///
/// # Errors
/// What is wrong, and how to fix it.
pub fn new(args: &LabNewArgs) -> Result<(), String> {
    let file = match args.file.is_dir() {
        true => args.file.join(plimsoll_lab::file::NAME),
        false => args.file.clone(),
    };
    if file.exists() && !args.force {
        return Err(crate::new::exists(&file));
    }
    let (command, url) = match (&args.command, &args.url) {
        (None, None) => {
            let question = "URL of a running service, or the command that starts one, with {port}";
            let reply = prompt::ask(question, PAYLOAD);
            match reply.contains("://") {
                true => (None, Some(reply)),
                false => (Some(reply), None),
            }
        }
        (command, url) => (command.clone(), url.clone()),
    };
    let system = match (&command, &url) {
        (Some(command), _) => System::command(command, args.port)?,
        (None, url) => System::running(url.as_deref().unwrap_or(PAYLOAD))?,
    };
    let text = text(&system, &file);
    check(&file, &text)?;
    write(&file, &text, args.force)?;
    let shown = file.display();
    say(&format!(
        "New lab created: {shown}. Run it with: plimsoll lab run {shown} --quick"
    ));
    if url.as_deref().unwrap_or(PAYLOAD) == PAYLOAD && command.is_none() {
        say(&format!(
            "It measures {PAYLOAD}. For a server there: plimsoll serve payload"
        ));
    }
    Ok(())
}

/// What is measured.
struct System {
    /// How people call it.
    title: String,
    /// The lines of its table.
    lines: String,
    /// The path and the query of what is requested.
    path: String,
}

impl System {
    fn command(command: &str, port: Option<u16>) -> Result<System, String> {
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
                    "the command does not say where the port of the service goes: write {{port}} in it, \
                     which is a free port, or add the port that it uses: --command {} --port 8080",
                    quoted(command)
                ));
            }
        }
        lines.push_str(
            "directory = \"{lab}\"                    # where it runs: next to this file\n",
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

    fn running(text: &str) -> Result<System, String> {
        let url = Url::parse(text).map_err(|error| error.to_string())?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_empty() {
            return Err(format!(
                "{text} is not the URL of an HTTP server, such as http://127.0.0.1:8080/"
            ));
        }
        let origin = format!("{}://{}", url.scheme(), url.authority());
        Ok(System {
            title: url.authority().to_owned(),
            lines: format!(
                "# It is already running: the lab does not start, restart or observe it.\nurl = {}\n",
                quoted(&braces(&origin))
            ),
            path: braces(url.target()),
        })
    }
}

/// A string of TOML. JSON's escapes are among those of TOML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Text whose braces are not variables.
fn braces(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

fn text(system: &System, file: &Path) -> String {
    let title = quoted(&format!("{} under load", system.title));
    let request = quoted(&format!("{{service.url}}{}", system.path));
    let lines = &system.lines;
    let shown = file.display();
    format!(
        "# A lab: what is measured, how, and the question. All keys: docs/lab.md of Plimsoll.
#   plimsoll lab plan {shown}          every cell and effective value; runs nothing
#   plimsoll lab run {shown} --quick   a minute, to see that it works
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

/// Reads the lab as `plimsoll lab run` will.
fn check(file: &Path, text: &str) -> Result<(), String> {
    let absolute = std::path::absolute(file).unwrap_or_else(|_| PathBuf::from(file));
    let problems = Document::of_text(&absolute, text)
        .and_then(|document| Lab::of(document, Which::Standard).map(drop));
    problems.map_err(|problems| {
        let first = problems
            .first()
            .map_or_else(String::new, ToString::to_string);
        format!("the lab would not be valid: {first}")
    })
}
