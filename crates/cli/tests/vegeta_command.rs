//! `plimsoll vegeta` with results from our own attack and from the real vegeta.

mod plimsoll;

use plimsoll::plimsoll;
use plimsoll_testkit::peers::{Peer, Play};
use serde_json::Value;

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../vegeta/tests/recorded");

#[test]
fn an_attack_is_reported_converted_and_drawn() {
    let server = Peer::start(Play::ok("hello"));
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let results = path("results.bin");
    let target = format!("GET {}\n", server.url());
    let attack = [
        "attack",
        "-rate=200",
        "-duration=100ms",
        "-name=one",
        "-output",
    ];
    let ended = plimsoll(&[&attack[..], &[results.as_str()]].concat())
        .input(target)
        .run();
    assert_eq!(ended.status, Some(0), "{ended:?}");

    let vegeta = |arguments: &[&str]| {
        let ended = plimsoll(&[&["vegeta"], arguments].concat()).run();
        assert_eq!(ended.status, Some(0), "{ended:?}");
        ended.stdout
    };
    let text = vegeta(&["report", &results]);
    assert!(
        text.starts_with("Requests      [total, rate, throughput]         20, "),
        "{text}"
    );
    assert!(text.contains("Status Codes  [code:count]                      200:20  \n"));
    let whole: Value = serde_json::from_str(&vegeta(&["report", "-type=json", &results])).unwrap();
    let service = vegeta(&["report", "-type=json", "-service-time", &results]);
    let service: Value = serde_json::from_str(&service).unwrap();
    assert_eq!(whole["requests"], 20);
    assert!(service["latencies"]["total"].as_u64() <= whole["latencies"]["total"].as_u64());
    let bars = vegeta(&["report", "-type=hist[0,1m]", &results]);
    assert!(bars.contains("[0s,    1m0s]  20  100.00%"), "{bars}");
    assert!(vegeta(&["report", "-type", "hdrplot", &results]).contains("1/(1-Percentile)"));

    // Conversion to JSON and CSV does not change the report.
    let (json, csv) = (path("results.json"), path("results.csv"));
    vegeta(&["encode", "-output", &json, &results]);
    vegeta(&["encode", "-to=csv", "-output", &csv, &json]);
    assert_eq!(vegeta(&["report", &csv]), text);
    let both = vegeta(&["report", "-type=json", &csv, &json]);
    let both: Value = serde_json::from_str(&both).unwrap();
    assert_eq!(both["requests"], 40);

    let page = vegeta(&["plot", "-title=mine", &results]);
    assert!(page.contains("<title>mine</title>") && page.contains("one: succeeded (20)"));
}

#[test]
fn results_of_vegeta_are_reported_as_vegeta_does() {
    for name in ["attack.json", "many.csv"] {
        let (stem, _) = name.split_once('.').unwrap();
        let theirs = std::fs::read_to_string(format!("{RECORDED}/{stem}.text")).unwrap();
        let file = std::fs::read(format!("{RECORDED}/{name}")).unwrap();
        let ours = plimsoll(&["vegeta", "report"]).input(file).run().stdout;
        assert_eq!(ours, theirs, "{name}");
    }
}

#[test]
fn mistakes_are_reported_with_a_fix() {
    let gob = format!("{RECORDED}/attack.gob");
    let json = format!("{RECORDED}/attack.json");
    let cases: [(&[&str], &str); 7] = [
        (&["report", &gob], "vegeta encode -to=json"),
        (&["report", "/none"], "/none: cannot open it"),
        (&["report", "-type=foo", &json], "-type=foo"),
        (&["report", "-type=hist", &json], "give the buckets"),
        (&["report", "-type=hist[5ms,1ms]", &json], "bad buckets"),
        (&["report", "-service-time", &json], "--service-time"),
        (&["encode", "-to=gob", &json], "-to=gob"),
    ];
    for (arguments, wanted) in cases {
        let ended = plimsoll(&[&["vegeta"], arguments].concat()).run();
        assert_ne!(ended.status, Some(0), "{arguments:?}");
        assert!(
            ended.stderr.contains(wanted),
            "{arguments:?}: {}",
            ended.stderr
        );
    }
}
