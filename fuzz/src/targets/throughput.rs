//! Data from an iperf3 peer on the control connection: states, JSON with its length, parameters and results; and the
//! headers of its datagrams.

use std::time::Duration;

use plimsoll_iperf::datagram::{self, Arrivals};
use plimsoll_iperf::results::Results;
use plimsoll_iperf::wire::{Cookie, State, read_json, write_json};
use plimsoll_iperf::{Test, amounts};

use super::{Target, text};

pub const TARGET: Target = Target {
    name: "throughput",
    run,
    seeds: &[
        b"\0\0\0\x7d{\"tcp\":true,\"omit\":1,\"time\":2,\"num\":0,\"blockcount\":0,\"parallel\":2,\"len\":131072,\"bandwidth\":50000000,\"client_version\":\"3.12\"}",
        b"\0\0\0\x91{\"udp\":true,\"omit\":0,\"time\":0,\"num\":1048576,\"blockcount\":0,\"parallel\":1,\"bidirectional\":true,\"len\":1000,\"window\":9,\"udp_counters_64bit\":1}",
        b"\0\0\0\xd2{\"cpu_util_total\":4.0,\"sender_has_retransmits\":18446744073709551615,\"streams\":[{\"id\":1,\"bytes\":655360,\"retransmits\":-1,\"jitter\":1e-6,\"errors\":0,\"packets\":250,\"start_time\":0,\"end_time\":1.000255}]}",
        b"\x09\x0a\x01\x02\x0d\x0e",
        b"xrlzdwzr7zslr7wsorcwl32ih4qcrdgrongh\0\x09",
        b"1.5M/8",
    ],
    words: &[
        "\0\0\0\x02{}", "\0\0", "\x7f\x7f\x7f\x7f", "18446744073709551615", "-1", "1e308", "0.5", "null", "[]", "{}",
        "\"streams\":", "\"id\":", "\"end_time\":", "\"time\":", "\"len\":", "\"parallel\":", "\"num\":",
        "\"bandwidth\":", "\"congestion\":", "\"TOS\":", "true", "K", "M/", "\0\0\0\x0c",
    ],
};

fn run(data: &[u8]) {
    for byte in data.iter().take(64) {
        if let Some(state) = State::of(*byte) {
            assert_eq!(state.byte(), *byte);
        }
    }
    if let Ok(cookie) = Cookie::read(data) {
        assert!(cookie.text().len() <= Cookie::LENGTH);
    }
    let mut arrivals = Arrivals::default();
    for (index, piece) in data.chunks(17).enumerate() {
        if let Some((sent, number)) = datagram::read(piece, index % 2 == 0) {
            arrivals.arrived(sent, Duration::from_millis(index as u64), number);
            assert!(arrivals.jitter.is_finite() && arrivals.lost <= arrivals.packets);
        }
    }
    let _ = amounts::parse_rate(&text(data));
    if let Ok(count) = amounts::parse_bytes(&text(data)) {
        assert!(!amounts::bytes(count).is_empty());
    }
    // Once with a correct length and once unchanged: most mutations of an input break its length.
    let whole = serde_json::from_slice(data.get(4..).unwrap_or_default()).ok();
    for value in [read_json(data).ok(), whole].into_iter().flatten() {
        let mut written = Vec::new();
        write_json(&mut written, &value).expect("a write to memory accepts all bytes");
        assert!(read_json(&written[..]).is_ok());
        if let Ok(test) = Test::from_json(&value) {
            assert_eq!(test.check(), Ok(()));
            assert_eq!(Test::from_json(&test.to_json()).as_ref(), Ok(&test));
            assert!(test.streams().count() <= 256);
        }
        if let Ok(results) = Results::from_json(&value) {
            let again = Results::from_json(&results.to_json())
                .expect("a header that was read can be written");
            assert_eq!(again.streams.len(), results.streams.len());
        }
    }
}
