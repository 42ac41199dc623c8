//! curl commands, as browsers copy them for a POSIX shell.

mod words;

use base64::Engine;

use crate::har::body_of;
use crate::headers::{canonical, needed};
use crate::journey::{Body, Cookie, Journey, Part, Request};
use crate::text::Text;
use crate::url;

/// Flags without a value that do not affect the request.
const IGNORED: &[&str] = &[
    "compressed",
    "location",
    "silent",
    "show-error",
    "include",
    "verbose",
    "http1.1",
    "http2",
    "http2-prior-knowledge",
    "http3",
    "no-buffer",
    "fail",
    "fail-with-body",
    "path-as-is",
    "no-progress-meter",
    "progress-bar",
    "ipv4",
    "ipv6",
    "tlsv1.2",
    "tlsv1.3",
    "no-keepalive",
];
/// Flags with a value that do not affect the request.
const IGNORED_WITH_VALUE: &[&str] = &[
    "output",
    "connect-timeout",
    "retry",
    "write-out",
    "dump-header",
    "cookie-jar",
    "retry-delay",
    "max-redirs",
    "stderr",
    "limit-rate",
    "ciphers",
    "resolve",
];
/// Flags with a value that a script cannot use.
const UNKNOWN_WITH_VALUE: &[&str] = &[
    "cert",
    "key",
    "cacert",
    "proxy",
    "proxy-user",
    "unix-socket",
    "interface",
    "config",
    "range",
    "netrc-file",
    "aws-sigv4",
    "form-escape",
    "socks5",
    "connect-to",
    "cert-type",
    "key-type",
];

/// Reads commands.
pub fn read(text: &str) -> Result<Journey, String> {
    let mut journey = Journey::default();
    let mut number = 0;
    for command in words::commands(text) {
        number += 1;
        let shown = format!("command {number}");
        match command {
            Err(why) => journey.problem(shown, why),
            Ok(words) => self::command(&words, &shown, &mut journey),
        }
    }
    if number == 0 {
        return Err("there is no command of curl in it".to_owned());
    }
    Ok(journey)
}

/// The settings in a command's flags.
#[derive(Default)]
struct CommandFlags {
    method: Option<String>,
    url: Option<String>,
    headers: Vec<(String, Text)>,
    data: Vec<String>,
    parts: Vec<Part>,
    is_json: bool,
    is_query: bool,
    is_head: bool,
    /// Whether brackets and braces in the URL are not patterns.
    is_literal: bool,
    /// The file to send as the body of a PUT.
    upload: Option<String>,
    cookies: String,
    notes: Vec<String>,
}

impl CommandFlags {
    /// Adds a header, unless the command sets it.
    fn default_header(&mut self, name: &str, value: &str) {
        let mut known = self.headers.iter();
        if !known.any(|(given, _)| given.eq_ignore_ascii_case(name)) {
            self.headers.push((name.to_owned(), value.into()));
        }
    }
}

fn command(words: &[String], shown: &str, journey: &mut Journey) {
    let mut given = CommandFlags::default();
    let mut words = words.iter();
    match words.next().map(String::as_str) {
        Some(name) if is_curl(name) => {}
        other => {
            let other: String = other.unwrap_or_default().chars().take(40).collect();
            return journey.problem(shown, format!("it starts with {other}, not with curl"));
        }
    }
    let mut is_end_of_flags = false;
    while let Some(word) = words.next() {
        if word == "--next" || word == "-:" {
            request(std::mem::take(&mut given), shown, journey);
            is_end_of_flags = false;
        } else if is_end_of_flags || !word.starts_with('-') || word == "-" {
            address(word.clone(), &mut given, shown, journey);
        } else if word == "--" {
            is_end_of_flags = true;
        } else if let Some(long) = word.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            let mut value = || value.map(str::to_owned).or_else(|| words.next().cloned());
            flag(name, &mut value, &mut given, shown, journey);
        } else {
            for (at, letter) in word[1..].char_indices() {
                let rest = &word[1 + at + letter.len_utf8()..];
                let mut took_rest = false;
                let mut value = || {
                    took_rest = true;
                    match rest {
                        "" => words.next().cloned(),
                        rest => Some(rest.to_owned()),
                    }
                };
                let name = long_name(letter);
                let name = if name.is_empty() {
                    letter.to_string()
                } else {
                    name.to_owned()
                };
                flag(&name, &mut value, &mut given, shown, journey);
                if took_rest {
                    break;
                }
            }
        }
    }
    request(given, shown, journey);
}

fn is_curl(name: &str) -> bool {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    matches!(name, "curl" | "curl.exe")
}

fn long_name(letter: char) -> &'static str {
    match letter {
        'X' => "request",
        'H' => "header",
        'd' => "data",
        'F' => "form",
        'u' => "user",
        'A' => "user-agent",
        'e' => "referer",
        'b' => "cookie",
        'I' => "head",
        'G' => "get",
        'L' => "location",
        'k' => "insecure",
        's' => "silent",
        'S' => "show-error",
        'v' => "verbose",
        'i' => "include",
        'f' => "fail",
        'g' => "globoff",
        'N' => "no-buffer",
        '#' => "progress-bar",
        '4' => "ipv4",
        '6' => "ipv6",
        'o' => "output",
        'm' => "max-time",
        'w' => "write-out",
        'D' => "dump-header",
        'c' => "cookie-jar",
        'T' => "upload-file",
        'E' => "cert",
        'x' => "proxy",
        'U' => "proxy-user",
        'K' => "config",
        'r' => "range",
        _ => "",
    }
}

fn flag(
    name: &str,
    value: &mut dyn FnMut() -> Option<String>,
    given: &mut CommandFlags,
    shown: &str,
    journey: &mut Journey,
) {
    let mut text = || value().unwrap_or_default();
    match name {
        "request" => given.method = Some(text()),
        "url" => address(text(), given, shown, journey),
        "header" => {
            let line = text();
            match line.split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("cookie") => {
                    value.trim().clone_into(&mut given.cookies);
                }
                Some((name, value)) => given
                    .headers
                    .push((name.trim().to_owned(), value.trim().into())),
                None => journey.problem(shown, format!("the header {line:?} has no colon")),
            }
        }
        "data" | "data-ascii" | "data-binary" | "data-raw" | "json" | "data-urlencode" => {
            given.is_json |= name == "json";
            let data = text();
            if name != "data-raw" && name != "data-urlencode" && data.starts_with('@') {
                let content = placeholder(&data[1..], given, shown, journey);
                given.data.push(content);
                return;
            }
            given.data.push(match name {
                "data-urlencode" => match data.split_once('=') {
                    Some((field, value)) if !field.is_empty() => {
                        format!("{field}={}", url::encode(value))
                    }
                    Some((_, value)) => url::encode(value),
                    None => url::encode(&data),
                },
                _ => data,
            });
        }
        "form" | "form-string" => {
            let field = text();
            match field.split_once('=') {
                Some((field, value)) => part(field, value, name == "form", given, shown, journey),
                None => journey.problem(shown, format!("the form field {field:?} has no =")),
            }
        }
        "user" => {
            let credentials = base64::engine::general_purpose::STANDARD.encode(text());
            given.headers.push((
                "Authorization".to_owned(),
                format!("Basic {credentials}").into(),
            ));
        }
        "oauth2-bearer" => {
            let token = format!("Bearer {}", text());
            given
                .headers
                .push(("Authorization".to_owned(), token.into()));
        }
        "user-agent" => given.headers.push(("User-Agent".to_owned(), text().into())),
        "referer" => given.headers.push(("Referer".to_owned(), text().into())),
        "cookie" => {
            let cookies = text();
            match cookies.contains('=') {
                true => given.cookies = cookies,
                false => journey.problem(
                    shown,
                    format!("its cookies are in the file {cookies}; give them as name=value"),
                ),
            }
        }
        "upload-file" => given.upload = Some(text()),
        "insecure" => journey.problem(
            shown,
            "certificates are checked; set insecureSkipTLSVerify in the script's options",
        ),
        "max-time" => journey.problem(
            shown,
            format!(
                "its time limit is left out; set the timeout of the request to '{}s'",
                text()
            ),
        ),
        "globoff" => given.is_literal = true,
        "head" => given.is_head = true,
        "get" => given.is_query = true,
        name if IGNORED.contains(&name) => {}
        name if IGNORED_WITH_VALUE.contains(&name) => drop(text()),
        name => {
            if UNKNOWN_WITH_VALUE.contains(&name) {
                text();
            }
            let dashes = if name.chars().count() == 1 { "-" } else { "--" };
            journey.problem(shown, format!("the flag {dashes}{name} is left out"));
        }
    }
}

/// Adds a request for a URL of the command.
fn address(url: String, given: &mut CommandFlags, shown: &str, journey: &mut Journey) {
    match given.url {
        None => given.url = Some(url),
        Some(_) => journey.problem(
            shown,
            format!("its further URL {url} is left out; write a separate command for it"),
        ),
    }
}

/// A placeholder for the contents of a file that the script does not have.
fn placeholder(path: &str, given: &mut CommandFlags, shown: &str, journey: &mut Journey) -> String {
    let short = path.rsplit(['/', '\\']).next().unwrap_or_default();
    journey.problem(
        shown,
        format!("the content of the file {path} is a placeholder; use open() in the script"),
    );
    given
        .notes
        .push(format!("The content of {short} is a placeholder."));
    "placeholder".to_owned()
}

/// Adds a field of a multipart form: a string, or a file whose contents the script does not have.
fn part(
    name: &str,
    value: &str,
    is_typed: bool,
    given: &mut CommandFlags,
    shown: &str,
    journey: &mut Journey,
) {
    let file = value.strip_prefix(['@', '<']).filter(|_| is_typed);
    let Some(file) = file else {
        given.parts.push(Part {
            name: name.to_owned(),
            value: value.split(";type=").next().unwrap_or_default().into(),
            file: None,
        });
        return;
    };
    let mut settings = file.split(';');
    let path = settings.next().unwrap_or_default();
    let kind = settings.find_map(|setting| setting.strip_prefix("type="));
    let short = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let content = placeholder(path, given, shown, journey);
    given.parts.push(Part {
        name: name.to_owned(),
        value: content.into(),
        file: Some((
            short.to_owned(),
            kind.unwrap_or("application/octet-stream").to_owned(),
        )),
    });
}

/// Whether curl expands the URL to several, as with `[1-3]` and `{a,b}`.
fn has_pattern(url: &str) -> bool {
    let inside = |open: char, close: char| {
        let parts = url.split(open).skip(1);
        parts.filter_map(move |rest| Some(rest.split_once(close)?.0))
    };
    // An IPv6 address is in brackets, too.
    inside('[', ']').any(|range| range.contains('-') && !range.contains(':'))
        || inside('{', '}').any(|list| list.contains(','))
}

fn request(mut given: CommandFlags, shown: &str, journey: &mut Journey) {
    let Some(target) = given.url.take() else {
        return journey.problem(shown, "it has no URL");
    };
    if !given.is_literal && has_pattern(&target) {
        journey.problem(
            shown,
            format!("the pattern in its URL {target} is not expanded; write a loop"),
        );
    }
    let mut target = match target.contains("://") {
        true => target,
        // As in curl.
        false => format!("http://{target}"),
    };
    if let Some(at) = target.find('#') {
        target.truncate(at);
    }
    let Some(origin) = url::origin(&target).map(str::to_owned) else {
        return journey.problem(shown, "only requests of http and https can be translated");
    };
    let upload = given.upload.take();
    if let Some(file) = &upload {
        let content = placeholder(file, &mut given, shown, journey);
        given.data = vec![content];
        // As in curl.
        if target.ends_with('/') {
            target.push_str(file.rsplit('/').next().unwrap_or_default());
        }
    }
    let joint = if given.is_json { "" } else { "&" };
    let data = given.data.join(joint);
    let has_body = !given.data.is_empty() && !given.is_query || !given.parts.is_empty();
    if given.is_query && !data.is_empty() {
        target.push(if target.contains('?') { '&' } else { '?' });
        // A space would end the URL in the request line.
        target.push_str(&data.replace(' ', "%20"));
    }
    let method = given.method.take().unwrap_or_else(|| {
        let method = match (given.is_head, has_body) {
            (true, _) => "HEAD",
            _ if upload.is_some() => "PUT",
            (_, true) => "POST",
            _ => "GET",
        };
        method.to_owned()
    });
    if given.is_json {
        given.default_header("Content-Type", "application/json");
        given.default_header("Accept", "application/json");
    } else if has_body && given.parts.is_empty() && upload.is_none() {
        given.default_header("Content-Type", "application/x-www-form-urlencoded");
    }
    let kind = given
        .headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    let kind = kind
        .and_then(|(_, value)| value.literal())
        .unwrap_or_default();
    let kind = kind
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let body = match (has_body, given.parts.is_empty()) {
        (false, _) => Body::None,
        (_, false) => Body::Multipart(given.parts),
        _ => body_of(&kind, &data, Vec::new),
    };
    for pair in given.cookies.split(';') {
        if let Some((name, value)) = pair.trim().split_once('=') {
            let cookie = Cookie {
                origin: origin.clone(),
                name: name.to_owned(),
                value: value.to_owned(),
            };
            let mut known = journey.cookies.iter();
            if !known.any(|other| other.origin == cookie.origin && other.name == cookie.name) {
                journey.cookies.push(cookie);
            }
        }
    }
    let headers = given
        .headers
        .into_iter()
        .map(|(name, value)| (canonical(&name), value));
    journey.requests.push(Request {
        headers: needed(&method, headers.collect()),
        method,
        url: target.into(),
        body,
        notes: given.notes,
        ..Request::default()
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_the_method_that_curl_chooses() {
        for (command, method, url) in [
            ("curl -T a/b.bin http://h/put/", "PUT", "http://h/put/b.bin"),
            ("curl -T - http://h/put", "PUT", "http://h/put"),
            ("curl -d @body.json http://h/", "POST", "http://h/"),
            ("curl -d a=b -G http://h/", "GET", "http://h/?a=b"),
            ("curl -d 'a=b c' -G http://h/", "GET", "http://h/?a=b%20c"),
            ("curl -X PATCH -d a http://h/", "PATCH", "http://h/"),
        ] {
            let journey = read(command).unwrap();
            let [request] = journey.requests.as_slice() else {
                panic!("{command}: {journey:?}");
            };
            assert_eq!(request.method, method, "{command}");
            assert_eq!(request.url.shown(), url, "{command}");
            let has_file = command.contains("-T") || command.contains('@');
            assert_eq!(request.body == Body::Text("placeholder".into()), has_file);
            assert_eq!(journey.problems.len(), usize::from(has_file), "{command}");
        }
    }

    #[test]
    fn flags_without_a_counterpart_are_reported() {
        for (command, problem) in [
            ("curl -k https://h/", "insecureSkipTLSVerify"),
            ("curl -m 5 http://h/", "'5s'"),
            ("curl 'http://h/a[1-3]'", "the pattern in its URL"),
            ("curl 'http://h/{a,b}'", "the pattern in its URL"),
            ("curl -g 'http://h/a[1-3]'", ""),
            ("curl 'http://[::1]/{id}'", ""),
        ] {
            let journey = read(command).unwrap();
            assert_eq!(journey.requests.len(), 1, "{command}");
            let problems = journey.problems.iter().map(ToString::to_string);
            let problems: String = problems.collect();
            assert_eq!(problems.is_empty(), problem.is_empty(), "{command}");
            assert!(problems.contains(problem), "{command}: {problems}");
        }
    }

    #[test]
    fn each_url_becomes_a_request_or_is_reported() {
        let journey = read("curl -d a http://h/1 --next http://h/2 http://h/3").unwrap();
        let shown: Vec<_> = journey.requests.iter().map(Request::shown).collect();
        assert_eq!(shown, ["POST /1", "GET /2"]);
        let problem = journey.problems[0].to_string();
        assert!(problem.contains("its further URL http://h/3"), "{problem}");
    }
}
