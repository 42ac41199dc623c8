//! Results of attacks in every supported format, and reports about them. Results that are written must read
//! the same again.

use plimsoll_vegeta::batch::Batch;
use plimsoll_vegeta::plot::Plot;
use plimsoll_vegeta::{Buckets, Hit, Metrics, Results, csv, json, reports};

use super::{Target, text};

pub const TARGET: Target = Target {
    name: "attack_results",
    run,
    seeds: &[
        b"{\"attack\":\"a\",\"seq\":1,\"code\":200,\"timestamp\":\"2026-11-21T09:53:01.5+01:00\",\"latency\":5,\"bytes_out\":0,\"bytes_in\":2,\"error\":\"\",\"body\":\"aGk=\",\"method\":\"GET\",\"url\":\"http://h/\",\"headers\":{\"A\":[\"b\"]}}\n",
        b"1795254781228463214,302,1112738,0,14,\"a,\"\"b\",aGk=,n,2,GET,http://h/,QTogYg0KDQo=\n",
        b"PLIMHIT\x01\x1e\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01G\x00\x01u\x01\x03\x01\x02\x03\x01\x00\x01\xc8\x01\x00\x05\x00\x00\x02\x02hi",
        b"[0,1ms,10ms]",
        b"PLIMHIT\x0181228\x06\x00\x00\x00\x00\x00\x00\x0002,111\x95[0,1ms,\x01\x01\x01\x01\x01\x01\x01\x01\x0d\x0a\x01a\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x091\x15\xd6\xd6\xd6\xd6\xd6\xc3\xbf\xc3\xbf\x15\x15\x00\x00\x00\x02\x00\x00\x00!\x1573U\x15",
    ],
    words: &[
        "{", "}", "\"latency\":", "\"timestamp\":\"", "0001-01-01T00:00:00Z", "null", "-1", "9223372036854775807",
        "\"headers\":{", ",", "\"", "\"\"", "\r\n", "PLIMHIT\u{1}", "\u{ff}\u{ff}", "\0\0\0\0", "[0,", "1ms]", "65535",
    ],
};

fn run(data: &[u8]) {
    let buckets = Buckets::parse(&text(data)).ok();
    let Ok(mut results) = Results::open(data) else {
        return;
    };
    let mut metrics = Metrics::with_buckets(buckets);
    let (mut plot, mut batch) = (Plot::default(), Batch::new(Vec::new()));
    let (mut hit, mut all) = (Hit::default(), Vec::new());
    // A hit takes at least one byte, so the results end.
    while all.len() <= data.len() && results.next(&mut hit).unwrap_or(false) {
        metrics.add(&hit);
        plot.add(&hit);
        batch.push_hit(&hit);
        let (mut line, mut record) = (String::new(), String::new());
        json::write(&hit, &mut line);
        let mut again = Hit::default();
        json::read(line.as_bytes(), &mut again).unwrap_or_else(|error| panic!("{error}: {line}"));
        again.service = hit.service;
        assert_eq!(again, hit, "{line}");
        csv::write(&hit, &mut record);
        all.push(hit.clone());
    }
    reports::text(&mut metrics);
    reports::json(&mut metrics);
    reports::histogram(&metrics);
    reports::hdr_plot(&mut metrics);
    plot.html("", 10, "");
    let file = batch.take(Vec::new());
    let mut again = Results::open(&file[..]).unwrap_or_else(|error| panic!("{error}"));
    for wanted in &all {
        assert!(again.next(&mut hit).unwrap_or(false), "{wanted:?}");
        assert_eq!(
            (hit.seq, hit.latency, &hit.url),
            (wanted.seq, wanted.latency, &wanted.url)
        );
    }
}
