//! Sorts the samples of one window by the second in which they started.
//!
//! If seconds are not separated, there is one bin. Otherwise, a sample goes to the bin of the second in which its event
//! started. Nearly all samples belong to the same bin as the previous sample, so they cost one comparison.

use plimsoll_units::Moment;

use crate::exchange_log::ExchangeLog;
use crate::second::{RunClock, RunSecond};
use crate::window::{Contents, Home};

/// Maximum number of bins. If one window contains more seconds, samples go to the nearest bin, so that memory stays
/// bounded.
const MAX_BINS: usize = 64;
/// Maximum number of unused exchange logs to keep, because they are large.
const MAX_SPARE_LOGS: usize = 2;

/// The exchange logs of a bin, by cell.
pub(crate) type Logs = Vec<Option<Box<ExchangeLog>>>;

/// The samples that started in one second, or all of them if seconds are not separated.
#[derive(Default)]
pub(crate) struct Bin {
    pub contents: Box<Contents>,
    /// Exchanges that are not in the sinks yet, by cell.
    pub logs: Logs,
}

pub(crate) struct Bins {
    /// The bin of the latest sample.
    pub current: Box<Bin>,
    /// The range of start times that belong to that bin.
    from: Moment,
    until: Moment,
    // Boxed, because bins are swapped.
    #[allow(clippy::vec_box)]
    others: Vec<Box<Bin>>,
    clock: Option<RunClock>,
    spare_logs: Vec<Logs>,
    home: Home,
}

const END_OF_TIME: Moment = Moment::from_nanos(u64::MAX);

impl Bins {
    pub fn new(home: Home) -> Bins {
        Bins {
            current: Box::default(),
            from: Moment::ZERO,
            until: END_OF_TIME,
            others: Vec::new(),
            clock: None,
            spare_logs: Vec::new(),
            home,
        }
    }

    /// Starts or stops separating seconds. The window must have been taken before.
    pub fn set_clock(&mut self, clock: Option<RunClock>) {
        self.clock = clock;
        match clock {
            Some(clock) => self.switch_to(clock.start),
            None => {
                self.current.contents.second = None;
                (self.from, self.until) = (Moment::ZERO, END_OF_TIME);
            }
        }
    }

    /// Selects the bin for the start time `started`.
    #[inline]
    pub fn select(&mut self, started: Moment) {
        if started < self.from || started >= self.until {
            self.switch_to(started);
        }
    }

    #[cold]
    fn switch_to(&mut self, started: Moment) {
        let Some(clock) = self.clock else { return };
        let wanted = clock.second_of(started);
        (self.from, self.until) = clock.span_of(wanted);
        // Samples from before the start count in the first second. The range begins at zero, so that they do not select
        // the bin again.
        if started < self.from {
            self.from = Moment::ZERO;
        }
        let is_wanted = |bin: &Bin| bin.contents.second == Some(wanted);
        if is_wanted(&self.current) {
            return;
        }
        if self.current.contents.second.is_none() {
            self.current.contents.second = Some(wanted);
            return;
        }
        let known = self.others.iter().position(|bin| is_wanted(bin));
        let place = known.unwrap_or_else(|| {
            if self.others.len() + 1 >= MAX_BINS {
                return nearest(&self.others, wanted);
            }
            let mut bin = Box::new(Bin {
                contents: self.home.take().unwrap_or_default(),
                logs: self.spare_logs.pop().unwrap_or_default(),
            });
            bin.contents.second = Some(wanted);
            self.others.push(bin);
            self.others.len() - 1
        });
        std::mem::swap(&mut self.current, &mut self.others[place]);
    }

    pub fn all(&self) -> impl Iterator<Item = &Bin> {
        std::iter::once(&*self.current).chain(self.others.iter().map(|bin| &**bin))
    }

    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Bin> {
        let others = self.others.iter_mut().map(|bin| &mut **bin);
        std::iter::once(&mut *self.current).chain(others)
    }

    /// Takes the contents of all bins, whose logs must be empty: first the current bin, then the others.
    #[allow(clippy::vec_box)]
    pub fn take(&mut self) -> (Box<Contents>, Vec<Box<Contents>>) {
        let mut earlier = Vec::new();
        for bin in self.others.drain(..) {
            if self.spare_logs.len() < MAX_SPARE_LOGS {
                self.spare_logs.push(bin.logs);
            }
            earlier.push(bin.contents);
        }
        let mut spare = self.home.take().unwrap_or_default();
        spare.second = self.current.contents.second;
        let current = std::mem::replace(&mut self.current.contents, spare);
        (current, earlier)
    }
}

/// The index of the bin whose second is closest to `wanted`.
#[allow(clippy::vec_box)]
fn nearest(bins: &[Box<Bin>], wanted: RunSecond) -> usize {
    let distance = |bin: &Bin| {
        let second = bin.contents.second.unwrap_or(wanted);
        second.number.abs_diff(wanted.number)
    };
    let places = bins.iter().enumerate();
    places
        .min_by_key(|(_, bin)| distance(bin))
        .map_or(0, |(place, _)| place)
}
