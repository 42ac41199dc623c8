//! Rust source, divided line by line into code, comments and tests.
//!
//! A full parser would be a large dependency: the rules only need to know that a word is not in a
//! string, a comment or a test.

/// Separates string literals in [`Line::text`]: the ASCII unit separator, which no literal contains.
pub const BETWEEN_LITERALS: char = '\u{1f}';

/// One line of Rust.
#[derive(Debug, Default, Clone)]
pub struct Line {
    /// From 1.
    pub number: usize,
    /// The code, without comments and the content of strings.
    pub code: String,
    /// The text of its comments.
    pub comment: String,
    /// The contents of its string literals, each followed by [`BETWEEN_LITERALS`].
    pub text: String,
    /// Whether it is inside an item under `#[cfg(test)]` or `#[test]`.
    pub in_test: bool,
}

/// The state of the scanner.
enum State {
    Code,
    LineComment,
    BlockComment { depth: usize },
    Text,
    RawText { hashes: usize },
}

/// Divides `text` into lines.
pub fn lines(text: &str) -> Vec<Line> {
    let mut lines = blank(text);
    mark_tests(&mut lines);
    lines
}

fn blank(text: &str) -> Vec<Line> {
    let chars: Vec<char> = text.chars().collect();
    let mut lines = Vec::new();
    let mut line = Line {
        number: 1,
        ..Line::default()
    };
    let mut state = State::Code;
    let mut at = 0;
    let peek = |index: usize| chars.get(index).copied().unwrap_or('\0');
    while at < chars.len() {
        let c = peek(at);
        if c == '\n' {
            if matches!(state, State::LineComment) {
                state = State::Code;
            }
            let number = line.number + 1;
            lines.push(std::mem::replace(
                &mut line,
                Line {
                    number,
                    ..Line::default()
                },
            ));
            at += 1;
            continue;
        }
        let mut step = 1;
        match state {
            State::Code => match c {
                '/' if peek(at + 1) == '/' => {
                    state = State::LineComment;
                    step = 2;
                }
                '/' if peek(at + 1) == '*' => {
                    state = State::BlockComment { depth: 1 };
                    step = 2;
                }
                '"' => {
                    line.code.push('"');
                    state = State::Text;
                }
                'r' if !follows_word(&chars, at) && raw_hashes(&chars, at).is_some() => {
                    let hashes = raw_hashes(&chars, at).unwrap_or(0);
                    line.code.push('"');
                    state = State::RawText { hashes };
                    step = hashes + 2;
                }
                '\'' => {
                    let length = character_literal(&chars, at);
                    line.code.push('\'');
                    step = length.max(1);
                }
                _ => line.code.push(c),
            },
            State::LineComment => line.comment.push(c),
            State::BlockComment { depth } => {
                if c == '*' && peek(at + 1) == '/' {
                    step = 2;
                    state = match depth {
                        1 => State::Code,
                        _ => State::BlockComment { depth: depth - 1 },
                    };
                } else if c == '/' && peek(at + 1) == '*' {
                    step = 2;
                    state = State::BlockComment { depth: depth + 1 };
                } else {
                    line.comment.push(c);
                }
            }
            State::Text => match c {
                // The escaped character may be a newline, which must be counted.
                '\\' if peek(at + 1) != '\n' => step = 2,
                '"' => {
                    line.code.push('"');
                    line.text.push(BETWEEN_LITERALS);
                    state = State::Code;
                }
                _ => line.text.push(c),
            },
            State::RawText { hashes } => {
                if c == '"' && (1..=hashes).all(|n| peek(at + n) == '#') {
                    line.code.push('"');
                    line.text.push(BETWEEN_LITERALS);
                    state = State::Code;
                    step = hashes + 1;
                } else {
                    line.text.push(c);
                }
            }
        }
        at += step;
    }
    lines.push(line);
    lines
}

/// Whether the character before `at` belongs to the same identifier; `b` and `c`
/// do not count, so that `br"…"` is raw text too.
fn follows_word(chars: &[char], at: usize) -> bool {
    let before = |n: usize| {
        at.checked_sub(n)
            .and_then(|i| chars.get(i))
            .copied()
            .unwrap_or(' ')
    };
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    is_word(before(1)) && (is_word(before(2)) || !matches!(before(1), 'b' | 'c'))
}

/// The number of hashes if raw text starts at `at`.
fn raw_hashes(chars: &[char], at: usize) -> Option<usize> {
    let hashes = chars.iter().skip(at + 1).take_while(|&&c| c == '#').count();
    (chars.get(at + 1 + hashes) == Some(&'"')).then_some(hashes)
}

/// The length of the character literal at `at`, or 0 for a lifetime.
fn character_literal(chars: &[char], at: usize) -> usize {
    match chars.get(at + 1) {
        Some('\\') => {
            let end = chars
                .iter()
                .skip(at + 3)
                .position(|&c| c == '\'' || c == '\n');
            end.map_or(0, |end| end + 4)
        }
        Some(_) if chars.get(at + 2) == Some(&'\'') => 3,
        _ => 0,
    }
}

/// Marks the lines of items that only tests compile, by matching braces.
fn mark_tests(lines: &mut [Line]) {
    let mut depth = 0usize;
    // The depth at which the current test item began, and whether its braces were opened.
    let mut item: Option<(usize, bool)> = None;
    for line in lines.iter_mut() {
        let attribute = line.code.trim_start();
        if item.is_none() && is_test_attribute(attribute) {
            item = Some((depth, false));
        }
        line.in_test = item.is_some();
        for c in line.code.chars() {
            match c {
                '{' => {
                    depth += 1;
                    if let Some((_, opened)) = &mut item {
                        *opened = true;
                    }
                }
                '}' => {
                    depth = depth.saturating_sub(1);
                    if item.is_some_and(|(start, opened)| opened && depth <= start) {
                        item = None;
                    }
                }
                // `#[cfg(test)] mod tests;`
                ';' if item.is_some_and(|(start, opened)| !opened && depth == start) => item = None,
                _ => {}
            }
        }
    }
}

fn is_test_attribute(code: &str) -> bool {
    [
        "#[cfg(test)]",
        "#[test]",
        "#[cfg(all(test",
        "#[cfg(any(test",
        "#[tokio::test",
        "#![cfg(test)]",
    ]
    .iter()
    .any(|start| code.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Vec<String> {
        lines(text).into_iter().map(|line| line.code).collect()
    }

    #[test]
    fn strings_and_comments_are_blanked() {
        assert_eq!(
            code(r#"let a = "x.unwrap()"; // b.unwrap()"#),
            [r#"let a = ""; "#]
        );
        assert_eq!(code("a /* b\n /* c */ d\n*/ e"), ["a ", "", " e"]);
        assert_eq!(
            code(r##"f(r#"un"wrap"#, 'x', '\'', "\"")"##),
            [r#"f("", ', ', "")"#]
        );
        assert_eq!(code(r#"g(br"\", b"\\")"#), [r#"g(b"", b"")"#]);
        assert_eq!(code("fn f<'a>(x: &'a str) {}"), ["fn f<'a>(x: &'a str) {}"]);
        assert_eq!(code("\"a\\\nb\"; c"), ["\"", "\"; c"]);
    }

    #[test]
    fn comments_remain_comments() {
        assert_eq!(lines("x // why\n")[0].comment, " why");
    }

    #[test]
    fn test_items_end_with_their_braces() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() { }\n}\nfn c() {}";
        let marks: Vec<bool> = lines(text).iter().map(|line| line.in_test).collect();
        assert_eq!(marks, [false, true, true, true, true, false]);
    }

    #[test]
    fn a_test_module_in_its_own_file_marks_one_line() {
        let marks: Vec<bool> = lines("#[cfg(test)]\nmod tests;\nfn c() {}")
            .iter()
            .map(|line| line.in_test)
            .collect();
        assert_eq!(marks, [true, true, false]);
    }
}
