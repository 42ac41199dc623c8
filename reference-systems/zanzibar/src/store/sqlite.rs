//! SQLite in the process.
//!
//! Readers never wait: there is one per worker, on the worker's own thread, because a check takes
//! less time than passing it to another thread. There is one writer ([`super::sqlite_writer`]). A
//! check sees the tuples at one moment.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use plimsoll_serving::counters::count;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row, params_from_iter};
use rustc_hash::FxHashSet;
use tempfile::TempDir;

use super::counters::{AllCounters, Counters};
use super::sqlite_writer::{Change, Writer};
use super::{MAX_LEVELS, MAX_NODES, Page, conditions, page, too_many_nodes};
use crate::failure::Failure;
use crate::messages::Tuple;
use crate::model::{Model, Plan, Relation};

/// The migrations of the tables, in order; `user_version` is the number applied. The order of the
/// unique index puts the data of a check next to each other.
const MIGRATIONS: &[&str] = &[
    "CREATE TABLE tuples (
       number INTEGER PRIMARY KEY AUTOINCREMENT,
       uuid BLOB NOT NULL DEFAULT (randomblob(16)),
       object_type TEXT NOT NULL,
       object_id TEXT NOT NULL,
       object_relation TEXT NOT NULL,
       subject_type TEXT NOT NULL,
       subject_id TEXT NOT NULL,
       subject_relation TEXT NOT NULL
     ) STRICT;
     CREATE UNIQUE INDEX tuples_by_object ON tuples
       (object_type, object_id, object_relation, subject_relation, subject_type, subject_id);",
    "CREATE INDEX tuples_by_subject ON tuples (subject_type, subject_id, subject_relation);",
];

/// Time limit for another process that writes to the file.
const PATIENCE: Duration = Duration::from_secs(5);

/// Maximum prepared statements per reader.
const STATEMENTS: usize = 512;

/// Maximum rows that one query of a check returns: one more than the limit of nodes.
const MAX_ROWS: usize = MAX_NODES + 1;

/// Maximum relations that a query looks up separately. SQLite accepts 500 parts of a query, and
/// there may be as many tuplesets as relations of a type.
const MAX_PARTS: usize = 32;

/// Tuples in a file.
pub struct Sqlite {
    readers: Vec<Mutex<Connection>>,
    /// Listing may take long, so it has a separate connection.
    lister: Arc<Mutex<Connection>>,
    writer: Writer,
    model: Arc<Model>,
    /// For each relation, its one query; `None` if it can have no members.
    queries: Vec<Option<String>>,
    counters: AllCounters,
    /// A directory that is removed at the end.
    _temporary: Option<TempDir>,
}

impl Sqlite {
    /// Opens a file, or creates a temporary one.
    pub fn open(
        path: Option<PathBuf>,
        model: Arc<Model>,
        workers: usize,
    ) -> Result<Sqlite, String> {
        let (path, temporary) = match path {
            Some(path) => (path, None),
            None => {
                let directory = tempfile::Builder::new()
                    .prefix("plimsoll-zanzibar-")
                    .tempdir()
                    .map_err(|error| {
                        format!("cannot create a directory for the database: {error}; name a file with --database")
                    })?;
                (directory.path().join("tuples.sqlite"), Some(directory))
            }
        };
        let explain = |error: rusqlite::Error| {
            format!("cannot open the database {}: {error}", path.display())
        };
        let lasting = temporary.is_none();
        let mut first = connect(&path, lasting).map_err(explain)?;
        migrate(&mut first).map_err(|error| format!("{}: {error}", path.display()))?;
        let readers = (0..workers.max(1))
            .map(|_| connect(&path, lasting).map(Mutex::new))
            .collect::<Result<_, _>>()
            .map_err(explain)?;
        let lister = Arc::new(Mutex::new(connect(&path, lasting).map_err(explain)?));
        let queries = model.plans().map(|(_, plan)| query(plan)).collect();
        Ok(Sqlite {
            readers,
            lister,
            writer: Writer::start(first)?,
            queries,
            model,
            counters: AllCounters::new(workers),
            _temporary: temporary,
        })
    }

    pub fn check(&self, worker: usize, relation: Relation, tuple: &Tuple) -> Result<bool, Failure> {
        let counters = self.counters.of_worker(worker);
        count(&counters.checks);
        self.with_reader(worker, |connection| {
            connection.prepare_cached("BEGIN")?.raw_execute()?;
            let found = self.walk(connection, &counters, relation, tuple);
            connection.prepare_cached("COMMIT")?.raw_execute()?;
            found
        })?
        .ok_or_else(too_many_nodes)
    }

    /// `None` if there were too many nodes.
    fn walk(
        &self,
        connection: &Connection,
        counters: &Counters,
        relation: Relation,
        tuple: &Tuple,
    ) -> rusqlite::Result<Option<bool>> {
        let mut level = vec![(relation, tuple.object_id.clone())];
        let mut seen: FxHashSet<(Relation, String)> = FxHashSet::default();
        for depth in 1..=MAX_LEVELS {
            let mut next = Vec::new();
            for (relation, id) in &level {
                let (Some(plan), Some(Some(query))) = (
                    self.model.plan(*relation),
                    self.queries.get(relation.index()),
                ) else {
                    continue;
                };
                count(&counters.queries);
                let mut statement = connection.prepare_cached(query)?;
                let mut rows = statement.query([
                    id,
                    &tuple.subject_relation,
                    &tuple.subject_type,
                    &tuple.subject_id,
                ])?;
                while let Some(row) = rows.next()? {
                    let Some(source) = usize::try_from(row.get::<_, i64>(0)?).ok() else {
                        return Ok(Some(true));
                    };
                    for relation in self.leads_to(plan, source, row)? {
                        next.push((relation, row.get::<_, String>(2)?));
                    }
                    if seen.len() + next.len() > MAX_NODES {
                        return Ok(None);
                    }
                }
            }
            if depth == 1 {
                seen.extend(level);
            }
            next.retain(|node| seen.insert(node.clone()));
            if next.is_empty() {
                break;
            }
            level = next;
        }
        Ok(Some(false))
    }

    /// The relations of the object that is a tuple's subject, which are looked up next.
    fn leads_to(
        &self,
        plan: &Plan,
        source: usize,
        row: &Row<'_>,
    ) -> rusqlite::Result<Vec<Relation>> {
        let type_name = row.get_ref(1)?.as_str()?;
        let Some(tupleset) = source.checked_sub(1) else {
            let relation = row.get_ref(3)?.as_str()?;
            return Ok(self
                .model
                .relation(type_name, relation)
                .into_iter()
                .collect());
        };
        Ok(plan
            .tuplesets
            .get(tupleset)
            .and_then(|tupleset| tupleset.targets.get(type_name))
            .into_iter()
            .flatten()
            .map(|(_, relation)| *relation)
            .collect())
    }

    pub async fn write(&self, tuple: Tuple) -> Result<(), Failure> {
        self.writer.change(Change::Write(tuple)).await.map(drop)
    }

    pub async fn delete(&self, tuple: Tuple) -> Result<(), Failure> {
        match self.writer.change(Change::Delete(tuple)).await? {
            0 => Err(Failure::NotFound),
            _ => Ok(()),
        }
    }

    pub fn read(&self, worker: usize, tuple: &Tuple) -> Result<String, Failure> {
        let (condition, values) = exactly(tuple);
        let sql = format!("SELECT uuid FROM tuples WHERE {condition}");
        let found = self.with_reader(worker, |connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query(params_from_iter(values))?;
            rows.next()?
                .map(|row| row.get::<_, [u8; 16]>(0))
                .transpose()
        })?;
        found.map(uuid).ok_or(Failure::NotFound)
    }

    pub async fn list(&self, filter: Tuple, after: i64, limit: usize) -> Result<Page, Failure> {
        let lister = self.lister.clone();
        let listed = tokio::task::spawn_blocking(move || {
            let connection = lister.lock().unwrap_or_else(PoisonError::into_inner);
            list(&connection, &filter, after, limit).map_err(failure)
        });
        listed
            .await
            .map_err(|error| Failure::internal("listing failed", &error))?
    }

    pub fn counters(&self) -> &AllCounters {
        &self.counters
    }

    fn with_reader<T>(
        &self,
        worker: usize,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Failure> {
        let reader = self.readers.get(worker % self.readers.len().max(1));
        let reader = reader.ok_or(Failure::Internal)?;
        // Only this worker uses it, so the lock never blocks.
        let connection = reader.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = read(&connection);
        if outcome.is_err() && !connection.is_autocommit() {
            // An aborted check must not leave its transaction open.
            let _ = connection.execute_batch("ROLLBACK");
        }
        outcome.map_err(failure)
    }
}

fn connect(path: &Path, lasting: bool) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // Acknowledged changes are on disk, unless the file is temporary anyway.
    let synchronous = if lasting { "FULL" } else { "OFF" };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "mmap_size", 1_i64 << 30)?;
    connection.pragma_update(None, "cache_size", -65_536)?;
    Ok(connection)
}

fn migrate(connection: &mut Connection) -> Result<(), String> {
    let explain = |error: rusqlite::Error| format!("cannot bring the tables up to date: {error}");
    let transaction = connection
        .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
        .map_err(explain)?;
    let taken: u32 = transaction
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(explain)?;
    let steps = MIGRATIONS.get(taken as usize..).ok_or_else(|| {
        format!("the tables are of version {taken}, and this program knows up to {}; use the newer program", MIGRATIONS.len())
    })?;
    for step in steps {
        transaction.execute_batch(step).map_err(explain)?;
    }
    transaction
        .pragma_update(None, "user_version", MIGRATIONS.len() as i64)
        .map_err(explain)?;
    transaction.commit().map_err(explain)
}

/// The query for a relation's plan. Names in the model are safe to insert. Parameters: the object's
/// id, then the subject's relation, type and id. Rows: only -1 if a tuple names the subject; 0,
/// type, id and relation of a userset; or 1 and up, type and id of an object from the tupleset with
/// that index.
fn query(plan: &Plan) -> Option<String> {
    let type_name = &plan.type_name;
    let mut parts = Vec::new();
    let of_object = |relation: &str| {
        format!(
            "FROM tuples WHERE object_type = '{type_name}' AND object_id = ?1 \
             AND object_relation {relation}"
        )
    };
    // Each relation separately: with `IN`, SQLite would build a table of them for every query. But
    // the number of parts is limited.
    let mut direct: Vec<String> = plan
        .direct
        .iter()
        .map(|name| format!("= '{name}'"))
        .collect();
    if direct.len() > MAX_PARTS {
        direct = vec![format!("IN ('{}')", plan.direct.join("', '"))];
    }
    for relation in &direct {
        parts.push(format!(
            "SELECT -1, '', '', '' {} \
             AND subject_relation = ?2 AND subject_type = ?3 AND subject_id = ?4",
            of_object(relation)
        ));
    }
    for relation in &direct {
        parts.push(format!(
            "SELECT 0, subject_type, subject_id, subject_relation {} AND subject_relation > ''",
            of_object(relation)
        ));
    }
    for (index, tupleset) in plan.tuplesets.iter().enumerate() {
        parts.push(format!(
            "SELECT {}, subject_type, subject_id, '' {} AND subject_relation = ''",
            index + 1,
            of_object(&format!("= '{}'", tupleset.relation))
        ));
    }
    if parts.is_empty() {
        return None;
    }
    // An unused parameter could not be bound.
    let used = if plan.direct.is_empty() {
        " AND ?2 IS ?2 AND ?3 IS ?3 AND ?4 IS ?4"
    } else {
        ""
    };
    Some(format!(
        "{}{used} LIMIT {MAX_ROWS}",
        parts.join(" UNION ALL ")
    ))
}

fn list(
    connection: &Connection,
    filter: &Tuple,
    after: i64,
    limit: usize,
) -> rusqlite::Result<Page> {
    let (conditions, values) = conditions(filter, '?', 3);
    let mut statement = connection.prepare_cached(&format!(
        "SELECT number, object_type, object_id, object_relation, subject_type, subject_id, subject_relation \
         FROM tuples WHERE number > ?1{conditions} ORDER BY number LIMIT ?2"
    ))?;
    statement.raw_bind_parameter(1, after)?;
    statement.raw_bind_parameter(2, limit as i64 + 1)?;
    for (index, value) in values.into_iter().enumerate() {
        statement.raw_bind_parameter(index + 3, value)?;
    }
    let mut rows = statement.raw_query();
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let tuple = Tuple {
            object_type: row.get(1)?,
            object_id: row.get(2)?,
            object_relation: row.get(3)?,
            subject_type: row.get(4)?,
            subject_id: row.get(5)?,
            subject_relation: row.get(6)?,
        };
        found.push((row.get(0)?, tuple));
    }
    Ok(page(found, limit))
}

/// The condition for exactly this tuple.
pub(super) fn exactly(tuple: &Tuple) -> (String, Vec<&String>) {
    let fields = crate::tuple::fields(tuple);
    let condition: Vec<_> = (1..)
        .zip(&fields)
        .map(|(number, (field, _))| format!("{field} = ?{number}"))
        .collect();
    (
        condition.join(" AND "),
        fields.map(|(_, value)| value).to_vec(),
    )
}

/// Sixteen random bytes as a UUID of version 4 (RFC 9562, 5.4).
fn uuid(mut bytes: [u8; 16]) -> String {
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut parts = Vec::new();
    let mut rest = hex.as_str();
    for length in [8, 4, 4, 4, 12] {
        let (part, behind) = rest.split_at(length);
        parts.push(part);
        rest = behind;
    }
    parts.join("-")
}

/// Converts an error of SQLite for the client.
pub(super) fn failure(error: rusqlite::Error) -> Failure {
    use ErrorCode as Code;
    match error.sqlite_error_code() {
        Some(
            Code::DatabaseBusy
            | Code::DatabaseLocked
            | Code::DiskFull
            | Code::SystemIoFailure
            | Code::CannotOpen
            | Code::ReadOnly
            | Code::PermissionDenied
            | Code::DatabaseCorrupt
            | Code::NotADatabase
            | Code::OutOfMemory,
        ) => {
            plimsoll_serving::log::warn(
                "the database failed",
                &[("reason", error.to_string().into())],
            );
            Failure::Unavailable("the database failed; try again later".to_owned())
        }
        _ => Failure::internal("SQLite refused a statement", &error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::DEFAULT;

    #[test]
    fn every_query_uses_only_the_index() {
        let model = Arc::new(Model::read("default", DEFAULT).unwrap());
        let store = Sqlite::open(None, model, 1).unwrap();
        let connection = store.readers[0].lock().unwrap();
        for query in store.queries.iter().flatten() {
            let mut statement = connection
                .prepare(&format!("EXPLAIN QUERY PLAN {query}"))
                .unwrap();
            let steps: Vec<String> = statement
                .query_map(["a", "", "user", "b"], |row| row.get(3))
                .unwrap()
                .collect::<Result<_, _>>()
                .unwrap();
            let steps = steps.join("\n");
            assert!(!steps.contains("SCAN tuples"), "{query}\n{steps}");
            assert!(
                steps.contains("USING COVERING INDEX tuples_by_object"),
                "{query}\n{steps}"
            );
        }
    }

    #[test]
    fn a_type_with_the_maximum_number_of_relations_can_be_queried() {
        let mut text = "types: {user: {}, a: {p0: this".to_owned();
        for number in 1..200 {
            let before = number - 1;
            text.push_str(&format!(
                ", p{number}: {{any_of: [this, {{computed_userset: p{before}}}, \
                 {{tuple_to_userset: {{tupleset: p0, computed_userset: p{before}}}}}, \
                 {{tuple_to_userset: {{tupleset: p{number}, computed_userset: p0}}}}]}}"
            ));
        }
        let model = Arc::new(Model::read("test", &(text + "}}")).unwrap());
        let store = Sqlite::open(None, model.clone(), 1).unwrap();
        let relation = model.relation("a", "p199").unwrap();
        let tuple = Tuple {
            object_id: "1".into(),
            ..Tuple::default()
        };
        assert_eq!(store.check(0, relation, &tuple), Ok(false));
    }

    #[test]
    fn a_uuid_says_its_version() {
        assert_eq!(uuid([0xff; 16]), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    }

    #[test]
    fn tables_of_a_newer_program_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("new");
        connect(&path, true)
            .unwrap()
            .pragma_update(None, "user_version", 99)
            .unwrap();
        let model = Arc::new(Model::read("default", DEFAULT).unwrap());
        let error = Sqlite::open(Some(path), model.clone(), 1).err().unwrap();
        assert!(error.contains("version 99"), "{error}");
        let path = directory.path().join("no database");
        std::fs::write(&path, "x".repeat(4096)).unwrap();
        let error = Sqlite::open(Some(path), model, 1).err().unwrap();
        assert!(error.contains("not a database"), "{error}");
    }
}
