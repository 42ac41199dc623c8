//! Test scripts of a collection. Common lines are translated: those that store a value of a response or check its
//! status.

use serde_json::Value;

use super::{Reader, list, scalar};
use crate::correlate::json_path;
use crate::javascript::string;
use crate::journey::{Extract, Request};

/// Objects with a method `.set(NAME, VALUE)`.
const STORES: &[&str] = &[
    "pm.environment.set(",
    "pm.collectionVariables.set(",
    "pm.globals.set(",
    "pm.variables.set(",
    "postman.setEnvironmentVariable(",
    "postman.setGlobalVariable(",
];

impl Reader {
    /// Translates the parts of a script that use the response, and reports the others.
    pub(super) fn events(&mut self, item: &Value, shown: &str, request: &mut Request) {
        for event in list(item.get("event")) {
            let listen = scalar(event.get("listen"));
            let script = match event.pointer("/script/exec") {
                Some(Value::Array(lines)) => {
                    let lines: Vec<String> = lines.iter().map(|line| scalar(Some(line))).collect();
                    lines.join("\n")
                }
                exec => scalar(exec),
            };
            if script.trim().is_empty() {
                continue;
            }
            if listen != "test" {
                self.journey
                    .problem(shown, format!("its {listen} script is left out"));
                continue;
            }
            let (mut known, mut unknown) = (0, 0);
            for line in script.lines().map(str::trim) {
                match self.line(line, request) {
                    Some(true) => known += 1,
                    Some(false) => unknown += 1,
                    None => {}
                }
            }
            if unknown > 0 {
                let why = match known {
                    0 => "its test script is left out",
                    _ => "some lines of its test script are left out",
                };
                self.journey.problem(shown, why);
            }
        }
    }

    /// Whether a line is translated. `None` if the line has no effect of its own.
    fn line(&mut self, line: &str, request: &mut Request) -> Option<bool> {
        if line.is_empty()
            || line.starts_with("//")
            || line.starts_with('}')
            || line.starts_with("pm.test(") && line.ends_with('{')
        {
            return None;
        }
        if line.contains(".json()") && !line.contains(".set(") && line.contains('=')
            || line.contains("JSON.parse(responseBody)")
        {
            // This line only assigns the body to a name.
            return None;
        }
        if let Some(status) = between(line, "have.status(", ")") {
            let status = status.trim().parse();
            request.status = status.ok().or(request.status);
            return Some(request.status.is_some());
        }
        for store in STORES {
            let Some(at) = line.find(store) else { continue };
            let inner = &line[at + store.len()..];
            let inner = inner.trim_end_matches(';').trim_end().strip_suffix(')')?;
            let Some((name, value)) = inner.split_once(',') else {
                return Some(false);
            };
            let name = name.trim().trim_matches(['"', '\'', '`']);
            let Some(code) = expression(value.trim()) else {
                return Some(false);
            };
            request.extracts.push(Extract {
                variable: self.variables.extract(name),
                code,
                place: "the response".to_owned(),
            });
            return Some(true);
        }
        Some(false)
    }
}

fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(after).map(|(inner, _)| inner)
}

/// The script's expression for `json.a.b[0]`, `pm.response.json().a` or `pm.response.headers.get("X")`.
fn expression(value: &str) -> Option<String> {
    if let Some(name) = between(value, "pm.response.headers.get(", ")") {
        let name = name.trim().trim_matches(['"', '\'']);
        return Some(format!(
            "response.headers[{}]",
            string(&crate::headers::canonical(name))
        ));
    }
    let path = match value.split_once(".json()") {
        Some((_, path)) => path,
        None => {
            // The name of a constant for the body, such as jsonData.
            let end = value.find(['.', '['])?;
            let (name, path) = value.split_at(end);
            let is_name = name
                .chars()
                .all(|char| char.is_ascii_alphanumeric() || char == '_');
            is_name.then_some(path)?
        }
    };
    let mut keys: Vec<String> = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        rest = rest.strip_prefix('?').unwrap_or(rest);
        if let Some(inner) = rest.strip_prefix('[') {
            let (key, after) = inner.split_once(']')?;
            keys.push(key.trim_matches(['"', '\'']).to_owned());
            rest = after;
        } else {
            let inner = rest.strip_prefix('.')?;
            let end = inner.find(['.', '[', '?']).unwrap_or(inner.len());
            let (key, after) = inner.split_at(end);
            let is_key = !key.is_empty()
                && key
                    .chars()
                    .all(|char| char.is_ascii_alphanumeric() || "_-$".contains(char));
            keys.push(is_key.then(|| key.to_owned())?);
            rest = after;
        }
    }
    (!keys.is_empty()).then(|| format!("response.json({})", string(&json_path(&keys))))
}

#[cfg(test)]
mod tests {
    use super::expression;

    #[test]
    fn common_expressions_are_translated() {
        for (given, code) in [
            ("jsonData.token", "response.json('token')"),
            (
                "pm.response.json().data[0].id",
                "response.json('data.0.id')",
            ),
            ("res[\"a.b\"]?.c", "response.json('a\\\\.b.c')"),
            (
                "pm.response.headers.get('x-id')",
                "response.headers['X-Id']",
            ),
        ] {
            assert_eq!(expression(given).as_deref(), Some(code));
        }
        for unknown in ["1 + 2", "token", "f(x).y", "a.b()", ""] {
            assert_eq!(expression(unknown), None, "{unknown}");
        }
    }
}
