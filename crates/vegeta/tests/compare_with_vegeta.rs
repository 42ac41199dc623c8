//! Compares results and reports with those that vegeta 12.12 wrote for the same hits (`recorded/`):
//! the results are from `vegeta encode`, the reports from `vegeta report`.

use plimsoll_vegeta::batch::Batch;
use plimsoll_vegeta::{Buckets, Hit, Metrics, ReadError, Results, csv, json, reports};

macro_rules! recorded {
    ($name:literal) => {
        include_bytes!(concat!("recorded/", $name)).as_slice()
    };
}

/// vegeta's reports for a file of results.
struct Recorded {
    results: &'static [u8],
    text: &'static [u8],
    json: &'static [u8],
}

const ATTACK: Recorded = Recorded {
    results: recorded!("attack.json"),
    text: recorded!("attack.text"),
    json: recorded!("attack.report"),
};
const MANY: Recorded = Recorded {
    results: recorded!("many.csv"),
    text: recorded!("many.text"),
    json: recorded!("many.report"),
};

fn hits(bytes: &[u8]) -> Vec<Hit> {
    let mut results = Results::open(bytes).unwrap();
    let mut all = Vec::new();
    let mut hit = Hit::default();
    while results.next(&mut hit).unwrap() {
        all.push(hit.clone());
    }
    assert!(!results.was_cut_off());
    all
}

fn metrics(bytes: &[u8], buckets: Option<&str>) -> Metrics {
    let mut metrics = Metrics::with_buckets(buckets.map(|text| Buckets::parse(text).unwrap()));
    hits(bytes).iter().for_each(|hit| metrics.add(hit));
    metrics
}

fn written(hits: &[Hit], write: fn(&Hit, &mut String)) -> String {
    let mut out = String::new();
    hits.iter().for_each(|hit| write(hit, &mut out));
    out
}

#[track_caller]
fn same(ours: &str, theirs: &[u8]) {
    let theirs = std::str::from_utf8(theirs).unwrap();
    for (place, (our, their)) in ours.lines().zip(theirs.lines()).enumerate() {
        assert_eq!(our, their, "line {}", place + 1);
    }
    assert_eq!(ours.len(), theirs.len());
}

#[test]
fn reports_match_byte_for_byte() {
    for recorded in [ATTACK, MANY] {
        same(
            &reports::text(&mut metrics(recorded.results, None)),
            recorded.text,
        );
        let buckets = Some("[0,1ms,10ms]");
        same(
            &reports::json(&mut metrics(recorded.results, buckets)),
            recorded.json,
        );
    }
    let buckets = Some("[1ms,5ms,10ms,50ms,1s]");
    for (results, histogram) in [
        (ATTACK.results, recorded!("attack.hist")),
        (MANY.results, recorded!("many.hist")),
    ] {
        same(&reports::histogram(&metrics(results, buckets)), histogram);
    }
    for (results, plot) in [
        (ATTACK.results, recorded!("attack.hdrplot")),
        (MANY.results, recorded!("many.hdrplot")),
    ] {
        same(&reports::hdr_plot(&mut metrics(results, None)), plot);
    }
}

#[test]
fn json_and_csv_match_those_of_vegeta() {
    let attack = hits(ATTACK.results);
    same(&written(&attack, json::write), ATTACK.results);
    same(&written(&attack, csv::write), recorded!("attack.csv"));
    let many = hits(MANY.results);
    same(&written(&many, csv::write), MANY.results);
    let again = hits(recorded!("attack.csv"));
    same(&written(&again, csv::write), recorded!("attack.csv"));
}

#[test]
fn unusual_strings_survive_both_formats() {
    let csv_hits = hits(recorded!("errors.csv"));
    let json_hits = hits(recorded!("errors.json"));
    assert_eq!(csv_hits.len(), json_hits.len());
    for (one, other) in csv_hits.iter().zip(&json_hits) {
        // Go writes the fields of a header in random order.
        let mut other = other.clone();
        if let Some(headers) = &mut other.headers {
            headers.0.sort();
        }
        assert_eq!(*one, other);
    }
    same(&written(&csv_hits, csv::write), recorded!("errors.csv"));
    same(
        &reports::json(&mut metrics(recorded!("errors.csv"), None)),
        recorded!("errors.report"),
    );
    same(
        &reports::text(&mut metrics(recorded!("errors.csv"), None)),
        recorded!("errors.text"),
    );
}

#[test]
fn our_own_format_is_lossless() {
    for bytes in [ATTACK.results, MANY.results, recorded!("errors.csv")] {
        let before = hits(bytes);
        let mut file = Vec::new();
        let mut batch = Batch::new(Vec::new());
        for hit in &before {
            batch.push_hit(hit);
            if batch.len() > 5_000 {
                file.extend(batch.take(Vec::new()));
            }
        }
        file.extend(batch.take(Vec::new()));
        assert_eq!(hits(&file), before);

        // If a file was cut off, its complete part is read.
        let cut = &file[..file.len() - 1];
        let mut results = Results::open(cut).unwrap();
        let mut hit = Hit::default();
        let mut read = 0;
        while results.next(&mut hit).unwrap() {
            read += 1;
        }
        assert_eq!(read, before.len() - 1);
        assert!(results.was_cut_off());
    }
}

#[test]
fn an_invalid_result_is_refused_with_a_remedy() {
    let refused = |bytes: &[u8]| match Results::open(bytes) {
        Ok(mut results) => loop {
            match results.next(&mut Hit::default()) {
                Ok(true) => {}
                Ok(false) => panic!("it was read"),
                Err(error) => break error.to_string(),
            }
        },
        Err(error) => error.to_string(),
    };
    assert!(refused(recorded!("attack.gob")).contains("vegeta encode -to=json"));
    assert!(refused(b"").contains("no results"));
    assert!(refused(b"hello").contains("these are not results"));
    assert!(refused(b"{\"code\":200}\nnot json\n").starts_with("line 2: "));
    assert!(refused(b"1,200,3\n").starts_with("line 1: there are 3 columns"));
    assert!(refused(b"{\"latency\":-1}\n").contains("negative"));
    assert!(refused(b"{\"timestamp\":\"today\"}\n").contains("today"));
    assert!(
        refused(b"PLIMHIT\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00").contains("shorter")
    );
    assert!(matches!(Results::open(&b"x"[..]), Err(ReadError::Unknown)));
}
