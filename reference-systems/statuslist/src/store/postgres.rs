//! Lists in PostgreSQL. Statuses are in small rows, each with a section of a list, so that updates
//! of different statuses rarely wait for the same row, and their commits can be flushed together.

use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Config, Error, NoTls};
use uuid::Uuid;

use super::{Block, Facts, Failure, NewList, Outcome};
use crate::pools::Shape;
use crate::shuffle::Seed;
use crate::status::Width;

/// Time limit for connecting, and for a busy connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Time limit of the server for a statement, and of the network for an acknowledgement.
const STATEMENT_TIMEOUT_MS: &str = "5000";
const SILENCE: Duration = Duration::from_secs(6);

/// Bytes of a list per row. With 1 bit per status, that is 128 statuses: a list of 50,000 has 391
/// rows.
const STRETCH: u32 = 16;

/// Two servers that start at once must not both create the tables; the lock number is arbitrary.
const SCHEMA: &str = "
BEGIN;
SELECT pg_advisory_xact_lock(7311466120013);
CREATE TABLE IF NOT EXISTS statuslist_lists (
    id uuid PRIMARY KEY,
    ordinal bigint GENERATED ALWAYS AS IDENTITY,
    pool text NOT NULL,
    size integer NOT NULL,
    bits smallint NOT NULL,
    seed bytea NOT NULL,
    reserved integer NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS statuslist_lists_with_room
    ON statuslist_lists (pool, size, bits, ordinal) WHERE reserved < size;
-- Half of each page is left free, so that a new version of a row fits next to the
-- old one and no index entry is written (heap-only tuples).
CREATE TABLE IF NOT EXISTS statuslist_statuses (
    list uuid NOT NULL,
    stretch integer NOT NULL,
    statuses bytea NOT NULL,
    PRIMARY KEY (list, stretch)
) WITH (fillfactor = 50);
COMMIT;
";

const CREATE: &str = "
WITH list AS (
    INSERT INTO statuslist_lists (id, pool, size, bits, seed) VALUES ($1, $2, $3, $4, $5)
)
INSERT INTO statuslist_statuses (list, stretch, statuses)
SELECT $1, stretch, decode(repeat('00', least($7, $6 - stretch * $7)), 'hex')
FROM generate_series(0, ($6 - 1) / $7) AS stretch";

/// The updated row is locked before its last value is read, so that of two servers the second one
/// reads what the first has written.
const RESERVE: &str = "
WITH list AS (
    SELECT id, seed, reserved, least($4, size - reserved) AS take FROM statuslist_lists
    WHERE pool = $1 AND size = $2 AND bits = $3 AND reserved < size
    ORDER BY ordinal LIMIT 1 FOR UPDATE
)
UPDATE statuslist_lists SET reserved = list.reserved + list.take
FROM list WHERE statuslist_lists.id = list.id
RETURNING list.id, list.seed, list.reserved, list.take";

/// If the update finds no row, either there is none, or another server has just taken its last
/// positions. This query distinguishes the two cases.
const AVAILABLE_LIST: &str = "
SELECT EXISTS (SELECT FROM statuslist_lists
    WHERE pool = $1 AND size = $2 AND bits = $3 AND reserved < size)";

const UNTOUCHED: &str = "
SELECT count(*) FROM statuslist_lists
WHERE pool = $1 AND size = $2 AND bits = $3 AND reserved < size AND reserved = 0";

const FACTS: &str = "SELECT pool, size, bits FROM statuslist_lists WHERE id = $1";

const SET: &str = "
UPDATE statuslist_statuses SET statuses = set_byte(statuses, $3, get_byte(statuses, $3) & $4 | $5)
WHERE list = $1 AND stretch = $2";

const STATUSES: &str = "
SELECT string_agg(statuses, ''::bytea ORDER BY stretch) FROM statuslist_statuses WHERE list = $1";

const ISSUED: &str = "
SELECT id FROM statuslist_lists WHERE pool = $1 AND reserved > 0 ORDER BY ordinal LIMIT $2";

/// How often to retry if another server was faster.
const ATTEMPTS: u32 = 8;

pub struct Postgres {
    pool: Pool,
}

impl Postgres {
    pub async fn open(url: &str, connections: usize) -> Result<Postgres, String> {
        let mut config: Config = url
            .parse()
            .map_err(|error: Error| format!("the URL is not understood: {}", error_text(&error)))?;
        let options = config.get_options().unwrap_or_default();
        let options = format!("-c statement_timeout={STATEMENT_TIMEOUT_MS} {options}");
        config
            .options(options.trim())
            .application_name("plimsoll-statuslist")
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_user_timeout(SILENCE);
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
            .wait_timeout(Some(CONNECT_TIMEOUT))
            .create_timeout(Some(CONNECT_TIMEOUT))
            .build()
            .map_err(|error| error.to_string())?;
        let postgres = Postgres { pool };
        let client = postgres.client().await.map_err(|error| error.to_string())?;
        client
            .batch_execute(SCHEMA)
            .await
            .map_err(|error| format!("cannot create its tables: {}", error_text(&error)))?;
        drop(client);
        Ok(postgres)
    }

    async fn client(&self) -> Outcome<Object> {
        self.pool.get().await.map_err(|error| match error {
            deadpool_postgres::PoolError::Timeout(deadpool_postgres::TimeoutType::Wait) => {
                Failure::Overloaded
            }
            deadpool_postgres::PoolError::Backend(error) => unavailable(error),
            error => Failure::Unavailable(format!("PostgreSQL: {error}")),
        })
    }

    pub async fn create(&self, list: &NewList) -> Outcome<()> {
        let client = self.client().await?;
        let work = async {
            let statement = client.prepare_cached(CREATE).await?;
            client
                .execute(
                    &statement,
                    &[
                        &list.id,
                        &list.pool,
                        &signed(list.shape.size),
                        &i16::from(list.shape.width.bits()),
                        &&list.seed.0[..],
                        &(list.shape.width.bytes_for(list.shape.size) as i32),
                        &signed(STRETCH),
                    ],
                )
                .await
        };
        work.await.map_err(unavailable)?;
        Ok(())
    }

    pub async fn reserve(&self, pool: &str, shape: Shape, want: u32) -> Outcome<Option<Block>> {
        let client = self.client().await?;
        let (size, bits) = (signed(shape.size), i16::from(shape.width.bits()));
        let work = async {
            let reserve = client.prepare_cached(RESERVE).await?;
            for _ in 0..ATTEMPTS {
                let row = client
                    .query_opt(&reserve, &[&pool, &size, &bits, &signed(want)])
                    .await?;
                if row.is_some() {
                    return Ok(row);
                }
                let statement = client.prepare_cached(AVAILABLE_LIST).await?;
                let row = client.query_one(&statement, &[&pool, &size, &bits]).await?;
                if !row.try_get::<_, bool>(0)? {
                    return Ok(None);
                }
            }
            Ok(None)
        };
        let Some(row) = work.await.map_err(unavailable)? else {
            return Ok(None);
        };
        let seed: &[u8] = row.try_get(1).map_err(unavailable)?;
        Ok(Some(Block {
            list: row.try_get(0).map_err(unavailable)?,
            seed: Seed(
                seed.try_into()
                    .map_err(|_| damaged("a seed has not 32 bytes"))?,
            ),
            start: count(row.try_get(2).map_err(unavailable)?)?,
            count: count(row.try_get(3).map_err(unavailable)?)?,
        }))
    }

    pub async fn untouched(&self, pool: &str, shape: Shape) -> Outcome<u32> {
        let client = self.client().await?;
        let (size, bits) = (signed(shape.size), i16::from(shape.width.bits()));
        let work = async {
            let statement = client.prepare_cached(UNTOUCHED).await?;
            let row = client.query_one(&statement, &[&pool, &size, &bits]).await?;
            row.try_get::<_, i64>(0)
        };
        let lists = work.await.map_err(unavailable)?;
        Ok(u32::try_from(lists).unwrap_or(u32::MAX))
    }

    pub async fn facts(&self, list: Uuid) -> Outcome<Option<Facts>> {
        let client = self.client().await?;
        let work = async {
            let statement = client.prepare_cached(FACTS).await?;
            let Some(row) = client.query_opt(&statement, &[&list]).await? else {
                return Ok(None);
            };
            Ok(Some((
                row.try_get::<_, String>(0)?,
                row.try_get::<_, i32>(1)?,
                row.try_get::<_, i16>(2)?,
            )))
        };
        let Some((pool, size, bits)) = work.await.map_err(unavailable)? else {
            return Ok(None);
        };
        let width = u8::try_from(bits)
            .ok()
            .and_then(|bits| Width::try_from(bits).ok())
            .ok_or_else(|| damaged("a list has an impossible number of bits"))?;
        let size = count(size)?;
        let shape = Shape { size, width };
        Ok(Some(Facts { pool, shape }))
    }

    pub async fn set(&self, list: Uuid, shape: Shape, index: u32, value: u8) -> Outcome<bool> {
        let place = shape.width.place(index);
        let client = self.client().await?;
        let work = async {
            let statement = client.prepare_cached(SET).await?;
            client
                .execute(
                    &statement,
                    &[
                        &list,
                        &signed(place.byte / STRETCH),
                        &signed(place.byte % STRETCH),
                        &i32::from(!place.mask),
                        &i32::from(place.raised(value)),
                    ],
                )
                .await
        };
        Ok(work.await.map_err(unavailable)? > 0)
    }

    pub async fn statuses(&self, list: Uuid) -> Outcome<Option<Vec<u8>>> {
        let client = self.client().await?;
        let work = async {
            let statement = client.prepare_cached(STATUSES).await?;
            let row = client.query_one(&statement, &[&list]).await?;
            row.try_get(0)
        };
        work.await.map_err(unavailable)
    }

    pub async fn issued(&self, pool: &str, most: u32) -> Outcome<Vec<Uuid>> {
        let client = self.client().await?;
        let work = async {
            let statement = client.prepare_cached(ISSUED).await?;
            let rows = client.query(&statement, &[&pool, &i64::from(most)]).await?;
            rows.iter()
                .map(|row| row.try_get(0))
                .collect::<Result<_, Error>>()
        };
        work.await.map_err(unavailable)
    }

    pub async fn reachable(&self) -> Outcome<()> {
        let client = self.client().await?;
        client.batch_execute("SELECT 1").await.map_err(unavailable)
    }
}

/// PostgreSQL's integers are signed; ours are far below the limit.
fn signed(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

fn count(number: i32) -> Outcome<u32> {
    u32::try_from(number).map_err(|_| damaged("a number is below zero"))
}

fn damaged(what: &str) -> Failure {
    Failure::Unavailable(format!(
        "PostgreSQL holds what was not written by this program: {what}"
    ))
}

fn unavailable(error: Error) -> Failure {
    Failure::Unavailable(format!("PostgreSQL: {}", error_text(&error)))
}

/// The error with its cause, which contains the server's message.
fn error_text(error: &Error) -> String {
    match (error.as_db_error(), std::error::Error::source(error)) {
        (Some(error), _) if *error.code() == SqlState::QUERY_CANCELED => {
            format!("{} (after {STATEMENT_TIMEOUT_MS} ms)", error.message())
        }
        (Some(error), _) => error.message().to_owned(),
        (None, Some(cause)) => format!("{error}: {cause}"),
        (None, None) => error.to_string(),
    }
}
