//! Tests that both lookups give the same results, because they use the same polygons.

use std::pin::pin;

use futures_util::stream::{self, StreamExt};
use plimsoll_testground::Postgres;

use super::*;
use crate::embedded::Embedded;

/// The distance by which PostGIS may have moved a corner, and with it the split of a polygon's
/// side, in degrees: 2 m.
const TOLERANCE: f64 = 2e-5;

/// Random numbers (xorshift64*), from a seed that is printed.
struct Random(u64);

impl Random {
    /// Between 0 and 1.
    fn share(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let word = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11;
        word as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, least: f64, most: f64) -> f64 {
        least + self.share() * (most - least)
    }
}

/// Random places on Earth, with equal probability per square kilometer.
fn anywhere(random: &mut Random) -> Coordinate {
    Coordinate {
        latitude: random.between(-1.0, 1.0).asin().to_degrees(),
        longitude: random.between(-180.0, 180.0),
    }
}

/// Places within a hundred meters of a border.
fn at_borders(random: &mut Random, zones: &Embedded, count: usize) -> Vec<Coordinate> {
    let sides: Vec<_> = zones
        .polygons()
        .flat_map(|(_, rings)| rings)
        .flat_map(|ring| {
            let sides: Vec<_> = ring.windows(2).map(|side| (side[0], side[1])).collect();
            sides
        })
        .collect();
    let mut places = Vec::new();
    for _ in 0..count {
        let (from, to) = sides[(random.share() * sides.len() as f64) as usize];
        let along = random.share();
        let near = |from: f64, to: f64, aside: f64| from + along * (to - from) + aside;
        let reach = 10_f64.powf(random.between(-6.0, -3.0));
        places.push(Coordinate {
            latitude: near(from[1], to[1], random.between(-reach, reach)).clamp(-90.0, 90.0),
            longitude: near(from[0], to[0], random.between(-reach, reach)).clamp(-180.0, 180.0),
        });
    }
    places
}

/// Whether PostGIS finds `zone` within the tolerance of `place`. For `None`: whether a point at this
/// distance is outside of all zones.
async fn within_tolerance(zones: &PostGis, place: Coordinate, zone: Option<&str>) -> bool {
    const NEAR: &str = "
        SELECT EXISTS (SELECT FROM timezone_shapes
            WHERE ST_DWithin(shape, ST_SetSRID(ST_MakePoint($1, $2), 4326), $3) AND zone = $4)";
    let Some(zone) = zone else {
        let mut nothing = false;
        for (north, east) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)] {
            let neighbor = Coordinate {
                latitude: (place.latitude + north * TOLERANCE).clamp(-90.0, 90.0),
                longitude: (place.longitude + east * TOLERANCE).clamp(-180.0, 180.0),
            };
            nothing |= zones.at(neighbor).await.unwrap().is_none();
        }
        return nothing;
    };
    let client = zones.client().await.unwrap();
    let row = client
        .query_one(
            NEAR,
            &[&place.longitude, &place.latitude, &TOLERANCE, &zone],
        )
        .await
        .unwrap();
    row.get(0)
}

#[tokio::test]
async fn both_agree() {
    Postgres::require_postgis();
    let given = std::env::var("PLIMSOLL_TEST_SEED").ok();
    let seed = given.and_then(|seed| seed.parse().ok()).unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.unwrap().as_nanos() as u64 | 1
    });
    let mut random = Random(seed);
    let server = Postgres::start_with(&["fsync=off"]);
    let database = server.database();
    for oceans in [false, true] {
        let embedded = Embedded::new(oceans);
        // The second iteration finds the polygons that the first one stored.
        let zones = PostGis::open(&database, 5, oceans).await.unwrap();
        let mut places: Vec<_> = (0..10_000).map(|_| anywhere(&mut random)).collect();
        let elsewhere = places.len();
        places.extend(at_borders(&mut random, &embedded, 2_000));
        let mut known = 0;
        let mut at_borders = 0;
        let results = stream::iter(places)
            .map(async |place| (place, zones.at(place).await.unwrap()))
            .buffered(4);
        let mut results = pin!(results.enumerate());
        while let Some((number, (place, theirs))) = results.next().await {
            let ours = embedded.at(place);
            known += usize::from(ours.is_some());
            if ours == theirs.as_deref() {
                continue;
            }
            at_borders += usize::from(number >= elsewhere);
            assert!(
                within_tolerance(&zones, place, ours).await,
                "{place:?}: {ours:?} and {theirs:?}, PLIMSOLL_TEST_SEED={seed}"
            );
        }
        assert!(known > 3_000, "{known} PLIMSOLL_TEST_SEED={seed}");
        // Most places at borders are much further away than the tolerance.
        assert!(at_borders < 400, "{at_borders} PLIMSOLL_TEST_SEED={seed}");
    }
    let pieces = server.sql(&database, "SELECT count(*) FROM timezone_shapes");
    assert!(pieces.parse::<u64>().unwrap() > 1_000, "{pieces}");
}

#[tokio::test]
async fn mistakes_are_reported_without_the_password() {
    let closed = "postgres://me:secret@127.0.0.1:1/db";
    let error = PostGis::open(closed, 1, false).await.err().unwrap();
    assert!(
        error.contains("refused") && !error.contains("secret"),
        "{error}"
    );
}
