use serde::Serialize;

/// Whether a run's results can be trusted, and the evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// How far the results can be trusted.
    pub level: Level,
    /// The evidence as sentences with numbers: the problems found, or for a valid run what was checked.
    pub reasons: Vec<Reason>,
    /// Whether other programs on the machine, or its hypervisor, disturbed the run. Such a
    /// disturbance does not depend on the load or the service, so it may be absent when the run is
    /// repeated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub disturbed: bool,
}

/// One piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reason {
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
    /// The results may reflect the generator or the machine as much as the server.
    Suspect,
    /// The results do not reflect the server.
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
    /// The network between the generator and the system under test.
    Network,
    /// The clock used for all measurements.
    Clock,
}
