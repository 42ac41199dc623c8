//! Restores the lines of a page as a tool printed them, without quotation marks, comment signs, log
//! prefixes and table bars. A section extends from one heading to the next, so a command in one
//! code fence and its output in another belong to the same section.

use std::borrow::Cow;

use super::{BOUNDARY, Line};
use crate::document::Document;

/// The lines between two headings, divided into regions by [`BOUNDARY`].
pub struct Section<'a> {
    pub lines: Vec<Line<'a>>,
}

/// Maximum length of a line. Longer lines are cut to keep later steps fast: no tool prints them.
const MAX_LENGTH: usize = 1 << 22;

/// Replaces table bars and emphasis outside of code with spaces, so that offsets stay the same.
pub fn flatten_markup(text: &str, document: &Document) -> String {
    if !document.markdown {
        return text
            .split_inclusive('\n')
            .map(replace_no_break_spaces)
            .collect();
    }
    let mut out = String::with_capacity(text.len());
    let mut codes = document.codes.iter().peekable();
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        while codes.peek().is_some_and(|code| code.range.end <= offset) {
            codes.next();
        }
        let in_code = codes
            .peek()
            .is_some_and(|code| code.range.start < offset + line.len() && offset < code.range.end);
        let plain = replace_no_break_spaces(line);
        if in_code && plain.contains("**") {
            // Authors highlight figures in bold even in code blocks, where Markdown has no emphasis.
            out.push_str(&plain.replace("**", "  "));
        } else if in_code {
            out.push_str(&plain);
        } else {
            out.extend(
                unescape_markdown(&plain)
                    .chars()
                    .map(|letter| match letter {
                        '|' | '*' | '`' => ' ',
                        letter => letter,
                    }),
            );
        }
        offset += line.len();
    }
    out
}

/// Replaces no-break spaces, which text copied from web pages contains, with ordinary spaces. The
/// length stays the same. Between digits, no-break spaces group thousands.
fn replace_no_break_spaces(line: &str) -> Cow<'_, str> {
    let line = strip_colors(line);
    if line.contains('&') && line.contains(';') {
        return Cow::Owned(decode_entities(&line));
    }
    match line {
        Cow::Borrowed(line) => replace_spaces_between_words(line),
        Cow::Owned(line) => Cow::Owned(replace_spaces_between_words(&line).into_owned()),
    }
}

/// Removes terminal colors, which logs contain, and zero-width characters. Spaces at the end keep
/// the length.
fn strip_colors(line: &str) -> Cow<'_, str> {
    const HIDDEN: [char; 6] = [
        '\u{1b}', '\u{200b}', '\u{200c}', '\u{200e}', '\u{200f}', '\u{feff}',
    ];
    if !line.contains(HIDDEN) {
        return Cow::Borrowed(line);
    }
    let body = line.trim_end_matches(['\n', '\r']);
    let mut out = String::with_capacity(line.len());
    let mut rest = body;
    while let Some(at) = rest.find(HIDDEN) {
        out.push_str(&rest[..at]);
        rest = skip_terminal_sequence(&rest[at..]);
    }
    out.push_str(rest);
    let removed = body.len() - out.len();
    out.extend(std::iter::repeat_n(' ', removed));
    out.push_str(&line[body.len()..]);
    Cow::Owned(out)
}

/// The rest of the text after its first character, or after a terminal sequence such as `ESC [ 1 ; 32 m`.
fn skip_terminal_sequence(text: &str) -> &str {
    let mut letters = text.chars();
    letters.next();
    let rest = letters.as_str();
    let Some(parameters) = rest
        .strip_prefix('[')
        .filter(|_| text.starts_with('\u{1b}'))
    else {
        return rest;
    };
    let end =
        parameters.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ';');
    let mut letters = end.chars();
    letters.next();
    letters.as_str()
}

/// Decodes HTML entities: `p(95)&lt;500`, `&nbsp;`. Spaces at the end keep the length.
fn decode_entities(line: &str) -> String {
    const NAMED: [(&str, &str); 9] = [
        ("&nbsp;", " "),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&apos;", "'"),
        ("&micro;", "µ"),
        ("&amp;", "&"),
    ];
    let body = line.trim_end_matches(['\n', '\r']);
    let mut out = replace_spaces_between_words(body).into_owned();
    for (name, sign) in NAMED {
        out = out.replace(name, sign);
    }
    let spaces = body.len().saturating_sub(out.len());
    out.extend(std::iter::repeat_n(' ', spaces));
    out.push_str(&line[body.len()..]);
    out
}

fn replace_spaces_between_words(line: &str) -> Cow<'_, str> {
    const UNBROKEN: [char; 3] = ['\u{a0}', '\u{2007}', '\u{202f}'];
    if !line.contains(UNBROKEN) {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len());
    let mut letters = line.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        let after = letters.peek().copied().unwrap_or(' ');
        let groups = before.is_ascii_digit() && after.is_ascii_digit();
        if UNBROKEN.contains(&letter) && !groups {
            out.extend(std::iter::repeat_n(' ', letter.len_utf8()));
        } else {
            out.push(letter);
        }
        before = letter;
    }
    Cow::Owned(out)
}

/// Removes the backslashes of Markdown, which converters put in front of special characters:
/// `http\_reqs`. Spaces at the end keep the length.
fn unescape_markdown(line: &str) -> Cow<'_, str> {
    if !line.contains('\\') {
        return Cow::Borrowed(line);
    }
    let body = line.trim_end_matches(['\n', '\r']);
    let mut out = String::with_capacity(line.len());
    let mut letters = body.chars().peekable();
    let mut removed = 0;
    while let Some(letter) = letters.next() {
        let escapes = letter == '\\' && letters.peek().is_some_and(char::is_ascii_punctuation);
        if !escapes {
            out.push(letter);
            continue;
        }
        removed += 1;
        out.extend(letters.next());
    }
    out.extend(std::iter::repeat_n(' ', removed));
    out.push_str(&line[body.len()..]);
    Cow::Owned(out)
}

/// The sections of a document. The caller has [`flatten_markup`] its text.
pub fn split_into_sections<'a>(flat: &'a str, document: &Document) -> Vec<Section<'a>> {
    let mut sections = vec![Section { lines: Vec::new() }];
    let mut headings = document.headings.iter().map(|(line, _)| *line).peekable();
    let mut codes = document.codes.iter().peekable();
    let mut offset = 0;
    let mut region = None;
    for (at, line) in flat.split('\n').enumerate() {
        let number = at + 1;
        let start = offset;
        offset += line.len() + 1;
        while codes.peek().is_some_and(|code| code.range.end <= start) {
            codes.next();
        }
        let code = codes
            .peek()
            .filter(|code| code.range.start < start + line.len().max(1))
            .map(|code| code.range.start);
        if code.is_none() && headings.peek().is_some_and(|heading| *heading <= number) {
            headings.next();
            sections.push(Section { lines: Vec::new() });
            region = None;
            continue;
        }
        let Some(section) = sections.last_mut() else {
            break;
        };
        if document.markdown && region != Some(code) {
            if region.is_some() {
                section.lines.push(Line {
                    number,
                    text: BOUNDARY,
                });
            }
            region = Some(code);
        }
        let mut end = line.len().min(MAX_LENGTH);
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        let text = line[..end].trim_end_matches('\r');
        section.lines.push(Line {
            number,
            text: strip_prefixes(text, code.is_some()),
        });
    }
    sections
}

/// The line without any prefix that the tool did not print.
fn strip_prefixes(line: &str, in_code: bool) -> &str {
    let mut rest = line;
    if !in_code {
        while let Some(quoted) = rest.trim_start().strip_prefix('>') {
            rest = quoted;
        }
        let start = rest.trim_start();
        if let Some(item) = start.strip_prefix("- ") {
            rest = item;
        }
    } else if let Some(quoted) = rest.trim_start().strip_prefix('>') {
        // This is code within a quotation.
        rest = quoted;
    }
    rest = skip_timestamp(rest);
    rest = skip_service_name(rest);
    let start = rest.trim_start();
    for sign in ["# ", "// ", "* ", ":clock1: "] {
        // An asterisk starts a scenario line of k6, so it is not a list marker.
        if sign == "* " && start.contains("raceful") {
            continue;
        }
        if let Some(comment) = start.strip_prefix(sign) {
            return skip_service_name(comment);
        }
    }
    rest
}

/// `2022-11-28T12:54:33.9712048Z text`
fn skip_timestamp(line: &str) -> &str {
    let bytes = line.as_bytes();
    let dated = bytes.len() > 20
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && bytes[4] == b'-'
        && bytes[10] == b'T'
        && bytes[13] == b':';
    match line.split_once("Z ") {
        Some((time, rest)) if dated && time.len() < 32 => rest,
        _ => line,
    }
}

/// `bench_1        | text`, as docker compose prints it.
fn skip_service_name(line: &str) -> &str {
    let Some((name, rest)) = line.split_once('|') else {
        return line;
    };
    let name = name.trim();
    let plain = name
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || "_.-".contains(letter));
    let service =
        plain && name.len() > 2 && name.len() < 64 && name.chars().any(char::is_alphabetic);
    if service { rest } else { line }
}
