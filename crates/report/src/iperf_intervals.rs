//! The interval table of an iperf3 test, from its JSON output.

use plimsoll_plots::number::Place;
use serde_json::Value;

use crate::document::{Block, Head, Table, Words};

/// Seconds, transferred bytes, rate and retransmissions for each interval and for the whole test, in the columns of
/// iperf3's own output. `None` if the output is not from iperf3.
pub fn interval_table(raw: &str) -> Option<Block> {
    let output: Value = serde_json::from_str(raw).ok()?;
    let intervals = output.get("intervals")?.as_array()?;
    let mut rows = Vec::new();
    for interval in intervals {
        let sum = interval.get("sum")?;
        let window = match interval.get("streams").and_then(Value::as_array) {
            Some(streams) if streams.len() == 1 => streams.first()?.get("snd_cwnd"),
            _ => None,
        };
        let is_omitted = sum.get("omitted").and_then(Value::as_bool) == Some(true);
        rows.push(interval_row(
            sum,
            window,
            if is_omitted { "omitted" } else { "–" },
        )?);
    }
    let end = output.get("end")?;
    for (name, note) in [
        ("sum_sent", "sender, total"),
        ("sum_received", "receiver, total"),
    ] {
        rows.extend(end.get(name).and_then(|sum| interval_row(sum, None, note)));
    }
    Some(Block::Table(Table {
        caption: "Intervals".to_owned(),
        head: vec![
            Head::figures("interval, s"),
            Head::figures("transferred, MB"),
            Head::figures("rate, Mbit/s"),
            Head::figures("retransmissions"),
            Head::figures("congestion window, kB"),
            Head::words("note"),
        ],
        rows,
        names: 1,
    }))
}

fn interval_row(sum: &Value, window: Option<&Value>, note: &str) -> Option<Vec<Words>> {
    let of = |name: &str| sum.get(name).and_then(Value::as_f64);
    let print = |places: u8, value: f64| Place::decimals(places).print(value);
    let known = |text: Option<String>| Words::plain(text.unwrap_or_else(|| "–".to_owned()));
    Some(vec![
        Words::plain(format!(
            "{} to {}",
            print(2, of("start")?),
            print(2, of("end")?)
        )),
        Words::plain(print(1, of("bytes")? / 1e6)),
        Words::plain(print(1, of("bits_per_second")? / 1e6)),
        known(of("retransmits").map(|count| print(0, count))),
        known(
            window
                .and_then(Value::as_f64)
                .map(|bytes| print(0, bytes / 1e3)),
        ),
        Words::plain(note),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = r#"{"start": {}, "intervals": [
        {"streams": [{"snd_cwnd": 916762}],
         "sum": {"start": 0.0, "end": 1.00386, "bytes": 122290176, "bits_per_second": 974550637.69, "retransmits": 0, "omitted": true}},
        {"streams": [{"snd_cwnd": 1000000}],
         "sum": {"start": 0.0, "end": 1.0001, "bytes": 117178368, "bits_per_second": 937289736.9, "retransmits": 3, "omitted": false}}],
        "end": {"sum_sent": {"start": 0.0, "end": 4.0, "bytes": 465698816, "bits_per_second": 931362519.8, "retransmits": 3},
                "sum_received": {"start": 0.0, "end": 4.03, "bytes": 467927040, "bits_per_second": 929895886.0}}}"#;

    #[test]
    fn the_table_has_each_interval_and_both_totals() {
        let Some(Block::Table(table)) = interval_table(OUTPUT) else {
            panic!("no table");
        };
        let rows: Vec<String> = table
            .rows
            .iter()
            .map(|row| {
                row.iter()
                    .map(Words::to_text)
                    .collect::<Vec<_>>()
                    .join(" | ")
            })
            .collect();
        assert_eq!(
            rows,
            [
                "0.00 to 1.00 | 122.3 | 974.6 | 0 | 917 | omitted",
                "0.00 to 1.00 | 117.2 | 937.3 | 3 | 1000 | –",
                "0.00 to 4.00 | 465.7 | 931.4 | 3 | – | sender, total",
                "0.00 to 4.03 | 467.9 | 929.9 | – | – | receiver, total",
            ]
        );
    }

    #[test]
    fn other_output_has_no_table() {
        for raw in ["", "p95 8 ms", "{}", r#"{"intervals": [{}]}"#] {
            assert!(interval_table(raw).is_none(), "{raw}");
        }
    }
}
