//! What was requested of scenarios with an arrival process, and what they sent.

/// What a scenario with an arrival process sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrivals {
    /// The scenario's name.
    pub scenario: String,
    /// The requested process, as flags name it.
    pub process: String,
    /// What was requested.
    pub requested: Requested,
}

/// A requested arrival process.
#[derive(Clone, Debug, PartialEq)]
pub enum Requested {
    /// The times of a trace, whatever their distribution. The send lag shows how exactly they were kept.
    Times,
    /// Independent gaps that follow a gamma distribution with mean 1.
    Gaps {
        /// The shape of the distribution, more than 0; 1 if users are independent.
        shape: f64,
        /// Arrivals are only in a part of the time.
        in_bursts: bool,
        /// A sample of those that were sent, series by series.
        sent: Vec<Vec<ArrivalGap>>,
    },
}

/// The gap between two arrivals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArrivalGap {
    /// The number of requested gaps in it, at least 1.
    pub places: u64,
    /// The length, in mean gaps.
    pub length: f64,
}
