//! End-of-test summaries of recorded data.
//!
//! The data were measured by k6 1.8.1 with scripts written for these tests. k6's own output for the same data has the
//! same lines, except for intended differences. To accept changed output, run the tests with `UPDATE_EXPECTED=1` and
//! review the diff.
//! tests with `UPDATE_EXPECTED=1` and read the diff.

mod support;

use plimsoll_output::summary_text::{self, Detail};
use plimsoll_output::{Paint, Style, summary_legacy};
use plimsoll_plan::TrendStat;
use plimsoll_samples::{Contains, ErrorCount, Kind, LeftOut, MetricSummary, Summary, Values};
use plimsoll_verdict::{Cause, Level, Reason, Verdict};
use support::{Figures, expect};

fn two_scenarios() -> Summary {
    Figures::read(include_str!("figures/two_scenarios.json")).summary()
}

fn valid() -> Verdict {
    let text = "busiest core at 43 %, send lag p99 at 0.1 ms".to_owned();
    Verdict {
        level: Level::Valid,
        reasons: vec![Reason {
            cause: Cause::Client,
            text,
        }],
        disturbed: false,
    }
}

fn render(summary: &Summary, detail: Detail, style: &Style) -> String {
    summary_text::render(summary, None, detail, style)
}

#[test]
fn compact() {
    expect(
        "compact.txt",
        &render(&two_scenarios(), Detail::Compact, &Style::default()),
    );
}

#[test]
fn full_with_scenarios() {
    expect(
        "full_scenarios.txt",
        &render(&two_scenarios(), Detail::Full, &Style::default()),
    );
}

#[test]
fn full_with_groups_and_chosen_figures() {
    let names = ["count", "p(99.9)", "p(0)", "med", "min", "p(50.25)"];
    let stats: Result<_, _> = names.into_iter().map(TrendStat::parse).collect();
    let style = Style {
        trend_stats: stats.expect("known names"),
        ..Style::default()
    };
    let summary = Figures::read(include_str!("figures/groups.json")).summary();
    expect("full_groups.txt", &render(&summary, Detail::Full, &style));
    expect(
        "legacy_groups.txt",
        &summary_legacy::render(&summary, None, &style),
    );
}

#[test]
fn names_in_order() {
    let summary = Figures::read(include_str!("figures/order.json")).summary();
    expect(
        "full_order.txt",
        &render(&summary, Detail::Full, &Style::default()),
    );
    expect(
        "legacy_order.txt",
        &summary_legacy::render(&summary, None, &Style::default()),
    );
}

#[test]
fn thresholds_on_metrics_without_samples() {
    let summary = Figures::read(include_str!("figures/nothing_measured.json")).summary();
    expect(
        "compact_nothing.txt",
        &render(&summary, Detail::Compact, &Style::default()),
    );
}

#[test]
fn colors() {
    let style = Style {
        paint: Paint::ON,
        ..Style::default()
    };
    expect(
        "compact_colors.txt",
        &render(&two_scenarios(), Detail::Compact, &style),
    );
    expect(
        "legacy_colors.txt",
        &summary_legacy::render(&two_scenarios(), None, &style),
    );
}

/// Adds metrics that only Plimsoll has.
fn with_own_figures(mut summary: Summary) -> Summary {
    let duration = summary
        .metrics
        .iter()
        .find(|metric| metric.name == "http_req_duration")
        .expect("the metric was recorded");
    let distribution = duration.values.clone();
    let own = |name: &str, values: &Values| MetricSummary {
        name: name.to_owned(),
        kind: Kind::Trend,
        contains: Contains::Time,
        extra: true,
        tags: Vec::new(),
        values: values.clone(),
        thresholds: Vec::new(),
    };
    for name in [
        "http_req_response_time",
        "iteration_send_lag",
        "http_req_looking_up",
    ] {
        summary.metrics.push(own(name, &distribution));
    }
    // Without samples, the metric is not shown.
    summary.metrics.push(own(
        "http_req_failed_duration",
        &Values::Trend(Default::default()),
    ));
    summary.http.errors = (1..=7)
        .map(|n| ErrorCount {
            code: 1210 + n,
            text: format!("error {n}"),
            count: 10 - u64::from(n),
        })
        .collect();
    summary.http.other_errors = 100;
    summary.left_out = LeftOut {
        check_results: 3,
        breakdown_samples: 4,
    };
    summary
}

#[test]
fn our_additions_come_last() {
    let summary = with_own_figures(two_scenarios());
    let style = Style::default();
    let text = summary_text::render(&summary, Some(&valid()), Detail::Compact, &style);
    let k6s = render(&two_scenarios(), Detail::Compact, &style);
    // Everything from k6 stays unchanged.
    let own = text
        .strip_prefix(k6s.strip_suffix('\n').unwrap_or(&k6s))
        .expect("k6's part comes first");
    expect("own_compact.txt", own);
    let own = summary_text::render(&summary, Some(&valid()), Detail::Full, &style);
    assert!(own.contains("    http_req_looking_up......"), "{own}");

    let text = summary_legacy::render(&summary, Some(&valid()), &style);
    let k6s = summary_legacy::render(&two_scenarios(), None, &style);
    expect(
        "own_legacy.txt",
        text.strip_prefix(&k6s).expect("k6's part comes first"),
    );
}

#[test]
fn an_invalid_run_lists_its_reasons_one_per_line() {
    let verdict = Verdict {
        level: Level::Invalid,
        reasons: vec![
            Reason {
                cause: Cause::Client,
                text: "core 0 at 100 %".to_owned(),
            },
            Reason {
                cause: Cause::Network,
                text: "12 retransmits".to_owned(),
            },
        ],
        disturbed: false,
    };
    assert_eq!(
        plimsoll_output::verdict_lines(&verdict, Paint::OFF),
        [
            "verdict: ✗ invalid — client: core 0 at 100 %",
            "         network: 12 retransmits"
        ]
    );
    let verdict = Verdict {
        level: Level::Suspect,
        reasons: Vec::new(),
        disturbed: false,
    };
    assert_eq!(
        plimsoll_output::verdict_lines(&verdict, Paint::OFF),
        ["verdict: ! suspect"]
    );
}

/// A script's own metric is never hidden, even if its name starts like that of a hidden metric.
#[test]
fn names_with_the_prefix_of_a_hidden_metric_are_shown() {
    let mut summary = two_scenarios();
    for name in [
        "checks_of_mine",
        "group_duration_of_mine",
        "http_req_waiting_of_mine",
    ] {
        summary.metrics.push(MetricSummary {
            name: name.to_owned(),
            kind: Kind::Counter,
            contains: Contains::Default,
            extra: false,
            tags: Vec::new(),
            values: Values::Counter {
                count: 1.0,
                rate: 1.0,
            },
            thresholds: Vec::new(),
        });
    }
    let text = render(&summary, Detail::Compact, &Style::default());
    for name in [
        "checks_of_mine",
        "group_duration_of_mine",
        "http_req_waiting_of_mine",
    ] {
        assert!(text.contains(name), "{name} is missing:\n{text}");
    }
    assert!(
        !text.contains("group_duration.") && !text.contains("http_req_waiting."),
        "{text}"
    );
}
