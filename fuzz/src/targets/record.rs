//! Records of runs from any source, and the figures that are computed from them.

use plimsoll_results::compare;
use plimsoll_results::differences;
use plimsoll_results::figures::{FIGURES, Figure, RunFigures};
use plimsoll_results::record;

use super::Target;

pub const TARGET: Target = Target {
    name: "record",
    run,
    seeds: &[
        br#"{"schema":"plimsoll/record/1","plimsoll":"1","kind":"http","command":["plimsoll"],"started":"2026-01-02T03:04:05Z","model":"open","configuration":{"url":"x"},"configuration_hash":"1","environment":{"cpu":"c","cpus":2,"memory_bytes":9,"os":"o","kernel":"k","settings":[["a","b"]],"fingerprint":"f"}}
{"second":0,"users":2,"in_flight":1.5,"counters":{"http_reqs":3.0},"rates":{"http_req_failed":[1,3]},"trends":{"http_req_duration":{"count":3,"sum":6.0,"min":1.0,"max":3.0,"buckets":[[1.0,1],[2.0,1],[3.0,1]]}},"generator_cpu_seconds":0.1}
{"second":1,"lasted":0.5,"users":2,"counters":{},"rates":{},"gauges":{"g":[1.0,0.0,2.0]},"trends":{},"generator_cpu_seconds":0.1}
{"duration_seconds":1.5,"aborted":null,"counters":{},"rates":{},"trends":{},"checks":{"c":[1,2]},"thresholds":[["m","p(95)<5",true]],"statuses":{"200":3},"errors":{},"protocols":{"HTTP/1.1":3},"generator":{"cpu_seconds":0.1,"peak_rss_bytes":5,"verdict":"valid","reasons":[["client","fine"]]}}
"#,
        br#"{"schema":"plimsoll/record/2"}"#,
        b"",
    ],
    words: &[
        "schema", "second", "lasted", "buckets", "count", "-1", "1e308", "1e-320", "18446744073709551615",
        "null", "[", "{", "}\n", "duration_seconds", "http_req_duration", "http_reqs",
    ],
};

fn run(data: &[u8]) {
    record::is_record(data);
    let Ok(record) = record::read(data) else {
        return;
    };
    differences::configuration(&record.header, &record.header);
    if let Some(end) = &record.end {
        end.trends.values().for_each(|trend| {
            trend.coarse();
            trend.histogram();
        });
    }
    if let Ok(figures) = RunFigures::of(&record, 0) {
        let all: Vec<&'static Figure> = FIGURES.iter().collect();
        compare::single(&figures, &figures, &all, &|_| None);
        compare::pairs(&[(figures.clone(), figures)], &all, &|_| None);
    }
}
