//! Converts the windows of workers into the lines of a record, one per second.
//!
//! A second contains the iterations that started in it. Its line is written [`GRACE`] after its end. Iterations that
//! end later are written to an additional line, so that slow requests do not accumulate in memory. The sum of all lines
//! equals the totals of the scenarios.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_engine::InFlightReading;
use plimsoll_results::record::Second;
use plimsoll_samples::{Registry, RunClock, RunSecond, SecondPart, Stretch, Watch};
use plimsoll_units::Moment;

use crate::record_figures::Figures;

/// The seconds whose lines have not been written yet.
pub struct Seconds {
    registry: Arc<Registry>,
    watch: Arc<Watch>,
    /// How long iterations may start, if that is known before the end of the run.
    load: Option<Duration>,
    pending: BTreeMap<RunSecond, Pending>,
    /// Empty stretches, kept for reuse.
    spare: Vec<Stretch>,
    /// The next second to write.
    next: RunSecond,
    /// The next second in which users are counted.
    counted: u64,
    users: u32,
}

struct Pending {
    stretch: Stretch,
    users: Option<u32>,
    /// The total time of all iterations in flight.
    in_flight: Duration,
    cpu: Duration,
}

const SECOND: Duration = Duration::from_secs(1);
/// The delay between the end of a second and the writing of its line. Workers report lateness every 10 ms.
const GRACE: Duration = Duration::from_millis(300);
/// A load that ends less than this after a full second does not start another second.
const MIN_LAST_SECOND: Duration = Duration::from_millis(100);
/// A second counts as full if it is shorter or longer by at most this. The resulting error of its rate is smaller than
/// the variation of the rate.
const FULL_SECOND_TOLERANCE: Duration = Duration::from_millis(10);

impl Seconds {
    /// Creates an empty collection. `registry` and `watch` are those of the run.
    pub fn new(registry: &Arc<Registry>, watch: &Arc<Watch>) -> Seconds {
        Seconds {
            registry: Arc::clone(registry),
            watch: Arc::clone(watch),
            load: None,
            pending: BTreeMap::new(),
            spare: Vec::new(),
            next: RunSecond {
                number: 0,
                after_load: false,
            },
            counted: 0,
            users: 0,
        }
    }

    /// Sets how long iterations may start. `None` if an amount of work decides.
    pub fn set_load(&mut self, load: Option<Duration>) {
        self.load = load;
    }

    /// Adds the samples that a worker recorded in a second.
    pub fn add(&mut self, second: RunSecond, part: SecondPart<'_>) {
        self.pending(second).stretch.add(part);
    }

    /// Adds iterations in flight on a worker. Distributes the reading over the seconds that it covers.
    pub fn add_in_flight(&mut self, reading: &InFlightReading, started: Moment) {
        let span = reading.until.since(reading.from);
        if span.is_zero() || reading.total.is_zero() {
            return;
        }
        let mean = reading.total.as_secs_f64() / span.as_secs_f64();
        let clock = RunClock {
            start: started,
            load_end: self.load.map(|load| started + load),
        };
        let mut from = reading.from;
        while from < reading.until {
            let second = clock.second_of(from);
            let until = clock.span_of(second).1.min(reading.until);
            self.pending(second).in_flight += until.since(from).mul_f64(mean);
            from = until;
        }
    }

    /// Records the number of users at the end of a second, and the processor time used in it. Call this at the end
    /// of each second.
    pub fn second_ended(&mut self, users: u32, cpu: Duration) {
        self.users = users;
        let start = seconds(self.counted);
        let second = RunSecond {
            number: self.counted,
            after_load: self.load.is_some_and(|load| start >= load),
        };
        self.counted += 1;
        let pending = self.pending(second);
        pending.users = Some(users);
        pending.cpu += cpu;
    }

    /// Returns the lines that are due after `elapsed` of the run.
    pub fn due(&mut self, elapsed: Duration) -> Vec<Second> {
        let mut lines = Vec::new();
        while seconds(self.next.number + 1) + GRACE <= elapsed {
            self.lines_for_late_data(&mut lines);
            let length = match self.load {
                Some(load) => self.length(self.next, load, elapsed),
                None => SECOND,
            };
            lines.push(self.line(length));
        }
        lines
    }

    /// Returns the remaining lines of a run that ended after `elapsed`. `cpu` is the processor time since the last
    /// complete second.
    pub fn rest(&mut self, elapsed: Duration, cpu: Duration) -> Vec<Second> {
        let mut lines = Vec::new();
        if elapsed.is_zero() {
            return lines;
        }
        let load = self.load.map_or(elapsed, |load| load.min(elapsed));
        let last = RunSecond {
            number: last_second(load),
            after_load: false,
        };
        self.fold_into(last);
        let end = RunSecond {
            number: elapsed.as_secs(),
            after_load: elapsed > load,
        };
        let users = self.users;
        self.pending(last).users.get_or_insert(users);
        self.pending(if end.after_load { end } else { last }).cpu += cpu;
        self.lines_for_late_data(&mut lines);
        while self.next <= last {
            let length = self.length(self.next, load, elapsed);
            lines.push(self.line(length));
        }
        if end.after_load {
            self.next = self.next.max(RunSecond {
                number: load.as_secs(),
                after_load: true,
            });
            while self.next <= end {
                let length = self.length(self.next, load, elapsed);
                let line = self.line(length);
                let is_empty =
                    line.counters.is_empty() && line.trends.is_empty() && line.rates.is_empty();
                if !is_empty || length > MIN_LAST_SECOND {
                    lines.push(line);
                }
            }
        }
        lines
    }

    /// Merges all data after the last second of load into that second.
    fn fold_into(&mut self, last: RunSecond) {
        let late_seconds: Vec<RunSecond> = self
            .pending
            .keys()
            .copied()
            .filter(|second| !second.after_load && *second > last)
            .collect();
        for second in late_seconds {
            let Some(mut folded) = self.pending.remove(&second) else {
                continue;
            };
            let pending = self.pending(last);
            pending.stretch.add_all(&folded.stretch);
            pending.in_flight += folded.in_flight;
            pending.cpu += folded.cpu;
            folded.stretch.clear();
            self.spare.push(folded.stretch);
        }
    }

    fn pending(&mut self, second: RunSecond) -> &mut Pending {
        let mut second = second;
        if let Some(load) = self.load.filter(|_| !second.after_load) {
            second.number = second.number.min(last_second(load));
        }
        let (spare, registry, watch) = (&mut self.spare, &self.registry, &self.watch);
        self.pending.entry(second).or_insert_with(|| Pending {
            stretch: spare
                .pop()
                .unwrap_or_else(|| Stretch::new(Arc::clone(registry), Arc::clone(watch))),
            users: None,
            in_flight: Duration::ZERO,
            cpu: Duration::ZERO,
        })
    }

    fn length(&self, second: RunSecond, load: Duration, elapsed: Duration) -> Duration {
        let start = seconds(second.number);
        let ended = seconds(second.number + 1);
        if second.after_load {
            return ended.min(elapsed).saturating_sub(start.max(load));
        }
        if second.number < last_second(load) {
            return SECOND;
        }
        let length = load.saturating_sub(start);
        match length.abs_diff(SECOND) <= FULL_SECOND_TOLERANCE {
            true => SECOND,
            false => length,
        }
    }

    /// Adds lines for data of seconds whose lines have already been written.
    fn lines_for_late_data(&mut self, lines: &mut Vec<Second>) {
        let behind = self.pending.range(..self.next);
        let late_seconds: Vec<RunSecond> = behind.map(|(second, _)| *second).collect();
        for second in late_seconds {
            if let Some(pending) = self.pending.remove(&second) {
                let mut line = self.line_of(second, Some(pending), SECOND);
                line.late = true;
                lines.push(line);
            }
        }
    }

    /// Returns the line of the next second, and advances to the following second.
    fn line(&mut self, length: Duration) -> Second {
        let second = self.next;
        let is_last = |load: &Duration| !second.after_load && second.number >= last_second(*load);
        self.next = match self.load.filter(is_last) {
            Some(load) => RunSecond {
                number: load.as_secs(),
                after_load: true,
            },
            None => RunSecond {
                number: second.number + 1,
                ..second
            },
        };
        let pending = self.pending.remove(&second);
        let mut line = self.line_of(second, pending, length);
        line.lasted = (length != SECOND).then_some(length.as_secs_f64());
        line
    }

    fn line_of(&mut self, second: RunSecond, pending: Option<Pending>, length: Duration) -> Second {
        let mut line = Second {
            second: second.number,
            after_load: second.after_load,
            users: self.users,
            ..Second::default()
        };
        let Some(mut pending) = pending else {
            return line;
        };
        let figures = Figures::of(&pending.stretch.metrics(length));
        line.users = pending.users.unwrap_or(self.users);
        if !length.is_zero() {
            line.in_flight = pending.in_flight.as_secs_f64() / length.as_secs_f64();
        }
        line.generator_cpu_seconds = pending.cpu.as_secs_f64();
        line.counters = figures.counters;
        line.rates = figures.rates;
        line.gauges = figures.gauges;
        line.trends = figures.trends;
        pending.stretch.clear();
        self.spare.push(pending.stretch);
        line
    }
}

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// The index of the last second of a load of that length. A short remainder belongs to the second before it.
fn last_second(load: Duration) -> u64 {
    load.saturating_sub(MIN_LAST_SECOND).as_secs()
}
