//! Outputs of individual samples, from the recorder to the file.

mod support;

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use flate2::read::GzDecoder;
use plimsoll_output::catalog::Catalog;
use plimsoll_output::output::{OutputSetting, OutputSpec};
use plimsoll_output::output_csv::TimeFormat;
use plimsoll_output::wall_clock::WallClock;
use plimsoll_plan::Threshold;
use plimsoll_samples::{SampleRecord, SystemTag, WatchSettings};
use plimsoll_units::Moment;
use serde_json::Value;
use support::run::{Run, run};

/// A buffer that can be read while another thread writes to it.
#[derive(Clone, Default)]
struct Shelf(Arc<Mutex<Vec<u8>>>);

impl Write for Shelf {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panics here").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn setting(run: &Run, csv_time: TimeFormat) -> OutputSetting {
    let thresholds = [
        ("http_req_duration", "p(95)<500"),
        ("http_req_duration{kind:x}", "max<1"),
        ("http_req_duration{kind:x}", "max<2"),
        ("http_req_duration", "avg<1"),
    ]
    .map(|(metric, source)| Threshold::parse(metric, source).unwrap());
    OutputSetting {
        shown_url: |url| url.into(),
        catalog: Catalog::new(Arc::clone(&run.registry), &thresholds, &[]),
        clock: WallClock::reading(
            Moment::ZERO,
            UNIX_EPOCH + Duration::from_secs(1_795_233_591),
        ),
        system_tags: vec![
            SystemTag::Status,
            SystemTag::Group,
            SystemTag::Vu,
            SystemTag::Url,
        ],
        csv_time,
    }
}

fn recorded() -> Run {
    run(
        1,
        0,
        None,
        WatchSettings {
            outputs: true,
            ..WatchSettings::default()
        },
    )
}

/// Adds metadata, which only samples of users have.
fn labeled(mut records: Vec<SampleRecord>) -> Vec<SampleRecord> {
    let labels = [("vu", "1"), ("m", "v,\"w")];
    let labels: BTreeMap<_, _> = labels
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
    for record in &mut records {
        record.metadata = Some(Arc::new(labels.clone()));
    }
    records
}

fn written(spec: &str, run: &Run, batches: &[Vec<SampleRecord>], csv_time: TimeFormat) -> String {
    let shelf = Shelf::default();
    let spec = OutputSpec::parse(spec).expect("a known output");
    let stdout = {
        let shelf = shelf.clone();
        || Box::new(shelf) as Box<dyn Write + Send>
    };
    let mut output = spec
        .open(&setting(run, csv_time), stdout)
        .expect("it opens");
    for batch in batches {
        output.batch(batch).expect("the buffer accepts it");
    }
    output.finish().expect("the buffer accepts it");
    let bytes = shelf.0.lock().expect("no panics here").clone();
    String::from_utf8(bytes).expect("text")
}

#[test]
fn json_describes_each_metric_once_and_before_its_points() {
    let run = recorded();
    let batches = [
        run.records.clone(),
        Vec::new(),
        labeled(run.records.clone()),
    ];
    let text = written("json=-", &run, &batches, TimeFormat::Unix);
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a JSON line"))
        .collect();
    let mut described = Vec::new();
    let mut points = 0;
    for line in &lines {
        let name = line["metric"].as_str().expect("a name");
        match line["type"].as_str() {
            Some("Metric") => {
                assert!(!described.contains(&name), "{name} twice");
                described.push(name);
            }
            Some("Point") => {
                assert!(described.contains(&name), "{name} not described");
                points += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(points, 2 * run.records.len());

    let duration = lines
        .iter()
        .find(|line| line["metric"] == "http_req_duration")
        .expect("its line");
    let expected = r#"{"type":"Metric","data":{"name":"http_req_duration","type":"trend","contains":"time","thresholds":["p(95)<500","avg<1"],"submetrics":[{"name":"http_req_duration{kind:x}","suffix":"kind:x","tags":{"kind":"x"}},{"name":"http_req_duration{expected_response:true}","suffix":"expected_response:true","tags":{"expected_response":"true"}}]},"metric":"http_req_duration"}"#;
    assert_eq!(duration.to_string(), expected);
    let reqs = lines
        .iter()
        .find(|line| line["metric"] == "http_reqs")
        .expect("its line");
    assert_eq!(reqs["data"]["submetrics"], Value::Null);
}

#[test]
fn a_point_has_time_value_tags_and_metadata() {
    let run = recorded();
    let text = written(
        "json",
        &run,
        &[labeled(run.records.clone())],
        TimeFormat::Unix,
    );
    let is_point = |line: &&str| line.starts_with(r#"{"metric":"http_req_waiting","type":"Point""#);
    let mut point: Value =
        serde_json::from_str(text.lines().find(is_point).expect("a point")).expect("JSON");
    // The hour depends on the time zone of the test.
    let time = point["data"]["time"].take();
    let time = time.as_str().expect("a date");
    assert!(time.len() > 20 && time.contains(":51.003"), "{time}");
    let expected = r#"{"metric":"http_req_waiting","type":"Point","data":{"time":null,"value":1,"tags":{"expected_response":"true","kind":"x & y","method":"GET","name":"http://127.0.0.1/a,\"b\"","proto":"HTTP/1.1","scenario":"default","status":"200","url":"http://127.0.0.1/a,\"b\""},"metadata":{"m":"v,\"w","vu":"1"}}}"#;
    assert_eq!(point.to_string(), expected);
}

#[test]
fn csv_has_a_column_for_each_enabled_tag() {
    let run = recorded();
    let only = |name: &str| -> Vec<SampleRecord> {
        let id = run.registry.find(name).expect("a metric");
        run.records
            .iter()
            .filter(|record| record.metric == id)
            .cloned()
            .collect()
    };
    let batches = [only("http_reqs"), labeled(only("http_req_waiting"))];
    let text = written("csv=-", &run, &batches, TimeFormat::UnixMilli);
    let expected = "metric_name,timestamp,metric_value,group,status,url,extra_tags,metadata
http_reqs,1795233591003,1.000000,,200,\"http://127.0.0.1/a,\"\"b\"\"\",\"expected_response=true&kind=x & y&method=GET&name=http://127.0.0.1/a,\"\"b\"\"&proto=HTTP/1.1&scenario=default\",
http_req_waiting,1795233591003,1.000000,,200,\"http://127.0.0.1/a,\"\"b\"\"\",\"expected_response=true&kind=x & y&method=GET&name=http://127.0.0.1/a,\"\"b\"\"&proto=HTTP/1.1&scenario=default\",\"m=v,\"\"w&vu=1\"
";
    assert_eq!(text, expected);
    for (format, start) in [
        (TimeFormat::Unix, "1795233591,"),
        (TimeFormat::UnixMicro, "1795233591003000,"),
        (TimeFormat::UnixNano, "1795233591003000000,"),
    ] {
        let text = written("csv=-", &run, &[only("http_reqs")], format);
        assert!(text.contains(&format!("\nhttp_reqs,{start}")), "{text}");
    }
}

#[test]
fn files_ending_in_gz_are_compressed_and_whole() {
    let run = recorded();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("samples.json.gz");
    let spec = OutputSpec::parse(&format!("json={}", path.display())).expect("a known output");
    let mut output = spec
        .open(&setting(&run, TimeFormat::Unix), || Box::new(io::sink()))
        .expect("it opens");
    output.batch(&run.records).expect("there is space");
    output.finish().expect("there is space");
    let mut text = String::new();
    let file = std::fs::File::open(&path).expect("the file");
    GzDecoder::new(file)
        .read_to_string(&mut text)
        .expect("a whole stream");
    assert_eq!(
        text,
        written(
            "json=-",
            &run,
            std::slice::from_ref(&run.records),
            TimeFormat::Unix
        )
    );
}

#[test]
fn failed_writes_are_reported() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::new(io::ErrorKind::StorageFull, "no space left"))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let run = recorded();
    let spec = OutputSpec::parse("json").expect("a known output");
    let mut output = spec
        .open(&setting(&run, TimeFormat::Unix), || Box::new(Full))
        .expect("it opens");
    let error = output.batch(&run.records).expect_err("a full disk");
    assert_eq!(error.to_string(), "output json (stdout): no space left");
}
