//! The tags of a user's samples, which come from the scenario, the group and the script.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use plimsoll_samples::{BaseTags, Recorder, TagMap};

/// The current tags of a user's samples.
pub struct Tags {
    /// Whether samples are tagged with their group.
    tag_groups: bool,
    recorder: Option<Rc<Recorder>>,
    map: RefCell<TagMap>,
    /// Whether `map` has another group than the current one: entering a known group does not change it.
    is_behind: Cell<bool>,
    metadata: RefCell<BTreeMap<String, String>>,
    /// `map` in the recorder's form. `None` after a change.
    base: RefCell<Option<BaseTags>>,
    /// `::outer::inner`. Empty at the root.
    group: RefCell<String>,
    /// Groups entered since the last change of other tags. Entering them again needs no tag lookup.
    entered: RefCell<Vec<(String, BaseTags)>>,
    changes: Cell<u64>,
}

/// The state to return to when leaving a group.
pub struct Outside {
    group_length: usize,
    /// The whole path, if the entered group is not a part of it.
    group: Option<String>,
    base: Option<BaseTags>,
    changes: u64,
    is_behind: bool,
}

/// Maximum number of groups to remember per user.
const MAX_GROUPS: usize = 8;

impl Tags {
    pub fn new(recorder: Option<Rc<Recorder>>, tag_groups: bool) -> Self {
        Self {
            tag_groups,
            recorder,
            map: RefCell::default(),
            is_behind: Cell::new(false),
            metadata: RefCell::default(),
            base: RefCell::default(),
            group: RefCell::default(),
            entered: RefCell::default(),
            changes: Cell::new(0),
        }
    }

    /// Starts over with a scenario's tags, in the root group.
    #[inline]
    pub fn reset(&self, scenario: &TagMap) {
        *self.map.borrow_mut() = scenario.clone();
        self.metadata.borrow_mut().clear();
        self.set_group("");
    }

    /// Returns to the root group after an iteration was interrupted inside a group.
    #[inline]
    pub fn leave_all_groups(&self) {
        if !self.group.borrow().is_empty() {
            self.set_group("");
        }
    }

    /// Sets the group of samples to `path` (`::outer::inner`), for setup and teardown.
    pub fn set_group(&self, path: &str) {
        *self.group.borrow_mut() = path.to_owned();
        self.tag_group(path);
        self.changed();
    }

    /// The tags in the form for samples. `None` without a recorder.
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

    /// The path of the current group: `::outer::inner`. Empty at the root.
    pub fn group(&self) -> String {
        self.group.borrow().clone()
    }

    /// Enters a group inside the current one.
    pub fn enter_group(&self, name: &str) -> Outside {
        let mut group = self.group.borrow_mut();
        let mut outside = Outside {
            group_length: group.len(),
            group: None,
            base: self.base.borrow().clone(),
            changes: self.changes.get(),
            is_behind: self.is_behind.get(),
        };
        if name.is_empty() {
            // A group without a name is the root group, wherever it is entered.
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
            Some(base) => {
                *self.base.borrow_mut() = Some(base);
                self.is_behind.set(true);
            }
            None => {
                self.tag_group(&group);
                *self.base.borrow_mut() = None;
                let path = group.clone();
                drop(group);
                let mut entered = self.entered.borrow_mut();
                if entered.len() < MAX_GROUPS
                    && let Some(base) = self.base()
                {
                    entered.push((path, base));
                }
            }
        }
        outside
    }

    /// Leaves the group that was entered last. Returns its path and its tags.
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
        match self.is_behind.get() {
            // Nothing has changed the map since the group was entered.
            true => self.is_behind.set(outside.is_behind),
            false => self.tag_group(&group),
        }
        (path, inside)
    }

    /// The current tags and metadata, for a callback that is called later.
    pub fn scope(&self) -> Scope {
        self.catch_up();
        Scope {
            base: self.base(),
            map: self.map.borrow().clone(),
            metadata: self.metadata.borrow().clone(),
            group: self.group.borrow().clone(),
        }
    }

    /// Replaces the tags and metadata, and returns the previous ones.
    pub fn exchange(&self, scope: Scope) -> Scope {
        self.catch_up();
        self.changed();
        Scope {
            base: self.base.replace(scope.base),
            map: self.map.replace(scope.map),
            metadata: self.metadata.replace(scope.metadata),
            group: self.group.replace(scope.group),
        }
    }

    /// A copy of the current tags, for operations that may run until after the tags have changed.
    pub fn snapshot(&self) -> Snapshot {
        self.catch_up();
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
        self.catch_up();
        self.map.borrow_mut().set(key, value);
        self.changed();
    }

    pub fn remove(&self, key: &str) -> bool {
        self.catch_up();
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
        self.catch_up();
        self.metadata.borrow_mut().insert(key.to_owned(), value);
        self.changed();
    }

    pub fn remove_metadata(&self, key: &str) {
        self.catch_up();
        self.metadata.borrow_mut().remove(key);
        self.changed();
    }

    /// Updates the group in `map`, before it is read or changed.
    fn catch_up(&self) {
        if self.is_behind.get() {
            self.tag_group(&self.group.borrow());
        }
    }

    fn tag_group(&self, path: &str) {
        self.is_behind.set(false);
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

/// All tags and metadata of a user at one moment.
#[derive(Clone)]
pub struct Scope {
    map: TagMap,
    metadata: BTreeMap<String, String>,
    base: Option<BaseTags>,
    group: String,
}

/// A copy of earlier tags, with additional ones.
pub struct Snapshot {
    map: TagMap,
    metadata: Option<Arc<BTreeMap<String, String>>>,
}

impl Snapshot {
    pub fn set(&mut self, key: &str, value: &str) {
        self.map.set(key, value);
    }

    /// The tags in the form for samples.
    pub fn base(&self, recorder: &Recorder) -> BaseTags {
        let base = recorder.base_tags(&self.map);
        match &self.metadata {
            Some(metadata) => base.with_metadata(Some(Arc::clone(metadata))),
            None => base,
        }
    }
}

const GROUP: &str = "group";
