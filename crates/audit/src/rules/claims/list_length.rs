//! "Three scenarios:" above a list with another number of items.

use super::duration::headings_above;
use super::steps::is_item;
use crate::pattern::{Pattern, group, pattern};
use crate::report::{Findings, Report};
use crate::rules::prose::shorten;
use crate::rules::records::warn;

static COUNTED: Pattern = pattern!(
    r"(?i)(?:^|[\s(*])(two|three|four|five|six|seven|eight|nine|ten|\d{1,2})\s+(?:(?:different|main|distinct|separate|test|benchmark|key|web|load)\s+)*(frameworks|servers|scenarios|tests|endpoints|configurations|languages|databases|implementations|candidates|contenders|tools|stages|phases|steps|findings|reasons|changes|optimizations|variants|libraries|metrics|workloads|operations)\s*(?:were |are |was |tested|measured|compared|used|below|follow|as |in |here|[\s*_])*:\W*$"
);
const WORDS: [&str; 9] = [
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
];
/// Words that show that the number counts only a part, or something else.
const OPEN: [&str; 9] = [
    "each",
    "per ",
    "first",
    "at least",
    "more than",
    "other",
    "up to",
    "of the",
    "some",
];

pub fn check_lines(report: &Report, findings: &mut Findings) {
    if !report.document.markdown {
        return;
    }
    let lines: Vec<&str> = report.text.lines().take(20_000).collect();
    for (at, line) in lines.iter().enumerate() {
        let lower = line.to_lowercase();
        if line.len() > 200
            || !line.trim_end().trim_end_matches('*').ends_with(':')
            || is_item(line)
            || report.is_output(at + 1)
            || OPEN.iter().any(|word| lower.contains(word))
        {
            continue;
        }
        let Some(found) = COUNTED.first(&lower) else {
            continue;
        };
        let word = group(&found, 1);
        let known = WORDS.iter().position(|known| *known == word);
        let Some(claimed) = known.map(|at| at + 2).or_else(|| word.parse().ok()) else {
            continue;
        };
        let start = lines[at + 1..]
            .iter()
            .take(2)
            .position(|line| !line.trim().is_empty());
        let Some(start) = start.map(|below| at + 1 + below) else {
            continue;
        };
        let items = count_items(&lines[start..]);
        let same = headings_above(report, at + 1) == headings_above(report, start + 1);
        // If they differ widely, the list is about something else: "10 tests: passed, failed, skipped".
        if items < 3 || items == claimed || items.abs_diff(claimed) > 2 || !same {
            continue;
        }
        warn(
            "total-mismatch",
            at + 1,
            [
                format!(
                    "\"{}\"; the list below has {items} items",
                    shorten(line.trim())
                ),
                format!("{items} items are not {claimed}"),
                "Count the items again, or add the missing ones.".to_owned(),
            ],
            findings,
        );
    }
}

/// The number of outer items in the list that starts at the first line.
fn count_items(lines: &[&str]) -> usize {
    let Some(first) = lines.first().filter(|line| is_item(line)) else {
        return 0;
    };
    let indent = |line: &str| line.len() - line.trim_start().len();
    let outer = indent(first);
    let mut count = 0;
    for (at, line) in lines.iter().enumerate() {
        let blank = line.trim().is_empty();
        if blank {
            // Two items may have one blank line between them.
            let goes_on = lines
                .get(at + 1)
                .is_some_and(|next| is_item(next) || indent(next) > outer);
            if !goes_on {
                break;
            }
        } else if is_item(line) && indent(line) <= outer {
            count += 1;
        } else if indent(line) <= outer {
            break;
        }
    }
    count
}
