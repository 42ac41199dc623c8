//! Loads the polygons in one transaction, so that another server sees none or all.

use std::time::Instant;

use deadpool_postgres::Object;
use futures_util::future::try_join_all;
use plimsoll_serving::log;
use tokio_postgres::Error;

use super::error_text;
use crate::embedded::{Embedded, Rings, is_nautical};

/// The version of the tables' layout; a database with another version is loaded again.
const LAYOUT: i32 = 1;

/// Polygons sent before waiting for a response.
const TOGETHER: usize = 64;

/// Only one server loads at a time; the lock number is arbitrary.
const TABLES: &str = "
SET LOCAL statement_timeout = 0;
SET LOCAL client_min_messages = warning;
SELECT pg_advisory_xact_lock(7311466120014);
CREATE EXTENSION IF NOT EXISTS postgis;
CREATE TABLE IF NOT EXISTS timezone_data (version text NOT NULL, layout integer NOT NULL);
";

const LOADED: &str = "SELECT EXISTS (SELECT FROM timezone_data WHERE version = $1 AND layout = $2)";

const AFRESH: &str = "
DELETE FROM timezone_data;
DROP TABLE IF EXISTS timezone_shapes;
CREATE TABLE timezone_shapes (
    zone text NOT NULL,
    nautical boolean NOT NULL,
    shape geometry(Polygon, 4326) NOT NULL
);
";

/// Large polygons are split into pieces with few corners, so that the index finds the relevant
/// piece and not a whole continent. Simplified rings may touch themselves, which splitting does not
/// accept, so they are made valid first.
const INSERT: &str = "
WITH given AS MATERIALIZED (SELECT ST_GeomFromWKB($3, 4326) AS shape),
valid AS (
    SELECT CASE WHEN ST_IsValid(shape) THEN shape
        ELSE ST_CollectionExtract(ST_MakeValid(shape), 3) END AS shape
    FROM given
)
INSERT INTO timezone_shapes (zone, nautical, shape)
SELECT $1, $2, ST_Subdivide((ST_Dump(shape)).geom, 64) FROM valid";

const DONE: &str = "
CREATE INDEX timezone_shapes_by_place ON timezone_shapes USING gist (shape);
ANALYZE timezone_shapes;
";

pub async fn load(client: &mut Object) -> Result<(), String> {
    let zones = Embedded::new(true);
    let started = Instant::now();
    let loaded = load_into(client, &zones).await.map_err(|error| {
        format!(
            "cannot load the polygons: {} (PostGIS must be installed, and the user must own the database)",
            error_text(&error)
        )
    })?;
    if loaded > 0 {
        log::info(
            "the polygons are loaded",
            &[
                ("polygons", loaded.into()),
                ("seconds", started.elapsed().as_secs().into()),
            ],
        );
    }
    Ok(())
}

/// Returns how many polygons were loaded: 0 if they existed.
async fn load_into(client: &mut Object, zones: &Embedded) -> Result<usize, Error> {
    let transaction = client.transaction().await?;
    transaction.batch_execute(TABLES).await?;
    let row = transaction
        .query_one(LOADED, &[&zones.version(), &LAYOUT])
        .await?;
    if row.try_get(0)? {
        transaction.commit().await?;
        return Ok(0);
    }
    transaction.batch_execute(AFRESH).await?;
    let insert = transaction.prepare(INSERT).await?;
    let polygons: Vec<_> = zones
        .polygons()
        .map(|(zone, rings)| (is_nautical(&zone), zone, well_known_binary(&rings)))
        .collect();
    for some in polygons.chunks(TOGETHER) {
        // Sent without waiting in between, and executed in this order.
        try_join_all(some.iter().map(async |(nautical, zone, shape)| {
            transaction.execute(&insert, &[zone, nautical, shape]).await
        }))
        .await?;
    }
    transaction.batch_execute(DONE).await?;
    transaction
        .execute(
            "INSERT INTO timezone_data (version, layout) VALUES ($1, $2)",
            &[&zones.version(), &LAYOUT],
        )
        .await?;
    transaction.commit().await?;
    Ok(polygons.len())
}

/// A polygon in the format of OpenGIS "Simple Feature Access", section 8.2: little endian.
fn well_known_binary(rings: &Rings) -> Vec<u8> {
    const LITTLE_ENDIAN: u8 = 1;
    const POLYGON: u32 = 3;
    let length = |items: usize| u32::try_from(items).unwrap_or(u32::MAX).to_le_bytes();
    let mut bytes = vec![LITTLE_ENDIAN];
    bytes.extend(POLYGON.to_le_bytes());
    bytes.extend(length(rings.len()));
    for ring in rings {
        bytes.extend(length(ring.len()));
        for [longitude, latitude] in ring {
            bytes.extend(longitude.to_le_bytes());
            bytes.extend(latitude.to_le_bytes());
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_polygon_is_written() {
        let ring = vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]];
        let bytes = well_known_binary(&vec![ring]);
        assert_eq!(bytes[..13], [1, 3, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0]);
        assert_eq!(bytes.len(), 13 + 4 * 16);
        assert_eq!(bytes[13 + 16..13 + 24], 1.0_f64.to_le_bytes());
    }
}
