//! Takes secrets out of command lines and configurations, before they are written.
//!
//! What looks like a secret is judged by its name: of a flag, a header, a variable, a
//! parameter of a query, a key of JSON. What has no telling name cannot be known.

use serde_json::Value;

/// What stands where a secret was.
pub const HIDDEN: &str = "***";

/// Parts of names whose values are secrets.
const NAMES: &[&str] = &[
    "authorization",
    "cookie",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "api-key",
    "api_key",
    "access-key",
    "access_key",
    "accesskey",
    "private-key",
    "private_key",
    "credential",
    "signature",
    "session",
];
/// Schemes that are followed by a credential (RFC 9110, section 11.4).
const SCHEMES: &[&str] = &["bearer ", "basic "];

/// A command line without its secrets.
pub fn in_arguments(arguments: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut hide_next = false;
    let hidden = arguments.into_iter().map(|argument| {
        if std::mem::take(&mut hide_next) {
            return HIDDEN.to_owned();
        }
        let flag = argument.strip_prefix("--");
        hide_next = flag.is_some_and(|name| !name.contains(['=', ' ']) && is_telling(name));
        in_text(&argument)
    });
    hidden.collect()
}

/// A configuration without its secrets.
pub fn in_json(value: &mut Value) {
    match value {
        Value::String(text) => *text = in_text(text),
        Value::Array(items) => items.iter_mut().for_each(in_json),
        Value::Object(entries) => {
            for (name, value) in entries.iter_mut() {
                if is_telling(name) && (value.is_string() || value.is_number()) {
                    *value = HIDDEN.into();
                } else {
                    in_json(value);
                }
            }
        }
        _ => {}
    }
}

fn is_telling(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    NAMES.iter().any(|part| name.contains(part))
}

/// A text without its secrets: `NAME=value`, `Name: value`, `"name": "value"`, `Bearer value`,
/// `//user:password@host`.
pub fn in_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['=', ':', ' ']) {
        let (before, after) = rest.split_at(at);
        let separator = &after[..1];
        let behind = &after[1..];
        out.push_str(before);
        out.push_str(separator);
        let name = before
            .rsplit(['&', '?', ' ', ',', ';', '{', '\n'])
            .next()
            .unwrap_or_default()
            .trim_matches(['"', '\'']);
        let scheme = separator == " "
            && SCHEMES
                .iter()
                .any(|scheme| name.eq_ignore_ascii_case(scheme.trim_end()));
        rest = if separator == ":" && behind.starts_with("//") {
            out.push_str("//");
            without_user(&behind[2..], &mut out)
        } else if scheme || (separator != " " && is_telling(name)) {
            hide(behind, name, &mut out)
        } else {
            behind
        };
    }
    out.push_str(rest);
    out
}

/// Leaves out the user and password before an `@` of the authority.
fn without_user<'a>(behind: &'a str, out: &mut String) -> &'a str {
    let end = behind
        .find(['/', '?', '#', ' ', '"'])
        .unwrap_or(behind.len());
    match behind[..end].rfind('@') {
        Some(at) => {
            out.push_str(HIDDEN);
            &behind[at..]
        }
        None => behind,
    }
}

/// Hides the value that begins here; what is behind it remains.
fn hide<'a>(behind: &'a str, name: &str, out: &mut String) -> &'a str {
    let value = behind.trim_start();
    out.push_str(&behind[..behind.len() - value.len()]);
    if let Some(quote) = value.chars().next().filter(|c| ['"', '\''].contains(c)) {
        let inner = &value[1..];
        out.push(quote);
        out.push_str(HIDDEN);
        let end = inner.find(quote).unwrap_or(inner.len());
        return &inner[end..];
    }
    out.push_str(HIDDEN);
    // A header's value may have blanks and anything else in it.
    let whole = ["authorization", "cookie"]
        .iter()
        .any(|part| name.to_ascii_lowercase().contains(part));
    let end = if whole {
        value.find('\n')
    } else {
        value.find(['&', ' ', ',', ';', '}', '"', '\'', '\n', '#'])
    };
    &value[end.unwrap_or(value.len())..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_taken_out_by_their_names() {
        for (text, hidden) in [
            ("Authorization: Bearer abc.def", "Authorization: ***"),
            ("X-Api-Key: 12345", "X-Api-Key: ***"),
            ("cookie: a=1; b=2", "cookie: ***"),
            ("AUTH_TOKEN=s3cr3t", "AUTH_TOKEN=***"),
            ("http://me:pass@127.0.0.1:80/x", "http://***@127.0.0.1:80/x"),
            (
                "http://h/x?id=3&token=abc&n=1",
                "http://h/x?id=3&token=***&n=1",
            ),
            (
                r#"{"user":"me","password":"a b"}"#,
                r#"{"user":"me","password":"***"}"#,
            ),
            ("say Bearer abc to it", "say Bearer *** to it"),
            ("password=", "password=***"),
        ] {
            assert_eq!(in_text(text), hidden);
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for text in [
            "http://127.0.0.1:8080/tokens",
            "Accept: application/json",
            "BASE=http://127.0.0.1:8080",
            "a=b:c d",
            "",
            "p(95)<500",
            "mail me@example.org",
        ] {
            assert_eq!(in_text(text), text);
        }
    }

    #[test]
    fn the_word_behind_a_telling_flag_is_hidden() {
        let line = ["http", "--auth-token", "abc", "--rate", "5", "--password=x"];
        let hidden = in_arguments(line.map(str::to_owned));
        assert_eq!(
            hidden,
            [
                "http",
                "--auth-token",
                "***",
                "--rate",
                "5",
                "--password=***"
            ]
        );
    }

    #[test]
    fn a_configuration_loses_its_secrets() {
        let mut value = serde_json::json!({
            "env": {"API_TOKEN": "x", "BASE": "http://u:p@h/"},
            "password": 5, "headers": ["Cookie: a=b"]
        });
        in_json(&mut value);
        let expected = serde_json::json!({
            "env": {"API_TOKEN": "***", "BASE": "http://***@h/"},
            "password": "***", "headers": ["Cookie: ***"]
        });
        assert_eq!(value, expected);
    }

    #[test]
    fn any_text_is_borne() {
        for text in [
            "=",
            ":",
            "token=é\u{1F600}",
            "//@",
            "a://@@",
            "token:\"",
            "bearer ",
        ] {
            in_text(text);
        }
    }
}
