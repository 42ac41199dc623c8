//! Log lines: parses `time="…" level=info msg="…" source=console` into a level, a message and
//! fields.

use std::sync::LazyLock;

use regex::Regex;

use super::case::Case;
use super::normalize::Normalizer;

/// Two concurrent runs both try to open the port of the control interface. The message of the run
/// that fails is ignored.
pub const PORT_TAKEN: &str = "Error from API server";

/// The log lines of a run, each as `level: message (field=value, …)` without the time.
pub fn lines(text: &str, case: &Case, normalizer: &Normalizer) -> Vec<String> {
    static THROWN_AT: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r" \| at \S+:\d+").ok());
    let place = THROWN_AT.as_ref().filter(|_| case.settings.no_places);
    let mut in_verdict = false;
    let mut lines: Vec<String> = text
        .lines()
        .filter(|line| !is_verdict(line, &mut in_verdict))
        .filter(|line| !line.trim().is_empty() && !line.contains(PORT_TAKEN))
        .map(|line| readable(line, case, normalizer))
        .map(|line| {
            place.map_or(line.clone(), |place| {
                place.replace_all(&line, "").into_owned()
            })
        })
        .collect();
    if case.settings.any_order {
        lines.sort();
    }
    lines
}

/// After a script's own summary, Plimsoll prints its verdict, which k6 does not have: one line, and
/// an indented line for each further reason.
fn is_verdict(line: &str, within: &mut bool) -> bool {
    *within = line.starts_with("verdict: ") || (*within && line.starts_with("         "));
    *within
}

fn readable(line: &str, case: &Case, normalizer: &Normalizer) -> String {
    let Some(fields) = fields(line) else {
        return engine_text(&trace(&normalizer.text(line)), case);
    };
    let mut level = String::new();
    let mut message = String::new();
    let mut others = Vec::new();
    for (name, value) in fields {
        match name.as_str() {
            "time" => {}
            "level" => level = value,
            "msg" => message = value,
            _ => others.push((name, value)),
        }
    }
    others.sort();
    let clean = |text: &str| engine_text(&trace(&normalizer.text(text)), case);
    let others: Vec<String> = others
        .iter()
        .map(|(name, value)| format!("{name}={}", clean(value)))
        .collect();
    let mut message = clean(&message);
    if case.settings.parser_messages && level == "error" {
        message = message
            .split([' ', ':'])
            .next()
            .unwrap_or_default()
            .to_owned();
        return format!("{level}: {message}…");
    }
    if others.is_empty() {
        format!("{level}: {message}")
    } else {
        format!("{level}: {message} ({})", others.join(", "))
    }
}

/// Parses a line of `name=value` and `name="quoted value"`. `None` if it has another form.
fn fields(line: &str) -> Option<Vec<(String, String)>> {
    static FIELD: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"([\w.\-]+)=("(?:[^"\\]|\\.)*"|[^\s"]*)(?:\s+|$)"#).ok());
    if !line.starts_with("time=") {
        return None;
    }
    let mut found = Vec::new();
    let mut end = 0;
    for field in FIELD.as_ref()?.captures_iter(line) {
        let whole = field.get(0)?;
        if whole.start() != end {
            return None;
        }
        end = whole.end();
        found.push((field[1].to_owned(), unquoted(&field[2])));
    }
    (end == line.len()).then_some(found)
}

/// Removes the quotes of a value according to Go's rules for strings.
fn unquoted(value: &str) -> String {
    let Some(inner) = value
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    else {
        return value.to_owned();
    };
    let mut text = String::new();
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            text.push(letter);
            continue;
        }
        match letters.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some('x') => text.push(code_point(&mut letters, 2)),
            Some('u') => text.push(code_point(&mut letters, 4)),
            Some(other) => text.push(other),
            None => {}
        }
    }
    text
}

fn code_point(letters: &mut std::str::Chars<'_>, digits: usize) -> char {
    let digits: String = letters.by_ref().take(digits).collect();
    u32::from_str_radix(&digits, 16)
        .ok()
        .and_then(char::from_u32)
        .unwrap_or('?')
}

/// Reduces a stack trace to the file and line of its first frame in a script. The names of
/// functions, the engine's own frames, and how columns are counted depend on the engine.
fn trace(text: &str) -> String {
    static PLACE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\(?(?:file://)?(?:<case>/)?([^\s()]+?):(\d+):\d+(?:\(\d+\))?\)?").ok()
    });
    // Some messages contain their position on the same line.
    static INLINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r" at (?:\S+ )?\(?(?:file://)?<case>/([^\s():]+):(\d+):\d+(?:\(\d+\))?\)?").ok()
    });
    let text = match INLINE.as_ref() {
        Some(inline) if !text.contains("\tat ") => inline.replace_all(text, " at $1:$2"),
        _ => text.into(),
    };
    let mut kept = Vec::new();
    let mut placed = false;
    for line in text.lines() {
        let Some(frame) = line.trim_start().strip_prefix("at ") else {
            kept.push(line.trim_end().to_owned());
            continue;
        };
        if !placed && let Some(place) = PLACE.as_ref().and_then(|place| place.captures(frame)) {
            placed = true;
            kept.push(format!("at {}:{}", &place[1], &place[2]));
        }
    }
    kept.retain(|line| !line.is_empty());
    kept.join(" | ")
}

/// Reduces the engine's own messages to the class of the error.
fn engine_text(text: &str, case: &Case) -> String {
    static CLASS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\b(TypeError|ReferenceError|SyntaxError|RangeError|URIError): [^|]*").ok()
    });
    match CLASS.as_ref() {
        Some(class) if case.settings.engine_messages => {
            class.replace_all(text, "$1: … ").into_owned()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_fields_and_removes_quotes() {
        let line = r#"time="2026-01-01T00:00:00Z" level=info msg="a \"b\"\n\tc" source=console"#;
        let fields = fields(line).unwrap_or_default();
        let message = fields.iter().find(|(name, _)| name == "msg");
        assert_eq!(
            message.map(|(_, value)| value.as_str()),
            Some("a \"b\"\n\tc")
        );
        assert_eq!(fields.len(), 4);
    }

    #[test]
    fn keeps_the_position_of_an_error() {
        let text = "Error: boom\n\tat fail (native)\n\tat default (file://<case>/script.js:9:28(31))\n\tat other (file://<case>/script.js:1:1(1))\n";
        assert_eq!(trace(text), "Error: boom | at script.js:9");
    }

    #[test]
    fn a_line_of_another_form_is_not_split() {
        assert_eq!(fields("plain words"), None);
    }
}
