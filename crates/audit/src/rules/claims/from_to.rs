//! "From 10 rps to 700 rps" above the only two outputs of a page, if the second output has another
//! rate.

use crate::finding::Level;
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::{format_number, parse_number};
use crate::report::{Findings, Report};
use crate::rules::prose::shorten;
use crate::rules::records::is_uncertain;

const RATE: &str = r"(~|≈|about |around )?(\d[\d,]*(?:\.\d+)?)\s?(k?)\s?(?:req(?:uest)?s?/s(?:ec(?:ond)?)?|requests per second|rps|qps|tps)";
static FROM: Pattern = pattern!(&format!(r"(?i)\bfrom\s+{RATE}\s+to\s+{RATE}\b"));

pub fn check_sentence(report: &Report, sentence: &str, line: usize, findings: &mut Findings) {
    let [before, after] = &report.blocks[..] else {
        return;
    };
    let (Some(first), Some(second)) = (&before.rate, &after.rate) else {
        return;
    };
    if !sentence.contains(" to ") || is_uncertain(sentence) {
        return;
    }
    let Some(found) = FROM.only(sentence) else {
        return;
    };
    let claimed = |at: usize| {
        let scale = if group(&found, at + 1).is_empty() {
            1.0
        } else {
            1e3
        };
        parse_number(group(&found, at)).map(|(value, step)| (value * scale, step * scale))
    };
    let (Some((from, step)), Some((to, last))) = (claimed(2), claimed(5)) else {
        return;
    };
    // A rounded figure may be off by a seventh. The first one shows that the outputs are meant.
    let near = |claimed: f64, step: f64, shown: f64| (claimed - shown).abs() <= step + 0.15 * shown;
    if !near(from, 2.0 * step, first.value) || near(to, last, second.value) {
        return;
    }
    if second.value <= 0.0 || (0.85..1.18).contains(&(first.value / second.value)) {
        return;
    }
    findings.page(
        "stale-prose",
        Level::Warning,
        line,
        [
            format!(
                "\"{}\"; the second output has {} (line {})",
                shorten(sentence),
                second.text,
                second.line
            ),
            format!(
                "{} ÷ {} = {:.2}",
                format_number(to),
                second.text,
                to / second.value
            ),
            "Copy the rate from the output, or show the run that reached it.".to_owned(),
        ],
    );
}
