//! Generates JavaScript strings, names and objects.

use crate::journey::Json;
use crate::text::{Piece, Text};

/// Words that a script must not use as names: those of the language, and those of the script itself.
const RESERVED: &[&str] = &[
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "var",
    "void",
    "while",
    "with",
    "yield",
    "arguments",
    "eval",
    "undefined",
    "NaN",
    "Infinity",
    "http",
    "check",
    "fail",
    "group",
    "sleep",
    "options",
    "response",
    "needed",
    "thinkTime",
    "HEADERS",
    "BASE",
    "crypto",
    "Date",
    "Math",
    "JSON",
    "Number",
    "String",
    "encodeURIComponent",
    "decodeURIComponent",
    "console",
    "jar",
    "capture",
    "exec",
];

/// A string literal.
pub fn string(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('\'');
    escape(text, '\'', &mut quoted);
    quoted.push('\'');
    quoted
}

fn escape(text: &str, quote: char, to: &mut String) {
    for char in text.chars() {
        match char {
            '\\' => to.push_str("\\\\"),
            '\n' => to.push_str("\\n"),
            '\r' => to.push_str("\\r"),
            '\t' => to.push_str("\\t"),
            _ if char == quote => {
                to.push('\\');
                to.push(char);
            }
            // Line terminators of JavaScript, the byte order mark, and characters that editors do not show.
            '\0'..='\u{1f}' | '\u{7f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                to.push_str(&format!("\\u{:04x}", u32::from(char)));
            }
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                to.push_str(&format!("\\u{:04x}", u32::from(char)));
            }
            _ => to.push(char),
        }
    }
}

/// Text as an expression whose value is a string.
pub fn text(text: &Text) -> String {
    if let Some(literal) = text.literal() {
        return string(literal);
    }
    let mut template = String::from("`");
    for piece in &text.0 {
        match piece {
            Piece::Literal(literal) => {
                let mut escaped = String::new();
                escape(literal, '`', &mut escaped);
                template.push_str(&escaped.replace("${", "\\${"));
            }
            Piece::Code(code) => {
                template.push_str("${");
                template.push_str(code);
                template.push('}');
            }
        }
    }
    template.push('`');
    template
}

/// Text as an expression. A single piece of code keeps its type.
pub fn value(it: &Text) -> String {
    match it.0.as_slice() {
        [Piece::Code(code)] => code.clone(),
        _ => text(it),
    }
}

/// A key of an object literal.
pub fn key(name: &str) -> String {
    match name {
        // A plain key with this name would set the prototype.
        "__proto__" => "['__proto__']".to_owned(),
        _ if is_name(name) => name.to_owned(),
        _ => string(name),
    }
}

fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A camel-case name that is not in `used`: `order-id` becomes `orderId`. Adds it to `used`.
pub fn variable(wanted: &str, used: &mut Vec<String>) -> String {
    let mut name = String::new();
    let mut starts_word = false;
    for char in wanted.chars().filter(|char| *char != '\'') {
        if !char.is_ascii_alphanumeric() {
            starts_word = !name.is_empty();
        } else if std::mem::take(&mut starts_word) {
            name.push(char.to_ascii_uppercase());
        } else if name.is_empty() {
            name.push(char.to_ascii_lowercase());
        } else {
            name.push(char);
        }
        if name.len() >= 40 {
            break;
        }
    }
    unique(name, used)
}

/// An upper-case name that is not in `used`: `base url` becomes `BASE_URL`. Adds it to `used`.
pub fn constant(wanted: &str, used: &mut Vec<String>) -> String {
    let upper = wanted.chars().take(40).map(|char| match char {
        char if char.is_ascii_alphanumeric() => char.to_ascii_uppercase(),
        _ => '_',
    });
    unique(upper.collect(), used)
}

fn unique(mut name: String, used: &mut Vec<String>) -> String {
    if name.is_empty() || name.starts_with(|char: char| char.is_ascii_digit()) {
        name.insert_str(0, "value");
    }
    let is_free = |name: &str, used: &[String]| {
        !RESERVED.contains(&name) && !used.iter().any(|known| known == name)
    };
    let mut free = name.clone();
    let mut number = 2;
    while !is_free(&free, used) {
        free = format!("{name}{number}");
        number += 1;
    }
    used.push(free.clone());
    free
}

/// JSON as an expression. It is written on several lines if it is long.
pub fn json(value: &Json, indent: usize) -> String {
    let short = flat(value);
    if short.len() + indent <= 90 && !short.contains('\n') {
        return short;
    }
    let pad = " ".repeat(indent + 2);
    let close = " ".repeat(indent);
    match value {
        Json::List(items) => {
            let lines = items
                .iter()
                .map(|item| format!("{pad}{},\n", json(item, indent + 2)));
            format!("[\n{}{close}]", lines.collect::<String>())
        }
        Json::Object(fields) => {
            let lines = fields
                .iter()
                .map(|(name, value)| format!("{pad}{}: {},\n", key(name), json(value, indent + 2)));
            format!("{{\n{}{close}}}", lines.collect::<String>())
        }
        _ => short,
    }
}

fn flat(it: &Json) -> String {
    match it {
        Json::Plain(plain) => plain.clone(),
        Json::Text(text) => value(text),
        Json::List(items) => {
            let items: Vec<String> = items.iter().map(flat).collect();
            format!("[{}]", items.join(", "))
        }
        Json::Object(fields) if fields.is_empty() => "{}".to_owned(),
        Json::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| format!("{}: {}", key(name), flat(value)));
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Text for a single-line comment.
pub fn comment(text: &str) -> String {
    let clean = text.chars().map(|char| match char {
        char if char.is_control() || matches!(char, '\u{2028}' | '\u{2029}') => ' ',
        char => char,
    });
    clean.take(300).collect()
}

/// Text as the name of a group or a check, which must not contain the separator `::`.
pub fn metric_name(text: &str) -> String {
    let mut name = comment(text);
    while name.contains("::") {
        name = name.replace("::", ": :");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_groups_do_not_contain_the_separator() {
        assert_eq!(metric_name("a::b"), "a: :b");
        assert_eq!(metric_name("a:::::b"), "a: : : : :b");
        assert_eq!(metric_name("a:b"), "a:b");
    }

    #[test]
    fn strings_are_escaped() {
        assert_eq!(
            string("it's\n\\ \u{2028}\u{0}"),
            r"'it\'s\n\\ \u2028\u0000'"
        );
        let mut mixed = Text::from("a`${b}\\");
        mixed.push_code("token");
        assert_eq!(text(&mixed), r"`a\`\${b}\\${token}`");
        assert_eq!(key("a_b1"), "a_b1");
        assert_eq!(key("a-b"), "'a-b'");
        assert_eq!(key("__proto__"), "['__proto__']");
    }

    #[test]
    fn names_are_valid_and_unique() {
        let mut used = Vec::new();
        let mut name = |wanted: &str| variable(wanted, &mut used);
        assert_eq!(name("order-id"), "orderId");
        assert_eq!(name("order_id"), "orderId2");
        assert_eq!(name("X-CSRF-Token"), "xCSRFToken");
        assert_eq!(name("class"), "class2");
        assert_eq!(name("7"), "value7");
        assert_eq!(name("\u{1f600}"), "value");
        assert_eq!(constant("base url", &mut used), "BASE_URL");
        assert_eq!(constant("BASE", &mut used), "BASE2");
    }

    #[test]
    fn long_json_takes_several_lines() {
        let value = Json::parse(r#"{"a":[1,2.5,null],"b c":"d"}"#).unwrap();
        assert_eq!(json(&value, 2), "{ a: [1, 2.5, null], 'b c': 'd' }");
        assert_eq!(json(&value, 60).lines().count(), 4);
        assert_eq!(Json::parse("12345678901234567890"), None);
        assert_eq!(Json::parse("{"), None);
    }
}
