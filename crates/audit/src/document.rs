//! A parsed file: prose, tables and code blocks under their headings. A file that is not Markdown
//! becomes a single code block without headings.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::line::Line;

/// A paragraph or a list item.
#[derive(Clone, Debug)]
pub struct Prose {
    pub line: usize,
    pub text: String,
    pub titles: Vec<String>,
    /// Where each source line after the first begins: its position in `text` and its line number.
    pub breaks: Vec<(usize, usize)>,
}

impl Prose {
    /// Truncates the paragraph at the first line for which `ends` is true.
    pub fn truncate_at(&mut self, ends: impl Fn(usize) -> bool) {
        let Some((at, _)) = self.breaks.iter().find(|(_, line)| ends(*line)) else {
            return;
        };
        if let Some(above) = self.text.get(..*at) {
            self.text = above.trim_end().to_owned();
        }
    }

    /// The lines of the text with their line numbers.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let starts = std::iter::once((0, self.line)).chain(self.breaks.iter().copied());
        let ends = self.breaks.iter().map(|(at, _)| *at);
        let ends = ends.chain(std::iter::once(self.text.len()));
        starts.zip(ends).filter_map(move |((start, line), end)| {
            let text = self.text.get(start..end.min(self.text.len()))?;
            Some((line, text.trim()))
        })
    }
}

/// A table cell with at least this number of words is read as a sentence.
const REMARK: usize = 8;

/// A table. The header cells name the columns.
#[derive(Clone, Debug)]
pub struct Table {
    pub line: usize,
    pub header: Vec<String>,
    pub rows: Vec<(usize, Vec<String>)>,
}

/// A fenced or indented code block, or a whole file that is not Markdown.
#[derive(Clone, Debug)]
pub struct Code {
    /// Number of the first line.
    pub line: usize,
    pub range: std::ops::Range<usize>,
    pub language: String,
    pub titles: Vec<String>,
    pub last_line: usize,
}

#[derive(Clone, Debug, Default)]
pub struct Document {
    pub markdown: bool,
    pub prose: Vec<Prose>,
    pub tables: Vec<Table>,
    /// Table cells that contain a sentence.
    pub remarks: Vec<Prose>,
    pub codes: Vec<Code>,
    /// Every heading with its line.
    pub headings: Vec<(usize, String)>,
    /// The line of each heading, with the titles that apply from that line on.
    pub paths: Vec<(usize, Vec<String>)>,
}

impl Document {
    pub fn read(text: &str) -> Document {
        if !is_markdown(text) {
            return Document {
                codes: vec![Code {
                    line: 1,
                    range: 0..text.len(),
                    language: String::new(),
                    titles: Vec::new(),
                    last_line: usize::MAX,
                }],
                ..Document::default()
            };
        }
        Walk::new(text).run()
    }

    /// The titles that apply to a line: those of its code block, or else the headings above it.
    pub fn titles(&self, line: usize) -> Vec<String> {
        if let Some(code) = self.code_at(line) {
            return code.titles.clone();
        }
        let at = self.paths.partition_point(|(heading, _)| *heading <= line);
        at.checked_sub(1)
            .and_then(|at| self.paths.get(at))
            .map_or_else(Vec::new, |(_, titles)| titles.clone())
    }

    /// The code block that contains a line.
    fn code_at(&self, line: usize) -> Option<&Code> {
        let at = self.codes.partition_point(|code| code.line <= line);
        let code = self.codes.get(at.checked_sub(1)?)?;
        (line <= code.last_line).then_some(code)
    }

    /// A number that identifies the region of a line. Lines of the same code block share a number,
    /// and so do lines between the same two code blocks.
    pub fn region(&self, line: usize) -> usize {
        let at = self.codes.partition_point(|code| code.line <= line);
        2 * at + usize::from(self.code_at(line).is_some())
    }
}

impl Code {
    /// The lines with their line numbers in the file. Overlong lines are cut to keep later steps
    /// fast: no tool prints lines of that length.
    pub fn lines<'a>(&self, text: &'a str) -> Vec<Line<'a>> {
        const MAX_LENGTH: usize = 1 << 22;
        let body = text.get(self.range.clone()).unwrap_or_default();
        body.split('\n')
            .enumerate()
            .map(|(at, line)| {
                let mut end = line.len().min(MAX_LENGTH);
                while !line.is_char_boundary(end) {
                    end -= 1;
                }
                Line {
                    number: self.line + at,
                    text: line[..end].trim_end_matches('\r'),
                }
            })
            .collect()
    }
}

/// Shortens a title, because titles are copied to each block.
fn shorten_title(text: &str) -> String {
    text.chars().take(300).collect()
}

/// Whether a file is Markdown: it has a code fence, the delimiter row of a table, or a heading. A
/// tool's output has none of these.
fn is_markdown(text: &str) -> bool {
    if text.trim_start().starts_with('{') {
        return false;
    }
    let mut headings = 0;
    for line in text.lines() {
        let line = strip_quote_marks(line);
        let start = line.trim_start();
        if start.starts_with("```") || start.starts_with("~~~") {
            return true;
        }
        if start.starts_with('|') && start.contains("---") {
            return true;
        }
        let hashes = line.chars().take_while(|letter| *letter == '#').count();
        if (1..=6).contains(&hashes) && line[hashes..].starts_with(' ') {
            headings += 1;
        }
    }
    headings >= 1
}

/// The line without its `>` quotation marks.
fn strip_quote_marks(line: &str) -> &str {
    let mut rest = line;
    while let Some(quoted) = rest.strip_prefix('>') {
        rest = quoted.strip_prefix(' ').unwrap_or(quoted);
    }
    rest
}

struct Walk<'a> {
    text: &'a str,
    starts: Vec<usize>,
    document: Document,
    headings: Vec<(HeadingLevel, String)>,
    /// The list item or line above the next code block.
    item: Option<String>,
    buffer: String,
    buffer_line: usize,
    /// Where each source line after the first begins: its position in `buffer` and its line number.
    breaks: Vec<(usize, usize)>,
    in_heading: bool,
    in_item: bool,
    table: Option<Table>,
    row: Vec<String>,
}

impl<'a> Walk<'a> {
    fn new(text: &'a str) -> Walk<'a> {
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        Walk {
            text,
            starts,
            document: Document {
                markdown: true,
                ..Document::default()
            },
            headings: Vec::new(),
            item: None,
            buffer: String::new(),
            buffer_line: 1,
            breaks: Vec::new(),
            in_heading: false,
            in_item: false,
            table: None,
            row: Vec::new(),
        }
    }

    fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    fn titles(&self) -> Vec<String> {
        let mut titles: Vec<String> = self
            .headings
            .iter()
            .map(|(_, title)| title.clone())
            .collect();
        titles.extend(self.item.clone());
        titles
    }

    fn run(mut self) -> Document {
        let mut code: Option<Code> = None;
        let mut body: Option<std::ops::Range<usize>> = None;
        let parser = Parser::new_ext(self.text, Options::ENABLE_TABLES).into_offset_iter();
        for (event, range) in parser {
            match event {
                Event::Start(Tag::CodeBlock(kind)) => {
                    self.flush();
                    let language = match kind {
                        pulldown_cmark::CodeBlockKind::Fenced(language) => language.to_string(),
                        pulldown_cmark::CodeBlockKind::Indented => String::new(),
                    };
                    code = Some(Code {
                        line: 0,
                        range: range.clone(),
                        language,
                        titles: self.titles(),
                        last_line: 0,
                    });
                    body = None;
                }
                Event::Text(_) if code.is_some() => {
                    body = Some(match body {
                        Some(known) => known.start..range.end,
                        None => range,
                    });
                }
                Event::End(TagEnd::CodeBlock) => {
                    if let (Some(mut code), Some(body)) = (code.take(), body.take()) {
                        // Start at the beginning of the line, to keep the indentation.
                        let line = self.line(body.start);
                        let start = self.starts.get(line - 1).copied().unwrap_or(body.start);
                        code.line = line;
                        code.range = start..body.end;
                        code.last_line = self.line(body.end.saturating_sub(1));
                        self.document.codes.push(code);
                    }
                }
                Event::Start(Tag::Heading { level, .. }) => {
                    self.flush();
                    self.item = None;
                    self.headings.retain(|(known, _)| *known < level);
                    self.headings.push((level, String::new()));
                    self.in_heading = true;
                    self.buffer_line = self.line(range.start);
                }
                Event::End(TagEnd::Heading(_)) => {
                    let title = shorten_title(std::mem::take(&mut self.buffer).trim());
                    self.breaks.clear();
                    self.document
                        .headings
                        .push((self.buffer_line, title.clone()));
                    if let Some((_, known)) = self.headings.last_mut() {
                        *known = title;
                    }
                    let path = self.headings.iter().map(|(_, title)| title.clone());
                    self.document.paths.push((self.buffer_line, path.collect()));
                    self.in_heading = false;
                }
                Event::Start(Tag::Paragraph) => {
                    self.flush();
                    self.buffer_line = self.line(range.start);
                }
                Event::Start(Tag::Item) => {
                    self.flush();
                    self.in_item = true;
                    self.buffer_line = self.line(range.start);
                }
                Event::End(TagEnd::Paragraph) => self.flush(),
                Event::End(TagEnd::Item) => {
                    self.flush();
                    self.in_item = false;
                }
                Event::Start(Tag::Table(_)) => {
                    self.flush();
                    self.table = Some(Table {
                        line: self.line(range.start),
                        header: Vec::new(),
                        rows: Vec::new(),
                    });
                }
                Event::End(TagEnd::TableCell) => {
                    let cell = std::mem::take(&mut self.buffer).trim().to_owned();
                    self.breaks.clear();
                    if cell.split_whitespace().count() >= REMARK {
                        self.document.remarks.push(Prose {
                            line: self.line(range.start),
                            text: cell.clone(),
                            titles: self
                                .headings
                                .iter()
                                .map(|(_, title)| title.clone())
                                .collect(),
                            breaks: Vec::new(),
                        });
                    }
                    self.row.push(cell);
                }
                Event::End(TagEnd::TableHead) => {
                    let row = std::mem::take(&mut self.row);
                    if let Some(table) = &mut self.table {
                        table.header = row;
                    }
                }
                Event::End(TagEnd::TableRow) => {
                    let row = std::mem::take(&mut self.row);
                    let line = self.line(range.start);
                    if let Some(table) = &mut self.table {
                        table.rows.push((line, row));
                    }
                }
                Event::End(TagEnd::Table) => {
                    self.document.tables.extend(self.table.take());
                    self.item = None;
                }
                Event::Text(part) | Event::Code(part) => self.buffer.push_str(&part),
                Event::SoftBreak | Event::HardBreak => {
                    self.buffer.push(' ');
                    let next = self.line(range.start) + 1;
                    self.breaks.push((self.buffer.len(), next));
                }
                _ => {}
            }
        }
        self.flush();
        self.document
    }

    /// Ends a paragraph. A list item becomes a title of the code block that follows it.
    fn flush(&mut self) {
        if self.in_heading || self.table.is_some() {
            return;
        }
        let buffer = std::mem::take(&mut self.buffer);
        let mut breaks = std::mem::take(&mut self.breaks);
        let text = buffer.trim().to_owned();
        if text.is_empty() {
            return;
        }
        let spaces = buffer.len() - buffer.trim_start().len();
        for (at, _) in &mut breaks {
            *at = at.saturating_sub(spaces);
        }
        let titles = self
            .headings
            .iter()
            .map(|(_, title)| title.clone())
            .collect();
        self.item = self.in_item.then(|| shorten_title(&text));
        self.document.prose.push(Prose {
            line: self.buffer_line,
            text,
            titles,
            breaks,
        });
    }
}
