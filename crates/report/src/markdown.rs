//! The document as GitHub-flavored Markdown.

use std::fmt::Write as _;

use crate::document::{Block, Document, Plot, Section, Table, Word, Words};

/// Maximum size of the main page in bytes.
pub const MAX_BYTES: usize = 60_000;
/// Maximum number of lines of the main page.
pub const MAX_LINES: usize = 400;

/// The path of a plot, relative to the report.
pub fn plot_path(plot: &Plot) -> String {
    format!("plots/{}.svg", plot.name)
}

/// The path of a section of the evidence, relative to the report.
fn section_path(section: &Section) -> String {
    format!("cells/{}.md", section.id)
}

/// All files: `report.md`, and one for each section of the evidence. If the report is too long,
/// its longest sections move to separate files.
pub fn render(document: &Document) -> Vec<(String, String)> {
    let mut moved: Vec<usize> = Vec::new();
    let page = loop {
        let page = main_page(document, &moved);
        if page.len() <= MAX_BYTES && page.lines().count() <= MAX_LINES {
            break page;
        }
        let longest = document
            .sections
            .iter()
            .enumerate()
            .skip(1)
            .filter(|(index, _)| !moved.contains(index))
            .max_by_key(|(_, section)| {
                let mut text = String::new();
                Writer::new(document, &moved, "").blocks(&mut text, &section.blocks);
                text.len()
            });
        match longest {
            Some((index, _)) => moved.push(index),
            None => break page,
        }
    };
    let mut files = vec![("report.md".to_owned(), page)];
    let sections = moved
        .iter()
        .filter_map(|index| document.sections.get(*index))
        .chain(&document.evidence);
    for section in sections {
        let writer = Writer::new(document, &moved, "../");
        let mut out = format!("# {}\n\n", writer.words(&section.title));
        let _ = writeln!(
            out,
            "[{}](../report.md)\n",
            if document.title.is_empty() {
                "Report".to_owned()
            } else {
                escape(&document.title)
            }
        );
        writer.blocks(&mut out, &section.blocks);
        files.push((section_path(section), out));
    }
    files
}

/// A document without plots and evidence as one file.
pub fn render_single_file(document: &Document) -> String {
    main_page(document, &[])
}

fn main_page(document: &Document, moved: &[usize]) -> String {
    let writer = Writer::new(document, moved, "");
    let mut out = format!("# {}\n\n", escape(&document.title));
    if !document.question.is_empty() {
        let _ = writeln!(out, "> {}\n", escape(&document.question));
    }
    for (index, section) in document.sections.iter().enumerate() {
        let _ = writeln!(
            out,
            "<a id=\"{}\"></a>\n\n## {}\n",
            section.id,
            writer.words(&section.title)
        );
        if moved.contains(&index) {
            let _ = writeln!(out, "In [a file of its own]({}).\n", section_path(section));
        } else {
            writer.blocks(&mut out, &section.blocks);
        }
    }
    let evidence: Vec<String> = document
        .evidence
        .iter()
        .filter(|section| !section.id.starts_with("cell-"))
        .map(|section| {
            format!(
                "[{}]({})",
                writer.words(&section.title),
                section_path(section)
            )
        })
        .collect();
    if !evidence.is_empty() {
        let _ = writeln!(
            out,
            "<a id=\"evidence\"></a>\n\n## Evidence\n\n{}\n",
            evidence.join(" · ")
        );
    }
    let _ = writeln!(out, "---\n\n{}", writer.words(&document.footer));
    out
}

/// Writes blocks of one file: paths and links depend on its folder.
struct Writer<'a> {
    document: &'a Document,
    /// The sections of the report that are in separate files.
    moved: &'a [usize],
    /// From the file's folder to the report's.
    up: &'static str,
}

impl<'a> Writer<'a> {
    fn new(document: &'a Document, moved: &'a [usize], up: &'static str) -> Writer<'a> {
        Writer {
            document,
            moved,
            up,
        }
    }

    /// The target of a link to a section.
    fn link_target(&self, id: &str) -> String {
        let moved = self
            .moved
            .iter()
            .filter_map(|index| self.document.sections.get(*index));
        let file = self
            .document
            .evidence
            .iter()
            .chain(moved)
            .find(|section| section.id == id)
            .map(section_path);
        match (file, self.up) {
            (Some(file), up) => format!("{up}{file}"),
            (None, "") => format!("#{id}"),
            (None, up) => format!("{up}report.md#{id}"),
        }
    }

    fn blocks(&self, out: &mut String, list: &[Block]) {
        for block in list {
            match block {
                Block::Prose(prose) => {
                    let _ = writeln!(out, "{}\n", self.words(prose));
                }
                Block::Points(points) => {
                    for point in points {
                        let _ = writeln!(out, "- {}", self.words(point));
                    }
                    out.push('\n');
                }
                Block::Facts(facts) => {
                    let _ = writeln!(out, "| | |\n| --- | --- |");
                    for (name, value) in facts {
                        let _ = writeln!(out, "| {name} | {} |", escape_field(&escape(value)));
                    }
                    out.push('\n');
                }
                Block::Table(table) | Block::Index(table) => self.table(out, table),
                Block::Raw {
                    label,
                    text,
                    folded,
                } => write_raw(out, label, text, *folded),
                Block::Plot(plot) => {
                    let _ = writeln!(
                        out,
                        "![{}]({}{})\n\n*{}*\n",
                        escape(&plot.narrow.title),
                        self.up,
                        plot_path(plot),
                        escape(&plot.caption)
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
                    self.blocks(out, inner);
                    out.push_str("</details>\n\n");
                }
                Block::Detail(_, inner) => self.blocks(out, inner),
            }
        }
    }

    fn table(&self, out: &mut String, table: &Table) {
        let _ = writeln!(out, "*{}*\n", escape(&table.caption));
        let heads: Vec<String> = table
            .head
            .iter()
            .map(|head| escape(&head.text).replace('|', "\\|"))
            .collect();
        let _ = writeln!(out, "| {} |", heads.join(" | "));
        let rules: Vec<&str> = table
            .head
            .iter()
            .map(|head| if head.figures { "--:" } else { "---" })
            .collect();
        let _ = writeln!(out, "| {} |", rules.join(" | "));
        for row in &table.rows {
            let fields: Vec<String> = row
                .iter()
                .map(|words| escape_field(&self.words(words)))
                .collect();
            let _ = writeln!(out, "| {} |", fields.join(" | "));
        }
        out.push('\n');
    }

    fn words(&self, words: &Words) -> String {
        words
            .0
            .iter()
            .map(|word| match word {
                Word::Text(text) => escape(text),
                Word::Code(text) => code_span(text),
                Word::Strong(text) => format!("**{}**", escape(text)),
                Word::Figure(figure) => escape(&figure.text()),
                Word::Verdict(verdict) => format!("**{}**", escape(verdict)),
                Word::Link(text, to) => format!("[{}]({})", escape(text), self.link_target(to)),
                Word::Value(value, spread) => spread.as_ref().map_or_else(
                    || escape(value),
                    |spread| format!("{} ±{spread}%", escape(value)),
                ),
                Word::Mark(letters) => format!(" <sup>{}</sup>", escape(letters)),
            })
            .collect()
    }
}

fn write_raw(out: &mut String, label: &str, text: &str, folded: bool) {
    let fence = code_fence(text);
    let text = remove_control_characters(text);
    let text = text.trim_end_matches('\n');
    if folded {
        let _ = writeln!(
            out,
            "<details><summary>{}</summary>\n\n{fence}text\n{text}\n{fence}\n\n</details>\n",
            plimsoll_plots::escaped(label)
        );
    } else {
        let _ = writeln!(out, "{}:\n\n{fence}text\n{text}\n{fence}\n", escape(label));
    }
}

/// A fence longer than any run of backticks inside (CommonMark 0.31, 4.5).
fn code_fence(text: &str) -> String {
    "`".repeat(longest_run(text).max(2) + 1)
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Escapes characters that would end a field, in code too (GFM 4.10).
fn escape_field(text: &str) -> String {
    let text = text.replace('|', "\\|");
    if text.is_empty() {
        "–".to_owned()
    } else {
        text
    }
}

/// A code span whose backticks are longer than any inside (CommonMark 0.31, 6.1).
fn code_span(text: &str) -> String {
    let text: String = remove_control_characters(text).replace('\n', " ");
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
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in remove_control_characters(text).chars() {
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
fn remove_control_characters(text: &str) -> String {
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
