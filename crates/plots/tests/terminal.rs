//! The plots for terminals, as text.

use plimsoll_plots::terminal::{History, history, limit};
use plimsoll_plots::{LimitPlot, Trial};

fn search() -> LimitPlot {
    let trial = |rate, value, kept, soak| Trial {
        rate,
        value,
        kept,
        soak,
    };
    LimitPlot {
        title: String::new(),
        figure: "p95 of response time".into(),
        unit: "ms".into(),
        limit: 50.0,
        trials: vec![
            trial(200.0, Some(3.0), true, false),
            trial(400.0, Some(8.0), true, false),
            trial(800.0, Some(95.0), false, false),
            trial(600.0, Some(30.0), true, false),
            trial(600.0, Some(35.0), true, true),
            trial(1600.0, None, false, false),
        ],
        kept: Some(600.0),
        broken: Some(800.0),
    }
}

#[test]
fn a_search_for_the_limit() {
    let text = limit(&search(), 60);
    let expected = "\
rate/s   p95 of response time, ms; │ is the limit of 50.0 ms
   200        ●                                  │
   400                    ●                      │
   600                                     ● ■   │
   800                                           │       ×
  1600                                           │        ×
         2                                              100
● met   × missed   ■ met in the soak
";
    assert_eq!(text, expected, "\n{text}");
}

fn runs() -> History {
    History {
        label: "95th percentile of response time, ms".into(),
        runs: [3.9, 4.0, 3.95, 7.1, 7.0]
            .iter()
            .enumerate()
            .map(|(index, value)| (format!("2026-11-0{}", index + 1), *value))
            .collect(),
        changes: vec![3],
    }
}

#[test]
fn a_history_with_a_change_of_level() {
    let text = history(&runs(), 50);
    let expected = "\
95th percentile of response time, ms
2026-11-01  3.90  ·················●
2026-11-02  4.00  ·················●
2026-11-03  3.95  ·················●
                  ────────────────────────────────
2026-11-04  7.10  ·······························●
2026-11-05  7.00  ·······························●
                  └ 0
─ the level changes here
";
    assert_eq!(text, expected, "\n{text}");
}

#[test]
fn nothing_wraps_and_nothing_steers_the_terminal() {
    let mut hostile = runs();
    hostile.runs[0] = ("\x1b[2Jnews\n".into(), f64::NAN);
    hostile.label = "x".repeat(300);
    let mut bad = search();
    bad.figure = "\x1b[31m".repeat(50);
    bad.trials.push(Trial {
        rate: f64::INFINITY,
        value: Some(f64::NAN),
        kept: false,
        soak: true,
    });
    for columns in [0, 1, 20, 40, 80, 200] {
        for text in [history(&hostile, columns), limit(&bad, columns)] {
            for line in text.lines() {
                assert!(line.chars().count() <= columns, "{columns}: {line}");
                assert!(!line.contains(char::is_control), "{line:?}");
            }
        }
    }
}

#[test]
fn nothing_tried_is_shown_as_that() {
    let none = LimitPlot {
        trials: Vec::new(),
        ..search()
    };
    assert!(limit(&none, 80).contains("limit of 50.0 ms"));
    let none = History {
        runs: Vec::new(),
        ..runs()
    };
    assert!(history(&none, 80).starts_with("95th percentile"));
}
