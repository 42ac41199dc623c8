//! The random order of runs, in blocks: a restart is a block that contains each cell.

use plimsoll_stats::Random;

use crate::plan::variants_of;
use crate::resolve::Lab;

/// One run of one cell, in the order of execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduledRun {
    /// The index of the cell.
    pub cell: usize,
    /// The restart, counted from 1.
    pub restart: u32,
    /// The run of the cell over all restarts, counted from 1.
    pub run: u32,
}

/// The order of all runs, which the seed determines. In each restart, the variants are shuffled and
/// started in groups of at most [`Lab::keep`], each variant once. The cells of a group run in
/// random order, once for each repeat. So cells that are compared are measured close to each other,
/// and drift affects all of them equally. The copy of a cell is measured directly before or after
/// the group of that cell.
pub fn order(lab: &Lab, seed: u64) -> Vec<ScheduledRun> {
    let mut random = Random::new(seed);
    let runs = |cell: usize, restart: u32, repeat: u32| {
        lab.cells.get(cell).is_some_and(|cell| {
            cell.chosen && cell.load.restarts >= restart && cell.load.repeats >= repeat
        })
    };
    let max_of = |count: fn(&crate::resolve::load::Load) -> u32| {
        let chosen = lab.cells.iter().filter(|cell| cell.chosen);
        chosen.map(|cell| count(&cell.load)).max().unwrap_or(0)
    };
    let mut schedule = Vec::new();
    for restart in 1..=max_of(|load| load.restarts) {
        for group in groups(lab, &mut random) {
            for repeat in 1..=max_of(|load| load.repeats) {
                let mut cells: Vec<usize> = (0..lab.cells.len())
                    .filter(|at| runs(*at, restart, repeat))
                    .filter(|at| {
                        let cell = lab.cells.get(*at);
                        cell.is_some_and(|cell| group.contains(&cell.variant))
                    })
                    .collect();
                shuffle(&mut cells, &mut random);
                schedule.extend(cells.into_iter().filter_map(|cell| {
                    let repeats = lab.cells.get(cell)?.load.repeats;
                    let run = (restart - 1).checked_mul(repeats)?.checked_add(repeat)?;
                    Some(ScheduledRun { cell, restart, run })
                }));
            }
        }
    }
    schedule
}

/// The variants in random groups.
fn groups(lab: &Lab, random: &mut Random) -> Vec<Vec<usize>> {
    let mut variants = variants_of(lab);
    let same = lab.same_cell();
    variants.retain(|variant| same.is_none_or(|(_, copy)| copy.variant != *variant));
    shuffle(&mut variants, random);
    let chunks = variants.chunks(lab.keep.max(1));
    let mut groups: Vec<Vec<usize>> = chunks.map(<[usize]>::to_vec).collect();
    if let Some((cell, copy)) = same
        && let Some(at) = groups
            .iter()
            .position(|group| group.contains(&cell.variant))
    {
        groups.insert(at + random.below(2), vec![copy.variant]);
    }
    groups
}

/// A seed that differs for each run of a lab and is short enough to type.
pub fn new_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::hash::RandomState::new().build_hasher().finish() % 1_000_000
}

/// Shuffles the items (Fisher and Yates).
fn shuffle<T>(items: &mut [T], random: &mut Random) {
    for last in (1..items.len()).rev() {
        items.swap(last, random.below(last + 1));
    }
}
