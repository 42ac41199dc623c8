//! Removes secrets from text that is written to files or displayed: command lines, configurations,
//! messages, URLs.
//!
//! A secret is recognized by the name in front of it: the name of a flag, a header, a variable, a
//! query parameter, or a JSON key. JSON Web Tokens are recognized by their format. Other secrets
//! cannot be detected.
//!
//! Records never contain recognized secrets. Displayed text contains them only after a call to
//! [`show_all`].

mod json_value;

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

/// The replacement for a secret.
pub const HIDDEN: &str = "***";

/// Whether to show secrets in displayed text.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// Turns the display of secrets on or off, for all text that is displayed from now on.
pub fn show_all(shown: bool) {
    SHOWN.store(shown, Ordering::Relaxed);
}

/// Prepares text for display.
pub fn for_display(text: &str) -> Cow<'_, str> {
    if SHOWN.load(Ordering::Relaxed) || !text.contains(['=', ':', ' ', '.']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(in_text(text))
}

/// Prepares a URL for display: removes its password and the secrets in its query.
pub fn url_for_display(url: &str) -> Cow<'_, str> {
    if url.contains(['?', '@', '#']) {
        for_display(url)
    } else {
        Cow::Borrowed(url)
    }
}

/// Names that contain one of these parts have a secret value. Compared in lower case, without `-`,
/// `_` and `.`.
const PARTS: &[&str] = &[
    "authorization",
    "cookie",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "signature",
    "session",
];
/// Names that contain one of these whole words have a secret value. Matching parts of words would
/// also match `author` and `shipping`.
const WORDS: &[&str] = &[
    "pwd", "pw", "psw", "pass", "jwt", "auth", "oauth", "bearer", "pin", "otp", "totp", "cvv",
    "cvc", "sid", "sig", "csrf", "xsrf", "creds",
];
/// Names that also occur before a colon in ordinary sentences: `unexpected token: }`.
const PROSE: &[&str] = &[
    "token",
    "session",
    "signature",
    "secret",
    "pass",
    "pin",
    "auth",
    "sig",
    "cookie",
];
/// The endings of files whose lines messages name: `auth/login.js:12:3`.
const ENDINGS: &[&str] = &[
    "js", "mjs", "cjs", "ts", "json", "toml", "yaml", "yml", "csv", "proto", "txt", "md", "har",
    "jmx",
];
/// Minimum number of characters for the value of a parameter named `key` to count as a secret.
const MIN_KEY_LENGTH: usize = 16;
/// Authentication schemes, which a credential follows (RFC 9110, section 11.4).
const SCHEMES: &[&str] = &["bearer ", "basic "];

/// Removes the secrets from a command line.
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

/// Removes the secrets from a configuration.
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
    let squashed: String = name
        .chars()
        .filter(|c| !matches!(c, '-' | '_' | '.'))
        .map(|c| c.to_ascii_lowercase())
        .collect();
    PARTS.iter().any(|part| squashed.contains(part))
        || words(name).any(|word| WORDS.contains(&&*word))
}

/// The words of a name in lower case: `userPin2` consists of `user` and `pin`.
fn words(name: &str) -> impl Iterator<Item = String> + '_ {
    name.split(|c: char| !c.is_ascii_alphabetic())
        .flat_map(|part| {
            let mut words: Vec<String> = Vec::new();
            let mut was_lower = true;
            for letter in part.chars() {
                if words.is_empty() || (letter.is_ascii_uppercase() && was_lower) {
                    words.push(String::new());
                }
                was_lower = letter.is_ascii_lowercase();
                if let Some(word) = words.last_mut() {
                    word.push(letter.to_ascii_lowercase());
                }
            }
            words
        })
}

/// Whether `name: …` is part of a sentence and not a secret. It is if `name` is one of the words in
/// [`PROSE`] after a space, or a path before unquoted text, as in `Get "http://h/api/token":
/// connection refused`. In both cases, a space follows the colon.
fn is_prose(name: &str, is_after_space: bool, separator: &str, tail: &str) -> bool {
    let Some(text) = tail.strip_prefix(' ').filter(|_| separator == ":") else {
        return false;
    };
    // The value of a cookie header contains `=`: `addCookies: the cookie needs a URL` is a sentence.
    let line = text.lines().next().unwrap_or_default();
    if name.to_ascii_lowercase().ends_with("cookies") && !line.contains('=') {
        return true;
    }
    let is_word = is_after_space && PROSE.iter().any(|word| name.eq_ignore_ascii_case(word));
    is_word || name.contains('/') && !text.trim_start().starts_with(['"', '\''])
}

/// Whether `name:…` is a file with the number of a line, whatever the name of its directory is.
fn is_location(name: &str, separator: &str, tail: &str) -> bool {
    let end = tail
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(tail.len());
    let is_number = end > 0 && !tail[end..].starts_with(|c: char| c.is_alphanumeric());
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    separator == ":" && is_number && ending.is_some_and(|ending| ENDINGS.contains(&ending))
}

/// Whether the value of the query parameter `key` is long enough for a secret.
fn is_long_key(name: &str, separator: &str, tail: &str) -> bool {
    let end = tail
        .find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_'))
        .unwrap_or(tail.len());
    separator == "=" && name.eq_ignore_ascii_case("key") && end >= MIN_KEY_LENGTH
}

/// Hides JSON Web Tokens (RFC 7519). In a path or a sentence, they have no name in front of them.
fn without_jwt(text: String) -> String {
    if !text.contains("eyJ") {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find("eyJ") {
        let (before, token) = rest.split_at(at);
        out.push_str(before);
        let end = token
            .find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '.'))
            .unwrap_or(token.len());
        let (token, after) = token.split_at(end);
        let is_jwt = token.matches('.').count() == 2 && token.len() > 20;
        out.push_str(if is_jwt { HIDDEN } else { token });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Removes the secrets from text: `NAME=value`, `Name: value`, `"name": "value"`, `Bearer value`,
/// `//user:password@host`.
pub fn in_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut was_space = false;
    while let Some(at) = rest.find(['=', ':', ' ']) {
        let (before, after) = rest.split_at(at);
        let separator = &after[..1];
        let tail = &after[1..];
        out.push_str(before);
        out.push_str(separator);
        let is_after_space = std::mem::replace(&mut was_space, separator == " ");
        let name = before
            .rsplit(['&', '?', ' ', ',', ';', '{', '\n'])
            .next()
            .unwrap_or_default()
            .trim_matches(['"', '\'']);
        let scheme = separator == " "
            && SCHEMES
                .iter()
                .any(|scheme| name.eq_ignore_ascii_case(scheme.trim_end()));
        rest = if separator == ":" && tail.starts_with("//") {
            out.push_str("//");
            without_user(&tail[2..], &mut out)
        } else if scheme
            || is_long_key(name, separator, tail)
            || (separator != " "
                && is_telling(name)
                && !is_location(name, separator, tail)
                && !is_prose(name, is_after_space && before == name, separator, tail))
        {
            match before.strip_suffix('"').filter(|_| separator == ":") {
                Some(key) => json_value::hide(tail, key.ends_with('\\'), &mut out),
                None => None,
            }
            .unwrap_or_else(|| hide(tail, name, &mut out))
        } else if separator == ":" && is_user(name) && !is_arrivals(name, tail) {
            // The scheme is missing: `user:password@host`.
            without_user(tail, &mut out)
        } else {
            tail
        };
    }
    out.push_str(rest);
    without_jwt(out)
}

/// Whether the name before a colon may be a user name. `mailto:` is not, because a public address
/// follows it.
fn is_user(name: &str) -> bool {
    !name.is_empty() && !name.contains('/') && !name.eq_ignore_ascii_case("mailto")
}

/// Whether the text is an arrival process with its speed or seed, such as `trace:access.log@10x` or
/// `gamma:0.5@7`.
fn is_arrivals(name: &str, tail: &str) -> bool {
    let written = tail.split([' ', '"', '\'', ')', ',', '\n']).next();
    let setting = written.and_then(|written| written.rsplit_once('@'));
    matches!(name, "trace" | "gamma")
        && setting.is_some_and(|(_, value)| value.trim_end_matches('x').parse::<f64>().is_ok())
}

/// Removes the user and password before an `@` in the authority.
fn without_user<'a>(tail: &'a str, out: &mut String) -> &'a str {
    let end = tail.find(['/', '?', '#', ' ', '"']).unwrap_or(tail.len());
    match tail[..end].rfind('@') {
        // The tags of samples show `****:****` for a user and a password, as in k6.
        Some(at) if tail[..at].chars().all(|c| matches!(c, '*' | ':')) => tail,
        Some(at) => {
            out.push_str(HIDDEN);
            &tail[at..]
        }
        None => tail,
    }
}

/// Hides the value at the start of the text and returns the rest.
fn hide<'a>(tail: &'a str, name: &str, out: &mut String) -> &'a str {
    let value = tail.trim_start();
    out.push_str(&tail[..tail.len() - value.len()]);
    if let Some(quote) = value.chars().next().filter(|c| ['"', '\''].contains(c)) {
        let inner = &value[1..];
        out.push(quote);
        out.push_str(HIDDEN);
        let end = inner.find(quote).unwrap_or(inner.len());
        return &inner[end..];
    }
    out.push_str(HIDDEN);
    // The value of a header may contain spaces and any other characters.
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
    fn secrets_are_removed_by_name() {
        for (text, hidden) in [
            ("Authorization: Bearer abc.def", "Authorization: ***"),
            ("X-Api-Key: 12345", "X-Api-Key: ***"),
            ("cookie: a=1; b=2", "cookie: ***"),
            ("cookies: a=1; b=2", "cookies: ***"),
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
            ("me:pass@127.0.0.1:80/x", "me:***@127.0.0.1:80/x"),
            ("'me:pass@host' was refused", "'me:***@host' was refused"),
            ("mailto:me@host", "mailto:me@host"),
            ("(arrivals: trace:a.log@10x)", "(arrivals: trace:a.log@10x)"),
            ("--arrivals=gamma:0.5@7", "--arrivals=gamma:0.5@7"),
            ("trace:pass@host", "trace:***@host"),
            (
                "from 10:30 on, write to me@host",
                "from 10:30 on, write to me@host",
            ),
            ("say Bearer abc to it", "say Bearer *** to it"),
            ("password=", "password=***"),
            (r#"{"a/token": "b"}"#, r#"{"a/token": "***"}"#),
        ] {
            assert_eq!(in_text(text), hidden);
        }
    }

    #[test]
    fn short_names_are_whole_words() {
        for (text, hidden) in [
            (
                "http://h/?pwd=a&user_pin=12&x=1",
                "http://h/?pwd=***&user_pin=***&x=1",
            ),
            (
                r#"{"userPin":1234,"jwt":"a.b"}"#,
                r#"{"userPin":"***","jwt":"***"}"#,
            ),
            ("X-Auth: abc", "X-Auth: ***"),
            (
                "apiKey=1&API_KEY=2&api.key=3",
                "apiKey=***&API_KEY=***&api.key=***",
            ),
            ("http://h/?key=AIzaSyA1234567890abc", "http://h/?key=***"),
            (
                "see http://h/eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJ-_/x now",
                "see http://h/***/x now",
            ),
        ] {
            assert_eq!(in_text(text), hidden);
        }
        for text in [
            "author: Kim, shipping=5, authority=a, spinning=1, compass=2",
            "SyntaxError: unexpected token: }",
            "addCookies: the cookie \"n\" requires a url",
            "http://h/?key=name",
            "eyJ is how they begin",
        ] {
            assert_eq!(in_text(text), text);
        }
    }

    #[test]
    fn whole_json_values_are_hidden() {
        for (text, hidden) in [
            (
                r#"{"cookies":{"sid":[{"value":"a]}\"b"}]},"body":"x"}"#,
                r#"{"cookies":"***","body":"x"}"#,
            ),
            (
                r#"{"sid": [{"name":"sid","value":"abc"}], "x": 1}"#,
                r#"{"sid": "***", "x": 1}"#,
            ),
            (
                r#"{"cookies":{},"body":"x"}"#,
                r#"{"cookies":{},"body":"x"}"#,
            ),
            (
                r#"{"token":null,"auth":true}"#,
                r#"{"token":null,"auth":true}"#,
            ),
            (r#"{"token":nullify}"#, r#"{"token":***}"#),
            (
                r#"{"password":"a\"b","x":1}"#,
                r#"{"password":"***","x":1}"#,
            ),
            (r#"{"pin":-12.5}"#, r#"{"pin":"***"}"#),
            (
                r#"{\"token\":\"abc\",\"x\":1}"#,
                r#"{\"token\":\"***\",\"x\":1}"#,
            ),
            (
                r#"{\"token\":\"a\\\"bc\",\"x\":1}"#,
                r#"{\"token\":\"***\",\"x\":1}"#,
            ),
            (r#"{"token":["a", "b"#, r#"{"token":"***""#),
            (r#"{"token":"abc"#, r#"{"token":"***"#),
        ] {
            assert_eq!(in_text(text), hidden);
        }
    }

    #[test]
    fn other_values_stay() {
        for text in [
            "http://127.0.0.1:8080/tokens",
            "Accept: application/json",
            "BASE=http://127.0.0.1:8080",
            "a=b:c d",
            "",
            "p(95)<500",
            "mail me@example.org",
            "http://****:****@127.0.0.1:80/",
            "http://****@127.0.0.1:80/",
            "POST /api/token: status is below 400",
            "Get \"http://127.0.0.1:1/login/session\": dial tcp 127.0.0.1:1: connection refused",
        ] {
            assert_eq!(in_text(text), text);
        }
    }

    #[test]
    fn locations_in_files_stay() {
        for text in [
            "at file:///home/me/auth/login.js:12:3\n",
            "at default (file:///tmp/.tmpA9PwXy/script.js:1:40)\n",
            "token.ts:7: unexpected end",
            "labs/sid/lab.toml:68: the system ended",
        ] {
            assert_eq!(in_text(text), text);
        }
        for (text, hidden) in [
            ("api.token:1234", "api.token:***"),
            ("auth.json:12ab", "auth.json:***"),
            ("token.js=12", "token.js=***"),
        ] {
            assert_eq!(in_text(text), hidden);
        }
    }

    #[test]
    fn the_value_of_a_secret_flag_is_hidden() {
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
