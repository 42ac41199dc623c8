//! Tests that all implementations of a check agree with the reference evaluator: on random models and tuples
//! with cycles, and at the limit of levels.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Arc, LazyLock};

use futures_util::future::join_all;
use plimsoll_testground::Postgres;
use tokio::runtime::{Builder, Runtime};

use crate::failure::Failure;
use crate::judge::Judge;
use crate::messages::Tuple;
use crate::model::{DEFAULT, Model, Rewrite, Types};
use crate::store::{MAX_LEVELS, Place, Store, read_address};

/// One server for all tests here, each with its own database. No test crashes it, so durability is
/// disabled.
static SERVER: LazyLock<Postgres> =
    LazyLock::new(|| Postgres::start_with(&["synchronous_commit=off"]));

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// The same tuples in every store.
struct Stores {
    stores: Vec<(&'static str, Store)>,
    model: Arc<Model>,
}

impl Stores {
    async fn open(model: Model, database: &str) -> Stores {
        let model = Arc::new(model);
        let config = read_address(database).unwrap();
        let mut stores = Vec::new();
        for (name, place) in [
            ("sqlite", Place::Sqlite(None)),
            ("pgquery", Place::PgQuery(config.clone())),
            ("pgfunc", Place::PgFunc(config)),
        ] {
            let store = Store::open(place, model.clone(), 1, 1).await.unwrap();
            stores.push((name, store));
        }
        Stores { stores, model }
    }

    /// Both PostgreSQL stores share their tuples.
    async fn write(&self, tuple: &Tuple) {
        for (_, store) in &self.stores[..2] {
            store.write(tuple.clone()).await.unwrap();
        }
    }

    async fn check(&self, tuple: &Tuple) -> Vec<(&'static str, Result<bool, Failure>)> {
        let relation = self
            .model
            .relation(&tuple.object_type, &tuple.object_relation)
            .unwrap();
        let mut results = Vec::new();
        for (name, store) in &self.stores {
            results.push((*name, store.check(0, relation, tuple).await));
        }
        results
    }
}

fn tuple(object: [&str; 3], subject: [&str; 3]) -> Tuple {
    let [object_type, object_id, object_relation] = object.map(str::to_owned);
    let [subject_type, subject_id, subject_relation] = subject.map(str::to_owned);
    Tuple {
        object_type,
        object_id,
        object_relation,
        subject_type,
        subject_id,
        subject_relation,
    }
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    fn rewrite(&mut self, relations: &[&str], depth: usize) -> Rewrite {
        match self.below(if depth < 2 { 9 } else { 4 }) {
            0 | 1 => Rewrite::This,
            2 => Rewrite::Computed((*self.of(relations)).to_owned()),
            3 => Rewrite::FromTupleset {
                tupleset: (*self.of(relations)).to_owned(),
                computed: (*self.of(&RELATIONS)).to_owned(),
            },
            _ => {
                // Mostly with its own tuples, or hardly anything would be granted.
                let mut any = match self.below(4) {
                    0 => vec![self.rewrite(relations, depth + 1)],
                    _ => vec![Rewrite::This],
                };
                any.extend((0..self.below(3)).map(|_| self.rewrite(relations, depth + 1)));
                Rewrite::AnyOf(any)
            }
        }
    }

    fn model(&mut self) -> Model {
        let mut types = Types::new();
        // Mostly all types with most of their relations.
        for name in &TYPES[self.below(4) / 3..] {
            let relations = &RELATIONS[..2 + self.below(RELATIONS.len() - 1)];
            let rewrites = relations
                .iter()
                .map(|relation| ((*relation).to_owned(), self.rewrite(relations, 0)))
                .collect();
            types.insert((*name).to_owned(), rewrites);
        }
        types.insert("user".to_owned(), BTreeMap::new());
        Model::for_test(types)
    }

    /// Any tuple over a few ids, so that there are cycles; also tuples that no longer count or
    /// whose relation no longer exists, as an older model leaves them behind.
    fn tuple(&mut self) -> Tuple {
        let ids = ["1", "2", "3"];
        let object = [*self.of(&TYPES), *self.of(&ids), *self.of(&RELATIONS)];
        let subject = match self.below(4) {
            0 => ["user", *self.of(&ids), ""],
            1 => [*self.of(&TYPES), *self.of(&ids), ""],
            _ => [*self.of(&TYPES), *self.of(&ids), *self.of(&RELATIONS)],
        };
        tuple(object, subject)
    }
}

const TYPES: [&str; 3] = ["a", "b", "c"];
const RELATIONS: [&str; 4] = ["w", "x", "y", "z"];

#[test]
fn all_agree_on_random_models_and_tuples() {
    let seed = std::env::var("PLIMSOLL_TEST_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(|| RandomState::new().hash_one(0));
    let mut random = Random(seed);
    let database = SERVER.database();
    let (mut granted, mut denied) = (0, 0);
    runtime().block_on(async {
        for _ in 0..24 {
            let stores = Stores::open(random.model(), &database).await;
            SERVER.sql(&database, "TRUNCATE zanzibar.tuples");
            let tuples: Vec<Tuple> = (0..10 + random.below(60)).map(|_| random.tuple()).collect();
            for tuple in &tuples {
                stores.write(tuple).await;
            }
            for _ in 0..4 {
                // Mostly a subject that has some relation.
                let query = match random.below(4) {
                    0 => random.tuple(),
                    _ => random.of(&tuples).clone(),
                };
                let subject = (
                    query.subject_type.as_str(),
                    query.subject_id.as_str(),
                    query.subject_relation.as_str(),
                );
                let judge = Judge::of(&stores.model, &tuples, subject);
                for (of, relations) in stores.model.types() {
                    for (id, relation) in ["1", "2", "3"]
                        .iter()
                        .flat_map(|id| relations.keys().map(move |relation| (*id, relation)))
                    {
                        let query = tuple([of, id, relation], [subject.0, subject.1, subject.2]);
                        let right = judge.has(of, id, relation);
                        *(if right { &mut granted } else { &mut denied }) += 1;
                        for (name, result) in stores.check(&query).await {
                            assert_eq!(
                                result,
                                Ok(right),
                                "PLIMSOLL_TEST_SEED={seed}: {name}, {query:?}, {tuples:#?}, {:#?}",
                                stores.model.types()
                            );
                        }
                    }
                }
            }
        }
    });
    assert!(
        granted > 50 && denied > 50,
        "PLIMSOLL_TEST_SEED={seed}: {granted} granted, {denied} denied"
    );
}

#[test]
fn the_sixteenth_level_is_the_last() {
    let database = SERVER.database();
    runtime().block_on(async {
        let model = Model::read("default", DEFAULT).unwrap();
        let stores = Stores::open(model, &database).await;
        // g1 has g2's members, and so on; the last one has the user.
        let mut tuples = Vec::new();
        for number in 1..MAX_LEVELS + 2 {
            let (this, next) = (format!("g{number}"), format!("g{}", number + 1));
            tuples.push(tuple(
                ["group", &this, "member"],
                ["group", &next, "member"],
            ));
            let user = format!("u{number}");
            tuples.push(tuple(["group", &this, "member"], ["user", &user, ""]));
        }
        // And a tuple back, which closes a cycle.
        tuples.push(tuple(["group", "g3", "member"], ["group", "g1", "member"]));
        for tuple in &tuples {
            stores.write(tuple).await;
        }
        for number in 1..MAX_LEVELS + 2 {
            let user = format!("u{number}");
            let judge = Judge::of(&stores.model, &tuples, ("user", &user, ""));
            let right = judge.has("group", "g1", "member");
            assert_eq!(right, number <= MAX_LEVELS, "the judge, {user}");
            let query = tuple(["group", "g1", "member"], ["user", &user, ""]);
            for (name, result) in stores.check(&query).await {
                assert_eq!(result, Ok(right), "{name}, {user}");
            }
        }
    });
}

#[test]
fn a_check_that_visits_too_many_nodes_is_aborted() {
    let database = SERVER.database();
    runtime().block_on(async {
        let model = Model::read("default", DEFAULT).unwrap();
        let stores = Stores::open(model, &database).await;
        SERVER.sql(
            &database,
            "INSERT INTO zanzibar.tuples (object_type, object_id, object_relation, subject_type, subject_id, subject_relation) \
             SELECT 'group', 'all', 'member', 'group', n, 'member' FROM generate_series(1, 10001) n",
        );
        let ids: Vec<String> = (1..=10_001).map(|number| number.to_string()).collect();
        let (_, sqlite) = &stores.stores[0];
        // In groups, so that the queue of changes never becomes full.
        for group in ids.chunks(500) {
            let writes = group
                .iter()
                .map(|id| sqlite.write(tuple(["group", "all", "member"], ["group", id, "member"])));
            for outcome in join_all(writes).await {
                outcome.unwrap();
            }
        }
        let query = tuple(["group", "all", "member"], ["user", "nobody", ""]);
        for (name, result) in stores.check(&query).await {
            assert!(matches!(result, Err(Failure::TooMuch(_))), "{name}: {result:?}");
        }
    });
}
