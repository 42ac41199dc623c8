//! A script that sends one request of a load and checks the response.

use serde_json::json;

use super::names::Names;
use crate::problem::{Location, Problem};
use crate::resolve::load::{Expect, Http, Template};

/// The script, for `plimsoll run`.
///
/// # Errors
/// If a name in braces is unknown.
pub fn text(
    http: &Http,
    expect: &Expect,
    protocol: Option<&str>,
    names: &Names,
    place: &Location,
) -> Result<String, Problem> {
    let body = http.body.as_ref().map(|body| names.fill(body, place));
    let body = match &http.body_lines {
        Some(lines) => Some(first_line(lines, names, place)?),
        None => body.transpose()?,
    };
    let (file, body) = match body.as_deref().map(|body| (body.strip_prefix('@'), body)) {
        Some((Some(file), _)) => (Some(file), None),
        Some((None, body)) => (None, Some(body)),
        None => (None, None),
    };
    let headers: serde_json::Map<String, serde_json::Value> = names
        .fill_pairs(&http.headers, place)?
        .into_iter()
        .map(|(name, value)| (name, value.into()))
        .collect();
    let request = json!({
        "method": http.method,
        "url": names.fill(&http.url, place)?,
        "headers": headers,
        "file": file,
        "body": body,
    });
    let expected = json!({
        "status": expect.status.unwrap_or(200),
        "protocol": protocol,
        "contains": expect.contains,
        "json": expect.json,
    });
    Ok(format!(
        "const request = {request:#};\nconst expected = {expected:#};\n{SCRIPT}"
    ))
}

/// The first body in a list.
fn first_line(lines: &Template, names: &Names, place: &Location) -> Result<String, Problem> {
    let first = |text: &str| {
        let line = text.lines().find(|line| !line.is_empty());
        line.unwrap_or_default().to_owned()
    };
    match &lines.template {
        Some(template) => names.fill(&first(template), place),
        None => match std::fs::read_to_string(&lines.file) {
            Ok(text) => Ok(first(&text)),
            Err(error) => {
                Err(place.problem(format!("cannot read {}: {error}", lines.file.display())))
            }
        },
    }
}

const SCRIPT: &str = r#"
import http from 'k6/http';
import { check } from 'k6';

const body = request.file ? open(request.file, 'b') : request.body;

// RFC 6901, section 4: escape `~` and `/`.
function find(document, pointer) {
  const keys = pointer.split('/').slice(1);
  const names = keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  return names.reduce((value, name) => value?.[name], document);
}

function asText(value) {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function parsed(response) {
  try {
    return response.json();
  } catch {
    return undefined;
  }
}

export default function () {
  const { method, url, headers } = request;
  const response = http.request(method, url, body, { headers, redirects: 0 });
  const checks = { [`status ${expected.status}`]: response.status === expected.status };
  if (expected.protocol) {
    checks[`protocol ${expected.protocol}`] = response.proto.startsWith(expected.protocol);
  }
  if (expected.contains !== null) {
    const contains = (response.body ?? '').includes(expected.contains);
    checks[`a body with ${JSON.stringify(expected.contains)}`] = contains;
  }
  for (const [pointer, value] of expected.json) {
    checks[`${pointer} = ${value}`] = asText(find(parsed(response), pointer)) === value;
  }
  const functions = Object.entries(checks).map(([name, holds]) => [name, () => holds]);
  if (!check(response, Object.fromEntries(functions))) {
    const start = JSON.stringify((response.body ?? '').slice(0, 200));
    console.error(response.status === 0
      ? `there was no response: ${response.error}`
      : `the response was ${response.status} over ${response.proto}: ${start}`);
  }
}
"#;
