//! `plimsoll new --from FORMAT FILE`: a script from a recording or a description.

use std::path::Path;

use plimsoll_import::{Captured, Format, Journey, Purpose, Settings};
use plimsoll_terminal::messages::say;

use super::{Created, child};
use crate::args::NewArgs;

/// Most comparisons of one import.
const MOST_ROUNDS: usize = 4;
/// Most problems that are printed. The script lists more.
const MOST_PROBLEMS: usize = 20;

/// Reads the source, writes the script and runs it once.
pub(super) fn create(
    args: &NewArgs,
    from: &[String],
    url: Option<&str>,
    file: &Path,
) -> Result<Created, String> {
    let [format, source] = from else {
        return Err("--from takes a format and a file".to_owned());
    };
    let format = Format::named(format).ok_or_else(|| unknown(format))?;
    let server = url.map(server).transpose()?;
    let text = text_of(source).map_err(|error| format!("cannot read {source}: {error}"))?;
    let settings = Settings {
        server,
        hosts: args.host.clone(),
    };
    let mut journey = plimsoll_import::read(format, &text, &settings)
        .map_err(|error| format!("cannot read {source} as {}: {error}", format.name()))?;
    plimsoll_import::by_recording(&mut journey);
    let command = format!("plimsoll new --from {} {source}", format.name());
    if let (Some(url), false) = (url, args.no_smoke) {
        say(&format!(
            "Sending the requests twice to {url}, to find values that differ"
        ));
        // With a token, further requests succeed, whose responses have further values.
        for _ in 0..MOST_ROUNDS {
            if compare(&mut journey, &command)? == 0 {
                break;
            }
        }
    }
    let script = plimsoll_import::write(&journey, &command, Purpose::Keep);
    super::write(file, &script, args.force)?;
    for problem in journey.problems.iter().take(MOST_PROBLEMS) {
        say(&format!("not translated: {problem}"));
    }
    let more = journey.problems.len().saturating_sub(MOST_PROBLEMS);
    if more > 0 {
        say(&format!("… and {more} more; the script lists them"));
    }
    let mut message = described(&journey, file);
    let shown = file.display();
    if args.no_smoke {
        message.push_str(&format!(
            "\nIt was not run. Run it with: plimsoll run {shown}"
        ));
        return Ok(Created {
            message,
            is_failed: false,
        });
    }
    say(&format!(
        "Smoke run: one user, once, against {} (--no-smoke leaves it out)",
        journey.base
    ));
    let checks = child::smoke(file)?;
    let wanted = u64::try_from(journey.requests.len()).unwrap_or(u64::MAX);
    // Without a value that it needs, an iteration ends before its last request.
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
            for check in checks.failed.iter().take(MOST_PROBLEMS) {
                message.push_str(&format!("\n  failed: {check}"));
            }
            for line in &checks.messages {
                message.push_str(&format!("\n  {line}"));
            }
        }
    }
    Ok(Created { message, is_failed })
}

fn unknown(format: &str) -> String {
    let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
    format!("--from {format}: use one of {}", names.join(", "))
}

/// The server of a URL without a path.
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

fn text_of(source: &str) -> Result<String, String> {
    let bytes = match source {
        "-" => plimsoll_script::read_stream(std::io::stdin().lock()),
        path => plimsoll_script::read_file(path.as_ref()),
    };
    let bytes = bytes.map_err(|error| error.to_string())?;
    // JMeter and Windows write a byte order mark.
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
}

/// Runs the journey twice, extracts the values that differ, and returns their number.
fn compare(journey: &mut Journey, command: &str) -> Result<usize, String> {
    let folder = child::Scratch::new()?;
    let script = folder.0.join("capture.js");
    let output = folder.0.join("responses.jsonl");
    let text = plimsoll_import::write(journey, command, Purpose::Capture);
    super::write(&script, &text, false)?;
    child::capture(&script, &output)?;
    let captured = plimsoll_script::read_file(&output).unwrap_or_default();
    let captured = Captured::parse(&String::from_utf8_lossy(&captured));
    Ok(plimsoll_import::by_captured(journey, &captured))
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
            // The name comes last: a word after `bearer` would be taken for a secret.
            let (place, label) = (&extract.place, request.label());
            text.push_str(&format!(
                "\n  {place} of {label} gives {}",
                extract.variable
            ));
        }
    }
    text
}
