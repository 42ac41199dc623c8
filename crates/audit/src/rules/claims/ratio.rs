//! "From A to B, N % less", "A exceeds B by N %", "n of m = x %", and columns of changes.

use std::sync::LazyLock;

use regex_lite::Regex;

use super::{Figure, Kind, could_be, figure};
use crate::document::Table;
use crate::finding::Level;
use crate::quantity::{digits, number};
use crate::records::Name;
use crate::report::Findings;
use crate::rules::prose::shortened;

const RULE: &str = "ratio-misstated";
const FIGURE: &str =
    r"(\d[\d,]*(?:\.\d+)?\s?(?:ns|us|µs|ms|s|seconds|req/s|requests/s|requests/sec|rps|RPS|qps))\b";

static EXCEEDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(
        r"(?i)\b{FIGURE}[^.;]{{0,40}}\b(?:exceeds?|exceeded|is (?:above|over)|was (?:above|over))\b[^.;]{{0,40}}?{FIGURE}\s+by\s+(\d+(?:\.\d+)?)\s?%"
    ))
    .ok()
});
static CHANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(
        r"(?i)\bfrom\s+(?:about |around |~)?{FIGURE}\s+(?:down |up )?to\s+(?:about |around |~)?{FIGURE}[^.;\d]{{0,30}}?\(?(?:by |a |an |about |around |~|≈|-|−|\+)*(\d+(?:\.\d+)?)\s?(%|x\b|×|times\b|-fold)"
    ))
    .ok()
});
static ARROW: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let unit = r"(?:ns|us|µs|ms|s|secs?|seconds|(?:req|requests)?/s(?:ec)?|rps|qps|tps)\b";
    let figure = format!(r"(\d[\d,]*(?:\.\d+)?\s?{unit})\W{{0,2}}?");
    Regex::new(&format!(
        r"(?i)(?:^|[^\w.,]){figure}\s*(?:->|-&gt;|=>|→|➜|⟶)\s*\W{{0,2}}?{figure}\s*[(（]\W{{0,4}}?(\d[\d,]*(?:\.\d+)?)\s?(%|x\b|×|times\b|-fold)"
    ))
    .ok()
});
static TARGET: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(
        r"(?i)\b{FIGURE}\s+(?:vs\.?|versus|against)\s+(?:the |a |target |limit |of |[≤<≥>=]|\s)*{FIGURE}\s*\(\W*(\d+(?:\.\d+)?)\s?(x\b|×|times\b)"
    ))
    .ok()
});
static SHARE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(\d+(?:\.\d+)?)\s?%\s*\(\s*(\d[\d,]*)\s*(?:/|of|out of)\s*(\d[\d,]*)\b").ok()
});
static PART: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(\d[\d,]*)\s*(?:/|of|out of)\s*(\d[\d,]*)(?:\s+[a-z]+){0,3}\s*(?:\(|=|,|or|is|are|i\.e\.)\s*(?:failed|succeeded)?\s*(\d+(?:\.\d+)?)\s?%").ok()
});

pub fn sentence(sentence: &str, line: usize, findings: &mut Findings) {
    let about = [
        "about",
        "around",
        "~",
        "≈",
        "roughly",
        "nearly",
        "almost",
        "over ",
        "up to",
        "more than",
        "approx",
    ]
    .iter()
    .any(|word| sentence.to_lowercase().contains(word));
    let group = |found: &regex_lite::Captures, at: usize| {
        found
            .get(at)
            .map_or(String::new(), |group| group.as_str().to_owned())
    };
    if let Some(found) = EXCEEDS
        .as_ref()
        .and_then(|pattern| pattern.captures(sentence))
        && let (Some(a), Some(b), Some((said, step))) = (
            figure(&group(&found, 1)),
            figure(&group(&found, 2)),
            number(&group(&found, 3)),
        )
        && a.kind == b.kind
        && b.value > 0.0
    {
        let right = (a.value / b.value - 1.0) * 100.0;
        // A whole percentage may be rounded to tens.
        if !could_be(said, step.max(0.05 * said), right, about) {
            wrong(
                sentence,
                line,
                format!(
                    "({} − {}) ÷ {} = {} %, not {} %",
                    a.text,
                    b.text,
                    b.text,
                    digits(right),
                    digits(said)
                ),
                findings,
            );
        }
    }
    for (pattern, is_target) in [(&CHANGE, false), (&ARROW, false), (&TARGET, true)] {
        for found in pattern
            .as_ref()
            .iter()
            .flat_map(|pattern| pattern.captures_iter(sentence))
            .take(8)
        {
            let (Some(a), Some(b), Some((said, step))) = (
                figure(&group(&found, 1)),
                figure(&group(&found, 2)),
                number(&group(&found, 3)),
            ) else {
                continue;
            };
            if a.kind == b.kind && a.value > 0.0 && b.value > 0.0 {
                change(
                    sentence,
                    line,
                    (&a, &b),
                    (said, step),
                    group(&found, 4) == "%",
                    about || is_target,
                    findings,
                );
            }
        }
    }
    for (pattern, order) in [(&SHARE, [2, 3, 1]), (&PART, [1, 2, 3])] {
        for found in pattern
            .as_ref()
            .iter()
            .flat_map(|pattern| pattern.captures_iter(sentence))
            .take(16)
        {
            let numbers = order.map(|at| number(&group(&found, at)));
            if let [Some((part, _)), Some((whole, _)), Some((said, step))] = numbers {
                share(sentence, line, part, whole, (said, step), about, findings);
            }
        }
    }
}

fn share(
    sentence: &str,
    line: usize,
    part: f64,
    whole: f64,
    (said, step): (f64, f64),
    about: bool,
    findings: &mut Findings,
) {
    if whole <= 0.0 || part > whole {
        return;
    }
    let right = part / whole * 100.0;
    // It may be the share of the others: "0.18 % failed (9982/10000)".
    if could_be(said, step, right, about) || could_be(said, step, 100.0 - right, about) {
        return;
    }
    wrong(
        sentence,
        line,
        format!(
            "{} ÷ {} = {} %, not {} %",
            digits(part),
            digits(whole),
            digits(right),
            digits(said)
        ),
        findings,
    );
}

fn change(
    sentence: &str,
    line: usize,
    (a, b): (&Figure, &Figure),
    (said, step): (f64, f64),
    percent: bool,
    about: bool,
    findings: &mut Findings,
) {
    let (small, large) = (a.value.min(b.value), a.value.max(b.value));
    if percent {
        let of_first = (b.value - a.value).abs() / a.value * 100.0;
        let of_second = (b.value - a.value).abs() / b.value * 100.0;
        // "N % faster" may be the gain in speed, which is a share of the second time.
        if could_be(said, step, of_first, about) || could_be(said, step, of_second, about) {
            return;
        }
        // It may also be the second figure as a share of the first.
        let share = b.value / a.value * 100.0;
        if (said - of_first).abs() < 1.5 || could_be(said, step, share, about) {
            return;
        }
        wrong(
            sentence,
            line,
            format!(
                "{} and {} differ by {} % of the first, not {} %",
                a.text,
                b.text,
                digits(of_first),
                digits(said)
            ),
            findings,
        );
    } else {
        let right = large / small;
        if could_be(said, step.max(0.1 * right), right, about) {
            return;
        }
        wrong(
            sentence,
            line,
            format!(
                "{} and {} differ by a factor of {}, not {}",
                a.text,
                b.text,
                digits(right),
                digits(said)
            ),
            findings,
        );
    }
}

fn wrong(sentence: &str, line: usize, arithmetic: String, findings: &mut Findings) {
    findings.page(
        RULE,
        Level::Warning,
        line,
        [
            format!("\"{}\"", shortened(sentence)),
            arithmetic,
            "Compute it again from the two figures, and name the base of a percentage.".to_owned(),
        ],
    );
}

static CELL_CHANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^\W*(\d+(?:\.\d+)?)\s?(%|x\b|×|times\b)\s*(?:better|faster|slower|worse|less|more|lower|higher|reduction|improvement|increase|decrease|gain|[↑↓⬆⬇✅🚀]|\W)*$").ok()
});

/// A column of changes next to exactly two columns of figures.
pub fn table(table: &Table, findings: &mut Findings) {
    let Some(change) = table.header.iter().position(|name| {
        let name = name.to_lowercase();
        [
            "change",
            "improvement",
            "delta",
            "difference",
            "speedup",
            "speed-up",
            "gain",
            "reduction",
            "diff",
        ]
        .iter()
        .any(|word| name.contains(word))
    }) else {
        return;
    };
    for (line, row) in table.rows.iter().take(500) {
        let cells: Vec<(usize, Figure)> = row
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != change && *at > 0)
            .filter_map(|(at, cell)| Some((at, figure(cell)?)))
            .collect();
        let [(first, a), (second, b)] = &cells[..] else {
            continue;
        };
        let (first, second) = (*first, *second);
        if first.max(second) >= table.header.len() {
            continue;
        }
        let Some(found) = CELL_CHANGE.as_ref().and_then(|pattern| {
            pattern.captures(
                super::super::tables::cell(row, change)
                    .trim()
                    .trim_matches('*'),
            )
        }) else {
            continue;
        };
        let (Some((said, step)), Some(unit)) = (
            found.get(1).and_then(|digits| number(digits.as_str())),
            found.get(2),
        ) else {
            continue;
        };
        if a.kind != b.kind || a.value <= 0.0 || b.value <= 0.0 || a.kind == Kind::Percent {
            continue;
        }
        // A time and a rate have no ratio.
        let [one, other] = [first, second].map(|at| Name::read(&table.header[at]));
        let unlike = one.meaning != other.meaning && (one.is_known() || other.is_known());
        if unlike && one.quantity != other.quantity {
            continue;
        }
        let of_first = (b.value - a.value).abs() / a.value * 100.0;
        let of_second = (b.value - a.value).abs() / b.value * 100.0;
        let factor = a.value.max(b.value) / a.value.min(b.value);
        let fits = match unit.as_str() {
            "%" => [of_first, of_second]
                .iter()
                .any(|right| (said - right).abs() <= (2.0 * step).max(0.03 * right) + 0.5),
            _ => [factor, factor - 1.0]
                .iter()
                .any(|right| (said - right).abs() <= step.max(0.1 * right)),
        };
        if fits {
            continue;
        }
        findings.page(
            RULE,
            Level::Warning,
            *line,
            [
                format!(
                    "{}, {}: {}",
                    a.text,
                    b.text,
                    found.get(0).map_or("", |all| all.as_str())
                ),
                format!(
                    "from {} to {} is {} % of the first, or {} times",
                    a.text,
                    b.text,
                    digits(of_first),
                    digits(factor)
                ),
                "Compute it again from the two cells, and name the base of a percentage."
                    .to_owned(),
            ],
        );
    }
}
