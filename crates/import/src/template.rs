//! Variables in the texts of collections and test plans: `{{name}}` in Postman, `${name}` in JMeter.

use indexmap::IndexMap;

use crate::javascript::{constant, variable};
use crate::journey::{Journey, Variable};
use crate::text::Text;

/// The variables of a source.
pub(crate) struct Variables {
    opening: &'static str,
    closing: &'static str,
    /// Expressions for the source's own functions.
    function: fn(&str) -> Option<String>,
    values: IndexMap<String, String>,
    /// Names of variables that responses set, and those of the script.
    extracted: IndexMap<String, String>,
    /// Constants in use.
    constants: IndexMap<String, String>,
    used: Vec<String>,
}

/// Deepest nesting of variables in the values of variables.
const MAX_DEPTH: usize = 8;
/// Longest value with all variables replaced, in bytes.
const MAX_LENGTH: usize = 64 << 10;

impl Variables {
    pub fn new(
        opening: &'static str,
        closing: &'static str,
        function: fn(&str) -> Option<String>,
    ) -> Variables {
        Variables {
            opening,
            closing,
            function,
            values: IndexMap::new(),
            extracted: IndexMap::new(),
            constants: IndexMap::new(),
            used: Vec::new(),
        }
    }

    /// Sets the value that the source gives.
    pub fn define(&mut self, name: &str, value: &str) {
        self.values.insert(name.to_owned(), value.to_owned());
    }

    /// The variable of the script for a value of a response.
    pub fn extract(&mut self, name: &str) -> String {
        if let Some(known) = self.extracted.get(name) {
            return known.clone();
        }
        let chosen = variable(name, &mut self.used);
        self.extracted.insert(name.to_owned(), chosen.clone());
        chosen
    }

    /// The text with known values instead of variables, where they are known.
    pub fn inline(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for _ in 0..MAX_DEPTH {
            let mut changed = String::new();
            let mut is_changed = false;
            let mut rest = text.as_str();
            while let Some((before, name, after)) = self.next(rest) {
                changed.push_str(before);
                match self.values.get(name).filter(|value| !value.is_empty()) {
                    Some(value) if !self.extracted.contains_key(name) => {
                        changed.push_str(value);
                        is_changed = true;
                    }
                    _ => changed.push_str(&rest[before.len()..rest.len() - after.len()]),
                }
                if changed.len() > MAX_LENGTH {
                    return text;
                }
                rest = after;
            }
            changed.push_str(rest);
            if !is_changed {
                return text;
            }
            text = changed;
        }
        text
    }

    /// The text before the first variable, its name, and the text after it.
    fn next<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str, &'t str)> {
        let start = text.find(self.opening)?;
        let inner = &text[start + self.opening.len()..];
        let end = inner.find(self.closing)?;
        Some((
            &text[..start],
            inner[..end].trim(),
            &inner[end + self.closing.len()..],
        ))
    }

    /// The text with code for its variables.
    pub fn text(&mut self, given: &str) -> Text {
        let mut text = Text::default();
        let mut rest = given;
        while let Some((before, name, after)) = self.next(rest) {
            text.push_literal(before);
            let code = self.code(name);
            match code {
                Some(code) => text.push_code(&code),
                None => text.push_literal(&rest[before.len()..rest.len() - after.len()]),
            }
            rest = after;
        }
        text.push_literal(rest);
        text
    }

    fn code(&mut self, name: &str) -> Option<String> {
        if name.is_empty() || name.len() > 200 {
            return None;
        }
        if let Some(known) = self.extracted.get(name) {
            return Some(known.clone());
        }
        if name.starts_with('$') || name.starts_with("__") {
            return (self.function)(name);
        }
        if let Some(known) = self.constants.get(name) {
            return Some(known.clone());
        }
        let chosen = constant(name, &mut self.used);
        self.constants.insert(name.to_owned(), chosen.clone());
        Some(chosen)
    }

    /// Adds the constants in use to the journey, and names those without a value.
    pub fn finish(self, journey: &mut Journey) {
        for (name, constant) in &self.constants {
            let value = self.values.get(name).map(|value| self.inline(value));
            if value.is_none() {
                journey.problem(
                    format!("the variable {name}"),
                    format!(
                        "the source gives no value for it; plimsoll run -e {name}=VALUE sets one"
                    ),
                );
            }
            journey.variables.push(Variable {
                name: name.clone(),
                constant: constant.clone(),
                value: value.unwrap_or_default(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_become_code_and_values() {
        let mut variables = Variables::new("{{", "}}", |name| {
            (name == "$guid").then(|| "crypto.randomUUID()".to_owned())
        });
        variables.define("host", "http://{{name}}:80");
        variables.define("name", "h");
        variables.define("loop", "{{loop}}x");
        assert_eq!(
            variables.inline("{{host}}/{{ other }}"),
            "http://h:80/{{ other }}"
        );
        assert!(variables.inline("{{loop}}").len() < 100);
        let token = variables.extract("token");
        assert_eq!(token, "token");
        let text = variables.text("a {{token}} {{$guid}} {{user id}} {{$none}} {{");
        assert_eq!(text.shown(), "a … … … {{$none}} {{");
        let mut journey = Journey::default();
        variables.finish(&mut journey);
        assert_eq!(journey.variables[0].constant, "USER_ID");
        assert_eq!(journey.problems.len(), 1);
    }
}
