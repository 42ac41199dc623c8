//! What limited the rate of users who never pause: a processor, the generator, or the round trip of the line.

use plimsoll_plots::number::Place;
use plimsoll_results::lab::{Cell, LabResult, Repeat};

use crate::declared_load::{self, Load};
use crate::overload;

/// A processor that is busy for at least this share limits the rate.
const SATURATED_SHARE: f64 = 0.9;
/// The rate counts as limited if at least this share of the users is always waiting.
const MIN_WAITING_SHARE: f64 = 0.7;
/// If the line's round trip is at least this share of a latency, the round trip decides the latency.
const DECISIVE_SHARE: f64 = 0.8;

/// The rate that has a limit.
pub const FIGURE: &str = "requests_per_second";

/// What limited the rates of these cells, as a clause. `None` without cells, and if users pause or requests have a schedule.
pub fn describe_rate_limit(result: &LabResult, cells: &[&Cell]) -> Option<String> {
    if cells.is_empty() {
        return None;
    }
    let uses: Option<Vec<Use>> = cells.iter().map(|cell| Use::of(result, cell)).collect();
    let uses = uses?;
    let all = |is: &dyn Fn(&Use) -> bool| uses.iter().all(is);
    let range = |read: &dyn Fn(&Use) -> f64| format_shares(uses.iter().map(read));
    let systems = range(&|one| one.systems);
    let generator = range(&|one| one.generator);
    if all(&|one| one.systems >= SATURATED_SHARE) {
        let text = match uses.iter().any(|one| one.measured < one.systems) {
            true => format!(
                "the processor that the measured system shares with the service behind it is saturated. Together they use \
                 {systems} of it, the measured system alone {}",
                range(&|one| one.measured)
            ),
            false => {
                format!(
                    "the processor of the system and its services is saturated ({systems} used)"
                )
            }
        };
        return Some(match all(&|one| one.generator < SATURATED_SHARE) {
            true => text,
            false => format!("{text}; the generator uses {generator} of its own"),
        });
    }
    if all(&|one| one.round_trip >= DECISIVE_SHARE) {
        return Some("the round trip, because each user waits for it".to_owned());
    }
    if all(&|one| one.generator >= SATURATED_SHARE) {
        return Some(format!(
            "the generator, which uses {generator} of its processor"
        ));
    }
    Some(format!(
        "not shown by these data. The systems use {systems} of their processor, the generator {generator} of its own"
    ))
}

/// Shares of the processors of a cell, and of its latency.
struct Use {
    /// The share of their processors that all systems and services used.
    systems: f64,
    /// The part of this share that the measured system used.
    measured: f64,
    /// The share of one processor that the generator used.
    generator: f64,
    /// The declared round trip of the line, as a share of the mean latency.
    round_trip: f64,
}

impl Use {
    /// `None` if users pause, if requests have a schedule, or if the systems have no dedicated processors.
    fn of(result: &LabResult, cell: &Cell) -> Option<Use> {
        let figure = |name: &str| cell.figure(name).map(|figure| figure.value);
        let Load::Users(users) = declared_load::load_of_cell(result, cell)? else {
            return None;
        };
        let latency = figure("latency_mean")?;
        let waiting = figure(FIGURE)? * latency / 1e3;
        if waiting < MIN_WAITING_SHARE * users {
            return None;
        }
        let processors = overload::system_processors(result)?;
        let mean = |is_counted: &dyn Fn(bool) -> bool| {
            let shares = cell
                .repeats
                .iter()
                .map(|run| used_processors(run, is_counted));
            let shares: Vec<f64> = shares.collect();
            let all = shares.len() as f64 * processors as f64;
            (all > 0.0).then(|| shares.iter().sum::<f64>() / all)
        };
        let link = cell.link.as_ref();
        Some(Use {
            systems: mean(&|_| true)?,
            measured: mean(&|is_apart| !is_apart)?,
            generator: figure("generator_cpu")? / 100.0,
            round_trip: link
                .and_then(|link| link.declared_round_trip_ms)
                .unwrap_or(0.0)
                / latency,
        })
    }
}

/// The processors that systems and services of a run used on average, and separately those of processes that are not
/// counted as measured.
fn used_processors(run: &Repeat, is_counted: &dyn Fn(bool) -> bool) -> f64 {
    let processes = run.used.iter().filter(|one| one.name != "generator");
    let seconds: f64 = processes
        .filter(|one| is_counted(one.apart))
        .map(|one| one.cpu_seconds)
        .sum();
    seconds / (run.duration_seconds + run.warm_up_seconds)
}

/// `98 to 99 %`. The clocks of processes are coarse, so a full processor can appear to be more than full.
fn format_shares(shares: impl Iterator<Item = f64> + Clone) -> String {
    let print = |share: f64| Place::decimals(0).print((share * 100.0).min(100.0));
    let min = print(shares.clone().fold(f64::INFINITY, f64::min));
    let max = print(shares.fold(0.0, f64::max));
    match min == max {
        true => format!("{min} %"),
        false => format!("{min} to {max} %"),
    }
}
