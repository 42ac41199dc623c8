//! Checks load-test reports for errors and contradictions. Reads the output of load-testing tools,
//! either alone or inside a Markdown document, and reports each error with its figures and its
//! calculation.
//!
//! The crate has no side effects besides reading the given file: text in, findings out. [`audit`]
//! reads one file; [`formats`] renders the result. Malformed input cannot make it fail: it ignores
//! lines that it does not recognize.

pub mod block;
mod document;
mod finding;
pub mod formats;
mod html;
mod line;
mod pattern;
mod quantity;
mod readers;
mod records;
mod report;
mod rules;

use std::io::Read;
use std::path::Path;

pub use block::Block;
pub use finding::{Finding, Level};
pub use rules::RULES;

/// Maximum size of a file, in bytes. Real reports are far smaller.
pub const MAX_FILE_SIZE: usize = 32 << 20;

/// Maximum number of results in one file, because each result is compared with every other one.
pub const MAX_BLOCKS: usize = 1000;

/// The findings for one file.
#[derive(Debug)]
pub struct Audit {
    pub file: String,
    pub findings: Vec<Finding>,
    pub blocks: Vec<Block>,
    /// The number of tables with figures, not counting tool output.
    pub tables: usize,
    /// The number of lists with figures.
    pub lists: usize,
}

/// The reason why a file could not be audited.
#[derive(Debug, PartialEq, Eq)]
pub enum Unreadable {
    TooLarge,
    /// The file has too many results to compare each with every other one.
    TooManyBlocks,
    /// The file has no output of a known tool and no table of results.
    NoBlock,
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Unreadable::TooLarge => write!(
                formatter,
                "larger than {} MiB; audit the summary, not the samples",
                MAX_FILE_SIZE >> 20
            ),
            Unreadable::TooManyBlocks => write!(
                formatter,
                "more than {MAX_BLOCKS} results in one file; split it"
            ),
            Unreadable::NoBlock => write!(
                formatter,
                "no output of k6, vegeta, iperf3, wrk, wrk2, oha, hey, ab, ghz, h2load, bombardier, autocannon, drill, gcannon, zrk, JMeter or Locust was found in it"
            ),
        }
    }
}

/// Audits a file, or stdin for `-`. Invalid UTF-8 is replaced.
///
/// Returns an error if the file cannot be read or contains no result.
pub fn audit_file(path: &Path) -> Result<Audit, String> {
    let limit = MAX_FILE_SIZE as u64 + 1;
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes))
    };
    read.map_err(|error| format!("cannot be read: {error}"))?;
    // Files saved by a spreadsheet or a shell may begin with a byte order mark.
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}');
    audit(&path.to_string_lossy(), text).map_err(|why| why.to_string())
}

/// Parses the text of a file and applies every rule. `file` is the name to use in findings.
pub fn audit(file: &str, text: &str) -> Result<Audit, Unreadable> {
    if text.len() > MAX_FILE_SIZE {
        return Err(Unreadable::TooLarge);
    }
    let page = html::to_markdown(text);
    let text = page.as_deref().unwrap_or(text);
    let report = report::Report::read(file, text);
    if report.blocks.len() > MAX_BLOCKS {
        return Err(Unreadable::TooManyBlocks);
    }
    let grids = records::Grids::from_report(&report);
    if report.blocks.is_empty() && !grids.has_results() && !rules::are_stated(&report) {
        return Err(Unreadable::NoBlock);
    }
    let mut findings = report::Findings::new(&report);
    rules::check(&report, &grids, &mut findings);
    let mut findings = findings.found;
    findings.sort_by(|one, other| (one.line, one.rule).cmp(&(other.line, other.rule)));
    Ok(Audit {
        file: file.to_owned(),
        findings,
        tables: grids.tables.len(),
        lists: grids.lists.len(),
        blocks: report.blocks,
    })
}
