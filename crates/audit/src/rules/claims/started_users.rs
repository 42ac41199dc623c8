//! "10,000 users" above an output of JMeter that started fewer, and tables of stages with more
//! users than k6 allocated.

use super::duration::headings_above;
use crate::block::{Block, Tool};
use crate::document::{Prose, Table};
use crate::finding::Level;
use crate::pattern::{Pattern, pattern};
use crate::quantity::{format_number, parse_number};
use crate::report::{Findings, Report};
use crate::rules::prose::{is_conditional, shorten};

static USERS: Pattern = pattern!(
    r"(?i)(?:^|[^\w.,])(\d[\d,]*)\s+(?:(?:concurrent|virtual|parallel|simultaneous)\s+)?(?:users|threads|clients)\b"
);
static STARTED: Pattern = pattern!(r"\bStarted: (\d+)\b");

/// Maximum distance in lines of a sentence above the output that it describes.
const ABOVE: usize = 60;

pub fn check_sentence(report: &Report, prose: &Prose, sentence: &str, findings: &mut Findings) {
    if !report.blocks.iter().any(|block| block.tool == Tool::Jmeter) || is_conditional(sentence) {
        return;
    }
    let mut found = USERS.all(sentence);
    let (Some(found), None) = (found.next(), found.next()) else {
        return;
    };
    let Some((claimed, _)) = found
        .get(1)
        .and_then(|digits| parse_number(digits.as_str()))
    else {
        return;
    };
    let titles = headings_above(report, prose.line);
    let mut own = report
        .blocks
        .iter()
        .filter(|block| headings_above(report, block.first_line) == titles);
    let (Some(block), None) = (own.next(), own.next()) else {
        return;
    };
    if block.first_line < prose.line || block.first_line > prose.line + ABOVE || claimed < 10.0 {
        return;
    }
    let Some((started, line)) = max_started_users(report, block) else {
        return;
    };
    if started >= 0.95 * claimed {
        return;
    }
    findings.block(
        "declared-vs-counted",
        Level::Warning,
        block,
        prose.line,
        [
            format!(
                "\"{}\"; {} started (line {line})",
                shorten(sentence),
                format_number(started)
            ),
            format!(
                "{} ÷ {} = {:.2}",
                format_number(started),
                format_number(claimed),
                started / claimed
            ),
            "State how many users started, and find out why the others did not start.".to_owned(),
        ],
    );
}

/// The highest number of started users in the lines of an output.
fn max_started_users(report: &Report, block: &Block) -> Option<(f64, usize)> {
    let from = block.first_line.saturating_sub(1);
    let lines = report.text.lines().enumerate().skip(from);
    let own = lines.take_while(|(at, _)| *at < block.last_line);
    own.filter_map(|(at, line)| {
        let started = STARTED.first(line)?.get(1)?.as_str().parse::<f64>().ok()?;
        Some((started, at + 1))
    })
    .max_by(|one, other| one.0.total_cmp(&other.0))
}

static STAGE: Pattern = pattern!(r"^\W*(\d[\d,]*)\s*(?:->|-&gt;|=>|→|➜|⟶)\s*(\d[\d,]*)\W*$");

const HEADERS: [&str; 12] = [
    "users",
    "vus",
    "vu",
    "virtual users",
    "target",
    "usuarios",
    "usuários",
    "utilisateurs",
    "사용자",
    "用户数",
    "ユーザー数",
    "пользователи",
];

/// Checks a column of stages, each from one number of users to another, above outputs of k6 that
/// all allocated fewer users.
pub fn check_stages(report: &Report, table: &Table, findings: &mut Findings) {
    let column = table.header.iter().position(|name| {
        let name = name.trim().trim_matches(['*', '`']).to_lowercase();
        HEADERS.contains(&name.as_str())
    });
    let Some(column) = column else {
        return;
    };
    let mut peak: Option<(f64, usize)> = None;
    let mut stages = 0;
    for (line, row) in table.rows.iter().take(100) {
        let Some(found) = STAGE.first(super::super::tables::cell_at(row, column)) else {
            continue;
        };
        stages += 1;
        for at in 1..=2 {
            let users = found
                .get(at)
                .and_then(|digits| parse_number(digits.as_str()));
            if let Some((users, _)) =
                users.filter(|(users, _)| peak.is_none_or(|(peak, _)| *users > peak))
            {
                peak = Some((users, *line));
            }
        }
    }
    let (Some((claimed, line)), true) = (peak, stages >= 3) else {
        return;
    };
    let allocated = |block: &Block| {
        let known = block.max_users.as_ref().filter(|_| block.tool == Tool::K6);
        known.map(|users| users.value)
    };
    // Any of the outputs may have run these stages, so all of them must have fewer users.
    let all: Option<Vec<f64>> = report.blocks.iter().map(allocated).collect();
    let Some(highest) = all.and_then(|all| all.into_iter().reduce(f64::max)) else {
        return;
    };
    let Some(block) = report.blocks.first().filter(|_| highest < claimed) else {
        return;
    };
    findings.block(
        "declared-vs-counted",
        Level::Warning,
        block,
        line,
        [
            format!(
                "{stages} stages with up to {} users; `vus_max` is at most {}",
                format_number(claimed),
                format_number(highest)
            ),
            format!(
                "k6 allocates the users of all stages at the start, but {} − {} = {} are missing",
                format_number(claimed),
                format_number(highest),
                format_number(claimed - highest)
            ),
            "Show the stages that were actually run.".to_owned(),
        ],
    );
}
