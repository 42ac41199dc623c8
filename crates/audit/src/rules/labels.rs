//! Names: compares rows with the legend, and headings with the block below them.

use crate::block::{Block, Tool};
use crate::finding::Level;
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::{format_number, parse_number};
use crate::report::{Findings, Report};

use super::tables::cell_at;

pub fn check_labels(report: &Report, findings: &mut Findings) {
    check_schemas(report, findings);
    for block in &report.blocks {
        check_title(report, block, findings);
    }
    check_engines(report, findings);
}

/// The innermost title with a number. An outer title counts only if no other output is below it:
/// "200 req/s for a minute" above "Result:".
fn find_title<'r>(report: &Report, block: &'r Block) -> Option<&'r String> {
    let numbered = |title: &String| title.contains(|letter: char| letter.is_ascii_digit());
    let at = block.titles.iter().rposition(numbered)?;
    let path = &block.titles[..=at];
    let inner = at + 1 == block.titles.len();
    let mut under = report
        .blocks
        .iter()
        .filter(|other| other.titles.starts_with(path));
    let alone = under.next().is_some() && under.next().is_none();
    (inner || alone)
        .then(|| &block.titles[at])
        .filter(|title| title.len() < 80)
}

static SCHEMA: Pattern = pattern!(r"[\w\[\]{}|-]*\{[\w|-]+\}[\w\[\]{}|-]*");

/// Converts `{a|b}-{users}[-x]` to a pattern for the names of rows.
fn schema_to_pattern(schema: &str) -> Option<regex_lite::Regex> {
    let mut pattern = String::from("^");
    let mut name = None;
    for letter in schema.chars() {
        match (letter, &mut name) {
            ('{', None) => name = Some(String::new()),
            ('}', Some(inner)) => {
                if inner.contains('|') {
                    pattern.push_str(&format!("(?:{inner})"));
                } else {
                    pattern.push_str("[^-]+");
                }
                name = None;
            }
            (letter, Some(inner)) => inner.push(letter),
            ('[', None) => pattern.push_str("(?:"),
            (']', None) => pattern.push_str(")?"),
            (letter, None) => pattern.push(letter),
        }
    }
    pattern.push('$');
    (name.is_none() && schema.contains('|') && schema.len() < 200)
        .then(|| regex_lite::Regex::new(&pattern).ok())?
}

fn check_schemas(report: &Report, findings: &mut Findings) {
    let mut left = 16;
    for prose in &report.document.prose {
        let Some(schema) = SCHEMA.find(&prose.text).map(|found| found.as_str()) else {
            continue;
        };
        let Some(pattern) = schema_to_pattern(schema) else {
            continue;
        };
        // The limit is far above the number of patterns in any document.
        left -= 1;
        if left == 0 {
            return;
        }
        for table in report
            .document
            .tables
            .iter()
            .filter(|table| table.line > prose.line)
        {
            let name = |row: &[String]| cell_at(row, 0).trim_matches('`').to_owned();
            let strange: Vec<(usize, String)> = table
                .rows
                .iter()
                .map(|(line, row)| (*line, name(row)))
                .filter(|(_, name)| !pattern.is_match(name))
                .collect();
            // In the table that the schema describes, most rows match it.
            let Some((line, _)) = strange
                .first()
                .filter(|_| strange.len() * 2 <= table.rows.len())
            else {
                continue;
            };
            let names: Vec<&str> = strange.iter().map(|(_, name)| name.as_str()).collect();
            findings.page(
                "label-mismatch",
                Level::Error,
                *line,
                [
                    format!(
                        "rows named by `{schema}` (line {}): {}",
                        prose.line,
                        names.join(", ")
                    ),
                    format!(
                        "{} of {} rows do not fit the legend",
                        names.len(),
                        table.rows.len()
                    ),
                    "Correct the legend or the names of the rows.".to_owned(),
                ],
            );
            break;
        }
    }
}

static USERS: Pattern = pattern!(r"(?i)(?:^|[^\d.,])(\d[\d,]*(?:\.\d+)?)\s?VUs?\b");
static RATE: Pattern =
    pattern!(r"(?i)(?:^|[^\d.,])(\d[\d,]*(?:\.\d+)?)\s?(?:tps|rps|req/s|requests/s|qps)\b");
static SCRIPT: Pattern = pattern!(r"\b([\w.-]+\.[jt]s)\b");

/// Compares the users, the rate or the script in the innermost title with those of the block.
fn check_title(report: &Report, block: &Block, findings: &mut Findings) {
    let first = |pattern: &Pattern, text: &str| {
        // If the title has two numbers, it is uncertain which one refers to this block.
        let found = pattern.only(text)?;
        Some(group(&found, 1).to_owned())
    };
    let mut wrong = Vec::new();
    if let Some(title) = find_title(report, block) {
        let claimed = first(&USERS, title).and_then(|text| Some(parse_number(&text)?.0));
        if let (Some(claimed), Some(users)) = (claimed, &block.users)
            && claimed != users.value
        {
            wrong.push((
                format!("\"{title}\" above an output of {} users", users.text),
                format!("{} ≠ {}", format_number(claimed), users.text),
                users.line,
                Level::Error,
            ));
        }
        let claimed = first(&RATE, title).and_then(|text| Some(parse_number(&text)?.0));
        if let (Some(claimed), Some(rate)) = (
            claimed,
            block.requested_rate.as_ref().or(block.rate.as_ref()),
        ) && (claimed - rate.value).abs() > 0.05 * claimed
        {
            let each = match (block.tool, &block.users, &block.requested_rate) {
                (Tool::Hey, Some(users), Some(_)) => {
                    format!(
                        ": hey's -q is the rate of each user, and there are {} users",
                        users.text
                    )
                }
                _ => String::new(),
            };
            wrong.push((
                format!("\"{title}\" above an output of {}", rate.text),
                format!("{} ≠ {}{each}", format_number(claimed), rate.text),
                rate.line,
                // A title may state the desired rate.
                match block.requested_rate {
                    Some(_) => Level::Error,
                    None => Level::Warning,
                },
            ));
        }
    }
    let named = block
        .titles
        .iter()
        .rev()
        .find_map(|title| first(&SCRIPT, title));
    if let (Some(named), Some(script)) = (named, &block.script) {
        let own = script.rsplit(['/', '\\']).next().unwrap_or(script);
        if own != named {
            wrong.push((
                format!("\"{named}\" above an output of the script `{own}`"),
                format!("{named} ≠ {own}"),
                block.first_line,
                Level::Error,
            ));
        }
    }
    for (evidence, arithmetic, line, level) in wrong {
        findings.block(
            "label-mismatch",
            level,
            block,
            line,
            [
                evidence,
                arithmetic,
                "Put the output under a correct heading.".to_owned(),
            ],
        );
    }
}

/// Storage engines, each with the prefixes of the words that identify it.
const ENGINES: [(&str, &[&str]); 6] = [
    (
        "PostgreSQL",
        &["postgres", "posgres", "postgresql", "pgsql"],
    ),
    ("Redis", &["redis"]),
    ("MySQL", &["mysql", "mariadb"]),
    ("SQLite", &["sqlite"]),
    ("MongoDB", &["mongo"]),
    ("Cassandra", &["cassandra"]),
];

static USING: Pattern =
    pattern!(r"(?i)\b(?:using|with|on|against)\s+(?:the\s+)?(\w+)(?:\s+(?:DB|database))\b");

/// Reports if the prose names the engine of the results, but the configurations above the blocks
/// set only another one.
fn check_engines(report: &Report, findings: &mut Findings) {
    let engine_of = |word: &str| {
        let word = word.to_lowercase();
        ENGINES
            .iter()
            .find(|(_, names)| names.iter().any(|name| word.starts_with(name)))
            .map(|(engine, _)| *engine)
    };
    let claim = report.document.prose.iter().find_map(|prose| {
        let about_results = prose.text.to_lowercase().contains("results");
        let found = USING.first(&prose.text)?;
        let engine = engine_of(found.get(1)?.as_str())?;
        about_results.then_some((prose, engine))
    });
    let Some((prose, claimed)) = claim else {
        return;
    };
    for code in report.document.codes.iter().filter(|code| {
        matches!(
            code.language.as_str(),
            "yaml" | "yml" | "json" | "toml" | "properties"
        )
    }) {
        let mut named = Vec::new();
        for line in code.lines(report.text) {
            let word = line.text.trim().trim_start_matches(['"', '[']);
            if let Some(engine) = engine_of(word).filter(|_| word.contains([':', '=', ']'])) {
                named.push((engine, line.number, word.to_owned()));
            }
        }
        let Some((other, line, key)) = named.iter().find(|(engine, ..)| *engine != claimed) else {
            continue;
        };
        if named.iter().any(|(engine, ..)| *engine == claimed) {
            continue;
        }
        let Some(title) = code.titles.last() else {
            continue;
        };
        let under: Vec<&Block> = report
            .blocks
            .iter()
            .filter(|block| {
                block
                    .titles
                    .iter()
                    .any(|name| name != title && name.contains(title.as_str()))
            })
            .collect();
        let Some(first) = under.first() else { continue };
        findings.page(
            "label-mismatch",
            Level::Warning,
            *line,
            [
                format!(
                    "`{key}` in \"{title}\", which names {} block(s) from line {}; \"{}\" (line {})",
                    under.len(),
                    first.first_line,
                    super::prose::shorten(&prose.text),
                    prose.line
                ),
                format!("the configuration sets {other}, but nothing for {claimed}, which the text names"),
                "Show the settings of the runs.".to_owned(),
            ],
        );
    }
}
