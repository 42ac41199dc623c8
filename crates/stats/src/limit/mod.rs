//! Searches for the highest load that meets an objective. It has no clock and generates no load: it
//! returns the rate to try next, and gets the outcome.
//!
//! From a first rate the search doubles, or halves, until one rate met the objective and a higher
//! one missed it. Then it halves their ratio (in logarithms) until they are within the wanted
//! precision. A single trial near the limit is random, so both ends of the interval are tried
//! again, in random order, until each has had the same outcome a number of times in a row; an end
//! that varies moves outward. Finally the lower end is held for longer (a soak), because a queue
//! that grows slowly does not show in a short trial.
//!
//! A trial that missed because of the generator says nothing about the service. It is repeated. If
//! that does not help, the search continues below that rate, and the result is a lower bound. The
//! search detects a service whose limit changes in the meantime ([`Drift`]).

mod drift;

use std::collections::BTreeSet;

use crate::random::Random;

pub use drift::Drift;

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitSettings {
    /// The first rate to try, per second.
    pub start: u64,
    /// The lowest and the highest rate to try.
    pub least: u64,
    pub most: u64,
    /// The wanted width of the interval, as a share of its lower end; above zero.
    pub precision: f64,
    /// Repeats required at each end of the interval.
    pub repeats: u32,
    /// Maximum number of trials, including soaks.
    pub trials: u32,
    /// Searches with equal seeds make the same choices.
    pub seed: u64,
}

/// The next step of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Try this rate for the usual time.
    Try(u64),
    /// Hold this rate for a long time.
    Soak(u64),
    /// The search has ended with this result.
    Done(Limit),
}

/// The outcome of a trial. `sure` means that its measurements are valid: only such trials confirm a
/// result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The objective was met. Problems in the generator make a service look slower, never faster.
    Met { sure: bool },
    /// The objective was missed, and not because of the generator.
    Missed { sure: bool },
    /// The objective was missed because of the generator, at least possibly.
    GeneratorLimit,
}

/// The result: the limit lies between two rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The highest rate that met the objective each time, including soaks; `None` if even the
    /// lowest did not.
    pub kept: Option<u64>,
    /// The lowest rate above it that missed the objective because of the service; `None` if none
    /// did.
    pub broken: Option<u64>,
    /// The rate above it at which the generator reached its own limit, if that ended the search.
    pub generator: Option<u64>,
    /// How the limit changed during the search, if it did.
    pub drift: Option<Drift>,
    /// Whether each end had its outcome as often as required in valid trials, the soak was valid
    /// and met the objective, nothing drifted, and the generator was not the limit.
    pub confirmed: bool,
}

/// A running search.
#[derive(Debug)]
pub struct LimitSearch {
    settings: LimitSettings,
    /// The interval so far.
    kept: Option<End>,
    broken: Option<End>,
    soak: Soak,
    /// The interval is narrow enough; from now on its ends are tried again, and only move outward.
    narrowed: bool,
    /// How often in a row the upper end moved up.
    moved: u32,
    /// How often in a row the lower end moved down.
    sunk: u32,
    /// Rates that the generator could not offer. Nothing is known about higher ones.
    beyond_generator: BTreeSet<u64>,
    /// The step to repeat, and how often in a row the generator was its limit.
    again: Option<(Step, u32)>,
    history: Vec<Tried>,
    random: Random,
}

/// One end of the interval, and how often in a row it had its outcome.
#[derive(Clone, Copy, Debug)]
struct End {
    rate: u64,
    tried: u32,
    /// How many of these were valid trials.
    sure: u32,
}

impl End {
    /// An end that moved here and was not tried since.
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

/// Number of trials at a rate limited by the generator before that rate counts as above the
/// generator's limit.
const PATIENCE: u32 = 3;
/// Number of rates above the generator's limit, each lower than the one before, after which a
/// search that has met nothing gives up.
const HOPELESS: usize = 3;
/// Number of soaks without a valid one after which the search ends unconfirmed.
const SOAKS: u32 = 2;
/// Maximum moves of an end in a row that count as noise near the limit.
const MISHAP: u32 = 3;

impl LimitSearch {
    /// A new search. Bounds that contradict each other are put in order.
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

    /// The next step. Calling it again without an outcome in between may return the other end of
    /// the interval.
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
        // A miss in a long trial weighs as much as all repeats of short ones.
        let weight = if soak { self.settings.repeats } else { 1 };
        match outcome {
            Outcome::Met { sure } => {
                // The generator offered this rate, so it can offer lower ones.
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

    /// Whether an end had its outcome often enough. An end with only doubtful trials is not tried
    /// forever.
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
            // The upper end varies: the limit is higher up, or blurred.
            (Some(_), Some(high)) if self.narrowed && high.rate == rate => {
                self.moved += 1;
                self.broken = self.further(rate).map(End::untried);
                if self.moved == MISHAP {
                    // The end was there because of a disturbance, not because of the limit:
                    // continue from here.
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
        // It meets the objective now, so the limit is not below, whatever was measured before.
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
            // The lower end varies, or failed the soak: it is not a safe load.
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

    /// The next rate above.
    fn further(&self, rate: u64) -> Option<u64> {
        let next = ((rate as f64 * (1.0 + self.settings.precision)).round() as u64).max(rate + 1);
        (next <= self.settings.most).then_some(next)
    }

    /// The next rate below.
    fn nearer(&self, rate: u64) -> Option<u64> {
        let next = ((rate as f64 / (1.0 + self.settings.precision)).round() as u64)
            .min(rate.saturating_sub(1));
        (next >= self.settings.least).then_some(next)
    }

    /// The geometric mean, unless the two are close enough already.
    fn between(&self, low: u64, high: u64) -> Option<u64> {
        let near_enough = high as f64 <= low as f64 * (1.0 + self.settings.precision);
        let middle = ((low as f64 * high as f64).sqrt().round() as u64).clamp(low, high);
        (!near_enough && middle > low && middle < high).then_some(middle)
    }

    fn answer(&self, finished: bool) -> Limit {
        // An end that has moved and was not tried since is only a guess.
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

    /// If the trials ran out, the lower end may not have been tried again. The best known value is
    /// then the highest rate below the upper end that met the objective each time it was tried.
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
