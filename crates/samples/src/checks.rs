//! Counts the check results of one recorder.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::roster::{GROUP_LIMIT, Roster};

/// Results of checks by cell, group and name. Each name is copied and numbered once; after that, a result costs one
/// hash and one comparison.
#[derive(Debug, Default)]
pub(crate) struct CheckTable {
    /// Indices into `entries`.
    table: HashTable<usize>,
    entries: Vec<Entry>,
    /// Group paths, by their index in this table.
    groups: Vec<Box<str>>,
    group_by_path: FxHashMap<Box<str>, usize>,
}

#[derive(Debug)]
struct Entry {
    cell: usize,
    group: usize,
    name: Box<str>,
    check: usize,
    passes: u64,
    fails: u64,
}

/// The results of one check in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CheckDelta {
    /// The check's number in the roster.
    pub check: usize,
    pub cell: usize,
    pub passes: u64,
    pub fails: u64,
}

fn hash(cell: usize, group: usize, name: &str) -> u64 {
    FxBuildHasher.hash_one((cell, group, name))
}

impl CheckTable {
    /// The index of a group in this table; `None` above the limit.
    pub fn group(&mut self, path: &str) -> Option<usize> {
        if let Some(&group) = self.group_by_path.get(path) {
            return Some(group);
        }
        let group = self.groups.len();
        if group >= GROUP_LIMIT {
            return None;
        }
        self.groups.push(path.into());
        self.group_by_path.insert(path.into(), group);
        Some(group)
    }

    /// Counts a result. Returns false if there are too many checks to count it.
    #[inline]
    pub fn record(
        &mut self,
        cell: usize,
        group: usize,
        name: &str,
        passed: bool,
        roster: &Roster,
    ) -> bool {
        let hash = hash(cell, group, name);
        let found = self.table.find(hash, |&place| {
            self.entries.get(place).is_some_and(|entry| {
                entry.cell == cell && entry.group == group && *entry.name == *name
            })
        });
        let place = match found {
            Some(&place) => place,
            None => match self.add(hash, cell, group, name, roster) {
                Some(place) => place,
                None => return false,
            },
        };
        if let Some(entry) = self.entries.get_mut(place) {
            entry.passes += u64::from(passed);
            entry.fails += u64::from(!passed);
        }
        true
    }

    #[cold]
    fn add(
        &mut self,
        hash: u64,
        cell: usize,
        group: usize,
        name: &str,
        roster: &Roster,
    ) -> Option<usize> {
        let check = roster.check(self.groups.get(group)?, name)?;
        let place = self.entries.len();
        self.entries.push(Entry {
            cell,
            group,
            name: name.into(),
            check,
            passes: 0,
            fails: 0,
        });
        let entries = &self.entries;
        self.table.insert_unique(hash, place, |&place| {
            let entry = &entries[place];
            self::hash(entry.cell, entry.group, &entry.name)
        });
        Some(place)
    }

    /// Moves the counts since the previous call to `deltas`.
    pub fn drain_into(&mut self, deltas: &mut Vec<CheckDelta>) {
        for entry in &mut self.entries {
            if entry.passes + entry.fails > 0 {
                deltas.push(CheckDelta {
                    check: entry.check,
                    cell: entry.cell,
                    passes: entry.passes,
                    fails: entry.fails,
                });
                (entry.passes, entry.fails) = (0, 0);
            }
        }
    }
}
