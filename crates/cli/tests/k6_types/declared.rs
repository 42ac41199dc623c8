//! The names that type files declare.

use std::fs;
use std::path::Path;

/// A name of a module, or of one of its types.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Symbol {
    /// `k6/http`
    pub module: String,
    /// The type that it belongs to; `None` for an export.
    pub owner: Option<String>,
    pub name: String,
    /// Whether scripts can use it as a value, and not only as a type.
    pub is_value: bool,
}

/// All names that the type files in `folder` declare. A formatter gave all files the same form, so their lines are read
/// without a parser.
pub fn declared(folder: &Path) -> Vec<Symbol> {
    let mut symbols = Vec::new();
    collect(folder, "k6", &mut symbols);
    symbols.sort();
    symbols.dedup();
    symbols
}

fn collect(folder: &Path, module: &str, symbols: &mut Vec<Symbol>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            collect(&path, &format!("{module}/{name}"), symbols);
        } else if name == "index.d.ts" {
            read(&fs::read_to_string(&path).unwrap(), module, symbols);
        }
    }
}

fn read(text: &str, module: &str, symbols: &mut Vec<Symbol>) {
    let mut owner: Option<String> = None;
    for line in text.lines() {
        if let Some((kind, name)) = declaration(line) {
            let is_open = line.trim_end().ends_with('{') && !matches!(kind, "function" | "const");
            owner = is_open.then(|| name.to_owned());
            symbols.push(Symbol {
                module: module.to_owned(),
                owner: None,
                name: name.to_owned(),
                is_value: line.starts_with("export")
                    && matches!(kind, "function" | "const" | "enum" | "class"),
            });
        } else if line.starts_with('}') {
            owner = None;
        } else if let (Some(owner), Some(name)) = (&owner, member(line)) {
            symbols.push(Symbol {
                module: module.to_owned(),
                owner: Some(owner.clone()),
                name: name.to_owned(),
                is_value: true,
            });
        }
    }
}

/// Parses a declaration at the start of a line: its kind and its name.
fn declaration(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split(' ');
    if line.starts_with(' ') {
        return None;
    }
    let kind = words
        .by_ref()
        .find(|word| !matches!(*word, "export" | "declare" | "default" | "abstract"))?;
    if !matches!(
        kind,
        "class" | "interface" | "enum" | "type" | "function" | "const"
    ) {
        return None;
    }
    let name = words.next()?;
    let end = name
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '$')
        .unwrap_or(name.len());
    (end > 0).then(|| (kind, &name[..end]))
}

/// Parses a member on a line of a type.
fn member(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("    ")?;
    let rest = ["readonly ", "static ", "abstract ", "get "]
        .iter()
        .fold(rest, |rest, word| rest.strip_prefix(word).unwrap_or(rest));
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '$')?;
    let (name, after) = rest.split_at(end);
    let after = after.strip_prefix('?').unwrap_or(after).trim_start();
    let is_member = after.starts_with(['(', ':', '<', '=', ','])
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && !matches!(name, "constructor" | "protected");
    is_member.then_some(name)
}
