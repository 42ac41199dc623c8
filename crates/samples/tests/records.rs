//! Individual samples for outputs.

mod scene;

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_samples::{
    Contains, HttpFacts, Kind, Phases, Registry, SampleRecord, SystemTag, SystemTags,
    WatchSettings, WindowDecoder, builtin, encode_records,
};
use scene::{Scene, at, ms};

fn with_outputs(output_extra: bool) -> Scene {
    Scene::of(WatchSettings {
        outputs: true,
        output_extra,
        run_tags: [("run", "r")].into_iter().collect(),
        system_tags: SystemTag::ALL.into_iter().collect::<SystemTags>(),
        ..WatchSettings::default()
    })
}

fn records(scene: &Scene) -> Vec<SampleRecord> {
    scene.hand_over();
    scene.totals.borrow_mut().take_records().concat()
}

fn tags(record: &SampleRecord) -> Vec<(&str, &str)> {
    record.tags.iter().collect()
}

fn facts() -> HttpFacts<'static> {
    HttpFacts {
        phases: Phases {
            waiting: ms(8.0),
            ..Phases::default()
        },
        scheduled: Some(at(90.0)),
        started: at(100.0),
        done: at(110.0),
        method: "GET",
        url: "http://u:p@host/x",
        status: 404,
        proto: "HTTP/1.1",
        error_code: 1404,
        expected: Some(false),
        ip: "10.0.0.1",
        extra: &[("mine", "1"), ("status", "777")],
        ..HttpFacts::default()
    }
}

#[test]
fn an_exchange_gives_a_record_for_each_of_k6s_metrics() {
    let scene = with_outputs(false);
    let base = scene.base(&[("scenario", "s"), ("group", "::g")]);
    let metadata: BTreeMap<String, String> =
        [("vu".to_owned(), "3".to_owned())].into_iter().collect();
    let base = base.with_metadata(Some(Arc::new(metadata)));
    scene.recorder.http(&facts(), &base);
    scene.recorder.http(&facts(), &base);
    let records = records(&scene);
    assert_eq!(records.len(), 18);
    let metrics: Vec<_> = records[..9].iter().map(|record| record.metric).collect();
    for metric in [
        builtin::HTTP_REQS,
        builtin::HTTP_REQ_FAILED,
        builtin::HTTP_REQ_DURATION,
        builtin::HTTP_REQ_BLOCKED,
        builtin::HTTP_REQ_CONNECTING,
        builtin::HTTP_REQ_TLS_HANDSHAKING,
        builtin::HTTP_REQ_SENDING,
        builtin::HTTP_REQ_WAITING,
        builtin::HTTP_REQ_RECEIVING,
    ] {
        assert!(metrics.contains(&metric), "{metric:?}");
    }
    let record = &records[0];
    assert_eq!((record.metric, record.value), (builtin::HTTP_REQS, 1.0));
    assert_eq!(record.at, at(110.0));
    assert_eq!(record.started, Some(at(100.0)));
    assert_eq!(record.scheduled, Some(at(90.0)));
    assert_eq!(record.metadata.as_ref().unwrap()["vu"], "3");
    assert_eq!(
        tags(record),
        [
            ("error_code", "1404"),
            ("expected_response", "false"),
            ("group", "::g"),
            ("ip", "10.0.0.1"),
            ("method", "GET"),
            ("mine", "1"),
            ("name", "http://****:****@host/x"),
            ("proto", "HTTP/1.1"),
            ("scenario", "s"),
            ("status", "404"),
            ("url", "http://****:****@host/x"),
        ]
    );
    // Equal exchanges share their tags.
    assert!(Arc::ptr_eq(&records[0].tags, &records[17].tags));
}

#[test]
fn different_exchanges_never_share_tags() {
    let scene = with_outputs(false);
    let base = scene.base(&[]);
    let other_base = scene.base(&[("a", "b")]);
    let plain = facts();
    let variants = [
        HttpFacts {
            status: 500,
            ..plain
        },
        HttpFacts {
            method: "PUT",
            ..plain
        },
        HttpFacts {
            url: "http://host/y",
            ..plain
        },
        HttpFacts {
            name: Some("http://u:p@host/x"),
            ..plain
        },
        HttpFacts {
            proto: "HTTP/2.0",
            ..plain
        },
        HttpFacts {
            expected: None,
            ..plain
        },
        HttpFacts {
            error: "x",
            ..plain
        },
        HttpFacts { ip: "", ..plain },
        HttpFacts {
            extra: &[("mine", "2")],
            ..plain
        },
    ];
    for facts in [plain, plain].iter().chain(&variants).chain(&variants) {
        scene.recorder.http(facts, &base);
    }
    scene.recorder.http(&plain, &other_base);
    let records = records(&scene);
    let reqs = records
        .iter()
        .filter(|record| record.metric == builtin::HTTP_REQS);
    let mut seen: Vec<Vec<(&str, &str)>> = reqs.map(tags).collect();
    assert_eq!(seen.len(), 21);
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 11);
}

#[test]
fn our_own_metrics_are_exported_on_request_only() {
    let scene = with_outputs(true);
    let good = HttpFacts {
        expected: Some(true),
        ..facts()
    };
    scene.recorder.http(&good, &scene.base(&[]));
    scene.recorder.send_lag(ms(1.0), &scene.base(&[]), at(1.0));
    let with = records(&scene);
    assert_eq!(with.len(), 13);
    let response = with
        .iter()
        .find(|r| r.metric == builtin::HTTP_REQ_RESPONSE_TIME);
    assert_eq!(response.unwrap().value, 20.0);
    let scene = with_outputs(false);
    scene.recorder.send_lag(ms(1.0), &scene.base(&[]), at(1.0));
    assert!(records(&scene).is_empty());
}

#[test]
fn other_samples_have_their_tags() {
    let scene = with_outputs(false);
    let counter = scene
        .registry
        .register("mine", Kind::Counter, Contains::Data);
    let base = scene.base(&[("group", "::g")]);
    let extra = [("b", "2"), ("group", "::h")];
    scene
        .recorder
        .add(counter.unwrap(), 2.5, &base, &extra, at(7.0))
        .unwrap();
    scene
        .recorder
        .check("held", true, &base, &[("check", "other")], at(8.0));
    scene.totals.borrow_mut().users(1, 2, at(9.0));
    let records = records(&scene);
    assert_eq!(tags(&records[0]), [("run", "r")]);
    assert_eq!((records[0].value, records[1].value), (1.0, 2.0));
    assert_eq!(tags(&records[2]), [("b", "2"), ("group", "::h")]);
    assert_eq!((records[2].value, records[2].at), (2.5, at(7.0)));
    assert_eq!(tags(&records[3]), [("check", "held"), ("group", "::g")]);
    assert!(scene.totals.borrow_mut().take_records().is_empty());
}

#[test]
fn many_records_are_split_into_pieces_in_order() {
    let scene = with_outputs(false);
    let base = scene.base(&[]);
    let added = 20_000;
    for number in 0..added {
        let number = f64::from(number);
        let added = (scene.recorder).add(builtin::DATA_SENT, number, &base, &[], at(number));
        assert!(added.is_ok());
    }
    scene.hand_over();
    let pieces = scene.totals.borrow_mut().take_records();
    assert!(pieces.iter().all(|piece| piece.len() <= 4096));
    assert_eq!(pieces.len(), 5);
    let records = pieces.concat();
    // Both samples share their tags.
    assert!(Arc::ptr_eq(&records[0].tags, &records[19_999].tags));
    let values = records.iter().map(|record| record.value);
    assert!(values.eq((0..added).map(f64::from)));
}

#[test]
fn records_are_read_back_in_another_process() {
    let scene = with_outputs(true);
    let base = scene.base(&[("scenario", "s"), ("group", "::g")]);
    let metadata: BTreeMap<String, String> =
        [("vu".to_owned(), "3".to_owned())].into_iter().collect();
    let labeled = base.with_metadata(Some(Arc::new(metadata)));
    let mine = (scene.registry).register("mine", Kind::Trend, Contains::Time);
    let mine = mine.expect("a new metric");
    for number in 0..2_000 {
        let base = if number % 2 == 0 { &base } else { &labeled };
        scene.recorder.http(&facts(), base);
        let value = f64::from(number) / 7.0;
        let extra = [("number", if number % 3 == 0 { "three" } else { "other" })];
        let added = (scene.recorder).add(mine, value, base, &extra, at(f64::from(number)));
        assert!(added.is_ok());
    }
    let sent = records(&scene);
    let origin = at(1_000.0);
    let pieces = encode_records(&sent, &scene.registry, origin);
    assert!(pieces.len() > 1, "{} samples", sent.len());
    // The script's own metrics have other numbers in the other process.
    let other = with_outputs(true);
    let another = (other.registry).register("another", Kind::Rate, Contains::Default);
    assert!(another.is_ok());
    let decoder = WindowDecoder::new(Arc::clone(&other.registry), Arc::clone(&other.watch));
    let read: Vec<SampleRecord> = (pieces.iter())
        .flat_map(|piece| decoder.decode_records(piece, origin).expect("a piece"))
        .collect();
    let text = |registry: &Registry, record: &SampleRecord| {
        let metric = registry.get(record.metric).expect("a metric");
        let SampleRecord {
            value,
            at,
            started,
            scheduled,
            tags,
            metadata,
            ..
        } = record;
        format!("{metric:?} {value} {at:?} {started:?} {scheduled:?} {tags:?} {metadata:?}")
    };
    assert_eq!(read.len(), sent.len());
    for (read, sent) in read.iter().zip(&sent) {
        assert_eq!(text(&other.registry, read), text(&scene.registry, sent));
    }
    // Whatever is missing, the decoder does not invent data.
    let piece = &pieces[1];
    for length in (0..piece.len()).step_by(997) {
        let read = decoder.decode_records(&piece[..length], origin);
        assert!(read.is_err() || read.is_ok_and(|read| read.len() < sent.len()));
    }
}
