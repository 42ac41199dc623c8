//! Bare module names: import maps, and packages in `node_modules`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::integrity::Integrity;
use super::sources::Sources;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportMap {
    /// Maps a name, or a prefix ending in `/`, to its target.
    imports: BTreeMap<String, String>,
    /// The digests that modules from the network must have, by address.
    integrity: BTreeMap<String, Integrity>,
}

impl ImportMap {
    /// Parses the JSON of an import map. Targets are kept as written; relative targets are relative to the map's
    /// folder.
    ///
    /// # Errors
    /// Why the map is invalid.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, String> {
        let json: Value = serde_json::from_str(text)
            .map_err(|error| format!("the import map is not JSON: {error}"))?;
        let Some(imports) = json.get("imports").and_then(Value::as_object) else {
            return Err("the import map has no object `imports`".to_owned());
        };
        let entries = imports.iter().map(|(name, target)| {
            let target = target
                .as_str()
                .ok_or_else(|| format!("import map: the target of {name:?} is not a string"))?;
            let relative = target.starts_with("./") || target.starts_with("../");
            let target = if relative {
                let slash = if target.ends_with('/') { "/" } else { "" };
                let whole = folder.join(target.trim_end_matches('/'));
                format!("file://{}{slash}", whole.display())
            } else {
                target.to_owned()
            };
            Ok((name.clone(), target))
        });
        let imports = entries.collect::<Result<_, String>>()?;
        let digests = json.get("integrity").and_then(Value::as_object);
        let digests = digests.into_iter().flatten().map(|(address, digest)| {
            let digest = digest
                .as_str()
                .ok_or_else(|| "it is not a string".to_owned());
            let digest = digest.and_then(Integrity::parse);
            let digest = digest
                .map_err(|error| format!("import map: the integrity of {address:?}: {error}"))?;
            Ok((address.clone(), digest))
        });
        Ok(Self {
            imports,
            integrity: digests.collect::<Result<_, String>>()?,
        })
    }

    /// The digest that the module at `address` must have.
    pub fn integrity(&self, address: &str) -> Option<&Integrity> {
        self.integrity.get(address)
    }

    /// The local copy of a module from the network, with the digest that it must have. Everywhere else, the copy is
    /// treated as the module itself, so its imports are relative to its address.
    pub fn copy(&self, address: &str) -> Option<&Path> {
        self.integrity.get(address)?;
        let target = self.imports.get(address)?;
        target.strip_prefix("file://").map(Path::new)
    }

    /// Reads entries in the format of [`ImportMap::to_entries`]; `None` yields an empty map.
    ///
    /// # Errors
    /// If they are not a map of strings.
    pub fn from_entries(entries: Option<&Value>) -> Result<Self, String> {
        match entries {
            None | Some(Value::Null) => Ok(Self::default()),
            Some(entries) => serde_json::from_value(entries.clone())
                .map(|imports| Self {
                    imports,
                    integrity: BTreeMap::new(),
                })
                .map_err(|error| format!("its import map is not a map of strings: {error}")),
        }
    }

    /// The entries as JSON, without those of copies. `None` if there are none.
    pub fn to_entries(&self) -> Option<Value> {
        let entries = self.imports.iter();
        let entries = entries.filter(|(name, _)| self.copy(name).is_none());
        let entries: BTreeMap<_, _> = entries.collect();
        (!entries.is_empty()).then(|| serde_json::json!(entries))
    }

    /// The target of `specifier`: the exact entry, or else that of the longest matching prefix (HTML standard,
    /// "resolving a module specifier").
    pub fn find(&self, specifier: &str) -> Option<String> {
        if self.copy(specifier).is_some() {
            return None;
        }
        if let Some(target) = self.imports.get(specifier) {
            return Some(target.clone());
        }
        let prefixes = self
            .imports
            .iter()
            .filter(|(name, _)| name.ends_with('/') && specifier.starts_with(*name));
        let (prefix, target) = prefixes.max_by_key(|(name, _)| name.len())?;
        Some(format!("{target}{}", &specifier[prefix.len()..]))
    }
}

/// The file that an import path refers to: the path itself, the path with an extension, or the index file of a folder.
pub fn existing(sources: &Sources, path: &Path) -> Option<PathBuf> {
    if sources.is_file(path) {
        return Some(path.to_owned());
    }
    const ENDINGS: [&str; 5] = ["js", "mjs", "cjs", "ts", "json"];
    let with_ending = ENDINGS.iter().map(|ending| {
        let mut name = path.as_os_str().to_owned();
        name.push(".");
        name.push(ending);
        PathBuf::from(name)
    });
    let index = ENDINGS
        .iter()
        .map(|ending| path.join(format!("index.{ending}")));
    with_ending.chain(index).find(|file| sources.is_file(file))
}

/// The file of the bare name `specifier` for a module in `folder`. It is in the closest `node_modules` above it that
/// has the package.
///
/// # Errors
/// If the package exists but its entry does not.
pub fn in_node_modules(
    sources: &Sources,
    folder: &Path,
    specifier: &str,
) -> Result<Option<PathBuf>, String> {
    let slashes = if specifier.starts_with('@') { 2 } else { 1 };
    let split = specifier
        .match_indices('/')
        .nth(slashes - 1)
        .map_or(specifier.len(), |(at, _)| at);
    let (package, inside) = specifier.split_at(split);
    for folder in folder.ancestors() {
        let root = folder.join("node_modules").join(package);
        if sources.is_folder(&root) {
            let inside = inside.trim_start_matches('/');
            return match entry(sources, &root, inside) {
                Some(file) => Ok(Some(super::location::normalize(&file))),
                None => Err(format!(
                    "the package {} has no entry for {specifier}",
                    root.display()
                )),
            };
        }
    }
    Ok(None)
}

/// The file for the path `inside` of the package at `root`. `inside` is empty for the package itself.
fn entry(sources: &Sources, root: &Path, inside: &str) -> Option<PathBuf> {
    let manifest = sources.read(&root.join("package.json")).unwrap_or_default();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap_or_default();
    if let Some(exports) = manifest.get("exports") {
        let key = if inside.is_empty() {
            ".".to_owned()
        } else {
            format!("./{inside}")
        };
        let by_path = exports
            .as_object()
            .is_some_and(|map| map.keys().any(|key| key.starts_with('.')));
        let target = if by_path {
            exports.get(&key)
        } else {
            inside.is_empty().then_some(exports)
        };
        if let Some(file) = target.and_then(conditional) {
            return existing(sources, &root.join(file));
        }
    }
    if !inside.is_empty() {
        return existing(sources, &root.join(inside));
    }
    let named = ["module", "main"]
        .iter()
        .filter_map(|key| manifest.get(*key)?.as_str());
    named
        .map(|file| root.join(file))
        .find_map(|file| existing(sources, &file))
        .or_else(|| existing(sources, root))
}

/// The file of an `exports` target, which is a string, or an object whose first matching condition applies.
fn conditional(target: &Value) -> Option<&str> {
    match target {
        Value::String(file) => Some(file),
        Value::Array(choices) => choices.iter().find_map(conditional),
        Value::Object(conditions) => {
            let fits = |name: &&String| {
                matches!(
                    name.as_str(),
                    "import" | "module" | "browser" | "default" | "require"
                )
            };
            conditions
                .keys()
                .filter(fits)
                .find_map(|name| conditional(&conditions[name]))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_map_prefers_exact_names_and_long_prefixes() {
        let map = r#"{"imports":{"a":"./x.js","lib/":"./lib/","lib/deep/":"https://e.example/"}}"#;
        let map = ImportMap::parse(map, Path::new("/w")).unwrap();
        assert_eq!(map.find("a").unwrap(), "file:///w/./x.js");
        assert_eq!(map.find("lib/b.js").unwrap(), "file:///w/./lib/b.js");
        assert_eq!(map.find("lib/deep/c.js").unwrap(), "https://e.example/c.js");
        assert_eq!(map.find("other"), None);
        assert!(
            ImportMap::parse("{}", Path::new("/"))
                .unwrap_err()
                .contains("imports")
        );
    }

    #[test]
    fn a_copy_has_a_digest() {
        let address = "https://e.example/a.js";
        let digest = Integrity::of(b"text");
        let map = |digest: &str| {
            let text = format!(
                r#"{{"imports":{{"{address}":"./a.js","b":"./b.js"}},"integrity":{{"{address}":"{digest}"}}}}"#
            );
            ImportMap::parse(&text, Path::new("/w"))
        };
        let read = map(&digest.to_string()).unwrap();
        assert_eq!(read.copy(address), Some(Path::new("/w/./a.js")));
        assert_eq!(read.find(address), None);
        assert_eq!(read.integrity(address), Some(&digest));
        assert_eq!(
            read.to_entries(),
            Some(serde_json::json!({"b": "file:///w/./b.js"}))
        );
        assert!(map("md5-x").unwrap_err().contains(address));
    }

    #[test]
    fn packages_are_found_upwards_and_by_their_manifest() {
        let folder = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("node_modules/main/package.json", r#"{"main":"lib/entry"}"#);
        put("node_modules/main/lib/entry.js", "");
        put(
            "node_modules/@org/exp/package.json",
            r#"{"exports":{".":{"import":"./m.mjs"},"./sub":"./s.js"}}"#,
        );
        put("node_modules/@org/exp/m.mjs", "");
        put("node_modules/@org/exp/s.js", "");
        put("node_modules/bare/index.js", "");
        put("node_modules/broken/package.json", r#"{"main":"gone.js"}"#);
        let from = folder.path().join("deep/down");
        let find = |name: &str| {
            let found = in_node_modules(&Sources::disk(), &from, name)?;
            Ok::<_, String>(found.map(|file| {
                file.strip_prefix(folder.path().join("node_modules"))
                    .unwrap()
                    .to_string_lossy()
                    .into_owned()
            }))
        };
        assert_eq!(find("main").unwrap().as_deref(), Some("main/lib/entry.js"));
        assert_eq!(
            find("main/lib/entry").unwrap().as_deref(),
            Some("main/lib/entry.js")
        );
        assert_eq!(find("@org/exp").unwrap().as_deref(), Some("@org/exp/m.mjs"));
        assert_eq!(
            find("@org/exp/sub").unwrap().as_deref(),
            Some("@org/exp/s.js")
        );
        assert_eq!(find("bare").unwrap().as_deref(), Some("bare/index.js"));
        assert_eq!(find("absent").unwrap(), None);
        assert!(find("broken").unwrap_err().contains("no entry"));
    }
}
