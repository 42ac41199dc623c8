//! The document as one HTML file that works offline, in light and dark mode, in print, on phones,
//! with the keyboard and with screen readers.

use std::fmt::Write as _;

use plimsoll_plots::escaped;
use serde_json::Value;

use crate::browser;
use crate::document::{Block, Detail, Document, Plot, Printed, Section, Table, Word, Words};

/// Maximum size of a page in bytes.
pub const MAX_BYTES: usize = 600_000;

/// The whole document. If it is too large with all evidence, it has only the most important kinds
/// that fit.
pub fn render(document: &Document) -> String {
    let script = browser::script();
    let whole = Page { dropped: &[] }.render(document, &script);
    if whole.len() <= MAX_BYTES {
        return whole;
    }
    let mut dropped = Detail::ALL.to_vec();
    let mut page = Page { dropped: &dropped }.render(document, &script);
    for kind in Detail::ALL.iter().rev() {
        let fewer: Vec<Detail> = dropped.iter().copied().filter(|one| one != kind).collect();
        let larger = Page { dropped: &fewer }.render(document, &script);
        if larger.len() <= MAX_BYTES {
            (page, dropped) = (larger, fewer);
        }
    }
    page
}

/// A page without some kinds of evidence.
struct Page<'a> {
    dropped: &'a [Detail],
}

impl Page<'_> {
    fn render(&self, document: &Document, script: &str) -> String {
        let title = escaped(&document.title);
        let mut out = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
             <title>{title}</title>\n<style>\n{}</style>\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#conclusion\">Skip to the conclusion</a>\n",
            browser::policy(script),
            browser::styles(),
        );
        let _ = writeln!(out, "<header>\n<h1>{title}</h1>");
        if !document.question.is_empty() {
            let _ = writeln!(
                out,
                "<p class=\"question\">{}</p>",
                escaped(&document.question)
            );
        }
        out.push_str("</header>\n<main>\n");
        for (index, section) in document.sections.iter().enumerate() {
            self.section(&mut out, section);
            if index == 0 {
                write_contents(&mut out, document);
            }
        }
        self.evidence(&mut out, document);
        let _ = write!(
            out,
            "</main>\n<footer><p>{}</p></footer>\n<script>{script}</script>\n</body>\n</html>\n",
            words_to_html(&document.footer)
        );
        out
    }

    fn section(&self, out: &mut String, section: &Section) {
        // The list of cells is the evidence itself.
        if section
            .blocks
            .iter()
            .all(|block| matches!(block, Block::Index(_)))
        {
            return;
        }
        let id = escaped(&section.id);
        let class = if section.id == "conclusion" {
            " class=\"conclusion\""
        } else {
            ""
        };
        let _ = writeln!(
            out,
            "<section id=\"{id}\"{class} aria-labelledby=\"{id}-h\">\n<h2 id=\"{id}-h\">{}</h2>",
            words_to_html(&section.title)
        );
        self.blocks(out, &section.blocks);
        out.push_str("</section>\n");
    }

    /// Writes the sections of the evidence, collapsed, with a field to find one.
    fn evidence(&self, out: &mut String, document: &Document) {
        if document.evidence.is_empty() {
            return;
        }
        out.push_str(
            "<section id=\"evidence\" aria-labelledby=\"evidence-h\">\n<h2 id=\"evidence-h\">Evidence</h2>\n",
        );
        if let [others @ .., last] = self.dropped {
            let mut names: Vec<String> = others.iter().map(|kind| kind.name().to_owned()).collect();
            names.push(last.name().to_owned());
            let _ = writeln!(
                out,
                "<p>The files in <code>cells/</code> next to this page also have: {}.</p>",
                escaped(&crate::naming::join_list(&names))
            );
        }
        if let Some((name, example)) = document.filter {
            let _ = writeln!(
                out,
                "<p class=\"filter\" hidden><label>Find {name} <input type=\"search\" autocomplete=\"off\" placeholder=\"{example}\"></label> <span class=\"found\" role=\"status\"></span></p>"
            );
        }
        out.push_str("<div id=\"cells\">\n");
        for section in &document.evidence {
            let _ = writeln!(
                out,
                "<details class=\"evidence\" id=\"{}\"><summary>{}</summary>",
                escaped(&section.id),
                words_to_html(&section.title)
            );
            self.blocks(out, &section.blocks);
            out.push_str("</details>\n");
        }
        out.push_str("</div>\n</section>\n");
    }

    /// Collects the blocks, without the kinds of evidence that are left out.
    fn retain_kinds<'a>(&self, list: &'a [Block], kept: &mut Vec<&'a Block>) {
        for block in list {
            match block {
                Block::Detail(detail, inner) => {
                    if !self.dropped.contains(detail) {
                        self.retain_kinds(inner, kept);
                    }
                }
                Block::Index(_) => {}
                block => kept.push(block),
            }
        }
    }

    fn blocks(&self, out: &mut String, list: &[Block]) {
        let mut kept = Vec::new();
        self.retain_kinds(list, &mut kept);
        let mut list = kept.into_iter().peekable();
        while let Some(block) = list.next() {
            match block {
                Block::Prose(prose) => {
                    let _ = writeln!(out, "<p>{}</p>", words_to_html(prose));
                }
                Block::Points(points) => {
                    out.push_str("<ul>\n");
                    for point in points {
                        let _ = writeln!(out, "<li>{}</li>", words_to_html(point));
                    }
                    out.push_str("</ul>\n");
                }
                Block::Facts(facts) => {
                    out.push_str("<dl class=\"facts\">\n");
                    for (name, value) in facts {
                        let _ =
                            writeln!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", escaped(value));
                    }
                    out.push_str("</dl>\n");
                }
                Block::Table(table) => self::write_table(out, table),
                Block::Raw {
                    label,
                    text,
                    folded,
                } => write_raw(out, label, text, *folded),
                // Plots that only have a narrow version are placed in pairs.
                Block::Plot(first) if first.wide.is_none() => {
                    out.push_str("<div class=\"pair\">\n");
                    write_plot(out, first);
                    while let Some(Block::Plot(next)) = list
                        .next_if(|block| matches!(block, Block::Plot(plot) if plot.wide.is_none()))
                    {
                        write_plot(out, next);
                    }
                    out.push_str("</div>\n");
                }
                Block::Plot(one) => write_plot(out, one),
                Block::Folded {
                    summary,
                    blocks: inner,
                } => {
                    let _ = writeln!(out, "<details><summary>{}</summary>", escaped(summary));
                    self.blocks(out, inner);
                    out.push_str("</details>\n");
                }
                Block::Detail(..) | Block::Index(_) => {}
            }
        }
    }
}

fn write_contents(out: &mut String, document: &Document) {
    out.push_str("<nav aria-label=\"Contents\">\n<ul>\n");
    for section in document.sections.iter().skip(1) {
        let _ = writeln!(
            out,
            "<li><a href=\"#{}\">{}</a></li>",
            escaped(&section.id),
            words_to_html(&section.title)
        );
    }
    if !document.evidence.is_empty() {
        out.push_str("<li><a href=\"#evidence\">Evidence</a></li>\n");
    }
    out.push_str("</ul>\n</nav>\n");
}

fn write_raw(out: &mut String, label: &str, text: &str, folded: bool) {
    let (label, text) = (escaped(label), escape_preformatted(text));
    let pre = format!(
        "<pre class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\">{text}</pre>"
    );
    let _ = if folded {
        writeln!(
            out,
            "<details><summary>{label}</summary>\n{pre}\n</details>"
        )
    } else {
        writeln!(out, "<p>{label}:</p>\n{pre}")
    };
}

/// Escapes preformatted text. HTML ignores a line break at the start (HTML 13.2.6.4.7), so add one.
fn escape_preformatted(text: &str) -> String {
    let lines: Vec<String> = text
        .trim_end()
        .split('\n')
        .map(|line| {
            let parts: Vec<String> = line
                .trim_end_matches('\r')
                .split('\t')
                .map(escaped)
                .collect();
            parts.join("\t")
        })
        .collect();
    format!("\n{}", lines.join("\n"))
}

fn write_plot(out: &mut String, plot: &Plot) {
    let name = escaped(&plot.name);
    let _ = writeln!(out, "<figure class=\"picture\">");
    if let Some(series) = &plot.series {
        let _ = writeln!(
            out,
            "<div class=\"live\" data-label=\"{}\" hidden></div>\n<script type=\"application/json\">{}</script>",
            escaped(&plot.narrow.title),
            embed_json(series)
        );
    }
    match &plot.wide {
        Some(wide) => {
            let _ = write!(
                out,
                "<div class=\"still wide\">{}</div>\n<div class=\"still narrow\">{}</div>\n",
                wide.inline(&format!("{name}-w")),
                plot.narrow.inline(&format!("{name}-n"))
            );
        }
        None => {
            let _ = writeln!(
                out,
                "<div class=\"still\">{}</div>",
                plot.narrow.inline(&name)
            );
        }
    }
    let _ = writeln!(
        out,
        "<figcaption>{}</figcaption>\n</figure>",
        escaped(&plot.caption)
    );
}

/// JSON without any `<`, so that it cannot end its element.
fn embed_json(value: &Value) -> String {
    value
        .to_string()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

fn write_table(out: &mut String, table: &Table) {
    let caption = escaped(&table.caption);
    let _ = writeln!(
        out,
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\">\n<table>\n<caption>{caption}</caption>\n<thead><tr>"
    );
    for head in &table.head {
        let class = if head.figures { " class=\"n\"" } else { "" };
        let _ = writeln!(out, "<th scope=\"col\"{class}>{}</th>", escaped(&head.text));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for (index, (field, head)) in row.iter().zip(&table.head).enumerate() {
            let class = if head.figures { " class=\"n\"" } else { "" };
            let _ = if index < table.names {
                write!(
                    out,
                    "<th scope=\"row\"{class}>{}</th>",
                    words_to_html(field)
                )
            } else {
                write!(out, "<td{class}>{}</td>", words_to_html(field))
            };
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
}

fn words_to_html(words: &Words) -> String {
    words
        .0
        .iter()
        .map(|word| match word {
            Word::Text(text) => escaped(text),
            Word::Code(text) => format!("<code>{}</code>", escaped(text)),
            Word::Strong(text) => format!("<strong>{}</strong>", escaped(text)),
            Word::Figure(printed) => figure_to_html(printed),
            Word::Verdict(verdict) => format!(
                "<span class=\"verdict {}\">{}</span>",
                verdict_class(verdict),
                escaped(verdict)
            ),
            Word::Value(value, spread) => {
                let spread = spread.as_ref().map_or_else(String::new, |spread| {
                    format!(
                        "\u{a0}<span class=\"spread\">±{}\u{a0}%</span>",
                        escaped(spread)
                    )
                });
                format!("<span class=\"figure\">{}</span>{spread}", escaped(value))
            }
            Word::Mark(letters) => format!("<sup>{}</sup>", escaped(letters)),
            Word::Link(text, to) => {
                format!("<a href=\"#{}\">{}</a>", escaped(to), escaped(text))
            }
        })
        .collect()
}

fn figure_to_html(printed: &Printed) -> String {
    let unit = if printed.unit.is_empty() {
        String::new()
    } else {
        format!(
            "\u{a0}<span class=\"unit\">{}</span>",
            escaped(&printed.unit)
        )
    };
    let interval = printed
        .interval
        .as_ref()
        .map_or_else(String::new, |(low, high)| {
            format!(
                " <span class=\"interval\">({}\u{a0}to\u{a0}{})</span>",
                escaped(low),
                escaped(high)
            )
        });
    format!(
        "<span class=\"figure\">{}{unit}</span>{interval}",
        escaped(&printed.value)
    )
}

/// The CSS class of a verdict.
fn verdict_class(verdict: &str) -> &'static str {
    // A limitation may follow in parentheses: `met (one run)`.
    match verdict.split(" (").next().unwrap_or_default() {
        "valid" | "met" => "good",
        "suspect" | "partial" | "undecided" => "doubt",
        "left out" | "missing" => "none",
        _ => "bad",
    }
}
