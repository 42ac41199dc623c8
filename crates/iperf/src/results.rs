//! The results that the two sides exchange at the end of a test.

use std::time::Duration;

use serde_json::{Map, Value, json};

/// One side's results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    pub cpu: Cpu,
    /// Whether the number of retransmits is known; only senders report this.
    pub has_retransmits: Option<bool>,
    pub congestion: Option<String>,
    pub streams: Vec<StreamResult>,
    /// The server's output: a string or an object.
    pub output: Option<Value>,
}

/// Processor time as a percentage of the elapsed time. It can exceed 100 with several threads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cpu {
    pub total: f64,
    pub user: f64,
    pub system: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StreamResult {
    pub id: u32,
    /// Bytes, without the omitted time.
    pub bytes: u64,
    pub retransmits: Option<u64>,
    /// Jitter in seconds (RFC 3550 §6.4.1).
    pub jitter: Duration,
    /// Lost datagrams, including those of the omitted time.
    pub lost: u64,
    /// All datagrams, including those of the omitted time.
    pub packets: u64,
    /// The omitted part of the lost datagrams and of all datagrams, if the side reports it.
    pub omitted: Option<Omitted>,
    /// The time from the first counted byte to the last.
    pub time: Duration,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Omitted {
    pub lost: u64,
    pub packets: u64,
}

/// Maximum number of streams in a peer's results, in both directions together.
const MAX_RESULTS: usize = 2 * crate::test::MAX_STREAMS as usize;

impl Results {
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("cpu_util_total".to_owned(), json!(self.cpu.total));
        object.insert("cpu_util_user".to_owned(), json!(self.cpu.user));
        object.insert("cpu_util_system".to_owned(), json!(self.cpu.system));
        let has_retransmits = self.has_retransmits.map_or(-1, i32::from);
        object.insert("sender_has_retransmits".to_owned(), json!(has_retransmits));
        if let Some(name) = &self.congestion {
            object.insert("congestion_used".to_owned(), json!(name));
        }
        match &self.output {
            None => {}
            Some(Value::String(text)) => {
                object.insert("server_output_text".to_owned(), json!(text));
            }
            Some(other) => {
                object.insert("server_output_json".to_owned(), other.clone());
            }
        }
        let streams = self.streams.iter().map(|stream| {
            let retransmits = stream
                .retransmits
                .map_or(-1, |count| i64::try_from(count).unwrap_or(i64::MAX));
            let mut value = json!({
                "id": stream.id,
                "bytes": stream.bytes,
                "retransmits": retransmits,
                "jitter": stream.jitter.as_secs_f64(),
                "errors": stream.lost,
                "packets": stream.packets,
                "start_time": 0,
                "end_time": stream.time.as_secs_f64(),
            });
            if let (Some(omitted), Some(object)) = (stream.omitted, value.as_object_mut()) {
                object.insert("omitted_errors".to_owned(), json!(omitted.lost));
                object.insert("omitted_packets".to_owned(), json!(omitted.packets));
            }
            value
        });
        object.insert("streams".to_owned(), streams.collect());
        Value::Object(object)
    }

    /// Parses a peer's results. Impossible values cause an error or are omitted, because the peer is
    /// not trusted.
    ///
    /// # Errors
    /// A sentence that describes the problem.
    pub fn from_json(value: &Value) -> Result<Self, String> {
        let object = value
            .as_object()
            .ok_or("the results are not a JSON object")?;
        let percent = |key: &str| {
            let number = object.get(key).and_then(Value::as_f64).unwrap_or(0.0);
            if number.is_finite() {
                number.max(0.0)
            } else {
                0.0
            }
        };
        let listed = object
            .get("streams")
            .and_then(Value::as_array)
            .ok_or("the results have no list of streams")?;
        if listed.len() > MAX_RESULTS {
            return Err(format!(
                "the results have {} streams, more than {MAX_RESULTS}",
                listed.len()
            ));
        }
        let output = object
            .get("server_output_text")
            .or_else(|| object.get("server_output_json"));
        Ok(Results {
            cpu: Cpu {
                total: percent("cpu_util_total"),
                user: percent("cpu_util_user"),
                system: percent("cpu_util_system"),
            },
            has_retransmits: object
                .get("sender_has_retransmits")
                .and_then(count)
                .map(|number| number > 0),
            congestion: object
                .get("congestion_used")
                .and_then(Value::as_str)
                .filter(|name| name.len() <= 64)
                .map(str::to_owned),
            streams: listed.iter().map(stream).collect::<Result<_, _>>()?,
            output: output.cloned(),
        })
    }

    pub fn stream(&self, id: u32) -> Option<&StreamResult> {
        self.streams.iter().find(|stream| stream.id == id)
    }
}

fn stream(value: &Value) -> Result<StreamResult, String> {
    let number = |key: &str| value.get(key).and_then(count);
    let seconds = |key: &str| {
        value
            .get(key)
            .and_then(Value::as_f64)
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .unwrap_or_default()
    };
    let id = number("id")
        .and_then(|id| u32::try_from(id).ok())
        .ok_or("the results contain a stream without an id")?;
    let omitted = number("omitted_packets").map(|packets| Omitted {
        packets,
        lost: number("omitted_errors").unwrap_or(0),
    });
    Ok(StreamResult {
        id,
        bytes: number("bytes").unwrap_or(0),
        retransmits: number("retransmits"),
        jitter: seconds("jitter"),
        lost: number("errors").unwrap_or(0),
        packets: number("packets").unwrap_or(0),
        omitted,
        time: seconds("end_time").saturating_sub(seconds("start_time")),
    })
}

/// Reads a count; `None` for -1, which iperf3 3.12 writes as the largest 64-bit number.
fn count(value: &Value) -> Option<u64> {
    value
        .as_u64()
        .filter(|number| *number != u64::MAX)
        .or_else(|| {
            let number = value.as_f64()?;
            (0.0..1.8e19).contains(&number).then_some(number as u64)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_survive_a_round_trip() {
        let results = Results {
            cpu: Cpu {
                total: 12.5,
                user: 2.5,
                system: 10.0,
            },
            has_retransmits: Some(true),
            congestion: Some("bbr".to_owned()),
            streams: vec![StreamResult {
                id: 3,
                bytes: 1 << 40,
                retransmits: Some(7),
                jitter: Duration::from_micros(12),
                lost: 2,
                packets: 10,
                omitted: Some(Omitted {
                    lost: 1,
                    packets: 4,
                }),
                time: Duration::from_millis(1500),
            }],
            output: Some(json!("text")),
        };
        assert_eq!(Results::from_json(&results.to_json()), Ok(results));
    }

    #[test]
    fn iperf3s_results_are_parsed() {
        let text = r#"{"cpu_util_total":4.0,"cpu_util_user":0.4,"cpu_util_system":3.5,
            "sender_has_retransmits":18446744073709551615,"congestion_used":"bbr","streams":[{"id":1,"bytes":655360,
            "retransmits":18446744073709551615,"jitter":0,"errors":0,"packets":0,"start_time":0,"end_time":1.000255}]}"#;
        let results =
            Results::from_json(&serde_json::from_str(text).expect("JSON")).expect("results");
        assert_eq!(results.has_retransmits, None);
        assert_eq!(
            results
                .stream(1)
                .map(|stream| (stream.bytes, stream.retransmits)),
            Some((655_360, None))
        );
        assert_eq!(results.stream(3), None);
    }

    #[test]
    fn invalid_results_are_refused() {
        for (text, part) in [
            (json!("x"), "not a JSON object"),
            (json!({}), "no list of streams"),
            (json!({ "streams": [{}] }), "without an id"),
            (json!({ "streams": vec![0; 300] }), "300 streams"),
        ] {
            let error = Results::from_json(&text).expect_err("an error");
            assert!(error.contains(part), "{error}");
        }
        let odd = json!({ "cpu_util_total": -5, "streams": [{ "id": 1, "end_time": -3.0, "bytes": -1 }] });
        let odd = Results::from_json(&odd).expect("results");
        assert_eq!(odd.streams[0].time, Duration::ZERO);
        assert_eq!(odd.streams[0].bytes, 0);
    }
}
