//! A finding: a conclusion with its evidence and its calculation.

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Useful to know, or impossible to decide from the printed figures.
    Note,
    /// The figure is correct but misleading.
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
    /// The number of the block, counted from 1.
    pub block: Option<usize>,
    /// The error, in one sentence.
    pub conclusion: &'static str,
    /// The figures as printed.
    pub evidence: String,
    /// The calculation, so that a reader can repeat it.
    pub arithmetic: String,
    /// How to fix it.
    pub advice: String,
}
