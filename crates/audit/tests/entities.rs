//! Claims whose figures are found by the labels of rows, by the load, and in other languages. The
//! values are made up.

use plimsoll_audit::{Level, audit};

fn rules(text: &str) -> Vec<&'static str> {
    let audited = audit("x.md", text).unwrap();
    let found = audited.findings.into_iter();
    let loud = found.filter(|finding| finding.level > Level::Note);
    loud.map(|finding| finding.rule).collect()
}

/// Checks a sentence next to a table, and returns the only rule that reports it.
fn judge(table: &str, cases: &[(&str, Option<&str>)]) {
    for (text, expected) in cases {
        let found = rules(&format!("# Results\n\n{table}\n{text}\n"));
        let expected: Vec<&str> = expected.iter().copied().collect();
        assert_eq!(found, expected, "{text}");
    }
}

const LOADS: &str = "| Users | Requests/sec | p95 (ms) |\n|---|---|---|\n| 50 | 412 | 121 |\n| 100 | 655 | 152 |\n| 200 | 741 | 273 |\n| 400 | 702 | 566 |\n";
const VERSIONS: &str = "| Endpoint | Before | After |\n|---|---|---|\n| /login | 212 ms | 131 ms |\n| /search | 845 ms | 247 ms |\n| /cart | 97 ms | 68 ms |\n";
const LANGUAGES: &str = "| Сервис | Запросов/сек | Средняя задержка (мс) |\n|---|---|---|\n| Альфа | 1523 | 6.5 |\n| Бета | 974 | 10.2 |\n";

#[test]
fn a_figure_is_compared_with_the_row_of_its_load() {
    let wrong = Some("stale-prose");
    judge(
        LOADS,
        &[
            ("At 200 users the p95 is 273 ms.", None),
            ("At 200 users the p95 is 318 ms.", wrong),
            // It is the figure of another load.
            ("With 100 users the p95 reached 273 ms.", wrong),
            ("With c=400, the service handled 702 req/s.", None),
            ("With c=400, the service handled 798 req/s.", wrong),
            // Nothing is said about the run.
            ("At 200 users the old p95 was 318 ms before the fix.", None),
            ("At 300 users the p95 is 418 ms.", None),
        ],
    );
}

#[test]
fn a_change_is_compared_with_the_loads_and_rows_that_it_names() {
    let wrong = Some("ratio-misstated");
    judge(
        LOADS,
        &[
            (
                "From 50 to 100 users the throughput increases by 59 %.",
                None,
            ),
            (
                "From 50 to 100 users the throughput increases by 83 %.",
                wrong,
            ),
        ],
    );
    judge(
        VERSIONS,
        &[
            ("- **/login**: 38% faster", None),
            ("- **/search**: 3.4x faster", None),
            ("- **/search**: 5.5x faster", wrong),
            // The other side of the comparison is not on the page.
            ("- **/login**: 70% faster than the previous release", None),
        ],
    );
}

#[test]
fn limits_are_compared_with_the_rows_that_they_name() {
    let wrong = Some("objective-contradicted");
    judge(
        LOADS,
        &[
            ("It runs with a sub-300 ms p95 for 200 users.", None),
            ("It runs with a sub-250 ms p95 for 200 users.", wrong),
            ("With 400 users the p95 stays below 600 ms.", None),
            ("With 400 users the p95 stays below 500 ms.", wrong),
            ("With 400 users the p95 should stay below 500 ms.", None),
        ],
    );
}

#[test]
fn a_trend_must_hold_from_one_load_to_the_next() {
    judge(
        LOADS,
        &[
            ("The p95 increases with the number of users.", None),
            (
                "The throughput increases with the number of users.",
                Some("comparison-reversed"),
            ),
            (
                "The throughput increases with the number of users, but not beyond 200.",
                None,
            ),
        ],
    );
}

#[test]
fn names_and_claims_may_be_in_another_language() {
    judge(
        LANGUAGES,
        &[
            (
                "Пропускная способность: Альфа быстрее, чем Бета, на 56%.",
                None,
            ),
            (
                "Пропускная способность: Альфа быстрее, чем Бета, на 85%.",
                Some("ratio-misstated"),
            ),
        ],
    );
}
