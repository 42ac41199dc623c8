//! A finding: a conclusion with its figures and its calculation.

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Good to know, or not decidable from the printed figures.
    Note,
    /// The figure is correct but does not mean what it seems to.
    Warning,
    /// The figure contradicts itself or its description.
    Error,
}

impl Level {
    pub fn name(self) -> &'static str {
        match self {
            Level::Note => "note",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

/// One finding of the audit.
#[derive(Clone, Debug)]
pub struct Finding {
    pub rule: &'static str,
    pub level: Level,
    pub file: String,
    pub line: usize,
    /// The number of its block, counted from 1.
    pub block: Option<usize>,
    /// The error, in one sentence.
    pub conclusion: &'static str,
    /// The figures as printed.
    pub evidence: String,
    /// The calculation, which anyone can repeat.
    pub arithmetic: String,
    /// How to fix it.
    pub advice: String,
}
