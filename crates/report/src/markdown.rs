//! The document as GitHub-flavored Markdown.

use std::fmt::Write as _;

use crate::document::{Block, Document, Plot, Table, Word, Words};

/// The path of a plot, relative to the report.
pub fn path_of(plot: &Plot) -> String {
    format!("plots/{}.svg", plot.name)
}

/// The whole document.
pub fn render(document: &Document) -> String {
    let mut out = format!("# {}\n\n", escaped(&document.title));
    if !document.question.is_empty() {
        let _ = writeln!(out, "> {}\n", escaped(&document.question));
    }
    let facts: Vec<String> = document
        .facts
        .iter()
        .map(|(name, value)| format!("{name}: **{}**", escaped(value)))
        .collect();
    let _ = writeln!(out, "{}\n", facts.join(" · "));
    for section in &document.sections {
        let _ = writeln!(
            out,
            "<a id=\"{}\"></a>\n\n{} {}\n",
            section.id,
            "#".repeat(usize::from(section.level)),
            words(&section.title)
        );
        blocks(&mut out, &section.blocks);
    }
    let _ = writeln!(out, "---\n\n{}", words(&document.footer));
    out
}

fn blocks(out: &mut String, list: &[Block]) {
    for block in list {
        match block {
            Block::Prose(prose) => {
                let _ = writeln!(out, "{}\n", words(prose));
            }
            Block::Points(points) => {
                for point in points {
                    let _ = writeln!(out, "- {}", words(point));
                }
                out.push('\n');
            }
            Block::Table(table) => self::table(out, table),
            Block::Raw {
                label,
                text,
                folded,
            } => raw(out, label, text, *folded),
            Block::Plot(plot) => {
                let _ = writeln!(
                    out,
                    "![{}]({})\n\n*{}*\n",
                    escaped(&plot.narrow.title),
                    path_of(plot),
                    escaped(&plot.caption)
                );
            }
            Block::Folded {
                summary,
                blocks: inner,
            } => {
                let _ = writeln!(
                    out,
                    "<details><summary>{}</summary>\n",
                    plimsoll_plots::escaped(summary)
                );
                blocks(out, inner);
                out.push_str("</details>\n\n");
            }
        }
    }
}

fn raw(out: &mut String, label: &str, text: &str, folded: bool) {
    let fence = fence(text);
    let text = printable(text);
    let text = text.trim_end_matches('\n');
    if folded {
        let _ = writeln!(
            out,
            "<details><summary>{}</summary>\n\n{fence}text\n{text}\n{fence}\n\n</details>\n",
            plimsoll_plots::escaped(label)
        );
    } else {
        let _ = writeln!(out, "{}:\n\n{fence}text\n{text}\n{fence}\n", escaped(label));
    }
}

/// A fence longer than any run of backticks inside (CommonMark 0.31, 4.5).
fn fence(text: &str) -> String {
    "`".repeat(longest_run(text).max(2) + 1)
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

fn table(out: &mut String, table: &Table) {
    let _ = writeln!(out, "*{}*\n", escaped(&table.caption));
    let heads: Vec<String> = table
        .head
        .iter()
        .map(|head| field(&escaped(&head.text)))
        .collect();
    let _ = writeln!(out, "| {} |", heads.join(" | "));
    let rules: Vec<&str> = table
        .head
        .iter()
        .map(|head| if head.figures { "--:" } else { "---" })
        .collect();
    let _ = writeln!(out, "| {} |", rules.join(" | "));
    for row in &table.rows {
        let fields: Vec<String> = row.iter().map(|words| field(&self::words(words))).collect();
        let _ = writeln!(out, "| {} |", fields.join(" | "));
    }
    out.push('\n');
}

/// Escapes characters that would end a field, in code too (GFM 4.10).
fn field(text: &str) -> String {
    let text = text.replace('|', "\\|");
    if text.is_empty() {
        "–".to_owned()
    } else {
        text
    }
}

fn words(words: &Words) -> String {
    words
        .0
        .iter()
        .map(|word| match word {
            Word::Text(text) => escaped(text),
            Word::Code(text) => code(text),
            Word::Strong(text) => format!("**{}**", escaped(text)),
            Word::Figure(figure) => escaped(&figure.text()),
            Word::Verdict(verdict) => format!("**{}**", escaped(verdict)),
            Word::Link(text, to) => format!("[{}](#{to})", escaped(text)),
        })
        .collect()
}

/// A code span whose backticks are longer than any inside (CommonMark 0.31, 6.1).
fn code(text: &str) -> String {
    let text: String = printable(text).replace('\n', " ");
    if text.trim().is_empty() {
        return String::new();
    }
    let ticks = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// Text with all markup escaped.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '~' | '!' | '&' | '$' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push(' '),
            c => out.push(c),
        }
    }
    // A line must not start like a list, a quote or a rule.
    let begins_list = out.starts_with(['-', '+', '='])
        || out.split_once(['.', ')']).is_some_and(|(head, rest)| {
            !head.is_empty()
                && head.chars().all(|c| c.is_ascii_digit())
                && (rest.is_empty() || rest.starts_with(' '))
        });
    if begins_list {
        out.insert(0, '\u{200b}');
    }
    out
}

/// Removes control characters, which could affect the program that shows the text.
fn printable(text: &str) -> String {
    text.chars()
        .filter(|c| *c != '\r')
        .map(|c| {
            if c.is_control() && !matches!(c, '\n' | '\t') {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}
