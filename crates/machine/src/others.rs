//! Measures the processor time of programs that do not belong to a measurement.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use plimsoll_units::Moment;

use crate::process::{cpu_seconds, descendants};

/// The processor time of all programs on this machine at one moment.
#[derive(Debug)]
pub struct Programs {
    at: Moment,
    programs: BTreeMap<u32, Program>,
}

/// The processor use of other programs over a time span.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherUse {
    /// The processor time as a share of one processor.
    pub share: f64,
    /// The name of the program that used most. Empty if there is no other program, as in a
    /// container with a separate PID namespace.
    pub most: String,
}

#[derive(Clone, Debug, PartialEq)]
struct Program {
    name: String,
    parent: u32,
    /// The processor time of the process itself, in seconds.
    own: f64,
    /// The processor time of its children that have exited.
    ended: f64,
}

impl Programs {
    /// Reads all programs except kernel threads. These mostly work for the programs that use the
    /// network and the disks, which are the measured ones.
    pub fn read() -> Programs {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let programs = entries
            .filter_map(|entry| {
                let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
                let text = fs::read_to_string(entry.path().join("stat")).ok()?;
                Some((pid, program(&text)?))
            })
            .collect();
        Programs {
            at: plimsoll_clock::now(),
            programs,
        }
    }

    /// The processor use since `before` of all programs except this process, the processes that it
    /// started, and its ancestors, which only wait for it. `None` if no time has passed.
    pub fn others_since(&self, before: &Programs) -> Option<OtherUse> {
        let me = std::process::id();
        let mut ours: BTreeSet<u32> = descendants(me).into_iter().collect();
        ours.insert(me);
        let mut parent = self.programs.get(&me).map(|program| program.parent);
        while let Some(pid) = parent {
            if !ours.insert(pid) {
                break;
            }
            parent = self.programs.get(&pid).map(|program| program.parent);
        }
        self.use_since(before, &ours)
    }

    fn use_since(&self, before: &Programs, ours: &BTreeSet<u32>) -> Option<OtherUse> {
        let seconds = self.at.since(before.at).as_secs_f64();
        if seconds <= 0.0 {
            return None;
        }
        // If a child has exited since, the time it had used before is now part of its parent's
        // time, or of a grandparent's time if the parent has exited as well.
        let mut earlier: BTreeMap<u32, f64> = BTreeMap::new();
        for (pid, gone) in &before.programs {
            if self.programs.contains_key(pid) {
                continue;
            }
            let mut heir = gone.parent;
            // Limit the number of steps to the number of programs, because reused process ids could
            // form a cycle.
            for _ in 0..before.programs.len() {
                match before.programs.get(&heir) {
                    Some(parent) if !self.programs.contains_key(&heir) => heir = parent.parent,
                    _ => break,
                }
            }
            *earlier.entry(heir).or_default() += gone.own + gone.ended;
        }
        let mut by_name: BTreeMap<&str, f64> = BTreeMap::new();
        for (pid, now) in self.programs.iter().filter(|(pid, _)| !ours.contains(pid)) {
            let (own, ended) = match before.programs.get(pid) {
                Some(known) => (now.own - known.own, now.ended - known.ended),
                None => (now.own, now.ended),
            };
            let ended = (ended - earlier.get(pid).copied().unwrap_or(0.0)).max(0.0);
            *by_name.entry(&now.name).or_default() += own.max(0.0) + ended;
        }
        let most = by_name.iter().max_by(|(_, a), (_, b)| a.total_cmp(b));
        Some(OtherUse {
            share: by_name.values().sum::<f64>() / seconds,
            most: most.map_or_else(String::new, |(name, _)| (*name).to_owned()),
        })
    }
}

/// Parses `/proc/PID/stat` (proc(5)). `None` for a kernel thread.
fn program(stat: &str) -> Option<Program> {
    // cutime and cstime are fields 16 and 17, in ticks of 1/100 s.
    const TICKS: f64 = 100.0;
    /// The parent process of all kernel threads.
    const KTHREADD: u32 = 2;
    let (before, after) = stat.rsplit_once(')')?;
    let name = before.split_once('(')?.1;
    let fields: Vec<&str> = after.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    let parent: u32 = fields.get(1)?.parse().ok()?;
    let pid: u32 = before.split_whitespace().next()?.parse().ok()?;
    (parent != KTHREADD && pid != KTHREADD).then_some(Program {
        name: name.to_owned(),
        parent,
        own: cpu_seconds(stat)?,
        ended: (ticks(13)? + ticks(14)?) / TICKS,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn programs(at: Moment, list: &[(u32, u32, f64, f64)]) -> Programs {
        let programs = list.iter().map(|&(pid, parent, own, ended)| {
            let program = Program {
                name: format!("p{pid}"),
                parent,
                own,
                ended,
            };
            (pid, program)
        });
        Programs {
            at,
            programs: programs.collect(),
        }
    }

    #[test]
    fn reads_a_line_of_proc() {
        let line = "42 (a (b) c) S 7 42 42 0 -1 4194304 1 2 3 4 150 50 30 20 20 0 1 0 100 0 0";
        let read = program(line).expect("a program");
        assert_eq!((read.name.as_str(), read.parent), ("a (b) c", 7));
        assert_eq!((read.own, read.ended), (2.0, 0.5));
        assert_eq!(program(&line.replace(" S 7 ", " S 2 ")), None);
    }

    #[test]
    fn counts_what_others_used_and_names_the_busiest() {
        let start = Moment::ZERO;
        let before = programs(start, &[(10, 1, 5.0, 0.0), (11, 1, 1.0, 0.0)]);
        let after = programs(
            start + Duration::from_secs(10),
            &[(10, 1, 9.0, 0.0), (11, 1, 2.0, 0.0), (12, 10, 3.0, 0.0)],
        );
        let ours = BTreeSet::from([10]);
        let found = after.use_since(&before, &ours).expect("a use");
        assert!((found.share - 0.4).abs() < 1e-9, "{found:?}");
        assert_eq!(found.most, "p12");
    }

    #[test]
    fn earlier_time_of_an_ended_child_does_not_count() {
        let start = Moment::ZERO;
        // 21 had used 100 s before, uses 2 s more and exits.
        let before = programs(start, &[(20, 1, 1.0, 0.0), (21, 20, 100.0, 0.0)]);
        let after = programs(start + Duration::from_secs(10), &[(20, 1, 1.0, 102.0)]);
        let found = after.use_since(&before, &BTreeSet::new()).expect("a use");
        assert!((found.share - 0.2).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn earlier_time_of_an_ended_grandchild_does_not_count() {
        let start = Moment::ZERO;
        // 22 is a child of 21, which is a child of 20. Both exit after using 1 s more each.
        let before = programs(
            start,
            &[(20, 1, 1.0, 0.0), (21, 20, 3.0, 0.0), (22, 21, 500.0, 0.0)],
        );
        let after = programs(start + Duration::from_secs(10), &[(20, 1, 1.0, 505.0)]);
        let found = after.use_since(&before, &BTreeSet::new()).expect("a use");
        assert!((found.share - 0.2).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn without_other_programs_their_use_is_zero() {
        let start = Moment::ZERO;
        let before = programs(start, &[(10, 1, 5.0, 0.0)]);
        let after = programs(start + Duration::from_secs(10), &[(10, 1, 9.0, 0.0)]);
        let found = after.use_since(&before, &BTreeSet::from([10]));
        let expected = OtherUse {
            share: 0.0,
            most: String::new(),
        };
        assert_eq!(found, Some(expected));
    }

    #[test]
    fn a_busy_program_of_this_process_is_not_another() {
        let before = Programs::read();
        let mut child = std::process::Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .spawn()
            .expect("a shell");
        // Other tests may occupy all processors, so the shell may not run immediately.
        let used = |programs: &Programs| programs.programs.get(&child.id()).map(|one| one.own);
        let mut after = Programs::read();
        for _ in 0..600 {
            if used(&after) > Some(0.0) {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
            after = Programs::read();
        }
        let own = used(&after);
        let ours = after.others_since(&before).expect("time has passed");
        let all = after.use_since(&before, &BTreeSet::new()).expect("a use");
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        assert!(own > Some(0.0), "the shell did not run in 60 s");
        assert!(all.share > ours.share, "{all:?} {ours:?}");
    }
}
