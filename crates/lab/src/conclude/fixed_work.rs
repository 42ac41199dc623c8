//! The figures of a fixed amount of work.

use std::collections::BTreeMap;

use plimsoll_results::record::End;
use serde_json::Value;

/// The results of fixed work.
struct Work {
    makespan_seconds: f64,
    /// Payload of successful calls in both directions, without headers and framing.
    payload_bytes: f64,
}

/// Adds the figures of the only scenario of a run with a fixed amount of work.
pub fn of_record(end: &End, figures: &mut BTreeMap<String, f64>) {
    let work = match end.fixed_work.values().next() {
        Some(work) => Work {
            makespan_seconds: work.makespan_seconds,
            payload_bytes: work.payload_bytes_sent as f64 + work.payload_bytes_received as f64,
        },
        // Older records do not contain it.
        None => {
            figures.insert("makespan".to_owned(), end.duration_seconds * 1000.0);
            return;
        }
    };
    work.add_to(figures);
}

/// Adds the same figures from the result that a command prints.
pub fn of_result(result: &Value, figures: &mut BTreeMap<String, f64>) {
    let number = |key: &str| result[key].as_f64();
    if let Some((makespan_seconds, payload_bytes)) =
        number("makespan_seconds").zip(number("payload_bytes"))
    {
        let work = Work {
            makespan_seconds,
            payload_bytes,
        };
        work.add_to(figures);
    }
}

impl Work {
    fn add_to(&self, figures: &mut BTreeMap<String, f64>) {
        figures.insert("makespan".to_owned(), self.makespan_seconds * 1000.0);
        if self.makespan_seconds > 0.0 {
            let megabytes = self.payload_bytes / 1e6 / self.makespan_seconds;
            figures.insert("payload_megabytes_per_second".to_owned(), megabytes);
            figures.insert("payload_megabits_per_second".to_owned(), megabytes * 8.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_results::record::FixedWork;

    #[test]
    fn bytes_and_bits_are_the_same_from_records_and_results() {
        let mut end = End::default();
        end.fixed_work.insert(
            "http".to_owned(),
            FixedWork {
                makespan_seconds: 2.0,
                payload_bytes_sent: 3_000_000,
                payload_bytes_received: 1_000_000,
                ..FixedWork::default()
            },
        );
        let mut recorded = BTreeMap::new();
        of_record(&end, &mut recorded);
        let mut printed = BTreeMap::new();
        let result = serde_json::json!({"makespan_seconds": 2.0, "payload_bytes": 4_000_000});
        of_result(&result, &mut printed);
        let expected = [
            ("makespan", 2000.0),
            ("payload_megabits_per_second", 16.0),
            ("payload_megabytes_per_second", 2.0),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value));
        assert_eq!(recorded, BTreeMap::from(expected));
        assert_eq!(printed, recorded);
    }
}
