//! The figures of a run that has just ended, for people who watch the lab.

use std::collections::BTreeMap;

use plimsoll_results::lab::Repeat;
use plimsoll_results::record::Generator;
use plimsoll_units::{Bytes, three_digits};

use super::repeat;
use crate::resolve::Cell;
use crate::resolve::conclusions::FIGURES;
use crate::run::FirstLook;
use crate::run::store::Store;

/// The figures to show and the label of each. Figures that a run does not have are omitted.
const LABELS: [(&str, &str); 5] = [
    ("limit", ""),
    ("throughput", ""),
    ("makespan", ""),
    ("requests_per_second", ""),
    ("latency_p95", "p95 "),
];

/// The figures in the record of a run; empty if the run does not exist.
pub fn first_look(cell: &Cell, run: u32, store: &Store) -> FirstLook {
    let Some(facts) = store.facts(cell.number, run) else {
        return FirstLook::default();
    };
    let directory = store.repeat(cell.number, run);
    let system_ended = facts.failed.is_some();
    let measured = repeat::read(cell, run, facts, &directory, "");
    let generator = &measured.repeat.generator;
    let mut parts = main_figures(&measured.figures);
    parts.extend(system_use(&measured.repeat));
    if !generator.verdict.is_empty() {
        parts.push(generator.verdict.clone());
    }
    FirstLook {
        figures: parts.join(", "),
        disturbance: disturbance(generator, system_ended),
    }
}

/// The figures of [`LABELS`], and the share of failed requests if there are any: rates and latencies do not include them.
fn main_figures(figures: &BTreeMap<String, f64>) -> Vec<String> {
    let failed = figures.get("failed_share").filter(|share| **share > 0.0);
    let shown = LABELS.iter().filter_map(|(name, before)| {
        let value = *figures.get(*name)?;
        let (_, unit) = FIGURES.iter().find(|(known, _)| known == name)?;
        let successful = match failed {
            Some(_) if *name == "requests_per_second" => "successful ",
            _ => "",
        };
        Some(format!(
            "{before}{} {successful}{unit}",
            three_digits(value)
        ))
    });
    let failed = failed.map(|share| format!("{} % of the requests failed", three_digits(*share)));
    shown.chain(failed).collect()
}

/// The reasons to measure the run again. If a system has exited, that is the result of the run:
/// another attempt would find no system, and would hide the reason.
fn disturbance(generator: &Generator, system_ended: bool) -> Option<String> {
    let reasons = generator.reasons.iter().map(|(_, text)| text.as_str());
    (generator.disturbed && !system_ended).then(|| reasons.collect::<Vec<_>>().join("; "))
}

/// The processors and memory that the measured system used, including its services.
fn system_use(repeat: &Repeat) -> Option<String> {
    let seconds = repeat.seconds.iter();
    let shares: Vec<f64> = seconds.filter_map(|second| second.system_cpu).collect();
    let used = repeat.used.iter().filter(|used| !used.apart);
    let memory = Bytes(used.map(|used| used.peak_rss_bytes).sum());
    (!shares.is_empty()).then(|| {
        let processors = three_digits(shares.iter().sum::<f64>() / shares.len() as f64);
        format!("system {processors} processors, {memory}")
    })
}

#[cfg(test)]
mod tests {
    use plimsoll_results::lab::{SecondFigures, Used};

    use super::*;

    #[test]
    fn a_run_whose_system_has_ended_is_not_measured_again() {
        let mut generator = Generator::default();
        assert_eq!(disturbance(&generator, false), None);
        generator.disturbed = true;
        generator.reasons = vec![("cpu".to_owned(), "other programs".to_owned())];
        let why = disturbance(&generator, false);
        assert_eq!(why.as_deref(), Some("other programs"));
        assert_eq!(disturbance(&generator, true), None);
    }

    #[test]
    fn failed_requests_are_shown_with_the_rate() {
        let figures = |failed| {
            let figures = [
                ("requests_per_second", 13.0),
                ("latency_p95", 158.2),
                ("failed_share", failed),
            ];
            main_figures(&figures.map(|(name, value)| (name.to_owned(), value)).into())
        };
        assert_eq!(figures(0.0), ["13.0 requests/s", "p95 158 ms"]);
        let failed = [
            "13.0 successful requests/s",
            "p95 158 ms",
            "18.8 % of the requests failed",
        ];
        assert_eq!(figures(18.75), failed);
    }

    #[test]
    fn the_usage_of_the_measured_system_includes_all_its_processes() {
        let second = |cpu| SecondFigures {
            system_cpu: cpu,
            ..SecondFigures::default()
        };
        let process = |apart, megabytes: u64| Used {
            apart,
            peak_rss_bytes: megabytes * 1_000_000,
            ..Used::default()
        };
        let mut repeat = Repeat {
            seconds: vec![second(Some(1.0)), second(Some(2.5)), second(None)],
            used: vec![process(false, 20), process(true, 500), process(false, 25)],
            ..Repeat::default()
        };
        let text = system_use(&repeat);
        assert_eq!(text.as_deref(), Some("system 1.75 processors, 45 MB"));
        repeat.seconds.clear();
        assert_eq!(system_use(&repeat), None);
    }
}
