//! Measures the cost of recording: nanoseconds per call on one thread.
//!
//! `cargo run --release -p plimsoll-samples --example record_cost [rounds]`. Under callgrind
//! (`valgrind --tool=callgrind`, few rounds) it gives instructions instead.

use std::hint::black_box;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_samples::{
    Contains, HttpFacts, Kind, Phases, Recorder, Registry, TagMap, Totals, Watch, WatchSettings,
};
use plimsoll_units::Moment;

fn main() -> std::io::Result<()> {
    let rounds: u64 = std::env::args()
        .nth(1)
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(5_000_000);
    let only = std::env::args().nth(2);
    let mut out = std::io::stdout();
    let mut run = |name: &str, breakdown: bool, body: &dyn Fn(&Bench, u64)| {
        if only.as_deref().is_some_and(|only| only != name) {
            return Ok(());
        }
        let bench = Bench::new(breakdown);
        body(&bench, rounds / 10);
        let started = plimsoll_clock::now();
        body(&bench, rounds);
        let each = plimsoll_clock::now().since(started).as_nanos() as f64 / rounds as f64;
        writeln!(out, "{name:<24}{each:>8.1} ns")
    };
    run("http", false, &Bench::http)?;
    run("http_breakdown", true, &Bench::http)?;
    run("http_urls", false, &Bench::http_urls)?;
    run("http_scheduled", false, &Bench::http_scheduled)?;
    run("check", false, &Bench::check)?;
    run("trend", false, &Bench::trend)?;
    run("iteration", false, &Bench::iteration)?;
    run("nothing", false, &Bench::nothing)?;
    Ok(())
}

struct Bench {
    registry: Arc<Registry>,
    watch: Arc<Watch>,
    recorder: Recorder,
}

/// Typical times of a small response over loopback: around 0.3 ms.
fn phases(noise: u64) -> Phases {
    let nanos = Duration::from_nanos;
    Phases {
        queued: nanos(300 + noise % 200),
        sending: nanos(5_000 + noise % 3_000),
        waiting: nanos(200_000 + noise % 150_000),
        receiving: nanos(15_000 + noise % 7_000),
        ..Phases::default()
    }
}

/// A cheap generator, good enough to spread values over buckets.
fn noise(n: u64) -> u64 {
    n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40
}

fn facts(n: u64) -> HttpFacts<'static> {
    let phases = phases(noise(n));
    let started = Moment::from_nanos(n * 1_000);
    let total = phases.queued + phases.sending + phases.waiting + phases.receiving;
    HttpFacts {
        phases,
        started,
        done: started + total,
        method: "GET",
        url: "http://127.0.0.1:8080/api/v1/items?limit=20",
        status: 200,
        proto: "HTTP/1.1",
        expected: Some(true),
        ip: "127.0.0.1",
        ..HttpFacts::default()
    }
}

impl Bench {
    fn new(breakdown: bool) -> Bench {
        let registry = Arc::new(Registry::new());
        let settings = WatchSettings {
            breakdown,
            ..WatchSettings::default()
        };
        // Without thresholds, `Watch::new` cannot fail.
        let watch = Watch::new(&registry, settings).unwrap_or_else(|_| std::process::exit(1));
        let watch = Arc::new(watch);
        Bench {
            recorder: Recorder::new(Arc::clone(&registry), Arc::clone(&watch)),
            registry,
            watch,
        }
    }

    fn tags() -> TagMap {
        [("scenario", "default"), ("group", "")]
            .into_iter()
            .collect()
    }

    /// Runs `each` many times, with a window taken as often as at full speed.
    fn repeat(&self, rounds: u64, mut each: impl FnMut(u64)) {
        let mut totals = Totals::new(Arc::clone(&self.registry), Arc::clone(&self.watch));
        for n in 0..rounds {
            each(n);
            if n % 200_000 == 0 {
                totals.merge(self.recorder.take_window());
            }
        }
        totals.merge(self.recorder.take_window());
        black_box(totals.summary(Duration::from_secs(1)));
    }

    fn http(&self, rounds: u64) {
        let base = self.recorder.base_tags(&Self::tags());
        self.repeat(rounds, |n| self.recorder.http(&black_box(facts(n)), &base));
    }

    fn http_urls(&self, rounds: u64) {
        let base = self.recorder.base_tags(&Self::tags());
        let urls: Vec<String> = (0..100_000)
            .map(|n| format!("http://127.0.0.1:8080/api/v1/items/{n}"))
            .collect();
        self.repeat(rounds, |n| {
            let url = &urls[noise(n) as usize % urls.len()];
            let facts = HttpFacts { url, ..facts(n) };
            self.recorder.http(&black_box(facts), &base);
        });
    }

    fn http_scheduled(&self, rounds: u64) {
        let base = self.recorder.base_tags(&Self::tags());
        self.repeat(rounds, |n| {
            let facts = facts(n);
            let scheduled = Moment::from_nanos(facts.started.as_nanos().saturating_sub(20_000));
            let scheduled = Some(scheduled);
            self.recorder
                .http(&black_box(HttpFacts { scheduled, ..facts }), &base);
        });
    }

    fn check(&self, rounds: u64) {
        let base = self.recorder.base_tags(&Self::tags());
        self.repeat(rounds, |n| {
            let name = black_box("status is 200");
            let at = Moment::from_nanos(n);
            self.recorder
                .check(name, noise(n) & 0x7f != 0, &base, &[], at);
        });
    }

    fn trend(&self, rounds: u64) {
        let base = self.recorder.base_tags(&Self::tags());
        let metric = self.registry.register("mine", Kind::Trend, Contains::Time);
        let Ok(metric) = metric else { return };
        self.repeat(rounds, |n| {
            let value = 0.2 + noise(n) as f64 / 1e8;
            let at = Moment::from_nanos(n);
            let _ = self.recorder.add(metric, black_box(value), &base, &[], at);
        });
    }

    fn iteration(&self, rounds: u64) {
        let base = self.recorder.base_tags(&Self::tags());
        self.repeat(rounds, |n| {
            let duration = Duration::from_nanos(black_box(230_000 + noise(n) % 150_000));
            let at = Moment::from_nanos(n);
            self.recorder.iteration(duration, None, &base, at);
        });
    }

    /// The cost of creating the facts, to be subtracted.
    fn nothing(&self, rounds: u64) {
        self.repeat(rounds, |n| {
            black_box(facts(n));
        });
    }
}
