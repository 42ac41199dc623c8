//! The names that are available in a table of a cell.

use std::path::Path;

use crate::matrix::Coordinates;
use crate::problem::suggestion;
use crate::template::Lookup;

/// The variables of a process.
#[derive(Clone, Debug, Default)]
pub struct ProcessNames {
    pub name: String,
    /// Its additional ports.
    pub ports: Vec<String>,
    /// Names of captured values.
    pub captured: Vec<String>,
    /// Whether names may also be fields of a JSON line, which are not known in advance.
    pub any: bool,
}

/// The files of `[certificates]`.
pub const CERTIFICATES: [&str; 6] = [
    "directory",
    "ca",
    "server",
    "server-key",
    "client",
    "client-key",
];

/// Variables that every process has.
const PROCESS_VARIABLES: [&str; 6] = ["port", "address", "url", "host", "directory", "log"];

/// Additional variables of a load.
const LOAD_VARIABLES: [&str; 7] = [
    "cell", "repeat", "seconds", "duration", "warmup", "users", "rate",
];

/// All names that a table may use for one cell.
#[derive(Clone, Default)]
pub struct Scope<'a> {
    pub cell: Option<&'a Coordinates>,
    /// Variables and their values.
    pub variables: &'a [(String, String)],
    /// The directory of the lab file.
    pub directory: Option<&'a Path>,
    /// Systems and services of the cell.
    pub processes: &'a [ProcessNames],
    /// Seeds of the cell.
    pub seeds: &'a [String],
    /// Whether the cell has certificates.
    pub certificates: bool,
    /// The process that the table belongs to, if any.
    pub own: Option<&'a ProcessNames>,
    /// Whether the table is a load.
    pub load: bool,
}

impl Scope<'_> {
    pub fn look_up(&self, name: &str) -> Lookup {
        if let Some(value) = self.cell.and_then(|cell| cell.get(name)) {
            return Lookup::Text(value.to_owned());
        }
        if let Some((_, text)) = self.variables.iter().rev().find(|(known, _)| known == name) {
            return Lookup::Text(text.clone());
        }
        if let (Some(directory), "lab") = (self.directory, name) {
            return Lookup::Text(absolute(directory));
        }
        if self.load && LOAD_VARIABLES.contains(&name) {
            return Lookup::Later;
        }
        // The values that a process prints when it is ready are not known at its start.
        let own = self.own.map(ProcessNames::names).unwrap_or_default();
        if own.iter().any(|known| known == name) {
            return Lookup::Later;
        }
        match name.split_once('.') {
            Some((owner, field)) => self.field(name, owner, field),
            None => Lookup::Unknown(self.unknown(name)),
        }
    }

    fn field(&self, name: &str, owner: &str, field: &str) -> Lookup {
        if let Some(process) = self.processes.iter().find(|one| one.name == owner) {
            if process.has(field) {
                return Lookup::Later;
            }
            let known = process.names();
            let known = known.iter().map(String::as_str);
            return Lookup::Unknown(format!(
                "unknown variable {{{name}}}: of {owner}, {}",
                suggestion(field, known)
            ));
        }
        if self.seeds.iter().any(|seed| seed == owner) {
            return Lookup::Later;
        }
        if owner == "certificates" && self.certificates {
            if CERTIFICATES.contains(&field) {
                return Lookup::Later;
            }
            return Lookup::Unknown(format!(
                "unknown variable {{{name}}}: of certificates, {}",
                suggestion(field, CERTIFICATES.iter().copied())
            ));
        }
        Lookup::Unknown(self.unknown(name))
    }

    fn unknown(&self, name: &str) -> String {
        let mut known: Vec<String> = Vec::new();
        if let Some(cell) = self.cell {
            known.extend(cell.0.iter().map(|(axis, _)| axis.clone()));
        }
        known.extend(self.variables.iter().map(|(name, _)| name.clone()));
        if self.load {
            known.extend(LOAD_VARIABLES.map(str::to_owned));
        }
        known.extend(self.own.into_iter().flat_map(ProcessNames::names));
        for process in self.processes {
            let names = process.names();
            known.extend(
                names
                    .iter()
                    .map(|field| format!("{}.{field}", process.name)),
            );
        }
        if self.certificates {
            known.extend(CERTIFICATES.map(|field| format!("certificates.{field}")));
        }
        let known = known.iter().map(String::as_str);
        format!(
            "unknown variable {{{name}}} in this cell; {}; write {{{{{name}}}}} for the text itself",
            suggestion(name, known)
        )
    }
}

impl ProcessNames {
    fn has(&self, field: &str) -> bool {
        self.any || self.names().iter().any(|known| known == field)
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = PROCESS_VARIABLES.map(str::to_owned).to_vec();
        for port in &self.ports {
            names.push(format!("port.{port}"));
            names.push(format!("address.{port}"));
        }
        names.extend(self.captured.iter().cloned());
        names
    }
}

/// The absolute path of a directory as text.
fn absolute(directory: &Path) -> String {
    let path = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
    path.display().to_string()
}
