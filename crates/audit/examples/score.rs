//! Scores the audit on the corpus; `cargo xtask audit-score` runs it.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

#[path = "../tests/score/mod.rs"]
mod score;

use score::{PARTS, pages, sum};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let details = arguments.iter().any(|argument| argument == "--details");
    let only_writing = arguments.iter().any(|argument| argument == "--writing");
    let named: Vec<&String> = arguments
        .iter()
        .filter(|name| !name.starts_with('-'))
        .collect();
    for (name, part) in PARTS {
        if only_writing && !part.writes() {
            continue;
        }
        if !named.is_empty() && !named.iter().any(|one| name.contains(one.as_str())) {
            continue;
        }
        let scored: Vec<_> = pages(part).into_iter().map(score::score).collect();
        if details {
            scored.iter().for_each(print);
        }
        let sum = sum(&scored);
        let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
        println!(
            "{name}: {} pages, {} results, {} not read as labeled\n  certain errors found: {} of {} ({:.0} %)\n  expected notes found: {} of {}\n  false findings: {} of {} above note level ({:.1} %), {} at level error; {} judged true by hand\n  slowest page: {:.1} ms",
            sum.pages,
            sum.blocks,
            sum.unread,
            sum.found,
            sum.wrong,
            percent(sum.found, sum.wrong),
            sum.notes_found,
            sum.notes,
            sum.false_alarms,
            sum.loud,
            percent(sum.false_alarms, sum.loud),
            sum.false_errors,
            sum.judged,
            sum.slowest.as_secs_f64() * 1e3,
        );
    }
}

fn print(scored: &score::Scored) {
    let name = &scored.page.name;
    for unread in &scored.unread {
        println!("{name}: NOT READ {unread}");
    }
    for (wrong, _) in scored
        .page
        .wrong
        .iter()
        .zip(&scored.found)
        .filter(|(_, found)| !**found)
    {
        println!(
            "{name}: MISSED {} @ {} :: {}",
            wrong.rules.join("|"),
            wrong.anchors.join("|"),
            wrong.reason
        );
    }
    for (rule, _) in scored
        .page
        .notes
        .iter()
        .zip(&scored.notes_found)
        .filter(|(_, found)| !**found)
    {
        println!("{name}: NO NOTE {rule}");
    }
    for finding in &scored.false_alarms {
        println!(
            "{name}:{}: FALSE {} {}\n    {}\n    {}",
            finding.line,
            finding.level.name(),
            finding.rule,
            finding.evidence,
            finding.arithmetic
        );
    }
}
