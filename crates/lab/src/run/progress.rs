//! Computes how long a lab has run, and estimates how long the rest will take.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::order::ScheduledRun;
use crate::resolve::{Cell, Lab};

/// The durations of runs, from which the remaining time is estimated.
#[derive(Debug)]
pub struct Progress {
    began: Instant,
    /// The duration of the last run of each cell.
    took: BTreeMap<usize, Duration>,
    /// The sums over all runs so far: planned and measured.
    planned: Duration,
    measured: Duration,
}

impl Progress {
    /// Starts to measure now.
    pub fn begin() -> Progress {
        Progress {
            began: Instant::now(),
            took: BTreeMap::new(),
            planned: Duration::ZERO,
            measured: Duration::ZERO,
        }
    }

    /// Records that a run has ended. `took` includes the time to start its systems.
    pub fn ended(&mut self, cell: &Cell, took: Duration) {
        self.took.insert(cell.number, took);
        self.planned += cell.load.whole();
        self.measured += took;
    }

    /// For example `3m10s so far, about 12m left`.
    pub fn text(&self, lab: &Lab, left: &[ScheduledRun]) -> String {
        let so_far = in_seconds(self.began.elapsed());
        match in_seconds(self.left(lab, left)).as_str() {
            "0s" => format!("{so_far} so far"),
            left => format!("{so_far} so far, about {left} left"),
        }
    }

    /// A cell takes as long as in its last run. For a cell without a run, the planned duration is
    /// scaled by the ratio of measured to planned time over all runs.
    fn left(&self, lab: &Lab, left: &[ScheduledRun]) -> Duration {
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

/// Removes fractions of a second.
fn in_seconds(time: Duration) -> String {
    plimsoll_units::duration::format(Duration::from_secs(time.as_secs_f64().round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_without_a_run_scale_with_their_planned_duration() {
        let text = "[lab]\ntitle = \"a\"\nquestion = \"b\"\npause = \"1s\"\n[axes]\nsize = [1, 2]\n\
             [[system]]\nname = \"s\"\ncommand = \"true\"\nready = { log = \"x\" }\n\
             [load]\nhttp = { url = \"http://127.0.0.1/\" }\nduration = \"8s\"\nwarmup = \"2s\"\nrestarts = 1\n";
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("lab.toml");
        std::fs::write(&file, text).expect("a file");
        let lab = Lab::read(&file, crate::FormName::Standard).expect("a lab");
        let turn = |cell| ScheduledRun {
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
