//! The files and modules that a script imports. The script is not run to find them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_k6::modules;
use plimsoll_k6::pure::typescript::imports;

use super::Location;
use super::library::Library;

/// The dependencies of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependencies {
    /// The script, and the full names of everything that it and its modules import.
    pub imports: BTreeSet<String>,
    /// k6 itself and its extensions, each with the versions that the script accepts.
    pub extensions: BTreeMap<String, String>,
    /// The extensions that are not available here.
    pub missing: BTreeSet<String>,
}

impl Library {
    /// The dependencies of a script with this source.
    ///
    /// # Errors
    /// If a module cannot be found, read or fetched.
    pub fn dependencies(
        &self,
        source: &[u8],
        may_be_typescript: bool,
    ) -> Result<Dependencies, String> {
        let mut found = Dependencies::default();
        found.extensions.insert("k6".to_owned(), "*".to_owned());
        found.imports.insert(self.entry().name());
        let mut unread = vec![(self.entry().clone(), Arc::from(source), may_be_typescript)];
        while let Some((location, source, is_typescript)) = unread.pop() {
            let text: &[u8] = &source;
            let text = String::from_utf8_lossy(text);
            let listed = imports(&text, is_typescript);
            for directive in &listed.directives {
                found.read_directive(directive);
            }
            for specifier in &listed.specifiers {
                if specifier.starts_with("k6/x/") {
                    found.imports.insert(specifier.clone());
                    let any = || "*".to_owned();
                    found
                        .extensions
                        .entry(specifier.clone())
                        .or_insert_with(any);
                    if modules::find(specifier).is_none() {
                        found.missing.insert(specifier.clone());
                    }
                    continue;
                }
                let name = self.resolve(&location.name(), specifier)?;
                let is_new = found.imports.insert(name.clone());
                match Location::of_name(&name) {
                    None | Some(Location::BuiltIn(_)) => {}
                    Some(location) if !is_new || location.extension() == "json" => {}
                    Some(location) => {
                        let (source, is_typescript) = self.source(&location)?;
                        unread.push((location, source, is_typescript));
                    }
                }
            }
        }
        Ok(found)
    }
}

impl Dependencies {
    /// Reads `use k6 >= 1.2` and `use k6 with k6/x/redis >= 0.3`.
    fn read_directive(&mut self, directive: &str) {
        let Some(rest) = directive.strip_prefix("use k6") else {
            return;
        };
        let rest = rest.trim_start();
        let (name, versions) = match rest.strip_prefix("with ") {
            Some(rest) => {
                let rest = rest.trim_start();
                let end = rest
                    .find(|c: char| c.is_whitespace() || "<>=~^!".contains(c))
                    .unwrap_or(rest.len());
                rest.split_at(end)
            }
            None => ("k6", rest),
        };
        let mut versions = versions.replace(char::is_whitespace, "");
        if versions.is_empty() {
            versions.push('*');
        }
        self.extensions.insert(name.to_owned(), versions);
        if name != "k6" && modules::find(name).is_none() {
            self.missing.insert(name.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::packages::ImportMap;
    use super::super::sources::Sources;
    use super::*;

    #[test]
    fn files_and_extensions_are_found_without_running_the_script() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        put(
            "a.js",
            "import './b'; import http from 'k6/http'; throw new Error('it runs');",
        );
        put(
            "b.ts",
            "import './a.js'; import data from './c.json'; import x from 'k6/x/faker';",
        );
        put("c.json", "{}");
        let script = b"'use k6 with k6/x/faker>0.4'; 'use k6 > 1.2'; import './a.js';";
        let main = put("main.js", "");
        let library = Library::new(
            Location::File(main),
            folder.path().to_owned(),
            Sources::disk(),
            ImportMap::default(),
        );
        let found = library.dependencies(script, false).unwrap();
        let prefix = format!("file://{}/", folder.path().display());
        let imports: Vec<_> = found
            .imports
            .iter()
            .map(|name| name.replace(&prefix, ""))
            .collect();
        assert_eq!(
            imports,
            ["a.js", "b.ts", "c.json", "main.js", "k6/http", "k6/x/faker"]
        );
        let extensions: Vec<_> = found.extensions.into_iter().collect();
        let pair = |name: &str, versions: &str| (name.to_owned(), versions.to_owned());
        assert_eq!(extensions, [pair("k6", ">1.2"), pair("k6/x/faker", ">0.4")]);
        assert_eq!(
            found.missing.into_iter().collect::<Vec<_>>(),
            ["k6/x/faker"]
        );
        let gone = library.dependencies(b"import './gone.js';", false);
        assert!(gone.unwrap_err().contains("./gone.js"));
    }
}
