//! Reads a lab file and checks it against [`keys`].

pub mod keys;
pub mod node;
pub mod reference;
pub mod schema;
pub mod shape;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;

use crate::problem::{Location, Problem, suggestion};
use node::{Node, Table, Value};

/// The name of a folder's lab file.
pub const NAME: &str = "lab.toml";

/// A lab file with its included files. All keys are known, and all values have the correct type.
#[derive(Clone, Debug)]
pub struct Document {
    pub file: PathBuf,
    /// Its contents.
    pub text: String,
    /// Files that it includes, and those that they include.
    pub included: Vec<PathBuf>,
    /// All tables by name, in the order in which they are merged.
    tables: IndexMap<String, Vec<Node>>,
}

/// Deepest nesting of included files.
const MAX_DEPTH: usize = 8;

impl Document {
    /// Reads a file, or the `lab.toml` of a folder.
    ///
    /// # Errors
    /// All problems in it, sorted by line.
    pub fn read(path: &Path) -> Result<Document, Vec<Problem>> {
        let file = match path.is_dir() {
            true => path.join(NAME),
            false => path.to_owned(),
        };
        let text = read(&file).map_err(|why| {
            vec![Problem::nowhere(format!(
                "cannot read the lab file {}: {why}; give a file, or a directory that contains a {NAME}",
                file.display()
            ))]
        })?;
        let mut problems = Vec::new();
        let mut read = Read::default();
        read.collect(&file, &text, &mut problems);
        if problems.is_empty() {
            return Ok(Document {
                file,
                text,
                included: read.included,
                tables: read.tables,
            });
        }
        problems.sort();
        problems.dedup();
        Err(problems)
    }

    /// Parses a lab file with this text and without included files, as if it were at `file`.
    ///
    /// # Errors
    /// All problems in it.
    pub fn of_text(file: &Path, text: &str) -> Result<Document, Vec<Problem>> {
        let mut problems = Vec::new();
        let table = node::parse(file, text).map_err(|problem| vec![problem])?;
        keys::FILE.check(&table, &mut problems);
        let mut tables = IndexMap::new();
        append(table, &mut tables);
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Document {
            file: file.to_owned(),
            text: text.to_owned(),
            included: Vec::new(),
            tables,
        })
    }

    /// All tables with the given name.
    pub fn tables(&self, name: &str) -> &[Node] {
        self.tables.get(name).map_or(&[], Vec::as_slice)
    }

    /// The directory of the file. Paths in the file are relative to it.
    pub fn directory(&self) -> &Path {
        match self.file.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        }
    }

    /// The first line of the file.
    pub fn top(&self) -> Location {
        Location::new(&self.file, 1)
    }
}

fn read(file: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    std::fs::File::open(file)
        .and_then(|opened| {
            opened
                .take(node::MAX_SIZE as u64 + 1)
                .read_to_end(&mut bytes)
        })
        .map_err(|error| error.to_string())?;
    if bytes.len() > node::MAX_SIZE {
        return Err(format!(
            "it has more than {} KiB; move data into separate files",
            node::MAX_SIZE >> 10
        ));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}

/// A lab file and its included files while they are being read.
#[derive(Default)]
struct Read {
    above: Vec<PathBuf>,
    included: Vec<PathBuf>,
    tables: IndexMap<String, Vec<Node>>,
}

impl Read {
    fn collect(&mut self, file: &Path, text: &str, problems: &mut Vec<Problem>) {
        let table = match node::parse(file, text) {
            Ok(table) => table,
            Err(problem) => return problems.push(problem),
        };
        keys::FILE.check(&table, problems);
        self.above.push(file.to_owned());
        for included in table.get("include").map_or(&[][..], Node::items) {
            let Value::Text(name) = &included.value else {
                continue;
            };
            let path = file.parent().unwrap_or(Path::new("")).join(name);
            if self.above.contains(&path) || self.above.len() > MAX_DEPTH {
                problems.push(included.place.problem(format!(
                    "{name} includes itself, or files include each other more than {MAX_DEPTH} levels deep"
                )));
                continue;
            }
            match read(&path) {
                Ok(text) => {
                    self.included.push(path.clone());
                    self.collect(&path, &text, problems);
                }
                Err(why) => problems.push(included.place.problem(format!(
                    "cannot read the included file {}: {why}; paths are relative to the file that includes",
                    path.display()
                ))),
            }
        }
        self.above.pop();
        append(table, &mut self.tables);
    }
}

/// Appends a file's tables to the existing ones.
fn append(table: Table, tables: &mut IndexMap<String, Vec<Node>>) {
    for (name, node) in table {
        if name == "include" {
            continue;
        }
        let all = tables.entry(name).or_default();
        match node.value {
            Value::List(items) => all.extend(items),
            _ => all.push(node),
        }
    }
}

pub(crate) fn missing(place: &Location, table: &str, key: &str) -> Problem {
    place.problem(format!("{table} needs the key \"{key}\""))
}

/// The problem that a name is unknown.
pub(crate) fn unknown<'a>(
    place: &Location,
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Problem {
    place.problem(format!(
        "unknown {what} \"{name}\"; {}",
        suggestion(name, known)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        match Document::of_text(Path::new("lab.toml"), text) {
            Ok(_) => Vec::new(),
            Err(problems) => problems.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn unknown_keys_are_reported_with_line_and_suggestion() {
        assert_eq!(
            problems("[lab]\ntitel = \"x\"\n"),
            ["lab.toml:2: unknown key \"titel\" in [lab]; did you mean \"title\"?"]
        );
        assert_eq!(
            problems("[loda]\nusers = 1\n"),
            ["lab.toml:1: unknown key \"loda\" in a lab file; did you mean \"load\"?"]
        );
        let nested = problems("[[system]]\nname = \"a\"\nready = { htpp = \"/\" }\n");
        assert_eq!(
            nested,
            ["lab.toml:3: unknown key \"htpp\" in ready; did you mean \"http\"?"]
        );
    }

    #[test]
    fn values_of_the_wrong_type_are_reported() {
        let errors = problems(
            "[load]\nduration = 5\nusers = \"many\"\nrate = \"{rate}\"\ntool = \"k7\"\nwhen = \"x\"\nscript = [\"a\"]\n",
        );
        assert_eq!(errors.len(), 5, "{errors:#?}");
        assert!(
            errors[0].contains("lab.toml:2: duration must be a time"),
            "{}",
            errors[0]
        );
        assert!(
            errors[1].contains("users must be a whole number, not \"many\""),
            "{}",
            errors[1]
        );
        assert!(errors[2].contains("did you mean \"k6\"?"), "{}", errors[2]);
        assert!(errors[3].contains("when must be a table"), "{}", errors[3]);
        assert!(
            errors[4].contains("script must be a string, not a list"),
            "{}",
            errors[4]
        );
    }

    #[test]
    fn included_tables_come_first_and_loops_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            std::fs::write(directory.path().join(name), text).unwrap();
            directory.path().join(name)
        };
        file("base.toml", "[load]\nusers = 1\n");
        let lab = file("lab.toml", "include = \"base.toml\"\n[[load]]\nusers = 2\n");
        let document = Document::read(&lab).unwrap();
        let users: Vec<_> = document
            .tables("load")
            .iter()
            .map(|node| node.table().unwrap()["users"].scalar().unwrap())
            .collect();
        assert_eq!(users, ["1", "2"]);
        assert_eq!(Document::read(directory.path()).unwrap().file, lab);

        file("base.toml", "include = [\"lab.toml\", \"none.toml\"]\n");
        let errors = Document::read(&lab).unwrap_err();
        assert_eq!(errors.len(), 2, "{errors:?}");
        let errors: String = errors.iter().map(ToString::to_string).collect();
        assert!(errors.contains("includes itself"), "{errors}");
        assert!(errors.contains("none.toml"), "{errors}");
    }
}
