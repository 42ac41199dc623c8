use serde::Serialize;

/// Whether a run's figures can be believed, and by what evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// How far the figures can be believed.
    pub level: Level,
    /// What was seen, each a sentence with its figures: what speaks against
    /// the run, or, for a valid one, what was looked at.
    pub reasons: Vec<Reason>,
}

/// One piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// Who is to blame.
    pub cause: Cause,
    /// A sentence with its figures.
    pub text: String,
}

/// How far figures can be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Nothing speaks against them.
    Valid,
    /// They may be about the generator or the machine as much as the server.
    Suspect,
    /// They are not about the server.
    Invalid,
}

/// Where what was seen comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    /// The generator, or the machine it runs on.
    Client,
    /// The system under test.
    Server,
    /// What lies between them.
    Network,
    /// The clock that both are measured by.
    Clock,
}
