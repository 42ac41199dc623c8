//! Breaks or cuts lines to the width of a terminal, so that the terminal does not wrap them.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Maximum width of a part in brackets that stays in one row.
const MAX_BRACKETS_WIDTH: usize = 12;

/// Breaks a line into rows of at most `columns`. Breaks only at spaces, so that no number is split. No-break spaces
/// keep words together and are printed as spaces. Rows after the first are indented. A word that is wider than a row is
/// split.
pub fn fit(line: &str, columns: usize, indent: usize) -> Vec<String> {
    if visible_width(line) <= columns {
        return vec![line.replace('\u{a0}', " ")];
    }
    if columns == 0 {
        return Vec::new();
    }
    let widest_gap = columns / 3;
    let indent = indent.min(widest_gap);
    let mut rows = Vec::new();
    let (mut row, mut used) = (String::new(), 0);
    let mut rest = line;
    let mut is_start = true;
    while let Some((gap, word, after)) = next_word(rest) {
        rest = after;
        let wanted = visible_width(word);
        if !is_start && used + gap + wanted > columns {
            rows.push(std::mem::take(&mut row));
            row.push_str(&" ".repeat(indent));
            used = indent;
        } else {
            let gap = if is_start { gap.min(widest_gap) } else { gap };
            row.push_str(&" ".repeat(gap));
            used += gap;
        }
        is_start = false;
        push_split(word, columns, &mut rows, &mut row, &mut used);
    }
    rows.push(row);
    for row in &mut rows {
        *row = row.replace('\u{a0}', " ");
    }
    rows
}

/// Adds a word to a row, and starts a new row if the word does not fit.
fn push_split(
    word: &str,
    columns: usize,
    rows: &mut Vec<String>,
    row: &mut String,
    used: &mut usize,
) {
    for (part, wide) in parts(word) {
        // A row holds at least one character; otherwise this loop would never end.
        if *used + wide > columns && *used > 0 {
            rows.push(std::mem::take(row));
            *used = 0;
        }
        row.push_str(part);
        *used += wide;
    }
}

/// Returns the number of leading spaces, the word after them, and the rest. A short part in brackets counts as one
/// word.
fn next_word(text: &str) -> Option<(usize, &str, &str)> {
    let word = text.trim_start_matches(' ');
    if word.is_empty() {
        return None;
    }
    let gap = text.len() - word.len();
    let mut end = word.find(' ').unwrap_or(word.len());
    if word.starts_with('[')
        && let Some(close) = word.find(']')
        && close > end
        && close <= MAX_BRACKETS_WIDTH
    {
        end = close + 1;
    }
    Some((gap, &word[..end], &word[end..]))
}

/// Truncates a string to this number of columns. An ellipsis marks the cut.
pub fn cut(text: &str, columns: usize) -> String {
    if visible_width(text) <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 0;
    for (part, wide) in parts(text) {
        if used + wide + 1 > columns {
            break;
        }
        kept.push_str(part);
        used += wide;
    }
    if columns > 0 {
        kept.push('…');
    }
    if text.contains('\x1b') {
        kept.push_str("\x1b[0m");
    }
    kept
}

/// The width of a string on a terminal, without escape sequences.
pub fn visible_width(text: &str) -> usize {
    if !text.contains('\x1b') {
        return text.width();
    }
    parts(text).map(|(_, wide)| wide).sum()
}

/// The characters with their widths. An escape sequence counts as one item of zero width.
fn parts(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = if first == '\x1b' {
            rest.find(|c: char| c.is_ascii_alphabetic())
                .map_or(rest.len(), |at| at + 1)
        } else {
            first.len_utf8()
        };
        let wide = if first == '\x1b' {
            0
        } else {
            first.width().unwrap_or(0)
        };
        let (part, after) = rest.split_at(end);
        rest = after;
        Some((part, wide))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_keep_figures_whole() {
        assert_eq!(fit("  rate  1234.5/s now", 30, 4), ["  rate  1234.5/s now"]);
        assert_eq!(
            fit("  rate  1234.5/s now, 99.5/s on average", 20, 8),
            ["  rate  1234.5/s", "      now, 99.5/s on", "      average"]
        );
        assert_eq!(
            fit("a p50\u{a0}1ms p90\u{a0}2ms", 9, 2),
            ["a p50 1ms", "  p90 2ms"]
        );
        assert_eq!(
            fit("name [  50% ] 3 VUs", 13, 2),
            ["name [  50% ]", "  3 VUs"]
        );
        assert_eq!(fit("abcdefgh", 3, 2), ["abc", "def", "gh"]);
        assert_eq!(fit("", 3, 2), [""]);
    }

    #[test]
    fn colors_take_no_columns_and_wide_characters_two() {
        assert_eq!(visible_width("\x1b[36m12\x1b[0m"), 2);
        assert_eq!(visible_width("日本"), 4);
        assert_eq!(
            fit("\x1b[36mab\x1b[0m \x1b[31mcd\x1b[0m", 3, 0),
            ["\x1b[36mab\x1b[0m", "\x1b[31mcd\x1b[0m"]
        );
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("\x1b[1mabcd\x1b[0m", 3), "\x1b[1mab…\x1b[0m");
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abc", 0), "");
    }

    #[test]
    fn no_row_is_wider_than_the_terminal() {
        let line = "  latency      p50 1.25ms  p90 日本語日本語 \x1b[31merror\x1b[0m [=====] 00m02.5s/10m0s";
        for columns in 2..80 {
            for row in fit(line, columns, 15) {
                assert!(visible_width(&row) <= columns, "{columns}: {row:?}");
            }
            assert!(visible_width(&cut(line, columns)) <= columns);
        }
    }
}
