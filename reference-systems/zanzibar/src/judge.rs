//! A slow reference evaluator, for comparison with the others. It shares only the meaning of a
//! model with them: it has no plans and no search, but computes a table of all relations by level,
//! bottom-up for every object.

use std::collections::{BTreeMap, BTreeSet};

use crate::messages::Tuple;
use crate::model::{Model, Rewrite};
use crate::store::MAX_LEVELS;

/// Object type, object id, relation.
type Node = (String, String, String);

/// All relations of a subject within this number of levels.
pub struct Judge {
    holds: BTreeMap<Node, bool>,
}

impl Judge {
    /// The relations of `subject` (type, id, relation) that follow from `tuples`.
    pub fn of(model: &Model, tuples: &[Tuple], subject: (&str, &str, &str)) -> Judge {
        let objects: BTreeSet<(String, String)> = tuples
            .iter()
            .flat_map(|tuple| {
                [
                    (tuple.object_type.clone(), tuple.object_id.clone()),
                    (tuple.subject_type.clone(), tuple.subject_id.clone()),
                ]
            })
            .collect();
        let mut before: BTreeMap<Node, bool> = BTreeMap::new();
        for _ in 0..MAX_LEVELS {
            let mut now: BTreeMap<Node, bool> = BTreeMap::new();
            // Relations of one object follow from each other within a level, so repeat until
            // nothing changes.
            loop {
                let mut changed = false;
                for (of, id) in &objects {
                    for (relation, rewrite) in model.types().get(of).into_iter().flatten() {
                        let node = (of.clone(), id.clone(), relation.clone());
                        let view = View {
                            tuples,
                            subject,
                            before: &before,
                            now: &now,
                        };
                        let holds = view.holds(&node, rewrite);
                        if holds && now.insert(node, true).is_none() {
                            changed = true;
                        }
                    }
                }
                if !changed {
                    break;
                }
            }
            before = now;
        }
        Judge { holds: before }
    }

    pub fn has(&self, of: &str, id: &str, relation: &str) -> bool {
        let node = (of.to_owned(), id.to_owned(), relation.to_owned());
        self.holds.contains_key(&node)
    }
}

struct View<'a> {
    tuples: &'a [Tuple],
    subject: (&'a str, &'a str, &'a str),
    before: &'a BTreeMap<Node, bool>,
    now: &'a BTreeMap<Node, bool>,
}

impl<'a> View<'a> {
    fn stored(
        &self,
        of: &'a str,
        id: &'a str,
        relation: &'a str,
    ) -> impl Iterator<Item = &'a Tuple> {
        self.tuples.iter().filter(move |tuple| {
            tuple.object_type == of && tuple.object_id == id && tuple.object_relation == relation
        })
    }

    fn holds(&self, node: &'a Node, rewrite: &'a Rewrite) -> bool {
        let (of, id, relation) = node;
        let one_level_down = |of: &str, id: &str, relation: &str| {
            self.before
                .contains_key(&(of.to_owned(), id.to_owned(), relation.to_owned()))
        };
        match rewrite {
            Rewrite::This => self.stored(of, id, relation).any(|tuple| {
                let found = (
                    tuple.subject_type.as_str(),
                    tuple.subject_id.as_str(),
                    tuple.subject_relation.as_str(),
                );
                found == self.subject
                    || (!tuple.subject_relation.is_empty()
                        && one_level_down(found.0, found.1, found.2))
            }),
            Rewrite::Computed(other) => {
                self.now
                    .contains_key(&(of.clone(), id.clone(), other.clone()))
            }
            Rewrite::FromTupleset { tupleset, computed } => {
                self.stored(of, id, tupleset).any(|tuple| {
                    tuple.subject_relation.is_empty()
                        && one_level_down(&tuple.subject_type, &tuple.subject_id, computed)
                })
            }
            Rewrite::AnyOf(parts) => parts.iter().any(|part| self.holds(node, part)),
        }
    }
}
