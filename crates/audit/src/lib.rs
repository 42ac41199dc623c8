//! Is this figure true? Reads what load tools print, alone or in a Markdown document,
//! and says what does not hold, each time with the figures and the arithmetic.
//!
//! Pure: text in, findings out. [`audit`] reads one file; [`formats`] write the result.
//! Nothing here fails on hostile text: a line that is not understood is not a figure.

pub mod block;
mod document;
mod finding;
pub mod formats;
mod quantity;
mod readers;
mod report;
mod rules;

pub use block::Block;
pub use finding::{Finding, Level};
pub use rules::RULES;

/// The largest file that is read, in bytes; reports are far smaller.
pub const LARGEST: usize = 32 << 20;

/// The most results that are read from one file; each is held against every other.
pub const MOST_BLOCKS: usize = 1000;

/// What was found in one file.
#[derive(Debug)]
pub struct Audit {
    pub file: String,
    pub findings: Vec<Finding>,
    pub blocks: Vec<Block>,
}

/// Why a file has no result.
#[derive(Debug, PartialEq, Eq)]
pub enum Unreadable {
    TooLarge,
    /// More blocks than are held against each other.
    TooManyBlocks,
    /// Nothing of any tool that is known.
    NoBlock,
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Unreadable::TooLarge => write!(
                formatter,
                "larger than {} MiB; give the summary, not the samples",
                LARGEST >> 20
            ),
            Unreadable::TooManyBlocks => write!(
                formatter,
                "more than {MOST_BLOCKS} results in one file; split it"
            ),
            Unreadable::NoBlock => write!(
                formatter,
                "no output of k6, vegeta, iperf3, wrk, wrk2, oha, hey, ab, ghz, h2load, bombardier, autocannon or drill was found in it"
            ),
        }
    }
}

/// Reads a file's text and applies every rule to it. `file` is its name in findings.
pub fn audit(file: &str, text: &str) -> Result<Audit, Unreadable> {
    if text.len() > LARGEST {
        return Err(Unreadable::TooLarge);
    }
    let report = report::Report::read(file, text);
    if report.blocks.len() > MOST_BLOCKS {
        return Err(Unreadable::TooManyBlocks);
    }
    if report.blocks.is_empty() {
        return Err(Unreadable::NoBlock);
    }
    let mut findings = report::Findings::new(&report);
    rules::check(&report, &mut findings);
    let mut findings = findings.found;
    findings.sort_by(|one, other| (one.line, one.rule).cmp(&(other.line, other.rule)));
    Ok(Audit {
        file: file.to_owned(),
        findings,
        blocks: report.blocks,
    })
}
