//! Made-up cells: runs, seconds and figures from a seeded generator.

use std::collections::BTreeMap;

use plimsoll_results::distribution::Distribution;
use plimsoll_results::lab::{
    Cell, CellState, Figure, LinkFigures, Repeat, SecondFigures, Used, Variation,
};
use plimsoll_results::record::Generator;

/// A seeded generator of numbers that look random.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// From 0 to below 1 (splitmix64).
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A factor near 1.
    pub fn about(&mut self, spread: f64) -> f64 {
        let sum = self.next() + self.next() + self.next() - 1.5;
        1.0 + spread * sum
    }
}

/// A distribution around a median, with a tail, and its exact fine buckets.
fn distribution(dice: &mut Dice, median: f64, count: u64) -> Distribution {
    let mut fine: BTreeMap<i32, u64> = BTreeMap::new();
    for _ in 0..count {
        let tail = if dice.next() < 0.03 {
            1.0 + 9.0 * dice.next()
        } else {
            1.0
        };
        let value = median * (0.55 + 0.9 * dice.next()) * tail;
        *fine
            .entry((value.log2() * 1024.0).floor() as i32)
            .or_default() += 1;
    }
    let buckets: Vec<(f64, u64)> = fine
        .iter()
        .map(|(index, count)| ((f64::from(*index) / 1024.0).exp2(), *count))
        .collect();
    Distribution {
        count,
        sum: buckets
            .iter()
            .map(|(edge, count)| edge * *count as f64)
            .sum(),
        min: buckets.first().map_or(0.0, |bucket| bucket.0),
        max: buckets.last().map_or(0.0, |bucket| bucket.0),
        buckets,
    }
}

fn quantile(distribution: &Distribution, share: f64) -> f64 {
    let rank = (share * distribution.count as f64) as u64;
    let mut below = 0;
    for (edge, count) in &distribution.buckets {
        below += count;
        if below > rank {
            return *edge;
        }
    }
    distribution.max
}

/// The properties of a cell of the fixture.
pub struct Likeness {
    pub seed: u64,
    pub place: Vec<(String, String)>,
    /// Median latency in milliseconds, and requests per second.
    pub median: f64,
    pub rate: f64,
    pub repeats: u32,
    pub seconds: u64,
    pub link: Option<LinkFigures>,
}

fn repeat(dice: &mut Dice, like: &Likeness, number: u32) -> Repeat {
    let warm_up = like.seconds / 5;
    let mut whole: BTreeMap<u64, u64> = BTreeMap::new();
    let mut seconds = Vec::new();
    let (mut requests, mut failed, mut longest) = (0, 0, 0.0_f64);
    for second in 0..like.seconds {
        let cold = if second < warm_up { 1.8 } else { 1.0 };
        let median = like.median * cold * dice.about(0.15);
        let count = (like.rate * dice.about(0.05)) as u64;
        let spread = distribution(dice, median, count.min(120));
        let bad = if dice.next() < 0.06 { 3 } else { 0 };
        if second >= warm_up {
            for (edge, count) in &spread.buckets {
                *whole.entry(edge.to_bits()).or_default() += count;
            }
            requests += count;
            failed += bad;
            longest = longest.max(spread.max);
        }
        seconds.push(SecondFigures {
            second,
            requests: count,
            failed: bad,
            p50: Some(quantile(&spread, 0.5)),
            p95: Some(quantile(&spread, 0.95)),
            p99: Some(quantile(&spread, 0.99)),
            max: Some(spread.max),
            system_cpu: Some(0.4 * dice.about(0.2)),
            latencies: spread.coarse(),
        });
    }
    let buckets: Vec<(f64, u64)> = whole
        .into_iter()
        .map(|(edge, count)| (f64::from_bits(edge), count))
        .collect();
    let latency = Distribution {
        count: buckets.iter().map(|bucket| bucket.1).sum(),
        sum: buckets
            .iter()
            .map(|(edge, count)| edge * *count as f64)
            .sum(),
        min: buckets.first().map_or(0.0, |bucket| bucket.0),
        max: longest,
        buckets,
    };
    let used = |dice: &mut Dice, name: &str, cpu: f64| Used {
        name: name.to_owned(),
        apart: false,
        cpu_seconds: cpu * like.seconds as f64 * dice.about(0.1),
        peak_rss_bytes: (48_000_000.0 * dice.about(0.2)) as u64,
        threads: 6,
        open_files: 130,
        context_switches: (12_345, 678),
        network_bytes: Some((1_234_567, 7_654_321)),
    };
    Repeat {
        number,
        restart: number,
        turn: number * 7,
        started: format!("2026-11-21T09:{:02}:00Z", 10 + number),
        duration_seconds: (like.seconds - warm_up) as f64,
        warm_up_seconds: warm_up as f64,
        warm_up_rule: "MSER-5".into(),
        requests,
        failed,
        latency_kind: "response time".into(),
        used: vec![
            used(dice, "authz", 0.3),
            used(dice, "db", 0.1),
            used(dice, "generator", 0.2),
        ],
        generator: Generator {
            cpu_seconds: 1.5,
            peak_rss_bytes: 20_000_000,
            verdict: "valid".into(),
            reasons: Vec::new(),
            disturbed: false,
            user_memory: None,
        },
        outcomes: BTreeMap::from([("200".to_owned(), requests - failed)]),
        work: None,
        extra: BTreeMap::new(),
        raw: raw(&latency, requests, failed),
        record: Some(format!("records/{number}.jsonl")),
        disturbed: Vec::new(),
        latency,
        seconds,
        marks: Vec::new(),
    }
}

fn raw(latency: &Distribution, requests: u64, failed: u64) -> String {
    format!(
        "     checks.........................: 100.00% ✓ {requests} ✗ {failed}\n     http_req_duration..............: med={:.2}ms p(95)={:.2}ms\n     http_reqs......................: {requests}\n",
        quantile(latency, 0.5),
        quantile(latency, 0.95)
    )
}

/// The median over the runs, and an interval around it.
pub fn figure(name: &str, label: &str, unit: &str, repeats: Vec<f64>, better: &str) -> Figure {
    let mut sorted = repeats.clone();
    sorted.sort_by(f64::total_cmp);
    let value = sorted[sorted.len() / 2];
    let interval =
        (repeats.len() > 2).then(|| (sorted[0] * 0.995, sorted[sorted.len() - 1] * 1.005));
    Figure {
        name: name.into(),
        label: label.into(),
        unit: unit.into(),
        value,
        interval,
        interval_from: interval.map(|_| Variation::Restarts),
        why_no_interval: interval
            .is_none()
            .then(|| "2 runs; 3 are needed".to_owned()),
        with_warm_up: Some(value * 1.07),
        better: Some(better.into()),
        restarts: repeats.clone(),
        repeats,
    }
}

/// A measured, valid cell.
pub fn cell(like: &Likeness) -> Cell {
    let mut dice = Dice::new(like.seed);
    let repeats: Vec<Repeat> = (1..=like.repeats)
        .map(|number| repeat(&mut dice, like, number))
        .collect();
    let each = |read: &dyn Fn(&Repeat) -> f64| repeats.iter().map(read).collect::<Vec<f64>>();
    let figures = vec![
        figure(
            "latency_p95",
            "95th percentile of response time",
            "ms",
            each(&|repeat| quantile(&repeat.latency, 0.95)),
            "less",
        ),
        figure(
            "latency_p50",
            "median response time",
            "ms",
            each(&|repeat| quantile(&repeat.latency, 0.5)),
            "less",
        ),
        figure(
            "requests_per_second",
            "throughput",
            "requests/s",
            each(&|repeat| repeat.requests as f64 / repeat.duration_seconds),
            "more",
        ),
        figure(
            "cpu_time_per_request",
            "processor time of the system and its services",
            "CPU µs",
            each(&|repeat| {
                let used: f64 = repeat
                    .used
                    .iter()
                    .take(2)
                    .map(|used| used.cpu_seconds)
                    .sum();
                used * 1e6 / repeat.requests.max(1) as f64
            }),
            "less",
        ),
    ];
    Cell {
        name: name_of(&like.place),
        place: like.place.clone(),
        state: CellState::Measured,
        command: "plimsoll run check.js --vus 100 --duration 8s".into(),
        link: like.link.clone(),
        protocol_declared: Some("HTTP/1.1".into()),
        protocols: BTreeMap::from([(
            "HTTP/1.1".to_owned(),
            repeats.iter().map(|repeat| repeat.requests).sum(),
        )]),
        sanity: Some("POST /zanzigo.v1.ZanzigoService/Check: 200, result is true".into()),
        repeats,
        figures,
        verdict: "valid".into(),
        reasons: Vec::new(),
        findings: Vec::new(),
        published: Vec::new(),
        limit: None,
    }
}

pub fn name_of(place: &[(String, String)]) -> String {
    let parts: Vec<String> = place
        .iter()
        .map(|(axis, value)| format!("{axis}={value}"))
        .collect();
    parts.join(" ")
}

/// A cell without runs.
pub fn bare(place: &[(String, String)], state: CellState, why: &str) -> Cell {
    Cell {
        name: name_of(place),
        place: place.to_vec(),
        state,
        command: String::new(),
        link: None,
        protocol_declared: None,
        protocols: BTreeMap::new(),
        sanity: None,
        repeats: Vec::new(),
        figures: Vec::new(),
        verdict: "invalid".into(),
        reasons: if why.is_empty() {
            Vec::new()
        } else {
            vec![why.to_owned()]
        },
        findings: Vec::new(),
        published: Vec::new(),
        limit: None,
    }
}
