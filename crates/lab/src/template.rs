//! Substitutes `{variables}` in text.
//!
//! A name consists of letters, digits, `-`, `_` and dots, and starts with a letter. Braces around
//! anything else stay unchanged, so JSON and configuration files can be used as they are.
//! `{{name}}` is the literal text `{name}`.

/// The value of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The name has this value.
    Text(String),
    /// The value is known only when the lab runs. The text is left unchanged.
    Later,
    /// The name is unknown, with an explanation.
    Unknown(String),
}

/// Substitutes all names that `look_up` knows. Names that are known later, and quoted names, stay
/// unchanged for [`finish`].
///
/// # Errors
/// The explanation of the first unknown name.
pub fn expand(text: &str, look_up: impl FnMut(&str) -> Lookup) -> Result<String, String> {
    replace(text, false, look_up)
}

/// Substitutes the remaining names, and removes the quoting.
///
/// # Errors
/// The explanation of the first unknown name.
pub fn finish(text: &str, look_up: impl FnMut(&str) -> Lookup) -> Result<String, String> {
    replace(text, true, look_up)
}

fn replace(
    text: &str,
    unquote: bool,
    mut look_up: impl FnMut(&str) -> Lookup,
) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Quoted(name) => {
                let (open, close) = if unquote { ("{", "}") } else { ("{{", "}}") };
                out.push_str(open);
                out.push_str(name);
                out.push_str(close);
            }
            Piece::Name(name) => match look_up(name) {
                Lookup::Text(text) => out.push_str(&text),
                Lookup::Later => {
                    out.push('{');
                    out.push_str(name);
                    out.push('}');
                }
                Lookup::Unknown(message) => return Err(message),
            },
        }
    }
    Ok(out)
}

/// Whether the text contains a name.
pub fn has_variables(text: &str) -> bool {
    pieces(text).any(|piece| matches!(piece, Piece::Name(_) | Piece::Quoted(_)))
}

pub fn names(text: &str) -> impl Iterator<Item = &str> {
    pieces(text).filter_map(|piece| match piece {
        Piece::Name(name) => Some(name),
        Piece::Text(_) | Piece::Quoted(_) => None,
    })
}

enum Piece<'a> {
    Text(&'a str),
    Name(&'a str),
    Quoted(&'a str),
}

fn pieces(mut rest: &str) -> impl Iterator<Item = Piece<'_>> {
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut from = 0;
        while let Some(at) = rest[from..].find('{').map(|at| at + from) {
            let (name, quoted) = match name_after(&rest[at + 1..]) {
                Some(name) => (name, false),
                None => match rest[at + 1..].strip_prefix('{').and_then(name_after) {
                    Some(name) if rest[at + 2 + name.len()..].starts_with("}}") => (name, true),
                    _ => {
                        from = at + 1;
                        continue;
                    }
                },
            };
            if at > 0 {
                let (text, after) = rest.split_at(at);
                rest = after;
                return Some(Piece::Text(text));
            }
            let braces = if quoted { 4 } else { 2 };
            rest = &rest[name.len() + braces..];
            return Some(if quoted {
                Piece::Quoted(name)
            } else {
                Piece::Name(name)
            });
        }
        let text = rest;
        rest = "";
        Some(Piece::Text(text))
    })
}

/// The name at the start of `text`, if a closing brace follows the name.
fn name_after(text: &str) -> Option<&str> {
    let end = text
        .bytes()
        .position(|byte| !(byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)))?;
    let name = &text[..end];
    (text[end..].starts_with('}') && name.starts_with(|c: char| c.is_ascii_alphabetic()))
        .then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look_up(name: &str) -> Lookup {
        match name {
            "backend" => Lookup::Text("sqlite".into()),
            "db.port" => Lookup::Later,
            other => Lookup::Unknown(format!("no {other}")),
        }
    }

    fn expanded(text: &str) -> Result<String, String> {
        expand(text, look_up)
    }

    #[test]
    fn names_are_replaced_and_other_braces_are_not() {
        assert_eq!(
            expanded("a {backend}-{backend} z").unwrap(),
            "a sqlite-sqlite z"
        );
        assert_eq!(expanded("x{db.port}").unwrap(), "x{db.port}");
        assert_eq!(expanded("{{backend}}").unwrap(), "{{backend}}");
        assert_eq!(finish("{{backend}}", look_up).unwrap(), "{backend}");
        assert_eq!(expanded("{{backend}").unwrap(), "{sqlite");
        let json = r#"{"a":{"b":1}} {} { x } {1} {"#;
        assert_eq!(expanded(json).unwrap(), json);
        assert_eq!(expanded("{é} ä{backend}ö").unwrap(), "{é} äsqliteö");
        assert_eq!(expanded("{nope}").unwrap_err(), "no nope");
        assert!(has_variables("a{b}") && !has_variables("{\"b\"}"));
    }
}
