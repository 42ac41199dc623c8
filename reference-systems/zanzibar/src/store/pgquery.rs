//! Checks in PostgreSQL with one query per level: all relations of objects of a level are passed as
//! arrays, so that a level is one round trip, however wide it is.

use std::sync::Arc;

use plimsoll_serving::counters::count;
use rustc_hash::FxHashSet;
use tokio_postgres::Row;

use super::{MAX_LEVELS, MAX_NODES, Postgres, too_many_nodes};
use crate::failure::Failure;
use crate::messages::Tuple;
use crate::model::{Model, Relation};

/// Parameters: the subject's type, id and relation; then, as arrays, the object's type, id and
/// relation, and whether that is a tupleset. The first row says whether a tuple names the subject;
/// the others are the subjects to look up next, each with the index of its origin, counted from 1.
const LEVEL: &str = "\
WITH level AS MATERIALIZED (
  SELECT * FROM unnest($4::text[], $5::text[], $6::text[], $7::bool[])
    WITH ORDINALITY AS asked (object_type, object_id, object_relation, followed, place)
)
(SELECT 0::bigint AS place, ''::text, ''::text, ''::text FROM level AS asked, LATERAL (
  SELECT 1 FROM zanzibar.tuples AS stored
  WHERE NOT asked.followed AND stored.object_type = asked.object_type
    AND stored.object_id = asked.object_id AND stored.object_relation = asked.object_relation
    AND stored.subject_relation = $3 AND stored.subject_type = $1 AND stored.subject_id = $2
  LIMIT 1) AS hit LIMIT 1)
UNION ALL
(SELECT asked.place, next.subject_type, next.subject_id, next.subject_relation
 FROM level AS asked, LATERAL (
  SELECT subject_type, subject_id, subject_relation FROM zanzibar.tuples AS stored
  WHERE NOT asked.followed AND stored.object_type = asked.object_type
    AND stored.object_id = asked.object_id AND stored.object_relation = asked.object_relation
    AND stored.subject_relation > ''
  UNION ALL
  SELECT subject_type, subject_id, subject_relation FROM zanzibar.tuples AS stored
  WHERE asked.followed AND stored.object_type = asked.object_type
    AND stored.object_id = asked.object_id AND stored.object_relation = asked.object_relation
    AND stored.subject_relation = ''
  LIMIT 10001) AS next LIMIT 10001)";

/// See the module.
pub struct PgQuery {
    pub(super) postgres: Postgres,
    model: Arc<Model>,
}

/// The objects of a level with the relations to look up.
#[derive(Default)]
struct LevelQuery<'a> {
    types: Vec<&'a str>,
    ids: Vec<&'a str>,
    relations: Vec<&'a str>,
    followed: Vec<bool>,
    /// For each, the node's relation and the index of the tupleset in its plan.
    sources: Vec<(Relation, Option<usize>)>,
}

impl PgQuery {
    pub fn new(postgres: Postgres, model: Arc<Model>) -> PgQuery {
        PgQuery { postgres, model }
    }

    pub async fn check(
        &self,
        worker: usize,
        relation: Relation,
        tuple: &Tuple,
    ) -> Result<bool, Failure> {
        let counters = self.postgres.counters().of_worker(worker);
        count(&counters.checks);
        let mut client = self.postgres.client().await?;
        let mut level = vec![(relation, tuple.object_id.clone())];
        let mut seen: FxHashSet<(Relation, String)> = level.iter().cloned().collect();
        for _ in 0..MAX_LEVELS {
            let query = self.level_query(&level);
            if query.types.is_empty() {
                break;
            }
            count(&counters.queries);
            let (kept, rows) = self
                .postgres
                .query(
                    client,
                    LEVEL,
                    &[
                        &tuple.subject_type,
                        &tuple.subject_id,
                        &tuple.subject_relation,
                        &query.types,
                        &query.ids,
                        &query.relations,
                        &query.followed,
                    ],
                    || count(&counters.prepared),
                )
                .await;
            let rows = rows?;
            let mut next = Vec::new();
            for row in &rows {
                let error = |error| self.postgres.failure(&error);
                let place: i64 = row.try_get(0).map_err(error)?;
                let Some(source) = usize::try_from(place)
                    .ok()
                    .and_then(|place| place.checked_sub(1))
                else {
                    return Ok(true);
                };
                let leads = self.leads_to(&query, source, row).map_err(error)?;
                next.extend(leads.into_iter().filter(|node| seen.insert(node.clone())));
            }
            if seen.len() > MAX_NODES || rows.len() > MAX_NODES {
                return Err(too_many_nodes());
            }
            if next.is_empty() {
                break;
            }
            level = next;
            client = match kept {
                Some(client) => client,
                None => self.postgres.client().await?,
            };
        }
        Ok(false)
    }

    fn level_query<'a>(&'a self, level: &'a [(Relation, String)]) -> LevelQuery<'a> {
        let mut query = LevelQuery::default();
        for (relation, id) in level {
            let Some(plan) = self.model.plan(*relation) else {
                continue;
            };
            let mut add = |name: &'a str, tupleset: Option<usize>| {
                query.types.push(&plan.type_name);
                query.ids.push(id);
                query.relations.push(name);
                query.followed.push(tupleset.is_some());
                query.sources.push((*relation, tupleset));
            };
            for name in &plan.direct {
                add(name, None);
            }
            for (index, tupleset) in plan.tuplesets.iter().enumerate() {
                add(&tupleset.relation, Some(index));
            }
        }
        query
    }

    fn leads_to(
        &self,
        query: &LevelQuery<'_>,
        source: usize,
        row: &Row,
    ) -> Result<Vec<(Relation, String)>, tokio_postgres::Error> {
        let (type_name, id): (&str, &str) = (row.try_get(1)?, row.try_get(2)?);
        let relations: Vec<Relation> = match query.sources.get(source) {
            None => Vec::new(),
            Some((_, None)) => {
                let relation: &str = row.try_get(3)?;
                self.model
                    .relation(type_name, relation)
                    .into_iter()
                    .collect()
            }
            Some((from, Some(tupleset))) => self
                .model
                .plan(*from)
                .and_then(|plan| plan.tuplesets.get(*tupleset)?.targets.get(type_name))
                .into_iter()
                .flatten()
                .map(|(_, relation)| *relation)
                .collect(),
        };
        Ok(relations
            .into_iter()
            .map(|relation| (relation, id.to_owned()))
            .collect())
    }
}
