//! Generates a k6 script for a journey.

mod body;
mod request;

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::javascript::{comment, constant, key, metric_name, string};
use crate::journey::{Journey, Request};
use crate::url;

/// The purpose of the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The script that the user keeps.
    Keep,
    /// For a comparison of responses: the script also prints every response as a JSON document.
    Capture,
}

/// The data that all parts of the script need.
pub(super) struct Context<'a> {
    journey: &'a Journey,
    purpose: Purpose,
    /// The constant for each origin.
    origins: BTreeMap<String, String>,
    /// Headers that all requests have.
    common: Vec<(String, String)>,
    /// Names of checks so far, with the numbers of their requests.
    labels: BTreeMap<String, usize>,
}

/// Maximum number of problems to list in a script.
const MAX_PROBLEMS: usize = 50;

/// The script. `command` created it, and is shown in its first line.
pub fn write(journey: &Journey, command: &str, purpose: Purpose) -> String {
    let mut context = Context {
        journey,
        purpose,
        origins: origins(journey),
        common: common_headers(&journey.requests),
        labels: BTreeMap::new(),
    };
    let mut body = String::new();
    context.default_function(&mut body);
    let mut script = introduction(journey, command);
    imports(&body, &mut script);
    script.push_str(OPTIONS);
    context.constants(&body, &mut script);
    if journey.extracts() > 0 {
        script.push_str(NEEDED_FUNCTION);
    }
    if purpose == Purpose::Capture {
        script.push_str(CAPTURE);
    }
    script.push_str(&body);
    script
}

const OPTIONS: &str = "
// One user, once. For a load: plimsoll run -u 20 -d 1m FILE
export const options = {
  vus: 1,
  iterations: 1,
  thresholds: { checks: ['rate==1'] },
};
";

const NEEDED_FUNCTION: &str = "
// Returns a value that later requests need. Without it, the iteration ends.
function needed(name, value) {
  if (value === undefined || value === null || value === '') {
    fail(`the response has no ${name}`);
  }
  return value;
}
";

const CAPTURE: &str = "
function capture(request, response) {
  const body = typeof response.body === 'string' ? response.body.slice(0, 1000000) : '';
  const { status, url, headers } = response;
  console.log(JSON.stringify({ iteration: __ITER, request, status, url, headers, body }));
}
";

fn introduction(journey: &Journey, command: &str) -> String {
    let mut text = format!("// Written by: {}\n", comment(command));
    text.push_str("// This is an ordinary k6 script. Change it as you like.\n");
    if !journey.problems.is_empty() {
        text.push_str("//\n// Not translated:\n");
        for problem in journey.problems.iter().take(MAX_PROBLEMS) {
            let _ = writeln!(text, "//   {}", comment(&problem.to_string()));
        }
        let more = journey.problems.len().saturating_sub(MAX_PROBLEMS);
        if more > 0 {
            let _ = writeln!(text, "//   … and {more} more");
        }
    }
    text
}

fn imports(body: &str, script: &mut String) {
    script.push_str("import http from 'k6/http';\n");
    let names = ["check", "fail", "group", "sleep"]
        .into_iter()
        .filter(|name| match *name {
            "fail" => body.contains(" needed("),
            name => body.contains(&format!("{name}(")),
        });
    let names: Vec<&str> = names.collect();
    let _ = writeln!(script, "import {{ {} }} from 'k6';", names.join(", "));
}

/// The constants of the origins that requests are sent to.
fn origins(journey: &Journey) -> BTreeMap<String, String> {
    let mut used: Vec<String> = journey
        .variables
        .iter()
        .map(|variable| variable.constant.clone())
        .collect();
    let mut origins = BTreeMap::new();
    if !journey.base.is_empty() {
        origins.insert(journey.base.clone(), "BASE".to_owned());
    }
    for request in &journey.requests {
        let Some(origin) = url::origin(request.url.start()) else {
            continue;
        };
        if !origins.contains_key(origin) {
            let host = url::host(origin).unwrap_or_default();
            let label = host.split('.').next().unwrap_or_default();
            let name = constant(&format!("{label}_base"), &mut used);
            origins.insert(origin.to_owned(), name);
        }
    }
    origins
}

/// Headers that all requests have with the same value.
fn common_headers(requests: &[Request]) -> Vec<(String, String)> {
    let [first, rest @ ..] = requests else {
        return Vec::new();
    };
    if rest.is_empty() {
        return Vec::new();
    }
    let literal = first
        .headers
        .iter()
        .filter_map(|(name, value)| Some((name, value.literal()?)));
    let common = literal.filter(|(name, value)| {
        !name.eq_ignore_ascii_case("content-type")
            && rest
                .iter()
                .all(|request| request.header(name).and_then(|it| it.literal()) == Some(*value))
    });
    common
        .map(|(name, value)| (name.clone(), value.to_owned()))
        .collect()
}

impl Context<'_> {
    fn constants(&self, body: &str, script: &mut String) {
        script.push('\n');
        if !self.origins.is_empty() {
            script.push_str("// Another server for one run: plimsoll run -e BASE=https://… FILE\n");
        }
        let mut origins: Vec<_> = self.origins.iter().collect();
        origins.sort_by_key(|(_, name)| (*name != "BASE", name.as_str()));
        for (origin, name) in origins {
            let _ = writeln!(script, "const {name} = __ENV.{name} || {};", string(origin));
        }
        for variable in &self.journey.variables {
            let environment = match key(&variable.name) {
                name if name.starts_with(['\'', '[']) => {
                    format!("__ENV[{}]", string(&variable.name))
                }
                name => format!("__ENV.{name}"),
            };
            let _ = writeln!(
                script,
                "const {} = {environment} || {};",
                variable.constant,
                string(&variable.value)
            );
        }
        if body.contains("thinkTime") {
            script.push_str(
                "// Without think times: plimsoll run -e THINK_TIME=0 FILE\n\
                 const thinkTime = Number(__ENV.THINK_TIME || 1);\n",
            );
        }
        if !self.common.is_empty() {
            script.push_str("// What all requests have.\nconst HEADERS = {\n");
            for (name, value) in &self.common {
                let _ = writeln!(script, "  {}: {},", key(name), string(value));
            }
            script.push_str("};\n");
        }
    }

    fn default_function(&mut self, script: &mut String) {
        let journey = self.journey;
        script.push_str("\nexport default function () {\n");
        if !journey.cookies.is_empty() {
            script.push_str("  // Cookies that the user had before.\n");
            script.push_str("  const jar = http.cookieJar();\n");
            for cookie in &journey.cookies {
                let origin = match self.origins.get(&cookie.origin) {
                    Some(constant) => constant.clone(),
                    None => string(&cookie.origin),
                };
                let (name, value) = (string(&cookie.name), string(&cookie.value));
                let _ = writeln!(script, "  jar.set({origin}, {name}, {value});");
            }
        }
        script.push_str("  let response;\n");
        let extracts = journey
            .requests
            .iter()
            .flat_map(|request| &request.extracts);
        for extract in extracts {
            let _ = writeln!(script, "  let {};", extract.variable);
        }
        let mut group: Option<&str> = None;
        for (at, request) in journey.requests.iter().enumerate() {
            let next = request.group.as_deref();
            if at == 0 || next != group {
                if group.is_some() {
                    script.push_str("  });\n");
                }
                self.pause(request, 2, script);
                if let Some(name) = next {
                    let _ = writeln!(script, "\n  group({}, () => {{", string(&metric_name(name)));
                }
                group = next;
            } else {
                let indent = if group.is_some() { 4 } else { 2 };
                self.pause(request, indent, script);
            }
            let indent = if group.is_some() { 4 } else { 2 };
            self.request(at, request, indent, script);
        }
        if group.is_some() {
            script.push_str("  });\n");
        }
        script.push_str("}\n");
    }

    fn pause(&self, request: &Request, indent: usize, script: &mut String) {
        let tenths = (request.pause.as_secs_f64() * 10.0).round() / 10.0;
        if tenths > 0.0 && self.purpose == Purpose::Keep {
            let _ = writeln!(script, "{:indent$}sleep({tenths} * thinkTime);", "");
        }
    }
}
