//! The model: types of objects, their relations, and how relations are derived from others.

mod nodes;
pub mod plan;
mod text;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

pub use plan::Plan;

/// Maximum number of types, of relations of each, and of parts of one rewrite.
const MAX_ITEMS: usize = 200;

/// Maximum bytes of the name of a type or a relation: two of them and a separator fit into a
/// PostgreSQL identifier.
const MAX_NAME: usize = 30;

pub const DEFAULT: &str = include_str!("model/default.yaml");

/// How a relation's members are found (Zanzibar, 2.3.1, "userset rewrite rules").
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rewrite {
    /// The subjects of the relation's own tuples.
    This,
    /// The members of another relation of the same object.
    Computed(String),
    /// For every object in a tuple of `tupleset`, the members of its relation `computed`.
    FromTupleset { tupleset: String, computed: String },
    /// The members of any of these.
    AnyOf(Vec<Rewrite>),
}

impl Rewrite {
    /// Whether tuples of the relation itself count.
    pub fn has_this(&self) -> bool {
        match self {
            Rewrite::This => true,
            Rewrite::AnyOf(parts) => parts.iter().any(Rewrite::has_this),
            Rewrite::Computed(_) | Rewrite::FromTupleset { .. } => false,
        }
    }
}

/// The relations of every type, as written.
pub type Types = BTreeMap<String, BTreeMap<String, Rewrite>>;

/// The number of a relation of a type in its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Relation(usize);

impl Relation {
    /// The relation's index in [`Model::plans`].
    pub fn index(self) -> usize {
        self.0
    }
}

/// A valid model.
#[derive(Debug)]
pub struct Model {
    types: Types,
    numbers: FxHashMap<String, FxHashMap<String, Relation>>,
    plans: Vec<Plan>,
}

impl Model {
    /// Parses a model from YAML or JSON; `place` is its name in errors.
    pub fn read(place: &str, text: &str) -> Result<Model, String> {
        Ok(Model::of(text::read(place, text)?))
    }

    /// A model of types whose references are all valid.
    fn of(types: Types) -> Model {
        let mut numbers: FxHashMap<String, FxHashMap<String, Relation>> = FxHashMap::default();
        let mut names = Vec::new();
        for (type_name, relations) in &types {
            let of_type = numbers.entry(type_name.clone()).or_default();
            for relation in relations.keys() {
                of_type.insert(relation.clone(), Relation(names.len()));
                names.push((type_name.as_str(), relation.as_str()));
            }
        }
        let find = |type_name: &str, relation: &str| {
            numbers
                .get(type_name)
                .and_then(|of_type| of_type.get(relation).copied())
        };
        let plans = plan::all(&types, &names, find);
        Model {
            types,
            numbers,
            plans,
        }
    }

    /// The relations of every type.
    pub fn types(&self) -> &Types {
        &self.types
    }

    /// The relation of a type, if it exists.
    pub fn relation(&self, type_name: &str, relation: &str) -> Option<Relation> {
        self.numbers.get(type_name)?.get(relation).copied()
    }

    pub fn plan(&self, relation: Relation) -> Option<&Plan> {
        self.plans.get(relation.0)
    }

    pub fn plans(&self) -> impl Iterator<Item = (Relation, &Plan)> {
        self.plans
            .iter()
            .enumerate()
            .map(|(index, plan)| (Relation(index), plan))
    }
}

/// `; did you mean '…'?` with the closest name, if one is close.
pub fn suggestion<'a>(wrong: &str, right: impl IntoIterator<Item = &'a str>) -> String {
    let nearest = right
        .into_iter()
        .map(|name| (strsim::osa_distance(wrong, name), name))
        .min();
    match nearest {
        Some((distance, name)) if distance <= 2.max(name.len() / 3) => {
            format!("; did you mean '{name}'?")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
impl Model {
    /// A model for tests, whose references must be valid.
    pub fn for_test(types: Types) -> Model {
        Model::of(types)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_model_is_valid() {
        let model = Model::read("default", DEFAULT).unwrap();
        assert_eq!(model.types().len(), 4);
        assert!(model.relation("user", "member").is_none());
        let viewer = model.relation("doc", "viewer").unwrap();
        assert_eq!(model.plan(viewer).unwrap().relation, "viewer");
    }
}
