//! What scenarios with an arrival process were supposed to send, and what they sent.

/// What a scenario with an arrival process sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrivals {
    /// The name of the scenario.
    pub scenario: String,
    /// The requested process, in the notation of flags.
    pub process: String,
    /// The parameters of the requested process.
    pub requested: Requested,
}

/// A requested arrival process.
#[derive(Clone, Debug, PartialEq)]
pub enum Requested {
    /// The times of a trace, whatever their distribution. The send lag shows how exactly the run
    /// reproduced them.
    Times,
    /// Independent gaps that follow a gamma distribution with mean 1.
    Gaps {
        /// The shape of the distribution, greater than 0. It is 1 for independent users.
        shape: f64,
        /// Whether arrivals occur only during parts of the time.
        in_bursts: bool,
        /// A sample of the gaps between sent arrivals, as several series.
        sent: Vec<Vec<ArrivalGap>>,
    },
}

/// The gap between two arrivals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArrivalGap {
    /// The number of requested gaps that it covers, at least 1.
    pub places: u64,
    /// The length in mean gaps.
    pub length: f64,
}
