//! Formats one line of the log: for terminals, for machines, as JSON, or as the bare message.
//!
//! The formats are those of k6, which log collectors already parse.

use std::fmt::Write as _;
use std::time::Duration;

use log::Level;
use plimsoll_units::{UtcOffset, date_time};

/// The full name, as in `level=warning`.
fn name(level: Level) -> &'static str {
    match level {
        Level::Trace => "trace",
        Level::Debug => "debug",
        Level::Info => "info",
        Level::Warn => "warning",
        Level::Error => "error",
    }
}

/// The four letters at the start of a terminal line.
fn tag(level: Level) -> &'static str {
    match level {
        Level::Trace => "TRAC",
        Level::Debug => "DEBU",
        Level::Info => "INFO",
        Level::Warn => "WARN",
        Level::Error => "ERRO",
    }
}

/// The color as a number in an SGR escape sequence (ECMA-48, 8.3.117).
fn color(level: Level) -> u8 {
    match level {
        Level::Trace | Level::Debug => 37,
        Level::Info => 36,
        Level::Warn => 33,
        Level::Error => 31,
    }
}

/// The format of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `INFO[0003] message   source=console` with colors, for terminals.
    Terminal,
    /// `time="…" level=info msg=message source=console`, for files and pipes.
    Text,
    /// One JSON object per line, with sorted keys.
    Json,
    /// The message and nothing else.
    Raw,
}

/// A local time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WallTime {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub unix_seconds: i64,
    /// The offset of local time from UTC, in seconds.
    pub utc_offset_seconds: i32,
}

/// One line of the log.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    pub level: Level,
    pub message: &'a str,
    /// Additional fields, sorted by name, such as `("source", "console")`.
    pub fields: &'a [(&'a str, &'a str)],
    pub time: WallTime,
    /// Time since the program started. Terminal lines show it in whole seconds.
    pub since_start: Duration,
}

/// Minimum width of messages on a terminal, so that the fields line up.
const MESSAGE_WIDTH: usize = 44;

impl Line<'_> {
    /// Formats the line in the given format, including its newline.
    pub fn to_text(&self, format: Format) -> String {
        let mut out = String::with_capacity(self.message.len() + 80);
        match format {
            Format::Terminal => self.write_terminal(&mut out),
            Format::Text => self.write_text(&mut out),
            Format::Json => self.write_json(&mut out),
            Format::Raw => out.push_str(self.message),
        }
        out.push('\n');
        out
    }

    fn write_terminal(&self, out: &mut String) {
        let color = color(self.level);
        let message = self.message.strip_suffix('\n').unwrap_or(self.message);
        // Writing to a String cannot fail.
        let _ = write!(
            out,
            "\x1b[{color}m{}\x1b[0m[{:04}] {message:<MESSAGE_WIDTH$} ",
            tag(self.level),
            self.since_start.as_secs(),
        );
        for (name, value) in self.fields {
            let _ = write!(out, " \x1b[{color}m{name}\x1b[0m=");
            push_value(out, value);
        }
    }

    fn write_text(&self, out: &mut String) {
        let _ = write!(
            out,
            "time=\"{}\" level={}",
            rfc3339(self.time),
            name(self.level)
        );
        if !self.message.is_empty() {
            out.push_str(" msg=");
            push_value(out, self.message);
        }
        for (name, value) in self.fields {
            let _ = write!(out, " {name}=");
            push_value(out, value);
        }
    }

    fn write_json(&self, out: &mut String) {
        let time = rfc3339(self.time);
        let own = [
            ("level", name(self.level)),
            ("msg", self.message),
            ("time", &time),
        ];
        let mut members: Vec<(&str, &str)> = self.fields.to_vec();
        members.extend(own);
        members.sort_unstable_by_key(|&(name, _)| name);
        out.push('{');
        for (i, (name, value)) in members.into_iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            push_json_string(out, name);
            out.push(':');
            push_json_string(out, value);
        }
        out.push('}');
    }
}

/// Writes a value. Quotes it unless it is a single plain word or empty.
fn push_value(out: &mut String, value: &str) {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._/@^+".contains(&b);
    if value.bytes().all(plain) {
        out.push_str(value);
        return;
    }
    out.push('"');
    for c in value.chars() {
        push_escaped(out, c);
    }
    out.push('"');
}

/// Escapes as Go's `%q` does, which leaves printable characters unchanged.
fn push_escaped(out: &mut String, c: char) {
    let code = u32::from(c);
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\x07' => out.push_str("\\a"),
        '\x08' => out.push_str("\\b"),
        '\x0b' => out.push_str("\\v"),
        '\x0c' => out.push_str("\\f"),
        '\0'..='\x1f' | '\x7f' => _ = write!(out, "\\x{code:02x}"),
        _ if c.is_ascii() || is_printable(c) => out.push(c),
        _ if code <= 0xFFFF => _ = write!(out, "\\u{code:04x}"),
        _ => _ = write!(out, "\\U{code:08x}"),
    }
}

/// The standard library knows which characters are printable, but only shows this by escaping the others. (It also
/// escapes a combining mark in the first position.)
fn is_printable(c: char) -> bool {
    c != '\u{a0}' && String::from_iter(['a', c]).escape_debug().count() == 2
}

/// Writes a JSON string that is safe inside an HTML page, as Go's encoder does.
fn push_json_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\0'..='\x1f' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}

/// Formats `2026-11-21T04:33:31Z`, with an offset such as `+01:00` instead of `Z` if it is not zero (RFC 3339, section
/// 5.6).
pub fn rfc3339(time: WallTime) -> String {
    let local = time
        .unix_seconds
        .saturating_add(i64::from(time.utc_offset_seconds));
    let offset = UtcOffset {
        seconds: time.utc_offset_seconds,
    };
    format!("{}{offset}", date_time(local))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: WallTime = WallTime {
        unix_seconds: 1_795_235_611,
        utc_offset_seconds: 0,
    };

    fn line<'a>(message: &'a str, fields: &'a [(&'a str, &'a str)]) -> Line<'a> {
        let since_start = Duration::from_millis(3_999);
        Line {
            level: Level::Info,
            message,
            fields,
            time: TIME,
            since_start,
        }
    }

    /// Messages, and what follows `msg=` when k6 v1.8.1 logs them.
    const TEXT: &[(&str, &str)] = &[
        ("hi", "hi"),
        ("hello world", "\"hello world\""),
        ("a=b", "\"a=b\""),
        ("a\"b", "\"a\\\"b\""),
        ("a\nb", "\"a\\nb\""),
        ("a\tb", "\"a\\tb\""),
        ("é", "\"é\""),
        ("😀", "\"😀\""),
        ("a\\b", "\"a\\\\b\""),
        ("a:b", "\"a:b\""),
        ("a/b", "a/b"),
        ("@x", "@x"),
        ("a+b", "a+b"),
        ("a^b", "a^b"),
        ("a_b-c.d", "a_b-c.d"),
        ("[x]", "\"[x]\""),
        ("\u{1}", "\"\\x01\""),
        ("\u{7f}", "\"\\x7f\""),
        ("it's", "\"it's\""),
        ("<b>", "\"<b>\""),
        ("\u{2028}x", "\"\\u2028x\""),
        ("\u{a0}", "\"\\u00a0\""),
        ("\u{feff}", "\"\\ufeff\""),
        ("\u{200b}", "\"\\u200b\""),
        ("\u{fffd}", "\"\u{fffd}\""),
        ("\x1b[31mred", "\"\\x1b[31mred\""),
        ("trail \n", "\"trail \\n\""),
        ("123", "123"),
    ];

    #[test]
    fn values_are_quoted_unless_they_are_plain_words() {
        for &(message, expected) in TEXT {
            let text = line(message, &[("source", "console")]).to_text(Format::Text);
            let whole =
                format!("time=\"2026-11-21T04:33:31Z\" level=info msg={expected} source=console\n");
            assert_eq!(text, whole);
        }
    }

    #[test]
    fn an_empty_message_is_omitted_from_text() {
        let text = line("", &[("source", "console")]).to_text(Format::Text);
        assert_eq!(
            text,
            "time=\"2026-11-21T04:33:31Z\" level=info source=console\n"
        );
    }

    #[test]
    fn a_terminal_line_is_padded_by_characters_and_colored_by_level() {
        let fields = [("source", "console"), ("why", "no reason")];
        let text = Line {
            level: Level::Warn,
            ..line("é\n", &fields)
        }
        .to_text(Format::Terminal);
        let padded = format!("é{}", " ".repeat(43));
        assert_eq!(
            text,
            format!(
                "\x1b[33mWARN\x1b[0m[0003] {padded}  \x1b[33msource\x1b[0m=console \
                 \x1b[33mwhy\x1b[0m=\"no reason\"\n"
            )
        );
    }

    #[test]
    fn json_has_its_keys_in_order_and_is_safe_in_a_page() {
        let fields = [("executor", "per-vu-iterations"), ("source", "console")];
        assert_eq!(
            line("<a & \"b\"\u{1}>", &fields).to_text(Format::Json),
            "{\"executor\":\"per-vu-iterations\",\"level\":\"info\",\
             \"msg\":\"\\u003ca \\u0026 \\\"b\\\"\\u0001\\u003e\",\"source\":\"console\",\
             \"time\":\"2026-11-21T04:33:31Z\"}\n"
        );
    }

    #[test]
    fn raw_format_is_only_the_message() {
        assert_eq!(
            line("a b", &[("source", "console")]).to_text(Format::Raw),
            "a b\n"
        );
    }

    #[test]
    fn times_have_dates_and_offsets() {
        for (unix_seconds, utc_offset_seconds, expected) in [
            (0, 0, "1970-01-01T00:00:00Z"),
            (951_782_400, 0, "2000-02-29T00:00:00Z"),
            (1_795_235_611, -5 * 3600, "2026-11-20T23:33:31-05:00"),
            (1_795_235_611, 19_800, "2026-11-21T10:03:31+05:30"),
            (4_107_542_399, 0, "2100-02-28T23:59:59Z"),
            (-1, 0, "1969-12-31T23:59:59Z"),
        ] {
            assert_eq!(
                rfc3339(WallTime {
                    unix_seconds,
                    utc_offset_seconds
                }),
                expected
            );
        }
    }
}
