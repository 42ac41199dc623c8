//! `plimsoll audit`: files in, findings out.

use std::io::Read;
use std::path::Path;

use plimsoll_audit::{Audit, LARGEST, Level, formats};
use plimsoll_terminal::messages;

use crate::args::{AuditArgs, AuditFormat};
use crate::exit::Exit;

pub fn audit(args: &AuditArgs) -> Exit {
    let mut audits: Vec<Audit> = Vec::new();
    let mut unreadable = false;
    for path in &args.files {
        let name = path.to_string_lossy();
        let read = text_of(path)
            .and_then(|text| plimsoll_audit::audit(&name, &text).map_err(|why| why.to_string()));
        match read {
            Ok(audit) => audits.push(audit),
            Err(why) => {
                unreadable = true;
                messages::complain(&format!("{name}: {why}"));
            }
        }
    }
    let text = match args.format {
        AuditFormat::Text => formats::text(&audits),
        AuditFormat::Json => formats::json(&audits),
        AuditFormat::Markdown => formats::markdown(&audits),
        AuditFormat::Github => formats::github(&audits),
        AuditFormat::Sarif => formats::sarif(&audits, env!("CARGO_PKG_VERSION")),
    };
    if !audits.is_empty() || args.format != AuditFormat::Text {
        messages::put(text.as_bytes());
    }
    let found = audits
        .iter()
        .flat_map(|audit| &audit.findings)
        .any(|finding| finding.level > Level::Note);
    match (unreadable, found) {
        (true, _) => Exit::UNREADABLE,
        (false, true) => Exit::FINDINGS,
        (false, false) => Exit::SUCCESS,
    }
}

/// A file's text, never more than what is audited; invalid UTF-8 is replaced.
fn text_of(path: &Path) -> Result<String, String> {
    let most = LARGEST as u64 + 1;
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(most).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes))
    };
    read.map_err(|error| format!("cannot be read: {error}"))?;
    // Text from a spreadsheet or a shell may begin with a byte order mark.
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}
