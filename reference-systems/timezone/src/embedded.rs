//! The built-in polygons: timezone-boundary-builder's from the crate tzf-rs, simplified so that no
//! border is more than 112 m from its original place.

use tzf_rs::DefaultFinder;

use crate::coordinate::Coordinate;

/// The time zones of the oceans.
const NAUTICAL: &str = "Etc/";

/// All zones, in memory.
pub struct Embedded {
    finder: DefaultFinder,
    oceans: bool,
}

/// A polygon: its outer ring, then its holes; pairs of longitude and latitude.
pub type Rings = Vec<Vec<[f64; 2]>>;

impl Embedded {
    /// Loads the polygons. `oceans` includes the zones of the oceans.
    pub fn new(oceans: bool) -> Embedded {
        Embedded {
            finder: DefaultFinder::new(),
            oceans,
        }
    }

    /// The zone at a coordinate; if several overlap or meet, the first by name. Only polygons
    /// decide: the library's tile index is faster, but also matches places just across a border.
    pub fn at(&self, place: Coordinate) -> Option<&str> {
        self.finder
            .get_tz_names(place.longitude, place.latitude)
            .into_iter()
            .find(|zone| self.oceans || !is_nautical(zone))
    }

    /// The release of the data, such as `2026c`.
    pub fn version(&self) -> &str {
        self.finder.data_version()
    }

    /// All polygons with their zones' names. Coordinates have five decimals. The library stores
    /// them in single precision, which moves some east of 128°E and west of 128°W by 0.00001°.
    pub fn polygons(&self) -> impl Iterator<Item = (String, Rings)> {
        let features = self.finder.to_geojson().features;
        features.into_iter().flat_map(|feature| {
            let zone = feature.properties.tzid;
            let polygons = feature.geometry.coordinates.into_iter();
            polygons.map(move |rings| (zone.clone(), rings.into_iter().map(rounded).collect()))
        })
    }
}

/// Whether a zone is one of the oceans.
pub fn is_nautical(zone: &str) -> bool {
    zone.starts_with(NAUTICAL)
}

fn rounded(ring: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    ring.into_iter()
        .map(|point| point.map(|degrees| (degrees * 1e5).round() / 1e5))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cities_are_where_they_are() {
        let zones = Embedded::new(false);
        for (latitude, longitude, zone) in [
            (48.8566, 2.3522, Some("Europe/Paris")),
            (40.7128, -74.006, Some("America/New_York")),
            (35.6895, 139.6917, Some("Asia/Tokyo")),
            (-33.8688, 151.2093, Some("Australia/Sydney")),
            (28.6139, 77.209, Some("Asia/Kolkata")),
            (-77.85, 166.67, Some("Antarctica/McMurdo")),
            // The middle of the Atlantic.
            (30.0, -40.0, None),
        ] {
            let place = Coordinate {
                latitude,
                longitude,
            };
            assert_eq!(zones.at(place), zone);
        }
        let sea = Coordinate {
            latitude: 30.0,
            longitude: -40.0,
        };
        assert_eq!(Embedded::new(true).at(sea), Some("Etc/GMT+3"));
    }

    #[test]
    fn extreme_coordinates_have_a_time_zone() {
        let zones = Embedded::new(true);
        for latitude in [-90.0, 0.0, 90.0] {
            for longitude in [-180.0, 0.0, 180.0] {
                let place = Coordinate {
                    latitude,
                    longitude,
                };
                assert!(zones.at(place).is_some(), "{place:?}");
            }
        }
    }
}
