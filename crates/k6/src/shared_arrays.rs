//! The elements of `SharedArray`s, stored once per process as JSON.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// All shared arrays of a program, by name.
#[derive(Debug, Default)]
pub struct SharedArrays(Mutex<HashMap<String, Arc<Elements>>>);

impl SharedArrays {
    pub fn get(&self, name: &str) -> Option<Arc<Elements>> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(name)
            .cloned()
    }

    /// Adds an array, unless another user was first. Returns the stored array.
    pub fn add(&self, name: String, elements: Elements) -> Arc<Elements> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(name).or_insert_with(|| Arc::new(elements)))
    }
}

/// The elements of an array as concatenated JSON.
#[derive(Debug, Default)]
pub struct Elements {
    text: String,
    /// The end of each element. An empty element is undefined.
    ends: Vec<usize>,
}

impl Elements {
    /// Adds an element as JSON; `None` is undefined.
    pub fn push(&mut self, json: Option<&str>) {
        self.text.push_str(json.unwrap_or_default());
        self.ends.push(self.text.len());
    }

    /// Frees memory that no element uses.
    pub fn shrink_to_fit(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The JSON of an element. Empty if the element is undefined.
    pub fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)?;
        let start = index
            .checked_sub(1)
            .and_then(|before| self.ends.get(before))
            .map_or(0, |&e| e);
        self.text.get(start..end)
    }
}
