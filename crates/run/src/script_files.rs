//! Files of a script that is not run: lists its dependencies, and copies its modules from the network.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use plimsoll_samples::Registry;
use plimsoll_script::{Dependencies, Integrity, LoadSettings};
use serde_json::{Map, Value, json};

use crate::prepare::{PreparedScript, ScriptLog, import_map, take};
use crate::script_input::{ScriptInput, SourceKind};
use crate::{Refusal, modules};

/// The file name of the import map among the copies.
const IMPORT_MAP: &str = "import-map.json";

/// Finds the dependencies of a script without running it.
///
/// # Errors
/// If the script, or a module that it imports, cannot be read or fetched.
pub fn dependencies(
    script: &str,
    map: Option<&Path>,
    is_offline: bool,
    log: &ScriptLog,
) -> Result<Dependencies, Refusal> {
    let fetch = modules::script_fetcher(is_offline, Vec::new());
    let input = ScriptInput::read(script, SourceKind::default(), &fetch).map_err(Refusal::other)?;
    let mut settings = LoadSettings {
        path: PathBuf::new(),
        source: Vec::new(),
        may_be_typescript: false,
        env: BTreeMap::new(),
        freezes_env: false,
        keeps_metric_context: false,
        registry: Arc::new(Registry::new()),
        log: Arc::clone(log),
        fetch: Some(modules::fetcher(is_offline, Vec::new())),
        import_map: import_map(map)?,
        archive: None,
        keep_files: false,
        secrets: Arc::default(),
    };
    take(input, &mut settings);
    Ok(settings.dependencies()?)
}

/// Describes the dependencies as text or as JSON, in k6's form.
pub fn describe(found: &Dependencies, is_json: bool) -> String {
    if is_json {
        let json = json!({
            "buildDependencies": found.extensions,
            "imports": found.imports,
            "customBuildRequired": !found.missing.is_empty(),
        });
        return format!("{json:#}\n");
    }
    let extensions = found.extensions.iter();
    let extensions = extensions.map(|(name, versions)| format!("  {name}: {versions}\n"));
    let imports = found.imports.iter().map(|name| format!("  {name}\n"));
    let required = match found.missing.is_empty() {
        true => "no",
        false => "yes",
    };
    format!(
        "Build Dependencies:\n{}\nImports:\n{}\nCustom Build Required: {required}\n",
        extensions.collect::<String>(),
        imports.collect::<String>(),
    )
}

/// Writes copies of the modules that `script` loaded from the network into `folder`, and an import map that refers to
/// them. Returns a message about them.
///
/// # Errors
/// If the script loaded none, or if a file cannot be written.
pub fn copy_modules(
    prepared: &PreparedScript,
    script: &str,
    folder: &Path,
) -> Result<String, Refusal> {
    let modules = prepared.program.web_modules();
    if modules.is_empty() {
        return Err(Refusal::other(
            "the script loads no module from the network, so there is nothing to copy",
        ));
    }
    let mut used = BTreeSet::new();
    let mut imports = match prepared.import_map.to_entries() {
        Some(Value::Object(entries)) => entries,
        _ => Map::new(),
    };
    let mut integrity = Map::new();
    for (address, content) in &modules {
        let name = file_name(address, &mut used);
        write(&folder.join(&name), content)?;
        imports.insert(address.clone(), format!("./{name}").into());
        let digest = Integrity::of(content).to_string();
        integrity.insert(address.clone(), digest.into());
    }
    let map = json!({ "imports": imports, "integrity": integrity });
    let file = folder.join(IMPORT_MAP);
    write(&file, format!("{map:#}\n").as_bytes())?;
    Ok(format!(
        "{} modules are in {} now. Run the script with them: plimsoll run --import-map {} {script}",
        modules.len(),
        folder.display(),
        file.display()
    ))
}

fn write(path: &Path, content: &[u8]) -> Result<(), Refusal> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(path, content))
        .map_err(|error| Refusal::other(format!("cannot write {}: {error}", path.display())))
}

/// The path of a copy: host and path of its address, without unusual characters. `used` contains the paths that are
/// already taken.
fn file_name(address: &str, used: &mut BTreeSet<String>) -> String {
    let path = address.strip_prefix("https://").unwrap_or(address);
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let parts = path.split('/').filter(|part| !part.is_empty());
    let mut parts: Vec<String> = parts.map(plain).collect();
    let mut last = parts.pop().unwrap_or_default();
    if !query.is_empty() {
        last.push('_');
        last.push_str(&plain(query));
    }
    let (stem, ending) = match last.rsplit_once('.') {
        Some((stem, ending)) if ["js", "mjs", "cjs", "ts", "json"].contains(&ending) => {
            (stem.to_owned(), ending.to_owned())
        }
        _ => (last, "js".to_owned()),
    };
    let mut number = 1;
    loop {
        let file = match number {
            1 => format!("{stem}.{ending}"),
            _ => format!("{stem}-{number}.{ending}"),
        };
        let name = [&parts[..], &[file]].concat().join("/");
        // Some file systems do not distinguish upper and lower case.
        if used.insert(name.to_lowercase()) {
            return name;
        }
        number += 1;
    }
}

/// Replaces characters in a part of a path that some file systems do not accept. The result cannot lead to another
/// folder.
fn plain(part: &str) -> String {
    let keep = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '@');
    let plain: String = part
        .chars()
        .map(|c| if keep(c) { c } else { '_' })
        .collect();
    match plain.chars().all(|c| c == '.') {
        true => "_".repeat(plain.len()),
        false => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_have_unique_plain_names() {
        let mut used = BTreeSet::new();
        let mut name = |address| file_name(address, &mut used);
        assert_eq!(
            name("https://jslib.k6.io/k6-utils/1.4.0/index.js"),
            "jslib.k6.io/k6-utils/1.4.0/index.js"
        );
        assert_eq!(name("https://a.example:8443/x"), "a.example_8443/x.js");
        assert_eq!(name("https://a.example:8443/X"), "a.example_8443/X-2.js");
        assert_eq!(name("https://a.example/x.js?v=1"), "a.example/x.js_v_1.js");
        assert_eq!(
            name("https://a.example/../../etc/%2e"),
            "a.example/__/__/etc/_2e.js"
        );
        assert_eq!(name("https://a.example"), "a.example.js");
        assert_eq!(
            name("https://b.example/@org/p@1.json"),
            "b.example/@org/p@1.json"
        );
    }
}
