//! What the audit says: a claim with its figures and its arithmetic.

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Worth knowing, or not decidable from what is printed.
    Note,
    /// The figure is true but does not mean what it seems to.
    Warning,
    /// The figure contradicts itself or what is said of it.
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

/// One claim of the audit.
#[derive(Clone, Debug)]
pub struct Finding {
    pub rule: &'static str,
    pub level: Level,
    pub file: String,
    pub line: usize,
    /// The number of the block that the finding belongs to, counted from 1.
    pub block: Option<usize>,
    /// What is wrong, in one sentence.
    pub conclusion: &'static str,
    /// The figures, quoted as they were printed.
    pub evidence: String,
    /// What follows from them, as anyone can compute again.
    pub arithmetic: String,
    /// What to do.
    pub advice: String,
}
