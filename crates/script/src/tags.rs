//! The tags that a user's samples have: its scenario's, its group's, and what the script adds.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use plimsoll_samples::{BaseTags, Recorder, TagMap};

/// The tags that a user's samples have now.
pub struct Tags {
    /// Samples are tagged with their group.
    tag_groups: bool,
    recorder: Option<Rc<Recorder>>,
    map: RefCell<TagMap>,
    metadata: RefCell<BTreeMap<String, String>>,
    /// `map` as the recorder knows it; none after a change.
    base: RefCell<Option<BaseTags>>,
    /// `::outer::inner`; empty at the root.
    group: RefCell<String>,
    /// Groups entered since the last change of other tags, so that entering them again costs no look-up of tags.
    entered: RefCell<Vec<(String, BaseTags)>>,
    changes: Cell<u64>,
}

/// What to return to when a group is left.
pub struct Outside {
    group_length: usize,
    /// The whole path, where what was entered is no part of it.
    group: Option<String>,
    base: Option<BaseTags>,
    changes: u64,
}

/// How many groups are remembered for one user.
const GROUPS_KEPT: usize = 8;

impl Tags {
    pub fn new(recorder: Option<Rc<Recorder>>, tag_groups: bool) -> Self {
        Self {
            tag_groups,
            recorder,
            map: RefCell::default(),
            metadata: RefCell::default(),
            base: RefCell::default(),
            group: RefCell::default(),
            entered: RefCell::default(),
            changes: Cell::new(0),
        }
    }

    /// Starts again from a scenario's tags, at the root group.
    pub fn reset(&self, scenario: &TagMap) {
        *self.map.borrow_mut() = scenario.clone();
        self.metadata.borrow_mut().clear();
        self.set_group("");
    }

    /// Goes back to the root group, where an iteration was cut off within one.
    pub fn leave_all_groups(&self) {
        if !self.group.borrow().is_empty() {
            self.set_group("");
        }
    }

    /// Enters the group at `path` (`::outer::inner`) as far as samples are concerned, for set-up and tear-down.
    pub fn set_group(&self, path: &str) {
        *self.group.borrow_mut() = path.to_owned();
        self.tag_group(path);
        self.changed();
    }

    /// The tags as samples take them. `None` without a recorder.
    #[inline]
    pub fn base(&self) -> Option<BaseTags> {
        if let Some(base) = &*self.base.borrow() {
            return Some(base.clone());
        }
        let recorder = self.recorder.as_ref()?;
        let mut base = recorder.base_tags(&self.map.borrow());
        let metadata = self.metadata.borrow();
        if !metadata.is_empty() {
            base = base.with_metadata(Some(Arc::new(metadata.clone())));
        }
        *self.base.borrow_mut() = Some(base.clone());
        Some(base)
    }

    /// Enters a group within the present one.
    pub fn enter_group(&self, name: &str) -> Outside {
        let mut group = self.group.borrow_mut();
        let mut outside = Outside {
            group_length: group.len(),
            group: None,
            base: self.base.borrow().clone(),
            changes: self.changes.get(),
        };
        if name.is_empty() {
            // A group without a name is the root, wherever it is entered.
            outside.group = Some(std::mem::take(&mut group));
        } else {
            group.push_str("::");
            group.push_str(name);
        }
        let known = self
            .entered
            .borrow()
            .iter()
            .find(|(path, _)| *path == *group)
            .map(|(_, base)| base.clone());
        match known {
            Some(base) => *self.base.borrow_mut() = Some(base),
            None => {
                self.tag_group(&group);
                *self.base.borrow_mut() = None;
                let path = group.clone();
                drop(group);
                let mut entered = self.entered.borrow_mut();
                if entered.len() < GROUPS_KEPT
                    && let Some(base) = self.base()
                {
                    entered.push((path, base));
                }
            }
        }
        outside
    }

    /// Leaves the group entered last. Gives its path and its tags.
    pub fn leave_group(&self, outside: Outside) -> (String, Option<BaseTags>) {
        let inside = self.base();
        let mut group = self.group.borrow_mut();
        let path = group.clone();
        match outside.group {
            Some(whole) => *group = whole,
            None => group.truncate(outside.group_length),
        }
        if self.changes.get() == outside.changes && outside.base.is_some() {
            *self.base.borrow_mut() = outside.base;
        } else {
            *self.base.borrow_mut() = None;
        }
        self.tag_group(&group);
        (path, inside)
    }

    /// The tags as they are now, for what outlives a change of them.
    pub fn snapshot(&self) -> Snapshot {
        let metadata = self.metadata.borrow();
        Snapshot {
            map: self.map.borrow().clone(),
            metadata: (!metadata.is_empty()).then(|| Arc::new(metadata.clone())),
        }
    }

    pub fn get(&self, key: &str) -> Option<String> {
        if key == GROUP && self.tag_groups && self.entered_group() {
            return Some(self.group.borrow().clone());
        }
        self.map.borrow().get(key).map(str::to_owned)
    }

    pub fn set(&self, key: &str, value: &str) {
        self.map.borrow_mut().set(key, value);
        self.changed();
    }

    pub fn remove(&self, key: &str) -> bool {
        let removed = self.map.borrow_mut().remove(key);
        self.changed();
        removed
    }

    pub fn keys(&self) -> Vec<String> {
        self.map
            .borrow()
            .iter()
            .map(|(key, _)| key.to_owned())
            .collect()
    }

    pub fn metadata(&self) -> std::cell::Ref<'_, BTreeMap<String, String>> {
        self.metadata.borrow()
    }

    pub fn set_metadata(&self, key: &str, value: String) {
        self.metadata.borrow_mut().insert(key.to_owned(), value);
        self.changed();
    }

    pub fn remove_metadata(&self, key: &str) {
        self.metadata.borrow_mut().remove(key);
        self.changed();
    }

    fn tag_group(&self, path: &str) {
        if self.tag_groups {
            self.map.borrow_mut().set(GROUP, path);
        }
    }

    fn entered_group(&self) -> bool {
        !self.group.borrow().is_empty()
    }

    fn changed(&self) {
        *self.base.borrow_mut() = None;
        self.entered.borrow_mut().clear();
        self.changes.set(self.changes.get() + 1);
    }
}

/// Tags as they were once, with further ones.
pub struct Snapshot {
    map: TagMap,
    metadata: Option<Arc<BTreeMap<String, String>>>,
}

impl Snapshot {
    pub fn set(&mut self, key: &str, value: &str) {
        self.map.set(key, value);
    }

    /// As samples take them.
    pub fn base(&self, recorder: &Recorder) -> BaseTags {
        let base = recorder.base_tags(&self.map);
        match &self.metadata {
            Some(metadata) => base.with_metadata(Some(Arc::clone(metadata))),
            None => base,
        }
    }
}

const GROUP: &str = "group";
