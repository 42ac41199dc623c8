//! Shared by both PostgreSQL stores: connections, tables, and single tuples.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use deadpool_postgres::{
    Client, Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime, TimeoutType,
};
use plimsoll_serving::log;
use tokio_postgres::config::Host;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Config, Error, NoTls, Row};

use super::counters::AllCounters;
use super::{Page, conditions, page};
use crate::failure::Failure;
use crate::messages::Tuple;
use crate::tuple::fields;

/// The migrations of the tables, in order; `zanzibar.version` is the number applied. The order of
/// the unique index puts the data of a check next to each other. Text is compared byte by byte, so
/// that the order does not depend on a locale.
const MIGRATIONS: &[&str] = &[
    "CREATE TABLE zanzibar.tuples (
       number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
       uuid uuid NOT NULL DEFAULT gen_random_uuid(),
       object_type text COLLATE \"C\" NOT NULL,
       object_id text COLLATE \"C\" NOT NULL,
       object_relation text COLLATE \"C\" NOT NULL,
       subject_type text COLLATE \"C\" NOT NULL,
       subject_id text COLLATE \"C\" NOT NULL,
       subject_relation text COLLATE \"C\" NOT NULL
     );
     CREATE UNIQUE INDEX tuples_by_object ON zanzibar.tuples
       (object_type, object_id, object_relation, subject_relation, subject_type, subject_id);",
    "CREATE INDEX tuples_by_subject ON zanzibar.tuples (subject_type, subject_id, subject_relation);",
];

/// Held while tables are changed, so that several servers can start concurrently.
pub(super) const LOCK: &str = "SELECT pg_advisory_xact_lock(7811889301)";

/// Time limit for a connection, or for a response.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const WAIT: Duration = Duration::from_secs(2);
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(6);

/// The server itself cancels a statement slightly earlier, in milliseconds.
const STATEMENT: u32 = 5000;

/// Interval of checks whether an unreachable server is back.
const PROBE: Duration = Duration::from_millis(500);

type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A pool of connections.
pub struct Postgres {
    pool: Pool,
    /// Whether the last request reached the server.
    reached: Arc<AtomicBool>,
    counters: AllCounters,
}

/// Parses an address, `postgres://user:password@host:port/database`. The error does not repeat it,
/// because it may contain a password.
pub fn read_address(text: &str) -> Result<Config, String> {
    let wrong = |why: &str| {
        format!("{why}; PostgreSQL's address is postgres://USER[:PASSWORD]@HOST[:PORT]/DATABASE")
    };
    let scheme = text.split("://").next();
    if !matches!(scheme, Some("postgres" | "postgresql")) {
        return Err(wrong("the address does not begin with postgres://"));
    }
    let mut config: Config = text
        .parse()
        .map_err(|_| wrong("the address cannot be read"))?;
    if config.get_hosts().is_empty() {
        return Err(wrong("the address names no host"));
    }
    if config.get_user().is_none() {
        return Err(wrong("the address names no user"));
    }
    config.connect_timeout(CONNECT_TIMEOUT);
    config.application_name("plimsoll-zanzibar");
    config.options(format!("-c statement_timeout={STATEMENT}"));
    Ok(config)
}

/// The address of a server, without secrets.
fn place(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        #[cfg(unix)]
        Some(Host::Unix(path)) => path.display().to_string(),
        None => String::new(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    format!(
        "{host}:{port}/{}",
        config.get_dbname().unwrap_or("(the user's name)")
    )
}

impl Postgres {
    /// Connects, and updates the tables.
    pub async fn open(
        config: Config,
        connections: usize,
        workers: usize,
    ) -> Result<Postgres, String> {
        let place = place(&config);
        let manager = Manager::from_config(
            config,
            NoTls,
            ManagerConfig {
                recycling_method: RecyclingMethod::Fast,
            },
        );
        let pool = Pool::builder(manager)
            .max_size(connections)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(WAIT))
            .create_timeout(Some(CONNECT_TIMEOUT))
            .build()
            .map_err(|error| format!("cannot create connections: {error}"))?;
        let mut client = pool.get().await.map_err(|error| {
            format!(
                "cannot reach PostgreSQL at {place}: {}; give its address with --database",
                error_text(&error)
            )
        })?;
        migrate(&mut client)
            .await
            .map_err(|error| format!("PostgreSQL at {place}: {error}"))?;
        let postgres = Postgres {
            pool,
            reached: Arc::new(AtomicBool::new(true)),
            counters: AllCounters::new(workers),
        };
        tokio::spawn(probe(postgres.pool.clone(), postgres.reached.clone()));
        Ok(postgres)
    }

    /// A connection.
    pub(super) async fn client(&self) -> Result<Client, Failure> {
        self.pool.get().await.map_err(|error| {
            if matches!(error, PoolError::Timeout(TimeoutType::Wait)) {
                return Failure::Unavailable(
                    "all connections to the database are busy; try again later".to_owned(),
                );
            }
            self.unavailable(&error_text(&error))
        })
    }

    /// Runs a query in one round trip, on a connection that has it prepared, or prepares it first;
    /// `prepared` is called in the latter case.
    pub(super) async fn query(
        &self,
        client: Client,
        sql: &str,
        parameters: Parameters<'_>,
        prepared: impl FnOnce(),
    ) -> (Option<Client>, Result<Vec<Row>, Failure>) {
        self.query_with(client, sql, parameters, prepared, |_| None)
            .await
    }

    /// Like [`Postgres::query`]; `own` converts errors of the query itself.
    pub(super) async fn query_with(
        &self,
        client: Client,
        sql: &str,
        parameters: Parameters<'_>,
        prepared: impl FnOnce(),
        own: impl FnOnce(&Error) -> Option<Failure>,
    ) -> (Option<Client>, Result<Vec<Row>, Failure>) {
        let request = async {
            let known = client.statement_cache.size();
            let statement = client.prepare_cached(sql).await?;
            if client.statement_cache.size() > known {
                prepared();
            }
            client.query(&statement, parameters).await
        };
        match tokio::time::timeout(RESPONSE_TIMEOUT, request).await {
            Ok(Ok(rows)) => (Some(client), Ok(rows)),
            Ok(Err(error)) => {
                let failure = own(&error).unwrap_or_else(|| self.failure(&error));
                (Some(client), Err(failure))
            }
            Err(_) => {
                // Close the connection, because the late response may still arrive on it.
                drop(Object::take(client));
                let why = format!("the database did not respond within {RESPONSE_TIMEOUT:?}");
                (None, Err(self.unavailable(&why)))
            }
        }
    }

    async fn rows(&self, sql: &str, parameters: Parameters<'_>) -> Result<Vec<Row>, Failure> {
        let client = self.client().await?;
        self.query(client, sql, parameters, || {}).await.1
    }

    pub async fn write(&self, tuple: &Tuple) -> Result<(), Failure> {
        let values = fields(tuple).map(|(_, value)| value as &(dyn ToSql + Sync));
        self.rows(
            "INSERT INTO zanzibar.tuples \
             (object_type, object_id, object_relation, subject_type, subject_id, subject_relation) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
            &values,
        )
        .await
        .map(drop)
    }

    pub async fn delete(&self, tuple: &Tuple) -> Result<(), Failure> {
        let values = fields(tuple).map(|(_, value)| value as &(dyn ToSql + Sync));
        let sql = format!("DELETE FROM zanzibar.tuples WHERE {EXACTLY} RETURNING number");
        match self.rows(&sql, &values).await?.is_empty() {
            true => Err(Failure::NotFound),
            false => Ok(()),
        }
    }

    pub async fn read(&self, tuple: &Tuple) -> Result<String, Failure> {
        let values = fields(tuple).map(|(_, value)| value as &(dyn ToSql + Sync));
        let sql = format!("SELECT uuid::text FROM zanzibar.tuples WHERE {EXACTLY}");
        let rows = self.rows(&sql, &values).await?;
        let row = rows.first().ok_or(Failure::NotFound)?;
        row.try_get(0).map_err(|error| self.failure(&error))
    }

    pub async fn list(&self, filter: &Tuple, after: i64, limit: usize) -> Result<Page, Failure> {
        let (conditions, values) = conditions(filter, '$', 3);
        let most = limit as i64 + 1;
        let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![&after, &most];
        parameters.extend(values.into_iter().map(|value| value as &(dyn ToSql + Sync)));
        let sql = format!(
            "SELECT number, object_type, object_id, object_relation, subject_type, subject_id, subject_relation \
             FROM zanzibar.tuples WHERE number > $1{conditions} ORDER BY number LIMIT $2"
        );
        let rows = self.rows(&sql, &parameters).await?;
        let found = rows
            .iter()
            .map(|row| {
                let tuple = Tuple {
                    object_type: row.try_get(1)?,
                    object_id: row.try_get(2)?,
                    object_relation: row.try_get(3)?,
                    subject_type: row.try_get(4)?,
                    subject_id: row.try_get(5)?,
                    subject_relation: row.try_get(6)?,
                };
                Ok((row.try_get(0)?, tuple))
            })
            .collect::<Result<_, Error>>()
            .map_err(|error| self.failure(&error))?;
        Ok(page(found, limit))
    }

    pub fn counters(&self) -> &AllCounters {
        &self.counters
    }

    pub fn health(&self) -> Result<(), String> {
        match self.reached.load(Relaxed) {
            true => Ok(()),
            false => Err("the database is out of reach".to_owned()),
        }
    }

    /// Converts an error of PostgreSQL for the client.
    pub(super) fn failure(&self, error: &Error) -> Failure {
        let Some(state) = error.code() else {
            return self.unavailable(&chain(error));
        };
        // Classes 08 (connection), 53 (resources) and 57 (operator intervention) concern the
        // server, not the statement (PostgreSQL, appendix A).
        if *state == SqlState::QUERY_CANCELED {
            return Failure::Unavailable("the database took too long; try again later".to_owned());
        }
        match state.code().get(..2) {
            Some("08" | "53" | "57") => self.unavailable(&chain(error)),
            _ if *state == SqlState::READ_ONLY_SQL_TRANSACTION => self.unavailable(&chain(error)),
            _ => Failure::internal("PostgreSQL refused a statement", &chain(error)),
        }
    }

    fn unavailable(&self, why: &str) -> Failure {
        if self.reached.swap(false, Relaxed) {
            log::warn("the database is out of reach", &[("reason", why.into())]);
        }
        Failure::Unavailable("the database is out of reach; try again later".to_owned())
    }
}

const EXACTLY: &str = "object_type = $1 AND object_id = $2 AND object_relation = $3 \
     AND subject_type = $4 AND subject_id = $5 AND subject_relation = $6";

/// Checks whether an unreachable server is back, as long as there is a pool.
async fn probe(pool: Pool, reached: Arc<AtomicBool>) {
    while !pool.is_closed() {
        tokio::time::sleep(PROBE).await;
        if reached.load(Relaxed) {
            continue;
        }
        let Ok(client) = pool.get().await else {
            continue;
        };
        if matches!(
            tokio::time::timeout(CONNECT_TIMEOUT, client.batch_execute("SELECT 1")).await,
            Ok(Ok(()))
        ) {
            reached.store(true, Relaxed);
            log::info("the database is within reach again", &[]);
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.pool.close();
    }
}

async fn migrate(client: &mut Client) -> Result<(), String> {
    let explain = |error: Error| format!("cannot bring the tables up to date: {}", chain(&error));
    let transaction = client.transaction().await.map_err(explain)?;
    transaction.batch_execute(LOCK).await.map_err(explain)?;
    transaction
        .batch_execute(
            "CREATE SCHEMA IF NOT EXISTS zanzibar; \
             CREATE TABLE IF NOT EXISTS zanzibar.version (steps bigint NOT NULL)",
        )
        .await
        .map_err(explain)?;
    let taken: i64 = transaction
        .query_one("SELECT coalesce(max(steps), 0) FROM zanzibar.version", &[])
        .await
        .and_then(|row| row.try_get(0))
        .map_err(explain)?;
    let steps = usize::try_from(taken)
        .ok()
        .and_then(|taken| MIGRATIONS.get(taken..))
        .ok_or_else(|| {
            format!("the tables are of version {taken}, and this program knows up to {}; use the newer program", MIGRATIONS.len())
        })?;
    for (step, number) in steps.iter().zip(taken + 1..) {
        transaction.batch_execute(step).await.map_err(explain)?;
        transaction
            .execute("INSERT INTO zanzibar.version VALUES ($1)", &[&number])
            .await
            .map_err(explain)?;
    }
    transaction.commit().await.map_err(explain)
}

/// Why there is no connection.
fn error_text(error: &PoolError) -> String {
    match error {
        PoolError::Backend(error) => chain(error),
        PoolError::Timeout(_) => format!("no connection within {CONNECT_TIMEOUT:?}"),
        other => other.to_string(),
    }
}

/// An error with its causes. None of them contains a password.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_never_repeated_in_an_error() {
        for wrong in [
            "mysql://me:secret@host/db",
            "postgres://me:secret@host:x/db",
            "postgres://me:secret@/db",
            "postgres://host/db",
            "secret",
        ] {
            let error = read_address(wrong).unwrap_err();
            assert!(!error.contains("secret"), "{error}");
            assert!(error.contains("postgres://USER"), "{error}");
        }
        let config = read_address("postgres://me:secret@host:77/db").unwrap();
        assert_eq!(place(&config), "host:77/db");
    }
}
