//! Draws every type of picture with ordinary, extreme and hostile values. Pictures must be
//! well-formed, stay inside their bounds, and be reproducible. `target/tmp/plots` contains the
//! pictures for inspection.

use std::fs;
use std::path::Path;

use plimsoll_plots::{
    COLORS, CpuBar, CpuBars, Curve, Forest, HeatColumn, HeatMap, Judged, LimitPlot, OverTime,
    Overview, OverviewRow, Percentiles, Picture, PlotWidth, RULES, RatioRow, Span, Spot, TimePoint,
    Trial, quantiles_of,
};

/// Text that would break out of the markup if it were not escaped.
const HOSTILE: &str = "</text><script>alert(1)</script>\u{1}\u{0}\"'&]]> -->";

/// A deterministic wave that looks like measured values.
fn wave(step: usize) -> f64 {
    let x = step as f64;
    1.0 + 0.3 * (x * 0.9).sin() + 0.2 * (x * 2.3).cos() + if step % 17 == 9 { 3.0 } else { 0.0 }
}

fn percentiles(label: &str, scale: f64) -> Percentiles {
    let buckets = |shift: f64| -> Vec<(f64, u64)> {
        (0..60)
            .map(|step| {
                let edge = scale * shift * 1.1_f64.powi(step);
                (
                    edge,
                    (20_000.0 * (-0.18 * f64::from(step)).exp()) as u64 + 1,
                )
            })
            .collect()
    };
    let curve = |name: &str, shift: f64| Curve {
        label: format!("{label}{name}"),
        points: quantiles_of(&buckets(shift), 1.0 / 1024.0, scale * shift * 320.0),
        count: buckets(shift).iter().map(|bucket| bucket.1).sum(),
    };
    Percentiles {
        title: format!("{label} percentiles"),
        unit: "ms".into(),
        curves: vec![
            curve("sqlite", 1.0),
            curve("pgquery", 1.4),
            curve("pgfunc", 1.2),
        ],
        limit: Some((50.0 * scale, "limit 50 ms".into())),
    }
}

fn over_time(seconds: usize, scale: f64) -> OverTime {
    OverTime {
        title: "Latency over time".into(),
        unit: "ms".into(),
        points: (0..seconds)
            .map(|second| TimePoint {
                at: second as f64,
                p50: Some(wave(second) * scale),
                p95: (second % 11 != 5).then(|| wave(second) * 3.0 * scale),
                max: Some(wave(second) * wave(second) * 9.0 * scale),
                rate: 400.0 + 40.0 * wave(second),
                failed: if second % 13 == 4 { 30.0 } else { 0.0 },
            })
            .collect(),
        spans: (0..3)
            .map(|run| {
                let third = seconds as f64 / 3.0;
                Span {
                    label: format!("run {}", run + 1),
                    from: third * f64::from(run),
                    warm: third * f64::from(run) + third * 0.2,
                    to: third * f64::from(run + 1),
                }
            })
            .collect(),
        marks: vec![seconds as f64 / 4.0, seconds as f64 * 2.0],
    }
}

fn heat_map(seconds: usize) -> HeatMap {
    HeatMap {
        title: "Latency over time, every request".into(),
        unit: "ms".into(),
        columns: (0..seconds)
            .map(|second| HeatColumn {
                at: second as f64,
                buckets: (0..18)
                    .map(|step| {
                        let height = f64::from(step) / 10.0;
                        let center = 0.4 * wave(second);
                        let count = 900.0 * (-(height - center).powi(2) * 12.0).exp();
                        (10_f64.powf(height), count as u64)
                    })
                    .filter(|bucket| bucket.1 > 0)
                    .collect(),
            })
            .collect(),
        breaks: vec![seconds as f64 / 2.0],
        marks: vec![0.0, seconds as f64],
    }
}

fn overview(label: &str, factor: f64) -> Overview {
    let row = |index: usize| OverviewRow {
        label: format!("{label}wire=http users={} place=near", 100 * (index + 1)),
        spots: (0..3)
            .filter(|series| *series != 2 || index != 1)
            .map(|series| {
                let value = (3.0 + index as f64 * factor + series as f64) * wave(series + index);
                Spot {
                    series,
                    value,
                    interval: (series != 1).then_some((value * 0.93, value * 1.09)),
                    doubtful: index == 2 && series == 0,
                    published: (series == 0).then_some(value * 1.4),
                }
            })
            .collect(),
        missing: if index == 1 {
            vec!["pgfunc: invalid, the generator was the limit".into()]
        } else {
            Vec::new()
        },
    };
    Overview {
        title: "95th percentile over the matrix".into(),
        label: "95th percentile of response time".into(),
        unit: "ms".into(),
        series: vec!["sqlite".into(), "pgquery".into(), "pgfunc".into()],
        rows: (0..5).map(row).collect(),
        limits: vec![(9.0, "50 ms".into())],
    }
}

fn forest(label: &str, spread: f64) -> Forest {
    let row = |name: &str, ratio: f64, half: f64, judged| RatioRow {
        label: format!("{label}{name}"),
        ratio,
        interval: (half > 0.0).then_some((ratio / (1.0 + half), ratio * (1.0 + half))),
        judged,
    };
    Forest {
        title: "pgquery over sqlite".into(),
        label: "pgquery over sqlite, 95th percentile".into(),
        rows: vec![
            row(
                "wire=http users=100",
                1.0 + spread * 0.9,
                0.04,
                Judged::Different,
            ),
            row(
                "wire=grpc users=100",
                1.0 + spread * 0.02,
                0.05,
                Judged::NoDifference,
            ),
            row(
                "wire=grpc users=1000 place=near, a long name",
                1.0 + spread * 0.5,
                0.0,
                Judged::Not,
            ),
        ],
    }
}

fn cpu(label: &str) -> CpuBars {
    CpuBars {
        title: "Processor time".into(),
        unit: "CPU µs".into(),
        parts: vec!["authz".into(), "db".into()],
        bars: (0..4)
            .map(|index| CpuBar {
                label: format!("{label}cell {index} of a matrix with a rather long name"),
                parts: vec![
                    0.1 * wave(index),
                    if index == 2 {
                        0.0
                    } else {
                        0.04 * wave(index + 3)
                    },
                ],
                interval: (index != 3).then(|| {
                    let whole = 0.1 * wave(index)
                        + if index == 2 {
                            0.0
                        } else {
                            0.04 * wave(index + 3)
                        };
                    (whole * 0.9, whole * 1.1)
                }),
            })
            .collect(),
    }
}

fn limit() -> LimitPlot {
    let trial = |rate: f64, value: Option<f64>, kept, soak| Trial {
        rate,
        value,
        kept,
        soak,
    };
    LimitPlot {
        title: "The highest rate that keeps 50 ms".into(),
        figure: "p95 of response time".into(),
        unit: "ms".into(),
        limit: 50.0,
        trials: vec![
            trial(200.0, Some(3.0), true, false),
            trial(400.0, Some(4.0), true, false),
            trial(800.0, Some(9.0), true, false),
            trial(1600.0, None, false, false),
            trial(1131.0, Some(350.0), false, false),
            trial(951.0, Some(22.0), true, false),
            trial(1037.0, Some(70.0), false, false),
            trial(951.0, Some(31.0), true, true),
        ],
        kept: Some(951.0),
        broken: Some(1037.0),
    }
}

fn gallery() -> Vec<(String, Picture)> {
    let mut pictures = Vec::new();
    for (plot_width, name) in [(PlotWidth::Narrow, "narrow"), (PlotWidth::Wide, "wide")] {
        let mut add = |kind: &str, picture| pictures.push((format!("{kind}-{name}"), picture));
        add("percentiles", percentiles("", 1.0).draw(plot_width));
        add("over-time", over_time(36, 1.0).draw(plot_width));
        add("over-time-long", over_time(1800, 1.0).draw(plot_width));
        add("heat-map", heat_map(60).draw(plot_width));
        add("overview", overview("", 1.0).draw(plot_width));
        add("overview-log", overview("", 60.0).draw(plot_width));
        add("forest", forest("", 1.0).draw(plot_width));
        add("forest-close", forest("", 0.05).draw(plot_width));
        add("forest-far", forest("", 20.0).draw(plot_width));
        add("cpu", cpu("").draw(plot_width));
        add("limit", limit().draw(plot_width));
    }
    pictures
}

/// Empty, single, infinite, zero and hostile values.
fn extremes() -> Vec<Picture> {
    let mut pictures = Vec::new();
    for plot_width in [PlotWidth::Narrow, PlotWidth::Wide] {
        for scale in [0.0, 1e-9, 1e12, f64::NAN, f64::INFINITY, -1.0] {
            pictures.push(percentiles(HOSTILE, scale).draw(plot_width));
            pictures.push(over_time(5, scale).draw(plot_width));
            pictures.push(overview(HOSTILE, scale).draw(plot_width));
            pictures.push(forest(HOSTILE, scale).draw(plot_width));
        }
        pictures.push(over_time(0, 1.0).draw(plot_width));
        pictures.push(heat_map(0).draw(plot_width));
        pictures.push(heat_map(1).draw(plot_width));
        pictures.push(cpu(HOSTILE).draw(plot_width));
        let none = Percentiles {
            title: String::new(),
            unit: HOSTILE.into(),
            curves: Vec::new(),
            limit: None,
        };
        pictures.push(none.draw(plot_width));
        let none = Overview {
            series: vec![HOSTILE.into()],
            rows: Vec::new(),
            ..overview("", 1.0)
        };
        pictures.push(none.draw(plot_width));
        let none = LimitPlot {
            trials: Vec::new(),
            ..limit()
        };
        pictures.push(none.draw(plot_width));
    }
    pictures
}

/// A small strict XML parser: tags must be balanced, attributes quoted, entities known. Returns the
/// name and the attributes of each tag.
fn elements(text: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut open: Vec<String> = Vec::new();
    let mut all = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (words, tail) = rest.split_at(at);
        check_words(words);
        let end = tail.find('>').expect("a tag ends");
        let tag = &tail[1..end];
        rest = &tail[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
            continue;
        }
        let (tag, closed) = tag
            .strip_suffix('/')
            .map_or((tag, false), |tag| (tag, true));
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        let mut list = Vec::new();
        while !attributes.trim().is_empty() {
            let (key, value) = attributes.split_once("=\"").expect("a quoted attribute");
            let (value, after) = value.split_once('"').expect("an attribute ends");
            check_words(value);
            list.push((key.trim().to_owned(), value.to_owned()));
            attributes = after;
        }
        all.push((name.to_owned(), list));
        if !closed {
            open.push(name.to_owned());
        }
    }
    check_words(rest);
    assert!(open.is_empty(), "{open:?} are not closed");
    all
}

fn check_words(words: &str) {
    assert!(
        !words.contains('>') && !words.contains('\u{1}'),
        "{words:?}"
    );
    for part in words.split('&').skip(1) {
        let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
        assert!(known.iter().any(|name| part.starts_with(name)), "&{part}");
    }
}

#[test]
fn pictures_are_well_formed_and_keep_to_their_bounds() {
    let all = gallery()
        .into_iter()
        .map(|(_, picture)| picture)
        .chain(extremes());
    for picture in all {
        for text in [picture.file(), picture.inline("p-1")] {
            let found = elements(&text);
            assert!(!found.iter().any(|(name, _)| name == "script"));
            assert!(!text.contains("NaN") && !text.contains("inf\""), "{text}");
            assert_eq!(found.iter().filter(|(name, _)| name == "title").count(), 1);
            assert_eq!(found.iter().filter(|(name, _)| name == "desc").count(), 1);
            for (name, attributes) in &found {
                for (key, value) in attributes {
                    let most = match key.as_str() {
                        "x" => picture.width,
                        "y" => picture.height,
                        _ => continue,
                    };
                    let place: f64 = value.parse().expect("a number");
                    assert!(
                        (-1.0..=most).contains(&place),
                        "<{name} {key}={value}> of {most}\n{text}"
                    );
                }
            }
        }
    }
}

#[test]
fn equal_figures_make_equal_bytes() {
    let draw = || -> Vec<String> {
        gallery()
            .into_iter()
            .map(|(_, picture)| picture.file())
            .collect()
    };
    assert_eq!(draw(), draw());
}

#[test]
fn a_long_run_makes_no_larger_picture_than_a_short_one() {
    let long = over_time(40_000, 1.0).draw(PlotWidth::Narrow).file().len();
    assert!(long < 60_000, "{long} bytes");
    let heat = heat_map(40_000).draw(PlotWidth::Narrow).file().len();
    assert!(heat < 90_000, "{heat} bytes");
}

#[test]
fn a_failing_second_is_seen_however_long_the_run() {
    let mut run = over_time(40_000, 1.0);
    for point in &mut run.points {
        point.failed = 0.0;
    }
    let crosses = |run: &OverTime| {
        run.draw(PlotWidth::Narrow)
            .file()
            .matches("sbad\" d=")
            .count()
    };
    assert_eq!(crosses(&run), 0);
    run.points[12_345].failed = 1.0;
    assert!(crosses(&run) >= 1);
}

#[test]
fn pictures_are_written_for_inspection() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plots");
    fs::create_dir_all(&directory).expect("a directory below target");
    let mut page = format!(
        "<!doctype html><meta charset=utf-8><meta name=color-scheme content='light dark'><style>{COLORS}{RULES}\
         body{{background:var(--paper);color:var(--ink);font:14px sans-serif}}svg{{display:block;max-width:100%}}</style>"
    );
    for (name, picture) in gallery() {
        fs::write(directory.join(format!("{name}.svg")), picture.file())
            .expect("a file below target");
        page += &format!(
            "<h2>{name}</h2><div style=\"width:{}px;max-width:100%\">{}</div>",
            picture.width,
            picture.inline(&name)
        );
    }
    fs::write(directory.join("index.html"), page).expect("a file below target");
}
