//! The translation of a file: reads it, sends its requests twice for comparison, writes the script, and runs it once.

use std::path::Path;

use crate::captured::Captured;
use crate::correlate::{by_captured, by_recording};
use crate::formats::{Format, read};
use crate::journey::Journey;
use crate::not_created::NotCreated;
use crate::script::{Purpose, write};
use crate::settings::Settings;
use crate::{child, new_file};

/// Maximum number of comparisons per import.
const MAX_ROUNDS: usize = 4;
/// Maximum number of problems to print. The script lists more of them.
const MAX_PROBLEMS: usize = 20;

/// The file to translate, and the settings for that.
#[derive(Clone, Copy, Debug)]
pub struct Translation<'a> {
    pub format: Format,
    /// The name of the source, for messages.
    pub source: &'a str,
    /// The contents of the source.
    pub text: &'a str,
    /// The server to use instead of the one in the source.
    pub url: Option<&'a str>,
    /// Hosts of other sites to include.
    pub hosts: &'a [String],
    /// The file to write.
    pub file: &'a Path,
    /// Whether to overwrite the file.
    pub force: bool,
    /// Whether to skip the comparison and the smoke run.
    pub no_smoke: bool,
}

/// A new script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    /// The message for the user.
    pub message: String,
    /// Whether its smoke run failed.
    pub is_failed: bool,
}

/// Reads the source, writes the script and runs it once. `say` receives messages meanwhile.
///
/// # Errors
/// Why no script was created, and how to fix it.
pub fn translate(what: &Translation<'_>, say: &mut dyn FnMut(&str)) -> Result<Created, NotCreated> {
    let (source, file, format) = (what.source, what.file, what.format);
    let server = what.url.map(server).transpose();
    let settings = Settings {
        server: server.map_err(NotCreated::Argument)?,
        hosts: what.hosts.to_vec(),
    };
    let mut journey = read(format, what.text, &settings).map_err(|error| {
        NotCreated::Source(format!(
            "cannot read {source} as {}: {error}",
            format.name()
        ))
    })?;
    by_recording(&mut journey);
    let command = format!("plimsoll new --from {} {source}", format.name());
    if let (Some(url), false) = (what.url, what.no_smoke) {
        say(&format!(
            "Sending the requests twice to {url}, to find values that differ"
        ));
        // With a token, further requests succeed, and their responses contain further values.
        for _ in 0..MAX_ROUNDS {
            if compare(&mut journey, &command)? == 0 {
                break;
            }
        }
    }
    let script = write(&journey, &command, Purpose::Keep);
    new_file::write(file, &script, what.force)?;
    for problem in journey.problems.iter().take(MAX_PROBLEMS) {
        say(&format!("not translated: {problem}"));
    }
    let more = journey.problems.len().saturating_sub(MAX_PROBLEMS);
    if more > 0 {
        say(&format!("… and {more} more; the script lists them"));
    }
    let mut message = described(&journey, file);
    let shown = file.display();
    if what.no_smoke {
        message.push_str(&format!(
            "\nIt was not run. Run it with: plimsoll run {shown}"
        ));
        return Ok(Created {
            message,
            is_failed: false,
        });
    }
    say(&format!(
        "Smoke run: one user, once, against {} (skip it with --no-smoke)",
        journey.base
    ));
    let checks = child::smoke(file)?;
    let wanted = u64::try_from(journey.requests.len()).unwrap_or(u64::MAX);
    // If a value that an iteration needs is missing, the iteration ends before its last request.
    let is_failed = checks.passed < wanted;
    match is_failed {
        false => message.push_str(&format!(
            "\nThe smoke run passed: {} checks. Run it with: plimsoll run {shown}",
            checks.passed
        )),
        true => {
            message.push_str(&format!(
                "\nThe smoke run failed: {} of {wanted} checks passed. Change the script, and run it with: plimsoll run {shown}",
                checks.passed
            ));
            for check in checks.failed.iter().take(MAX_PROBLEMS) {
                message.push_str(&format!("\n  failed: {check}"));
            }
            for line in &checks.messages {
                message.push_str(&format!("\n  {line}"));
            }
        }
    }
    Ok(Created { message, is_failed })
}

/// The origin of a URL without a path.
fn server(url: &str) -> Result<String, String> {
    let origin = url.trim_end_matches('/');
    let host = origin.split_once("://").map_or(origin, |(_, host)| host);
    match host.contains(['/', '?', '#']) {
        true => Err(format!(
            "{url}: with --from, the URL is that of the server, without a path; paths are in the file"
        )),
        false => Ok(origin.to_owned()),
    }
}

/// Runs the journey twice and extracts the values that differ. Returns their number.
fn compare(journey: &mut Journey, command: &str) -> Result<usize, String> {
    let folder = child::Scratch::new()?;
    let script = folder.0.join("capture.js");
    let output = folder.0.join("responses.jsonl");
    let text = write(journey, command, Purpose::Capture);
    new_file::write(&script, &text, false)?;
    child::capture(&script, &output)?;
    let captured = child::read(&output);
    let captured = Captured::parse(&String::from_utf8_lossy(&captured));
    Ok(by_captured(journey, &captured))
}

fn described(journey: &Journey, file: &Path) -> String {
    let count = |number: usize, what: &str| match number {
        1 => format!("1 {what}"),
        number => format!("{number} {what}s"),
    };
    let mut text = format!(
        "New script created: {}: {}",
        file.display(),
        count(journey.requests.len(), "request")
    );
    let groups = journey.groups().len();
    if groups > 0 {
        text.push_str(&format!(" in {}", count(groups, "group")));
    }
    for request in &journey.requests {
        for extract in &request.extracts {
            // The name comes last, because a word after `bearer` would be treated as a secret.
            let (place, label) = (&extract.place, request.label());
            text.push_str(&format!(
                "\n  {place} of {label} gives {}",
                extract.variable
            ));
        }
    }
    text
}
