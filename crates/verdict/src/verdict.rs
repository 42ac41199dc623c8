use serde::Serialize;

/// Whether a run's results can be trusted, and the evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// How far the results can be trusted.
    pub level: Level,
    /// The evidence, one sentence with numbers each: the problems found or, for a valid run, what
    /// was checked.
    pub reasons: Vec<Reason>,
    /// Whether other programs of the machine or its hypervisor disturbed the run. Another run may not be disturbed; this
    /// does not depend on the load or the service.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub disturbed: bool,
}

/// One piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// The cause.
    pub cause: Cause,
    /// A sentence with numbers.
    pub text: String,
}

/// How far results can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// No problem was found.
    Valid,
    /// They may describe the generator or the machine as much as the server.
    Suspect,
    /// They do not describe the server.
    Invalid,
}

/// The cause of what was observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    /// The generator, or the machine it runs on.
    Client,
    /// The system under test.
    Server,
    /// The network between them.
    Network,
    /// The clock used for all measurements.
    Clock,
}
