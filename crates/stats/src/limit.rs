//! The search for the highest load that keeps an objective. No clock and no load in it: it says which rate to try next,
//! and is told what came of it.
//!
//! From a first rate the search doubles, or halves, until one rate was kept and a higher one was not; then it halves the
//! ratio of the two (in the logarithm) until they are within the wanted precision. One trial at a rate near the limit is
//! a coin's throw, so both ends of the interval are then tried again, in random order, until each has given the same
//! answer a number of times in a row; an end that wavers moves outward. At last the lower end is held for longer (a
//! soak), since a queue that grows slowly is not seen in a short trial.

use crate::random::Random;

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitSettings {
    /// The first rate to try, per second.
    pub start: u64,
    /// Neither below nor above these is anything tried.
    pub least: u64,
    pub most: u64,
    /// The interval's wanted width, as a share of its lower end; above zero.
    pub precision: f64,
    /// How often each end of the interval must give the same answer.
    pub repeats: u32,
    /// Trials at the most, soaks included.
    pub trials: u32,
    /// Equal seeds search alike.
    pub seed: u64,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Try this rate, for the usual time.
    Try(u64),
    /// Hold this rate for long.
    Soak(u64),
    /// Nothing: this is the answer.
    Done(Limit),
}

/// The answer: the limit lies between two rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The highest rate that was kept each time, also for long; none if even the least was not.
    pub kept: Option<u64>,
    /// The lowest rate above it that was not kept each time it was tried; none if even the most was.
    pub broken: Option<u64>,
    /// Whether each end answered alike as often as asked, and the soak was kept. If not, the trials ran out.
    pub confirmed: bool,
}

/// A search under way.
#[derive(Debug)]
pub struct LimitSearch {
    settings: LimitSettings,
    /// The interval so far, and how often in a row each end has given its answer.
    kept: Option<(u64, u32)>,
    broken: Option<(u64, u32)>,
    soaked: bool,
    /// The interval is as narrow as wanted; from now on its ends are tried again, and move outward only.
    narrowed: bool,
    /// How often the upper end moved up in a row.
    moved: u32,
    /// How often the lower end moved down in a row.
    sunk: u32,
    done: u32,
    random: Random,
}

impl LimitSearch {
    /// A search that has tried nothing. Bounds that contradict each other are put in order.
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
            soaked: false,
            narrowed: false,
            moved: 0,
            sunk: 0,
            done: 0,
            random: Random::new(settings.seed),
        }
    }

    /// What to do next. Asking again without an answer in between may name another rate of the interval's two.
    pub fn step(&mut self) -> Step {
        let LimitSettings {
            start,
            least,
            most,
            repeats,
            trials,
            ..
        } = self.settings;
        if self.done >= trials {
            return Step::Done(self.answer(false));
        }
        match (self.kept, self.broken) {
            (None, None) => Step::Try(start),
            (None, Some((rate, times))) if rate <= least => {
                if times < repeats {
                    Step::Try(least)
                } else {
                    Step::Done(self.answer(true))
                }
            }
            (None, Some((rate, _))) => Step::Try((rate / 2).max(least)),
            (Some((rate, times)), None) if rate >= most => {
                if times < repeats {
                    Step::Try(most)
                } else if self.soaked {
                    Step::Done(self.answer(true))
                } else {
                    Step::Soak(most)
                }
            }
            (Some((rate, _)), None) => Step::Try(rate.saturating_mul(2).min(most)),
            (Some((low, low_times)), Some((high, high_times))) => {
                match self.between(low, high) {
                    Some(middle) if !self.narrowed => return Step::Try(middle),
                    _ => self.narrowed = true,
                }
                match (low_times < repeats, high_times < repeats) {
                    (true, true) if self.random.unit() < 0.5 => Step::Try(low),
                    (_, true) => Step::Try(high),
                    (true, false) => Step::Try(low),
                    (false, false) if self.soaked => Step::Done(self.answer(true)),
                    (false, false) => Step::Soak(low),
                }
            }
        }
    }

    /// Takes down what came of a trial, or of a soak, at `rate`.
    pub fn record(&mut self, step: Step, kept: bool) {
        let (rate, soak) = match step {
            Step::Try(rate) => (rate, false),
            Step::Soak(rate) => (rate, true),
            Step::Done(_) => return,
        };
        self.done += 1;
        if kept {
            self.soaked |= soak;
            self.keep(rate);
        } else {
            self.soaked = false;
            // Short trials cannot clear what a long one has shown.
            self.give_up(rate, if soak { self.settings.repeats } else { 1 });
        }
    }

    fn keep(&mut self, rate: u64) {
        self.sunk = 0;
        match (&mut self.kept, self.broken) {
            (Some((known, times)), _) if *known == rate => *times += 1,
            // The upper end wavers: the limit's blur reaches further up.
            (Some(_), Some((known, _))) if self.narrowed && known == rate => {
                self.moved += 1;
                self.broken = self.further(rate).map(|rate| (rate, 0));
                if self.moved == MISHAP {
                    // A mishap, not the limit, had put the end there: on from here.
                    (self.kept, self.broken) = (Some((rate, 1)), None);
                    (self.narrowed, self.moved) = (false, 0);
                }
            }
            (Some((known, _)), _) if *known > rate => {}
            (kept, _) => *kept = Some((rate, 1)),
        }
        // Carried now, so the limit is not below it, whatever it was before.
        if self.broken.is_some_and(|(known, _)| known <= rate) {
            self.broken = self.further(rate).map(|rate| (rate, 0));
        }
    }

    fn give_up(&mut self, rate: u64, weight: u32) {
        match (&mut self.broken, self.kept) {
            (Some((known, times)), _) if *known == rate => {
                *times += weight;
                self.moved = 0;
            }
            // The lower end wavers, or did not bear the soak: it is no safe load.
            (broken, Some((known, _))) if self.narrowed && known == rate => {
                if weight >= self.settings.repeats {
                    *broken = Some((rate, weight));
                }
                self.moved = 0;
                self.sunk += 1;
                self.kept = self.nearer(rate).map(|rate| (rate, 0));
                if self.sunk == MISHAP {
                    // The service has become slower since: what it carried before says nothing now.
                    (self.kept, self.broken) = (None, Some((rate, weight)));
                    (self.narrowed, self.sunk) = (false, 0);
                }
            }
            (Some((known, _)), _) if *known < rate => {}
            (broken, _) => *broken = Some((rate, weight)),
        }
        if self.kept.is_some_and(|(known, _)| known >= rate) {
            self.kept = self.nearer(rate).map(|rate| (rate, 0));
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

    /// The geometric middle, unless the two are near enough already.
    fn between(&self, low: u64, high: u64) -> Option<u64> {
        let near_enough = high as f64 <= low as f64 * (1.0 + self.settings.precision);
        let middle = ((low as f64 * high as f64).sqrt().round() as u64).clamp(low, high);
        (!near_enough && middle > low && middle < high).then_some(middle)
    }

    fn answer(&self, confirmed: bool) -> Limit {
        Limit {
            // An end that has moved and was not tried since is only a guess.
            kept: self
                .kept
                .filter(|(_, times)| *times > 0)
                .map(|(rate, _)| rate),
            broken: self
                .broken
                .filter(|(_, times)| *times > 0)
                .map(|(rate, _)| rate),
            confirmed,
        }
    }
}

/// So many moves in a row are no waver of the edge.
const MISHAP: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mishap_far_below_the_limit_is_overcome() {
        for mishap in 1..8 {
            let mut count = 0;
            let (found, trials) = search(SETTINGS, |rate, _| {
                count += 1;
                rate <= 2_000 && count != mishap
            });
            let (kept, broken) = (found.kept.expect("kept"), found.broken.expect("broken"));
            assert!(
                found.confirmed && (1_900..=2_000).contains(&kept) && broken <= 2_200,
                "{mishap}: {found:?}"
            );
            assert!(trials <= 50, "{mishap}: {trials} trials");
        }
    }

    #[test]
    fn a_service_that_becomes_slower_is_followed_down() {
        for change in 5..16 {
            let mut count = 0;
            let (found, trials) = search(SETTINGS, |rate, _| {
                count += 1;
                rate <= if count < change { 4_000 } else { 2_500 }
            });
            let (kept, broken) = (found.kept.expect("kept"), found.broken.expect("broken"));
            assert!(
                found.confirmed && (2_300..=2_500).contains(&kept) && broken > 2_500,
                "{change}: {found:?}"
            );
            assert!(trials <= 50, "{change}: {trials} trials");
        }
    }

    const SETTINGS: LimitSettings = LimitSettings {
        start: 100,
        least: 1,
        most: 1_000_000,
        precision: 0.02,
        repeats: 3,
        trials: 200,
        seed: 1,
    };

    /// Searches with an oracle; the answer and the number of trials.
    fn search(settings: LimitSettings, mut keeps: impl FnMut(u64, bool) -> bool) -> (Limit, u32) {
        let mut search = LimitSearch::new(settings);
        for trials in 0..=settings.trials {
            match search.step() {
                Step::Done(limit) => return (limit, trials),
                step @ Step::Try(rate) => search.record(step, keeps(rate, false)),
                step @ Step::Soak(rate) => search.record(step, keeps(rate, true)),
            }
        }
        panic!("the search does not end");
    }

    #[test]
    fn a_sharp_limit_lies_in_an_interval_of_the_wanted_width() {
        for limit in [1, 2, 3, 37, 99, 100, 101, 1_999, 250_000] {
            let (found, trials) = search(SETTINGS, |rate, _| rate <= limit);
            let (kept, broken) = (found.kept.expect("kept"), found.broken.expect("broken"));
            assert!(kept <= limit && limit < broken, "{limit}: {found:?}");
            let width = broken - kept;
            assert!(
                width == 1 || width as f64 <= kept as f64 * 0.02 + 1.0,
                "{limit}: {found:?}"
            );
            assert!(found.confirmed && trials <= 40, "{limit}: {trials} trials");
        }
    }

    #[test]
    fn a_limit_outside_of_the_bounds_is_told_as_such() {
        let (none, _) = search(SETTINGS, |_, _| false);
        assert_eq!(
            none,
            Limit {
                kept: None,
                broken: Some(1),
                confirmed: true
            }
        );
        let (all, _) = search(
            LimitSettings {
                most: 5_000,
                ..SETTINGS
            },
            |_, _| true,
        );
        assert_eq!(
            all,
            Limit {
                kept: Some(5_000),
                broken: None,
                confirmed: true
            }
        );
    }

    #[test]
    fn what_only_a_soak_shows_moves_the_answer_down() {
        // Short trials keep up to 1,000; a long one shows that 900 is the limit.
        let (found, _) = search(SETTINGS, |rate, soak| {
            rate <= if soak { 900 } else { 1_000 }
        });
        let kept = found.kept.expect("kept");
        assert!(found.confirmed && (870..=900).contains(&kept), "{found:?}");
    }

    #[test]
    fn a_noisy_edge_gives_an_interval_around_it() {
        for seed in 0..50 {
            let mut random = Random::new(1_000 + seed);
            let settings = LimitSettings { seed, ..SETTINGS };
            // Kept for certain below 1,900, never above 2,100, by chance between.
            let (found, _) = search(settings, |rate, _| {
                random.unit() > (rate as f64 - 1_900.0) / 200.0
            });
            let (kept, broken) = (found.kept.expect("kept"), found.broken.expect("broken"));
            assert!((1_800..2_060).contains(&kept), "seed {seed}: {found:?}");
            assert!(
                (1_900..2_250).contains(&broken) && broken > kept,
                "seed {seed}: {found:?}"
            );
        }
    }

    #[test]
    fn the_trials_are_bounded_whatever_is_answered() {
        for seed in 0..100 {
            let mut random = Random::new(seed);
            let settings = LimitSettings {
                trials: 60,
                seed,
                ..SETTINGS
            };
            let (found, trials) = search(settings, |_, _| random.unit() < 0.5);
            assert!(trials <= 60, "seed {seed}");
            if let (Some(kept), Some(broken)) = (found.kept, found.broken) {
                assert!(kept < broken, "seed {seed}: {found:?}");
            }
        }
    }
}
