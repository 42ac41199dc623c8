//! The lookups that a relation of one object needs.
//!
//! Computed usersets concern the same object, so they are resolved once, here: the remaining parts
//! are the relations whose tuples count, and the tuplesets that lead to other objects. So one
//! lookup per object is enough, and only tuples lead to another level.

use std::collections::{BTreeMap, BTreeSet};

use super::{Relation, Rewrite, Types};

/// The lookups that one relation of a type needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub type_name: String,
    pub relation: String,
    /// Whether tuples may be written for the relation itself.
    pub writable: bool,
    /// Relations of the same object whose tuples count.
    pub direct: Vec<String>,
    /// Relations of the same object whose tuples lead to other objects.
    pub tuplesets: Vec<Tupleset>,
}

/// A relation whose tuples lead to other objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tupleset {
    pub relation: String,
    /// The relations to look up next, by the type of the other object.
    pub targets: BTreeMap<String, Vec<(String, Relation)>>,
}

/// The reachable parts, before removing those that others imply.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Reach {
    direct: BTreeSet<String>,
    /// Pairs of a tupleset and a relation of the objects that it leads to.
    through: BTreeSet<(String, String)>,
}

impl Reach {
    fn of(relations: &BTreeMap<String, Rewrite>, relation: &str) -> Reach {
        let mut reach = Reach::default();
        let mut seen = BTreeSet::from([relation]);
        let mut open = vec![relation];
        while let Some(name) = open.pop() {
            if let Some(rewrite) = relations.get(name) {
                reach.add(name, rewrite, &mut |further| {
                    if seen.insert(further) {
                        open.push(further);
                    }
                });
            }
        }
        reach
    }

    fn add<'a>(&mut self, name: &str, rewrite: &'a Rewrite, open: &mut impl FnMut(&'a str)) {
        match rewrite {
            Rewrite::This => {
                self.direct.insert(name.to_owned());
            }
            Rewrite::Computed(other) => open(other),
            Rewrite::FromTupleset { tupleset, computed } => {
                self.through.insert((tupleset.clone(), computed.clone()));
            }
            Rewrite::AnyOf(parts) => {
                for part in parts {
                    self.add(name, part, open);
                }
            }
        }
    }

    fn covers(&self, other: &Reach) -> bool {
        other.direct.is_subset(&self.direct) && other.through.is_subset(&self.through)
    }
}

/// The plans of all relations, which `names` lists in the order of their numbers.
pub fn all(
    types: &Types,
    names: &[(&str, &str)],
    find: impl Fn(&str, &str) -> Option<Relation>,
) -> Vec<Plan> {
    let reaches: BTreeMap<(&str, &str), Reach> = names
        .iter()
        .filter_map(|&(type_name, relation)| {
            let reach = Reach::of(types.get(type_name)?, relation);
            Some(((type_name, relation), reach))
        })
        .collect();
    names
        .iter()
        .map(|&(type_name, relation)| {
            let reach = reaches.get(&(type_name, relation)).cloned();
            let Reach { direct, through } = reach.unwrap_or_default();
            let mut wanted: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            for (tupleset, computed) in through {
                wanted.entry(tupleset).or_default().insert(computed);
            }
            let tuplesets = wanted
                .into_iter()
                .map(|(tupleset, computed)| Tupleset {
                    relation: tupleset,
                    targets: types
                        .keys()
                        .map(|other| (other.clone(), fewest(other, &computed, &reaches, &find)))
                        .filter(|(_, targets)| !targets.is_empty())
                        .collect(),
                })
                .collect();
            let rewrite = types.get(type_name).and_then(|all| all.get(relation));
            Plan {
                type_name: type_name.to_owned(),
                relation: relation.to_owned(),
                writable: rewrite.is_some_and(Rewrite::has_this),
                direct: direct.into_iter().collect(),
                tuplesets,
            }
        })
        .collect()
}

/// The given relations of a type, without those that another one implies.
fn fewest(
    type_name: &str,
    wanted: &BTreeSet<String>,
    reaches: &BTreeMap<(&str, &str), Reach>,
    find: &impl Fn(&str, &str) -> Option<Relation>,
) -> Vec<(String, Relation)> {
    let mut kept: Vec<(&String, &Reach)> = Vec::new();
    for relation in wanted {
        let Some(reach) = reaches.get(&(type_name, relation.as_str())) else {
            continue;
        };
        if kept.iter().any(|(_, other)| other.covers(reach)) {
            continue;
        }
        kept.retain(|(_, other)| !reach.covers(other));
        kept.push((relation, reach));
    }
    kept.into_iter()
        .filter_map(|(relation, _)| Some((relation.clone(), find(type_name, relation)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::{DEFAULT, Model};

    #[test]
    fn implied_relations_are_not_looked_up_again() {
        let model = Model::read("default", DEFAULT).unwrap();
        let plan = model
            .plan(model.relation("doc", "viewer").unwrap())
            .unwrap();
        assert_eq!(plan.direct, ["editor", "owner", "viewer"]);
        let [parent] = plan.tuplesets.as_slice() else {
            panic!("{plan:?}")
        };
        assert_eq!(parent.relation, "parent");
        // Owner and editor of the folder are implied by its viewer.
        let folder = model.relation("folder", "viewer").unwrap();
        assert_eq!(parent.targets["folder"], [("viewer".to_owned(), folder)]);
        // A document has all three as well, and may be named as a parent.
        assert_eq!(parent.targets["doc"].len(), 1);
        assert!(!parent.targets.contains_key("group"));
    }

    #[test]
    fn relations_that_refer_to_each_other_end() {
        let model = Model::read(
            "test",
            "types: {a: {x: {any_of: [this, {computed_userset: y}]}, y: {any_of: [this, {computed_userset: x}]}}}",
        )
        .unwrap();
        let plan = model.plan(model.relation("a", "x").unwrap()).unwrap();
        assert_eq!(plan.direct, ["x", "y"]);
    }
}
