//! k6 (`recorded/values.js`) and Plimsoll record the same values and must produce the same summary. The figures are exactly
//! equal while Plimsoll stores every value; once it uses buckets, they are equal within the width of a bucket.

mod scene;

use plimsoll_samples::{Contains, Kind, MetricSummary, Registry, WatchSettings};
use plimsoll_stats::RELATIVE_WIDTH;
use scene::{Scene, at, threshold};
use serde_json::Value;

fn scene_with_values() -> Scene {
    let registry = Registry::new();
    let register = |name, kind, contains| registry.register(name, kind, contains).unwrap();
    let trend = |name| register(name, Kind::Trend, Contains::Default);
    let constant = trend("constant");
    let ramp = trend("ramp");
    let one = trend("one");
    let two = trend("two");
    let thousand = trend("thousand");
    let many = trend("many");
    let mixed = register("mixed", Kind::Trend, Contains::Time);
    let counter = register("counter", Kind::Counter, Contains::Default);
    let gauge = register("gauge", Kind::Gauge, Contains::Default);
    let rate = register("rate", Kind::Rate, Contains::Default);
    let settings = WatchSettings {
        thresholds: vec![threshold("ramp{odd:true}", "avg>=0")],
        ..WatchSettings::default()
    };
    let scene = Scene::with(registry, settings);
    let base = scene.base(&[("scenario", "default"), ("group", "")]);
    let add = |metric, value: f64, extra: &[(&str, &str)]| {
        scene
            .recorder
            .add(metric, value, &base, extra, at(0.0))
            .unwrap();
    };
    let scrambled = |n: u32, modulus: u32| f64::from(n * 7919 % modulus);
    (0..100).for_each(|_| add(constant, 0.1, &[]));
    for n in 1..=10u32 {
        let odd = if n % 2 == 1 { "true" } else { "false" };
        add(ramp, n.into(), &[("odd", odd)]);
    }
    (0..201).for_each(|n| add(mixed, scrambled(n, 1009) / 8.0 - 40.0, &[]));
    add(one, 42.5, &[]);
    add(two, 1.0, &[]);
    add(two, 2.0, &[]);
    (0..1_000).for_each(|n| add(thousand, scrambled(n, 1009) / 8.0, &[]));
    (0..20_000).for_each(|n| add(many, 0.05 + scrambled(n, 10_007) / 64.0, &[]));
    (0..7).for_each(|n| add(counter, 0.25 * f64::from(n), &[]));
    [3.0, -1.0, 8.0, 2.0]
        .iter()
        .for_each(|&value| add(gauge, value, &[]));
    let rates = [1.0, 0.0, 1.0, 0.0, 5.0, -1.0, 0.5];
    rates.iter().for_each(|&value| add(rate, value, &[]));
    scene
}

/// The value that has this name in k6's summary.
fn figure(metric: &MetricSummary, name: &str) -> f64 {
    let values = &metric.values;
    let figure = match name {
        "count" => values.count(),
        "rate" => values.rate(),
        "value" => values.value(),
        "avg" => values.avg(),
        "min" => values.min(),
        "med" => values.med(),
        "max" => values.max(),
        "passes" => values.passes().map(|passes| passes as f64),
        "fails" => values.fails().map(|fails| fails as f64),
        percentile => {
            let percent = percentile.trim_start_matches("p(").trim_end_matches(')');
            values.quantile(percent.parse::<f64>().unwrap() / 100.0)
        }
    };
    figure.unwrap_or_else(|| panic!("{} has no {name}", metric.name))
}

#[test]
fn the_figures_equal_k6s() {
    let recorded: Value = serde_json::from_str(include_str!("recorded/values.json")).unwrap();
    let summary = scene_with_values().summary(1.0);
    let recorded = recorded.as_object().unwrap();
    assert_eq!(recorded.len(), 11);
    for (name, theirs) in recorded {
        let ours = scene::metric(&summary, name);
        assert_eq!(theirs["type"], ours.kind.to_string(), "{name}");
        assert_eq!(theirs["contains"], ours.contains.to_string(), "{name}");
        let precision = if name == "many" {
            RELATIVE_WIDTH
        } else {
            1e-12
        };
        for (key, value) in theirs["values"].as_object().unwrap() {
            let value = value.as_f64().unwrap();
            let got = figure(ours, key);
            assert!(
                (got - value).abs() <= precision * value.abs(),
                "{name} {key}: {got} for k6's {value}"
            );
        }
        let thresholds = theirs.get("thresholds").and_then(Value::as_object);
        for outcome in &ours.thresholds {
            let theirs = thresholds.and_then(|all| all[&outcome.source]["ok"].as_bool());
            assert_eq!(Some(outcome.ok), theirs, "{name} {}", outcome.source);
        }
    }
}
