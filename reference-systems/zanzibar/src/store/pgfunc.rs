//! Checks in PostgreSQL with functions that are generated from the model, one for each relation of
//! a type. They call each other, so a check is one round trip.
//!
//! The name of the functions' schema is a hash of their source, so servers with different
//! models or versions can share a database.

use plimsoll_serving::counters::count;
use tokio_postgres::error::SqlState;

use super::postgres::{LOCK, chain};
use super::{MAX_LEVELS, MAX_NODES, Postgres, too_many_nodes};
use crate::failure::Failure;
use crate::messages::Tuple;
use crate::model::{Model, Plan, Relation};

/// The error code of a function that has looked up too many relations of objects. The standard uses
/// no classes that begin with I to Z or 5 to 9 (PostgreSQL, appendix A).
const TOO_MANY: &str = "PL001";

/// See the module.
pub struct PgFunc {
    pub(super) postgres: Postgres,
    /// For each relation, the query that calls its function.
    calls: Vec<String>,
}

impl PgFunc {
    /// Creates the functions unless they exist.
    pub async fn open(postgres: Postgres, model: &Model) -> Result<PgFunc, String> {
        let functions = all(model);
        let schema = format!("zanzibar_{:016x}", fingerprint(&functions));
        let calls = model
            .plans()
            .map(|(_, plan)| {
                format!(
                    "SELECT _found FROM {schema}.\"{}#{}\"($1, $2, $3, $4, 1, '{{}}', {MAX_NODES})",
                    plan.type_name, plan.relation
                )
            })
            .collect();
        let mut client = postgres
            .client()
            .await
            .map_err(|failure| failure.message().to_owned())?;
        let attempt = async {
            let transaction = client.transaction().await?;
            transaction.batch_execute(LOCK).await?;
            let there = transaction
                .query_opt("SELECT 1 FROM pg_namespace WHERE nspname = $1", &[&schema])
                .await?;
            if there.is_none() {
                let set = format!("CREATE SCHEMA {schema}; SET LOCAL search_path = {schema};");
                transaction.batch_execute(&set).await?;
                transaction
                    .batch_execute(&functions.replace("@schema", &schema))
                    .await?;
            }
            transaction.commit().await
        };
        attempt
            .await
            .map_err(|error| format!("cannot create the functions: {}", chain(&error)))?;
        drop(client);
        Ok(PgFunc { postgres, calls })
    }

    pub async fn check(
        &self,
        worker: usize,
        relation: Relation,
        tuple: &Tuple,
    ) -> Result<bool, Failure> {
        let counters = self.postgres.counters().of_worker(worker);
        count(&counters.checks);
        let call = self.calls.get(relation.index()).ok_or(Failure::Internal)?;
        let client = self.postgres.client().await?;
        count(&counters.queries);
        let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 4] = [
            &tuple.object_id,
            &tuple.subject_type,
            &tuple.subject_id,
            &tuple.subject_relation,
        ];
        let (_, rows) = self
            .postgres
            .query_with(
                client,
                call,
                &parameters,
                || count(&counters.prepared),
                |error| (error.code() == Some(&SqlState::from_code(TOO_MANY))).then(too_many_nodes),
            )
            .await;
        let rows = rows?;
        let row = rows.first().ok_or(Failure::Internal)?;
        row.try_get(0)
            .map_err(|error| self.postgres.failure(&error))
    }
}

/// The source of all functions; `@schema` is replaced with the schema's name.
fn all(model: &Model) -> String {
    model
        .plans()
        .map(|(_, plan)| function(plan))
        .collect::<String>()
        + &dispatcher(model)
}

/// The function of one relation. Its parameters are the object's id, the subject, the level, the nodes looked
/// up so far with their levels, and the number of further nodes that are allowed. It returns the last two updated,
/// and whether the subject was found.
///
/// A node is looked up again only from a lower level, where more levels remain, so that the order
/// does not matter. Nodes without further tuples are not recorded: looking them up again is cheaper
/// than passing them along.
fn function(plan: &Plan) -> String {
    let (type_name, name) = (&plan.type_name, &plan.relation);
    let mut parts = Vec::new();
    let mut found = "false".to_owned();
    if !plan.direct.is_empty() {
        let relations: Vec<_> = plan.direct.iter().map(|name| format!("'{name}'")).collect();
        let stored = format!(
            "SELECT subject_type, subject_id, subject_relation FROM zanzibar.tuples \
             WHERE object_type = '{type_name}' AND object_id = _id AND object_relation IN ({})",
            relations.join(", ")
        );
        found = format!(
            "EXISTS ({stored} AND subject_relation = _subject_relation \
             AND subject_type = _subject_type AND subject_id = _subject_id)"
        );
        parts.push(format!("{stored} AND subject_relation > ''"));
    }
    for tupleset in &plan.tuplesets {
        let targets: Vec<_> = tupleset
            .targets
            .iter()
            .flat_map(|(of, targets)| {
                targets
                    .iter()
                    .map(move |(relation, _)| format!("('{of}', '{relation}')"))
            })
            .collect();
        if !targets.is_empty() {
            parts.push(format!(
                "SELECT subject_type, subject_id, target.relation AS subject_relation FROM zanzibar.tuples \
                 JOIN (VALUES {}) AS target (type, relation) ON target.type = subject_type \
                 WHERE object_type = '{type_name}' AND object_id = _id \
                 AND object_relation = '{}' AND subject_relation = ''",
                targets.join(", "),
                tupleset.relation
            ));
        }
    }
    let mut text = format!(
        "CREATE FUNCTION @schema.\"{type_name}#{name}\" (
  _id text, _subject_type text, _subject_id text, _subject_relation text, _level int,
  INOUT _seen jsonb, INOUT _left int, OUT _found bool
) LANGUAGE plpgsql STABLE AS $body$
DECLARE _next record; _marked bool := false;
BEGIN
  IF _left <= 0 THEN
    RAISE EXCEPTION 'too many relations of objects' USING ERRCODE = '{TOO_MANY}';
  END IF;
  _left := _left - 1;
  _found := {found};
  IF _found OR _level >= {MAX_LEVELS} THEN RETURN; END IF;
"
    );
    if !parts.is_empty() {
        text.push_str(&format!(
            "  FOR _next IN {} LOOP
    IF NOT _marked THEN
      _seen := _seen || jsonb_build_object('{type_name}#{name}:' || _id, _level);
      _marked := true;
    END IF;
    SELECT * INTO _seen, _left, _found FROM @schema.go_on(
      _next.subject_type, _next.subject_id, _next.subject_relation,
      _subject_type, _subject_id, _subject_relation, _level + 1, _seen, _left);
    IF _found THEN RETURN; END IF;
  END LOOP;
",
            parts.join("\n    UNION ALL ")
        ));
    }
    text.push_str("END $body$;\n");
    text
}

/// The function that calls a relation's function by name.
fn dispatcher(model: &Model) -> String {
    let cases: String = model
        .plans()
        .map(|(_, plan)| {
            let name = format!("{}#{}", plan.type_name, plan.relation);
            format!(
                "    WHEN '{name}' THEN SELECT * INTO _seen, _left, _found FROM @schema.\"{name}\"(
      _id, _subject_type, _subject_id, _subject_relation, _level, _seen, _left);\n"
            )
        })
        .collect();
    // A CASE without a branch is not a valid statement.
    let case = if cases.is_empty() {
        String::new()
    } else {
        format!("  CASE _type || '#' || _relation\n{cases}    ELSE NULL;\n  END CASE;\n")
    };
    format!(
        "CREATE FUNCTION @schema.go_on (
  _type text, _id text, _relation text,
  _subject_type text, _subject_id text, _subject_relation text, _level int,
  INOUT _seen jsonb, INOUT _left int, OUT _found bool
) LANGUAGE plpgsql STABLE AS $body$
BEGIN
  _found := false;
  IF (_seen ->> (_type || '#' || _relation || ':' || _id))::int <= _level THEN RETURN; END IF;
{case}END $body$;\n"
    )
}

/// FNV-1a of 64 bits (Fowler, Noll and Vo; RFC 9923).
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fingerprint_is_that_of_its_description() {
        // Test vectors of RFC 9923 for "" and "a".
        assert_eq!(fingerprint(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fingerprint("a"), 0xaf63_dc4c_8601_ec8c);
    }
}
