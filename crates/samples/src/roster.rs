//! The names that occur during a run: groups, checks, and the cells of the breakdown. They are numbered in the order in
//! which the workers first use them.
//!
//! A lock protects the names, because all workers must use the same numbers. Each recorder caches its names, so it
//! takes the lock only once per name. The number of names is bounded, because a script that creates a new check name in
//! every iteration must not exhaust memory.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use crate::mask::Mask;

/// Maximum number of groups.
pub(crate) const GROUP_LIMIT: usize = 10_000;
/// Maximum number of checks.
pub(crate) const CHECK_LIMIT: usize = 10_000;
/// Maximum number of cells in the breakdown: pairs of a scenario and a group.
pub(crate) const CELL_LIMIT: usize = 1_000;

/// The cell of all samples if there is no breakdown. With a breakdown, the cell of samples above the limit.
pub(crate) const COMMON_CELL: usize = 0;

/// The number of the root group.
pub(crate) const ROOT: usize = 0;

#[derive(Debug)]
pub(crate) struct Roster {
    names: Mutex<Names>,
    /// Masks the names of groups and checks.
    mask: Option<Arc<Mask>>,
}

/// The contents of the roster, for the summary.
#[derive(Debug)]
pub(crate) struct Names {
    pub groups: Vec<GroupName>,
    pub checks: Vec<CheckName>,
    /// The scenario and group path of each cell. Both are empty for the common cell.
    pub cells: Vec<(String, String)>,
    group_by_path: FxHashMap<String, usize>,
    /// Check names by group.
    check_by_name: FxHashMap<(usize, String), usize>,
    cell_by_key: FxHashMap<(String, String), usize>,
}

#[derive(Debug)]
pub(crate) struct GroupName {
    pub name: String,
    pub path: String,
    pub parent: usize,
}

#[derive(Debug)]
pub(crate) struct CheckName {
    pub group: usize,
    pub name: String,
}

impl Roster {
    pub fn new(mask: Option<Arc<Mask>>) -> Roster {
        let root = GroupName {
            name: String::new(),
            path: String::new(),
            parent: ROOT,
        };
        Roster {
            mask,
            names: Mutex::new(Names {
                groups: vec![root],
                checks: Vec::new(),
                cells: vec![(String::new(), String::new())],
                group_by_path: FxHashMap::from_iter([(String::new(), ROOT)]),
                check_by_name: FxHashMap::default(),
                cell_by_key: FxHashMap::default(),
            }),
        }
    }

    pub fn names(&self) -> MutexGuard<'_, Names> {
        // Names are only added, each in one step, so a panic leaves the list consistent.
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Masks the secrets in a name.
    fn shown<'t>(&self, name: &'t str) -> Cow<'t, str> {
        let mask = self.mask.as_ref();
        mask.map_or(Cow::Borrowed(name), |mask| mask.apply(name))
    }

    /// Registers a group.
    pub fn group(&self, path: &str) {
        self.names().group(&self.shown(path));
    }

    /// The number of a check. `None` above the limit.
    pub fn check(&self, group_path: &str, name: &str) -> Option<usize> {
        let mut names = self.names();
        let group = names.group(&self.shown(group_path))?;
        let key = (group, self.shown(name).into_owned());
        if let Some(&check) = names.check_by_name.get(&key) {
            return Some(check);
        }
        let check = names.checks.len();
        if check >= CHECK_LIMIT {
            return None;
        }
        names.checks.push(CheckName {
            group,
            name: key.1.clone(),
        });
        names.check_by_name.insert(key, check);
        Some(check)
    }

    /// The cell of a scenario and a group. The common cell above the limit.
    pub fn cell(&self, scenario: &str, group_path: &str) -> usize {
        let mut names = self.names();
        let key = (scenario.to_owned(), self.shown(group_path).into_owned());
        if let Some(&cell) = names.cell_by_key.get(&key) {
            return cell;
        }
        let cell = names.cells.len();
        if cell > CELL_LIMIT {
            return COMMON_CELL;
        }
        names.cells.push(key.clone());
        names.cell_by_key.insert(key, cell);
        cell
    }
}

impl Names {
    /// The number of a group. Its ancestors are numbered before it. `None` above the limit.
    fn group(&mut self, path: &str) -> Option<usize> {
        if let Some(&group) = self.group_by_path.get(path) {
            return Some(group);
        }
        let mut parent = ROOT;
        let mut built = String::new();
        for name in path.strip_prefix("::").unwrap_or(path).split("::") {
            built.push_str("::");
            built.push_str(name);
            parent = match self.group_by_path.get(&built) {
                Some(&group) => group,
                None => {
                    let group = self.groups.len();
                    if group >= GROUP_LIMIT {
                        return None;
                    }
                    self.groups.push(GroupName {
                        name: name.to_owned(),
                        path: built.clone(),
                        parent,
                    });
                    self.group_by_path.insert(built.clone(), group);
                    group
                }
            };
        }
        Some(parent)
    }
}
