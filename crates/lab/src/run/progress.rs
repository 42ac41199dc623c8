//! What a lab tells its user after each run: the figures, and how long the rest will take.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::order::Turn;
use super::store::Store;
use crate::conclude::repeat;
use crate::resolve::conclusions::FIGURES;
use crate::resolve::{Cell, Lab};

/// The figures to show, with what to write before each. Those that a run does not have are left out.
const SHOWN: [(&str, &str); 5] = [
    ("limit", ""),
    ("throughput", ""),
    ("makespan", ""),
    ("requests_per_second", ""),
    ("latency_p95", "p95 "),
];

/// The figures of a run, and whether the generator doubts them; nothing if there are none.
pub fn figures(cell: &Cell, run: u32, store: &Store) -> String {
    let Some(facts) = store.facts(cell.number, run) else {
        return String::new();
    };
    let directory = store.repeat(cell.number, run);
    let measured = repeat::read(cell, run, facts, &directory, "");
    let mut parts: Vec<String> = SHOWN
        .iter()
        .filter_map(|(name, before)| {
            let value = *measured.figures.get(*name)?;
            let (_, unit) = FIGURES.iter().find(|(known, _)| known == name)?;
            Some(format!("{before}{} {unit}", rounded(value)))
        })
        .collect();
    let verdict = &measured.repeat.generator.verdict;
    if !verdict.is_empty() {
        parts.push(verdict.clone());
    }
    parts.join(", ")
}

/// Three significant digits, and all digits before the point.
fn rounded(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// The time that runs took, from which the remaining time is estimated.
#[derive(Debug)]
pub struct Progress {
    began: Instant,
    /// The last run of each cell.
    took: BTreeMap<usize, Duration>,
    /// All runs so far: planned, and as measured.
    planned: Duration,
    measured: Duration,
}

impl Progress {
    /// From now on.
    pub fn begin() -> Progress {
        Progress {
            began: Instant::now(),
            took: BTreeMap::new(),
            planned: Duration::ZERO,
            measured: Duration::ZERO,
        }
    }

    /// A run has ended. `took` includes starting its systems.
    pub fn ended(&mut self, cell: &Cell, took: Duration) {
        self.took.insert(cell.number, took);
        self.planned += cell.load.whole();
        self.measured += took;
    }

    /// `3m10s so far, about 12m left`.
    pub fn text(&self, lab: &Lab, left: &[Turn]) -> String {
        let so_far = in_seconds(self.began.elapsed());
        match in_seconds(self.left(lab, left)).as_str() {
            "0s" => format!("{so_far} so far"),
            left => format!("{so_far} so far, about {left} left"),
        }
    }

    /// A cell takes as long as in its last run. One without a run takes as many times its planned length as all runs
    /// together did.
    fn left(&self, lab: &Lab, left: &[Turn]) -> Duration {
        let factor = match self.planned.as_secs_f64() {
            0.0 => 1.0,
            planned => self.measured.as_secs_f64() / planned,
        };
        let cells = left.iter().filter_map(|turn| lab.cells.get(turn.cell));
        cells
            .map(|cell| match self.took.get(&cell.number) {
                Some(took) => *took,
                None => cell.load.whole().mul_f64(factor),
            })
            .map(|run| run + lab.pause)
            .sum()
    }
}

/// Without fractions of a second.
fn in_seconds(time: Duration) -> String {
    plimsoll_units::duration::format(Duration::from_secs(time.as_secs_f64().round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_or_all_before_the_point() {
        assert_eq!(
            [12_345.6, 123.4, 12.34, 1.234, 0.1234, 0.0].map(rounded),
            ["12346", "123", "12.3", "1.23", "0.123", "0.000"]
        );
    }

    #[test]
    fn cells_without_a_run_take_as_many_times_their_planned_length() {
        let text = "[lab]\ntitle = \"a\"\nquestion = \"b\"\npause = \"1s\"\n[axes]\nsize = [1, 2]\n\
             [[system]]\nname = \"s\"\ncommand = \"true\"\nready = { log = \"x\" }\n\
             [load]\nhttp = { url = \"http://127.0.0.1/\" }\nduration = \"8s\"\nwarmup = \"2s\"\nrestarts = 1\n";
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("lab.toml");
        std::fs::write(&file, text).expect("a file");
        let lab = Lab::read(&file, crate::Which::Standard).expect("a lab");
        let turn = |cell| Turn {
            cell,
            restart: 1,
            run: 1,
        };
        let mut progress = Progress::begin();
        assert_eq!(
            progress.left(&lab, &[turn(0), turn(1)]),
            Duration::from_secs(22)
        );
        progress.ended(&lab.cells[0], Duration::from_secs(15));
        assert_eq!(progress.left(&lab, &[turn(1)]), Duration::from_secs(16));
        assert_eq!(progress.left(&lab, &[turn(0)]), Duration::from_secs(16));
        assert_eq!(progress.text(&lab, &[]), "0s so far");
        assert_eq!(progress.text(&lab, &[turn(1)]), "0s so far, about 16s left");
    }
}
