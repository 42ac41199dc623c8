//! Searches for the highest load that meets an objective. It has no clock and generates no load: it
//! returns the rate to try next, and receives the outcome.
//!
//! Starting from an initial rate, the search doubles or halves the rate until one rate met the
//! objective and a higher one missed it. Then it bisects this interval (on a logarithmic scale)
//! until it reaches the desired precision. A single trial near the limit is random, so the search
//! repeats both ends of the interval in random order until each had the same outcome a number of
//! times in a row. An end whose outcome varies moves outward. Finally, the search holds the lower
//! end for longer (a soak), because a queue that grows slowly does not show in a short trial.
//!
//! A trial that missed the objective because of the generator shows nothing about the service, so
//! it is repeated. If that does not help, the search continues below that rate, and the result is a
//! lower bound. The search detects a service whose limit changes in the meantime ([`Drift`]).

mod drift;

use std::collections::BTreeSet;

use crate::random::Random;

pub use drift::Drift;

/// The parameters of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitSettings {
    /// The first rate to try, per second.
    pub start: u64,
    /// The lowest and the highest rate to try.
    pub least: u64,
    pub most: u64,
    /// Maximum width of the interval, as a share of its lower end. Must be above zero.
    pub precision: f64,
    /// Repeats required at each end of the interval.
    pub repeats: u32,
    /// Maximum number of trials, including soaks.
    pub trials: u32,
    /// The random seed. Searches with equal seeds make the same choices.
    pub seed: u64,
}

/// The next step of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Try this rate for the usual duration.
    Try(u64),
    /// Hold this rate for a long duration.
    Soak(u64),
    /// The search has ended with this result.
    Done(Limit),
}

/// The outcome of a trial. `sure` means that its measurements are valid. Only such trials confirm a
/// result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The objective was met. Problems in the generator make a service look slower but never faster.
    Met { sure: bool },
    /// The objective was missed because of the service.
    Missed { sure: bool },
    /// The objective was missed, perhaps because of the generator.
    GeneratorLimit,
}

/// The result: the limit is between two rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The highest rate that met the objective in every trial, including soaks. `None` if even the
    /// lowest rate did not.
    pub kept: Option<u64>,
    /// The lowest rate above `met` that missed the objective because of the service, or `None`.
    pub broken: Option<u64>,
    /// The rate above `met` at which the generator could not load the service reliably, if that ended the search.
    pub generator: Option<u64>,
    /// How the limit drifted during the search, if it did.
    pub drift: Option<Drift>,
    /// Whether the result is confirmed: each end had its outcome as often as required in valid
    /// trials, the soak was valid and met the objective, the limit did not drift, and the generator
    /// was not the limit.
    pub confirmed: bool,
}

/// A search in progress.
#[derive(Debug)]
pub struct LimitSearch {
    settings: LimitSettings,
    /// The current interval.
    kept: Option<End>,
    broken: Option<End>,
    soak: Soak,
    /// Whether the interval is narrow enough. From then on, its ends are tried again and only move
    /// outward.
    narrowed: bool,
    /// Number of consecutive moves of the upper end.
    moved: u32,
    /// Number of consecutive moves of the lower end.
    sunk: u32,
    /// The rates that the generator could not offer. Nothing is known about higher rates.
    beyond_generator: BTreeSet<u64>,
    /// The step to repeat, and the number of consecutive trials in which the generator was the limit.
    again: Option<(Step, u32)>,
    history: Vec<Tried>,
    random: Random,
}

/// One end of the interval, and the number of consecutive trials with its outcome.
#[derive(Clone, Copy, Debug)]
struct End {
    rate: u64,
    tried: u32,
    /// Number of these trials that were valid.
    sure: u32,
}

impl End {
    /// An end that moved here and has not been tried since.
    fn untried(rate: u64) -> End {
        End {
            rate,
            tried: 0,
            sure: 0,
        }
    }

    fn tried(rate: u64, times: u32, sure: bool) -> End {
        let mut end = End::untried(rate);
        end.count(times, sure);
        end
    }

    fn count(&mut self, times: u32, sure: bool) {
        self.tried += times;
        self.sure += if sure { times } else { 0 };
    }
}

/// Whether the lower end passed a soak.
#[derive(Clone, Copy, Debug, Default)]
struct Soak {
    tried: u32,
    sure: bool,
}

/// A completed trial.
#[derive(Clone, Copy, Debug)]
struct Tried {
    rate: u64,
    soak: bool,
    outcome: Outcome,
}

/// Number of trials limited by the generator after which their rate counts as above the generator's
/// limit.
const PATIENCE: u32 = 3;
/// A search that has never met the objective gives up after this number of ever lower rates above
/// the generator's limit.
const HOPELESS: usize = 3;
/// Maximum number of invalid soaks. After that, the search ends without confirmation.
const SOAKS: u32 = 2;
/// Maximum number of consecutive moves of an end that count as noise near the limit.
const MISHAP: u32 = 3;

impl LimitSearch {
    /// Starts a search. Bounds in the wrong order are swapped.
    pub fn new(mut settings: LimitSettings) -> Self {
        settings.least = settings.least.max(1);
        settings.most = settings.most.max(settings.least);
        settings.start = settings.start.clamp(settings.least, settings.most);
        settings.precision = settings.precision.max(1e-6);
        settings.repeats = settings.repeats.max(1);
        LimitSearch {
            settings,
            kept: None,
            broken: None,
            soak: Soak::default(),
            narrowed: false,
            moved: 0,
            sunk: 0,
            beyond_generator: BTreeSet::new(),
            again: None,
            history: Vec::new(),
            random: Random::new(settings.seed),
        }
    }

    /// The next step. Another call without an outcome in between may return the other end of the
    /// interval.
    pub fn step(&mut self) -> Step {
        let LimitSettings {
            start, least, most, ..
        } = self.settings;
        if self.history.len() >= self.settings.trials as usize {
            return Step::Done(self.answer(false));
        }
        if let Some((step, _)) = self.again {
            return step;
        }
        let met_none = !self.history.iter().any(|tried| tried.met());
        if met_none && self.beyond_generator.len() >= HOPELESS {
            return Step::Done(self.answer(false));
        }
        match (self.kept, self.broken) {
            (None, None) => Step::Try(start),
            (None, Some(end)) if end.rate <= least => {
                if self.is_settled(&end) {
                    Step::Done(self.answer(true))
                } else {
                    Step::Try(least)
                }
            }
            (None, Some(end)) => Step::Try((end.rate / 2).max(least)),
            (Some(end), None) if end.rate >= most => {
                if !self.is_settled(&end) {
                    Step::Try(most)
                } else if self.is_soaked() {
                    Step::Done(self.answer(true))
                } else {
                    Step::Soak(most)
                }
            }
            (Some(end), None) => Step::Try(end.rate.saturating_mul(2).min(most)),
            (Some(low), Some(high)) => {
                match self.between(low.rate, high.rate) {
                    Some(middle) if !self.narrowed => return Step::Try(middle),
                    _ => self.narrowed = true,
                }
                match (self.is_settled(&low), self.is_settled(&high)) {
                    (false, false) if self.random.unit() < 0.5 => Step::Try(low.rate),
                    (_, false) => Step::Try(high.rate),
                    (false, true) => Step::Try(low.rate),
                    (true, true) if self.is_soaked() => Step::Done(self.answer(true)),
                    (true, true) => Step::Soak(low.rate),
                }
            }
        }
    }

    /// Records the outcome of a trial or a soak.
    pub fn record(&mut self, step: Step, outcome: Outcome) {
        let (rate, soak) = match step {
            Step::Try(rate) => (rate, false),
            Step::Soak(rate) => (rate, true),
            Step::Done(_) => return,
        };
        self.history.push(Tried {
            rate,
            soak,
            outcome,
        });
        let before = self.again.take().map_or(0, |(_, times)| times);
        // A miss in a long trial counts as much as all repeats of short ones.
        let weight = if soak { self.settings.repeats } else { 1 };
        match outcome {
            Outcome::Met { sure } => {
                // The generator offered this rate, so it can offer all lower ones.
                self.beyond_generator.retain(|beyond| *beyond > rate);
                if soak && self.kept.is_some_and(|end| end.rate == rate) {
                    self.soak.tried += 1;
                    self.soak.sure |= sure;
                } else {
                    self.keep(rate, sure);
                }
            }
            Outcome::Missed { sure } => {
                self.beyond_generator.remove(&rate);
                self.soak = Soak::default();
                self.give_up(rate, weight, sure);
            }
            Outcome::GeneratorLimit => {
                if before + 1 < PATIENCE && !self.beyond_generator.contains(&rate) {
                    self.again = Some((step, before + 1));
                    return;
                }
                self.beyond_generator.insert(rate);
                self.soak = Soak::default();
                self.give_up(rate, weight, false);
            }
        }
    }

    /// Whether an end had its outcome often enough. Trials at an end that are all invalid are not
    /// repeated forever.
    fn is_settled(&self, end: &End) -> bool {
        end.sure >= self.settings.repeats
            || end.tried >= self.settings.repeats + PATIENCE
            || self.is_beyond_generator(end)
    }

    fn is_beyond_generator(&self, end: &End) -> bool {
        end.tried > 0 && self.beyond_generator.contains(&end.rate)
    }

    fn is_soaked(&self) -> bool {
        self.soak.sure || self.soak.tried >= SOAKS
    }

    fn keep(&mut self, rate: u64, sure: bool) {
        self.sunk = 0;
        match (&mut self.kept, self.broken) {
            (Some(end), _) if end.rate == rate => end.count(1, sure),
            // The upper end varies: the limit is higher or blurred.
            (Some(_), Some(high)) if self.narrowed && high.rate == rate => {
                self.moved += 1;
                self.broken = self.further(rate).map(End::untried);
                if self.moved == MISHAP {
                    // The end was here because of a disturbance, not because of the limit, so
                    // continue the search from here.
                    (self.kept, self.broken) = (Some(End::tried(rate, 1, sure)), None);
                    (self.narrowed, self.moved) = (false, 0);
                    self.soak = Soak::default();
                }
            }
            (Some(low), _) if low.rate > rate => {}
            (kept, _) => {
                *kept = Some(End::tried(rate, 1, sure));
                self.soak = Soak::default();
            }
        }
        // The rate meets the objective now, so the limit is not below it, whatever was measured before.
        if self.broken.is_some_and(|high| high.rate <= rate) {
            self.broken = self.further(rate).map(End::untried);
        }
    }

    fn give_up(&mut self, rate: u64, weight: u32, sure: bool) {
        match (&mut self.broken, self.kept) {
            (Some(high), _) if high.rate == rate => {
                high.count(weight, sure);
                self.moved = 0;
            }
            // The lower end varies or failed the soak, so it is not a safe load.
            (broken, Some(low)) if self.narrowed && low.rate == rate => {
                if weight >= self.settings.repeats {
                    *broken = Some(End::tried(rate, weight, sure));
                }
                self.moved = 0;
                self.sunk += 1;
                self.kept = self.nearer(rate).map(End::untried);
                if self.sunk == MISHAP {
                    // The service has become slower, so earlier successes are no longer relevant.
                    self.kept = None;
                    self.broken = Some(End::tried(rate, weight, sure));
                    (self.narrowed, self.sunk) = (false, 0);
                }
            }
            (Some(high), _) if high.rate < rate => {}
            (broken, _) => *broken = Some(End::tried(rate, weight, sure)),
        }
        if self.kept.is_some_and(|low| low.rate >= rate) {
            self.kept = self.nearer(rate).map(End::untried);
        }
    }

    /// The next higher rate.
    fn further(&self, rate: u64) -> Option<u64> {
        let next = ((rate as f64 * (1.0 + self.settings.precision)).round() as u64).max(rate + 1);
        (next <= self.settings.most).then_some(next)
    }

    /// The next lower rate.
    fn nearer(&self, rate: u64) -> Option<u64> {
        let next = ((rate as f64 / (1.0 + self.settings.precision)).round() as u64)
            .min(rate.saturating_sub(1));
        (next >= self.settings.least).then_some(next)
    }

    /// The geometric mean of the two, unless they are close enough already.
    fn between(&self, low: u64, high: u64) -> Option<u64> {
        let near_enough = high as f64 <= low as f64 * (1.0 + self.settings.precision);
        let middle = ((low as f64 * high as f64).sqrt().round() as u64).clamp(low, high);
        (!near_enough && middle > low && middle < high).then_some(middle)
    }

    fn answer(&self, finished: bool) -> Limit {
        // An end that has moved and has not been tried since is only a guess.
        let high = self.broken.filter(|end| end.tried > 0);
        let low = self.kept.filter(|end| end.tried > 0);
        let (broken, generator) = match high {
            Some(end) if self.is_beyond_generator(&end) => (None, Some(end.rate)),
            _ => (high.map(|end| end.rate), None),
        };
        let drift = Drift::of(&self.history, self.settings.precision);
        let repeats = self.settings.repeats;
        let confirmed = finished
            && drift.is_none()
            && generator.is_none()
            && low.is_none_or(|end| end.sure >= repeats && self.soak.sure)
            && high.is_none_or(|end| end.sure >= repeats);
        let below = broken.or(generator);
        Limit {
            kept: low
                .map(|end| end.rate)
                .or_else(|| self.highest_always_met(below)),
            broken,
            generator,
            drift,
            confirmed,
        }
    }

    /// If the trials ran out, the lower end may not have been repeated. The best known value is
    /// then the highest rate below the upper end that met the objective in all its trials.
    fn highest_always_met(&self, below: Option<u64>) -> Option<u64> {
        let always_met = |rate: u64| {
            let mut same = self.history.iter().filter(|tried| tried.rate == rate);
            same.all(Tried::met)
        };
        let rates = self.history.iter().map(|tried| tried.rate);
        rates
            .filter(|rate| below.is_none_or(|below| *rate < below) && always_met(*rate))
            .max()
    }
}

impl Tried {
    fn met(&self) -> bool {
        matches!(self.outcome, Outcome::Met { .. })
    }
}

#[cfg(test)]
mod tests;
