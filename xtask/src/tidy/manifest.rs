//! The workspace's manifests, as cargo itself reads them.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// One crate of the workspace.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// The package's name, such as `plimsoll-http`.
    pub package: String,
    /// The path of its `Cargo.toml`, relative to the root.
    pub path: String,
    pub dependencies: Vec<Dependency>,
    /// The manifest's text, to find lines in.
    pub text: String,
}

/// One dependency, as written in a manifest.
#[derive(Debug, Clone)]
pub struct Dependency {
    /// The name of the package, even if it is renamed in the manifest.
    pub package: String,
    /// The name in the manifest, if that is not the package's.
    pub renamed: Option<String>,
    /// Whether only tests use it.
    pub dev: bool,
    /// Whether it is a crate of this workspace.
    pub ours: bool,
}

impl Manifest {
    /// The crate's short name: the package's without the prefix. The binary's crate is `cli`.
    pub fn short_name(&self) -> &str {
        short_name(&self.package)
    }

    /// The line with `word` as its key, or 0.
    pub fn line_of(&self, word: &str) -> usize {
        let name = short_name(word);
        let names = |line: &str, name: &str| {
            line.trim_start()
                .strip_prefix(name)
                .is_some_and(|rest| rest.starts_with([' ', '.', '=']))
                || line.contains(&format!("package = \"{name}\""))
        };
        let found = self
            .text
            .lines()
            .position(|line| names(line, word) || names(line, name));
        found.map_or(0, |index| index + 1)
    }
}

/// `plimsoll-http` → `http`, `plimsoll` → `cli`.
pub fn short_name(package: &str) -> &str {
    match package {
        "plimsoll" => "cli",
        _ => package.strip_prefix("plimsoll-").unwrap_or(package),
    }
}

/// Asks cargo for the workspace and everything it may use, on any platform. Downloads what is
/// missing.
pub fn metadata(root: &Path) -> Result<Value, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot run cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "cargo metadata: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("the output of cargo metadata is not valid JSON: {error}"))
}

/// The workspace's own crates.
pub fn of_workspace(metadata: &Value, root: &Path) -> Vec<Manifest> {
    let mut manifests = parse(metadata, root);
    for manifest in &mut manifests {
        manifest.text = std::fs::read_to_string(root.join(&manifest.path)).unwrap_or_default();
    }
    manifests
}

fn parse(metadata: &Value, root: &Path) -> Vec<Manifest> {
    let packages = metadata["packages"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let members = metadata["workspace_members"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let ours = packages
        .iter()
        .filter(|package| members.contains(&package["id"]));
    ours.map(|package| parse_package(package, root))
        // Vendored crates follow their own rules.
        .filter(|manifest| !manifest.path.starts_with("vendor/"))
        .collect()
}

fn parse_package(package: &Value, root: &Path) -> Manifest {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let full = text(&package["manifest_path"]);
    let path = Path::new(&full)
        .strip_prefix(root)
        .unwrap_or(Path::new(&full));
    let dependencies = package["dependencies"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    Manifest {
        package: text(&package["name"]),
        path: path.to_string_lossy().into_owned(),
        dependencies: dependencies
            .iter()
            .map(|dependency| Dependency {
                package: text(&dependency["name"]),
                renamed: dependency["rename"].as_str().map(str::to_owned),
                dev: dependency["kind"] == "dev",
                ours: dependency["path"].as_str().is_some_and(|path| {
                    Path::new(path).starts_with(root)
                        && !Path::new(path).starts_with(root.join("vendor"))
                }),
            })
            .collect(),
        text: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_and_kinds_are_read() {
        let metadata = serde_json::json!({"workspace_members": ["a", "b"], "packages": [{
            "id": "b",
            "name": "patched",
            "manifest_path": "/w/vendor/patched/Cargo.toml",
            "dependencies": [],
        }, {
            "id": "a",
            "name": "plimsoll-http",
            "manifest_path": "/w/crates/http/Cargo.toml",
            "dependencies": [
                {"name": "plimsoll-net", "kind": null, "path": "/w/crates/net"},
                {"name": "h2", "kind": "dev"},
                {"name": "patched", "kind": null, "path": "/w/vendor/patched"},
            ],
        }]});
        let manifests = parse(&metadata, Path::new("/w"));
        assert_eq!(manifests[0].short_name(), "http");
        assert_eq!(manifests[0].path, "crates/http/Cargo.toml");
        let facts: Vec<_> = manifests[0]
            .dependencies
            .iter()
            .map(|d| (d.package.as_str(), d.dev, d.ours))
            .collect();
        assert_eq!(
            facts,
            [
                ("plimsoll-net", false, true),
                ("h2", true, false),
                ("patched", false, false)
            ]
        );
    }

    #[test]
    fn lines_are_found_by_either_name() {
        let manifest = Manifest {
            package: "x".into(),
            path: "Cargo.toml".into(),
            dependencies: vec![],
            text: "[dependencies]\nnet.workspace = true\nhttp-types = { package = \"http\" }\n"
                .into(),
        };
        assert_eq!(manifest.line_of("plimsoll-net"), 2);
        assert_eq!(manifest.line_of("http"), 3);
        assert_eq!(manifest.line_of("absent"), 0);
    }
}
