//! The same polygons in PostgreSQL with PostGIS, loaded on the first start.

mod load;

use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use tokio_postgres::{Config, Error, NoTls};

use crate::coordinate::Coordinate;

/// Time limit for connecting, and for a busy connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Time limit of the server for a statement, and of the network for an acknowledgement, in
/// milliseconds.
const STATEMENT_TIMEOUT_MS: u32 = 5000;
const SILENCE: Duration = Duration::from_secs(6);

/// `C` sorts by bytes, like the embedded lookup. `$3`: whether the zones of the oceans are
/// included.
const AT: &str = r#"
SELECT zone FROM timezone_shapes
WHERE ST_Intersects(shape, ST_SetSRID(ST_MakePoint($1, $2), 4326)) AND ($3 OR NOT nautical)
ORDER BY zone COLLATE "C" LIMIT 1"#;

pub struct PostGis {
    pool: Pool,
    oceans: bool,
}

impl PostGis {
    /// Connects, and loads the polygons unless they exist. The error says what failed.
    pub async fn open(url: &str, connections: usize, oceans: bool) -> Result<PostGis, String> {
        let mut config: Config = url
            .parse()
            .map_err(|error: Error| format!("the URL is not understood: {}", error_text(&error)))?;
        let options = config.get_options().unwrap_or_default();
        // JIT compilation costs more than it saves for so small a query.
        let options = format!("-c statement_timeout={STATEMENT_TIMEOUT_MS} -c jit=off {options}");
        config
            .options(options.trim())
            .application_name("plimsoll-timezone")
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
        let zones = PostGis { pool, oceans };
        let mut client = zones.client().await?;
        load::load(&mut client).await?;
        drop(client);
        Ok(zones)
    }

    async fn client(&self) -> Result<Object, String> {
        self.pool.get().await.map_err(|error| match error {
            deadpool_postgres::PoolError::Backend(error) => error_text(&error),
            error => error.to_string(),
        })
    }

    /// The zone at a coordinate, if any.
    pub async fn at(&self, place: Coordinate) -> Result<Option<String>, String> {
        let client = self.client().await?;
        let work = async {
            let statement = client.prepare_cached(AT).await?;
            let values: [&(dyn tokio_postgres::types::ToSql + Sync); 3] =
                [&place.longitude, &place.latitude, &self.oceans];
            match client.query_opt(&statement, &values).await? {
                Some(row) => row.try_get(0).map(Some),
                None => Ok(None),
            }
        };
        work.await.map_err(|error| error_text(&error))
    }

    /// Checks whether the server is reachable.
    pub async fn reachable(&self) -> Result<(), String> {
        let client = self.client().await?;
        client
            .batch_execute("SELECT 1")
            .await
            .map_err(|error| error_text(&error))
    }
}

/// The error with its cause, which contains the server's message.
fn error_text(error: &Error) -> String {
    match (error.as_db_error(), std::error::Error::source(error)) {
        (Some(error), _) => error.message().to_owned(),
        (None, Some(cause)) => format!("{error}: {cause}"),
        (None, None) => error.to_string(),
    }
}

#[cfg(test)]
mod tests;
