//! API descriptions: OpenAPI 3.0 and 3.1, and Swagger 2.0, in JSON or YAML.

mod examples;
mod operation;

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::journey::{Journey, Variable};
use crate::settings::Settings;

/// Methods in the order in which a script uses a resource, from its creation to its deletion.
const METHODS: [&str; 8] = [
    "post", "get", "head", "options", "put", "patch", "trace", "delete",
];

/// Reads a description.
pub fn read(text: &str, settings: &Settings) -> Result<Journey, String> {
    let document = parse(text)?;
    let version = ["openapi", "swagger"]
        .iter()
        .find_map(|name| document.get(*name));
    if version.is_none() {
        return Err(
            "it is not a description of an API: it has neither \"openapi\" nor \"swagger\""
                .to_owned(),
        );
    }
    let Some(paths) = document.get("paths").and_then(Value::as_object) else {
        return Err("it describes no path".to_owned());
    };
    let mut reader = Reader {
        document: &document,
        server: server(&document, settings)?,
        journey: Journey::default(),
        used: Vec::new(),
    };
    for (path, item) in ordered(paths) {
        let item = reader.resolved(item);
        if let Some(reference) = item.get("$ref").and_then(Value::as_str) {
            let why = match reference.starts_with('#') {
                true => format!("the reference {reference} leads nowhere in the file"),
                false => "it is in another file".to_owned(),
            };
            reader.journey.problem(path.as_str(), why);
        }
        let shared = item.get("parameters");
        for method in METHODS {
            if let Some(operation) = item.get(method) {
                reader.operation(path, method, operation, shared);
            }
        }
    }
    if let Some(hooks) = document.get("webhooks").and_then(Value::as_object) {
        for name in hooks.keys() {
            reader.journey.problem(
                format!("the webhook {name}"),
                "the server sends it, not a client",
            );
        }
    }
    Ok(reader.journey)
}

fn parse(text: &str) -> Result<Value, String> {
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(text).map_err(|error| format!("this is not JSON: {error}"));
    }
    // The YAML parser limits aliases, nesting and size.
    serde_saphyr::from_str(text).map_err(|error| {
        let error = error.to_string();
        format!(
            "this is neither JSON nor YAML: {}",
            error.lines().next().unwrap_or_default()
        )
    })
}

/// The paths, in an order that keeps the operations of a resource together.
fn ordered(paths: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut ordered: Vec<_> = paths.iter().collect();
    let first = |path: &'_ str| {
        path.trim_start_matches('/')
            .split('/')
            .next()
            .map(str::to_owned)
    };
    let mut places = HashMap::new();
    for (at, path) in paths.keys().enumerate() {
        places.entry(first(path)).or_insert(at);
    }
    // The sort is stable. Paths with fewer parameters create the resources that others use.
    ordered.sort_by_cached_key(|(path, _)| {
        (places.get(&first(path)).copied(), path.matches('{').count())
    });
    ordered
}

/// The URL before each path.
fn server(document: &Value, settings: &Settings) -> Result<String, String> {
    let given = match document.get("servers").and_then(|servers| servers.get(0)) {
        Some(server) => {
            let mut url = server
                .get("url")
                .and_then(Value::as_str)
                .unwrap_or("/")
                .to_owned();
            let variables = server.get("variables").and_then(Value::as_object);
            for (name, variable) in variables.into_iter().flatten() {
                let default = variable
                    .get("default")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                url = url.replace(&format!("{{{name}}}"), default);
            }
            url
        }
        None => {
            let part = |name: &str| {
                document
                    .get(name)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            };
            let schemes = document.get("schemes").and_then(Value::as_array);
            let has_https =
                schemes.is_some_and(|schemes| schemes.iter().any(|scheme| scheme == "https"));
            match part("host") {
                "" => part("basePath").to_owned(),
                host => format!(
                    "{}://{host}{}",
                    if has_https { "https" } else { "http" },
                    part("basePath")
                ),
            }
        }
    };
    let given = given.trim_end_matches('/');
    if crate::url::origin(given).is_some() {
        return Ok(given.to_owned());
    }
    match &settings.server {
        Some(server) => Ok(format!("{}{given}", server.trim_end_matches('/'))),
        None => Err(
            "it does not name its server; add the URL: plimsoll new --from openapi FILE URL"
                .to_owned(),
        ),
    }
}

struct Reader<'a> {
    document: &'a Value,
    server: String,
    journey: Journey,
    /// Names of constants that are already used.
    used: Vec<String>,
}

/// Maximum length of a chain of references.
const MAX_REFERENCES: usize = 16;

impl<'a> Reader<'a> {
    /// Resolves a reference within the document. Other values are returned unchanged.
    fn resolved(&self, value: &'a Value) -> &'a Value {
        let mut value = value;
        for _ in 0..MAX_REFERENCES {
            let Some(reference) = value.get("$ref").and_then(Value::as_str) else {
                break;
            };
            let Some(target) = reference
                .strip_prefix('#')
                .and_then(|at| self.document.pointer(at))
            else {
                break;
            };
            value = target;
        }
        value
    }

    /// The constant for a value that the user can set.
    fn variable(&mut self, name: &str, value: &str) -> String {
        let mut variables = self.journey.variables.iter();
        if let Some(known) = variables.find(|known| known.name == name) {
            return known.constant.clone();
        }
        let constant = crate::javascript::constant(&words(name), &mut self.used);
        self.journey.variables.push(Variable {
            name: name.to_owned(),
            constant: constant.clone(),
            value: value.to_owned(),
        });
        constant
    }
}

/// A name with its words separated: `petId` becomes `pet_Id`.
fn words(name: &str) -> String {
    let mut separated = String::new();
    let mut was_lower = false;
    for char in name.chars() {
        if char.is_ascii_uppercase() && was_lower {
            separated.push('_');
        }
        was_lower = char.is_ascii_lowercase();
        separated.push(char);
    }
    separated
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Piece;

    #[test]
    fn recursive_schemas_end_where_they_may() {
        let text = r##"{"openapi": "3.1.0", "servers": [{"url": "http://h"}],
            "components": {"schemas": {"Node": {"type": "object", "required": ["name"], "properties": {
                "name": {"example": "K"}, "child": {"$ref": "#/components/schemas/Node"},
                "children": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}},
                "other": {"oneOf": [{"$ref": "#/components/schemas/Node"}, {"type": "integer"}]}}}}},
            "paths": {"/gone": {"$ref": "#/paths/none"}, "/nodes": {"post": {"requestBody": {"content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/Node"}}}}}}}}"##;
        let journey = read(text, &Settings::default()).unwrap();
        let body = serde_json::json!({ "name": "K", "children": [], "other": 1 });
        let body = crate::journey::Json::of(&body).unwrap();
        assert_eq!(journey.requests[0].body, crate::journey::Body::Json(body));
        let problem = journey.problems[0].to_string();
        let expected = "/gone: the reference #/paths/none leads nowhere in the file";
        assert_eq!(problem, expected);
    }

    #[test]
    fn the_parameter_id_differs_between_resources() {
        let text = r##"{"openapi": "3.1.0", "servers": [{"url": "http://h"}],
            "components": {"parameters": {"Id": {"name": "id", "in": "path", "required": true}}},
            "paths": {
                "/orders/{id}": {"get": {"parameters": [{"$ref": "#/components/parameters/Id"}]}},
                "/categories/{id}/items/{item}": {"get": {"parameters": [{"$ref": "#/components/parameters/Id"}]}},
                "/a/{b}/{id}": {"delete": {"parameters": [{"$ref": "#/components/parameters/None"}]}}
            }}"##;
        let journey = read(text, &Settings::default()).unwrap();
        let mut names: Vec<_> = journey.variables.iter().map(|it| &it.name).collect();
        names.sort();
        assert_eq!(names, ["b", "categoryId", "id", "item", "orderId"]);
        for request in &journey.requests {
            let has_brace =
                |piece: &Piece| matches!(piece, Piece::Literal(text) if text.contains('{'));
            assert!(!request.url.0.iter().any(has_brace), "{:?}", request.url);
        }
        let problems: Vec<String> = journey.problems.iter().map(ToString::to_string).collect();
        let problems = problems.join("\n");
        for part in [
            "the parameter #/components/parameters/None is not in the file",
            "the parameter b of its path is not described; set it with -e b=…",
            "the parameter item of its path is not described",
        ] {
            assert!(problems.contains(part), "{part}: {problems}");
        }
    }
}
