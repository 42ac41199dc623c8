//! Records a run on one URL.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_samples::{
    HttpFacts, Phases, Recorder, Registry, SampleRecord, Summary, TagMap, Totals, Watch,
    WatchSettings,
};
use plimsoll_units::Moment;

const MILLISECOND: Duration = Duration::from_millis(1);

/// The results of a run.
pub struct Run {
    pub registry: Arc<Registry>,
    pub summary: Summary,
    pub records: Vec<SampleRecord>,
}

/// Records a second in which `responded` exchanges took 1 ms, 2 ms and so on, and `refused` other exchanges could not
/// connect. With a lag, each exchange started that late.
pub fn run(responded: u32, refused: u32, lag: Option<Duration>, settings: WatchSettings) -> Run {
    let registry = Arc::new(Registry::new());
    let watch =
        Arc::new(Watch::new(&registry, settings).expect("the thresholds are on existing metrics"));
    let recorder = Recorder::new(Arc::clone(&registry), Arc::clone(&watch));
    let mut tags = TagMap::new();
    tags.set("scenario", "default");
    let base = recorder.base_tags(&tags);
    let started = Moment::ZERO + 2 * MILLISECOND;
    for number in 1..=responded {
        let facts = HttpFacts {
            phases: Phases {
                waiting: MILLISECOND * number,
                ..Phases::default()
            },
            scheduled: lag
                .map(|lag| Moment::from_nanos(started.as_nanos() - lag.as_nanos() as u64)),
            started,
            done: started + MILLISECOND * number,
            method: "GET",
            url: "http://127.0.0.1/a,\"b\"",
            status: if number % 10 == 0 { 404 } else { 200 },
            error_code: if number % 10 == 0 { 1404 } else { 0 },
            proto: "HTTP/1.1",
            opened: number <= 2,
            expected: Some(number % 10 != 0),
            extra: &[("kind", "x & y")],
            ..HttpFacts::default()
        };
        recorder.http(&facts, &base);
        if let Some(lag) = lag {
            recorder.send_lag(lag, &base, started);
        }
    }
    for _ in 0..refused {
        let facts = HttpFacts {
            phases: Phases {
                connecting: MILLISECOND / 2,
                ..Phases::default()
            },
            started,
            done: started + MILLISECOND / 2,
            method: "GET",
            url: "http://127.0.0.1/",
            error: "dial: connection refused",
            error_code: 1212,
            expected: Some(false),
            ..HttpFacts::default()
        };
        recorder.http(&facts, &base);
    }
    recorder.traffic(
        71 * u64::from(responded),
        220 * u64::from(responded),
        &base,
        started,
        started,
    );
    let mut totals = Totals::new(Arc::clone(&registry), watch);
    totals.merge(recorder.take_window());
    Run {
        registry,
        records: totals.take_records().concat(),
        summary: totals.summary(Duration::from_secs(1)),
    }
}
