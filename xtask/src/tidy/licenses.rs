//! Licenses of all linked packages must be compatible with ours. The list is in `deny.toml`, which
//! cargo-deny also reads if it is installed.

use serde_json::Value;

use super::Finding;
use super::tree::Tree;

const LIST: &str = "deny.toml";

/// Checks the license of every package that the workspace may use on any platform. `metadata` is
/// the output of `cargo metadata`.
pub fn check(tree: &Tree, metadata: &Value) -> Vec<Finding> {
    let list = tree.files.iter().find(|file| file.path == LIST);
    let allowed = list.map(|file| allowed(&file.text)).unwrap_or_default();
    let packages = metadata["packages"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let mut findings = Vec::new();
    for package in packages {
        let name = format!("{} {}", text(&package["name"]), text(&package["version"]));
        let Some(license) = package["license"].as_str() else {
            findings.push(Finding::new(
                LIST,
                0,
                format!("{name} does not name a license"),
            ));
            continue;
        };
        let excepted = list.map(|file| excepted(&file.text, text(&package["name"])));
        let allowed = [allowed.as_slice(), &excepted.unwrap_or_default()].concat();
        match permits(license, &allowed) {
            Some(true) => {}
            Some(false) => {
                findings.push(Finding::new(
                    LIST,
                    0,
                    format!("{name} is under {license}, which deny.toml does not allow"),
                ));
            }
            None => findings.push(Finding::new(
                LIST,
                0,
                format!("{name}: cannot read its license, {license}"),
            )),
        }
    }
    findings
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The quoted words of the `allow` list under `[licenses]`.
fn allowed(deny: &str) -> Vec<&str> {
    let section = deny.split("[licenses]").nth(1).unwrap_or("");
    let list = section
        .split("allow = [")
        .nth(1)
        .and_then(|rest| rest.split("\n]").next())
        .unwrap_or("");
    let entries = list
        .lines()
        .map(|line| line.split('#').next().unwrap_or(""));
    entries
        .flat_map(|line| line.split('"').skip(1).step_by(2))
        .collect()
}

/// The quoted words of the `exceptions` lists for one package. Each exception is on a separate
/// line: `{ allow = ["…"], crate = "name" }`.
fn excepted<'a>(deny: &'a str, package: &str) -> Vec<&'a str> {
    let named = format!("crate = \"{package}\"");
    deny.lines()
        .filter(|line| !line.trim_start().starts_with('#') && line.contains(&named))
        .filter_map(|line| line.split_once("allow = [")?.1.split(']').next())
        .flat_map(|list| list.split('"').skip(1).step_by(2))
        .collect()
}

/// Whether the licenses in `allowed` satisfy an SPDX expression; `None` if it is invalid. The old
/// notation with a slash for OR is accepted.
fn permits(expression: &str, allowed: &[&str]) -> Option<bool> {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader {
        words: &words,
        allowed,
    };
    let permitted = reader.either()?;
    reader.words.is_empty().then_some(permitted)
}

/// Reads an expression by recursive descent: OR binds weaker than AND, WITH strongest.
struct Reader<'a> {
    words: &'a [&'a str],
    allowed: &'a [&'a str],
}

impl<'a> Reader<'a> {
    fn either(&mut self) -> Option<bool> {
        let mut permitted = self.both()?;
        while self.take("OR") {
            permitted |= self.both()?;
        }
        Some(permitted)
    }

    fn both(&mut self) -> Option<bool> {
        let mut permitted = self.one()?;
        while self.take("AND") {
            permitted &= self.one()?;
        }
        Some(permitted)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let permitted = self.either()?;
            return self.take(")").then_some(permitted);
        }
        let name = self.name()?;
        if self.take("WITH") {
            let exception = self.name()?;
            return Some(
                self.allowed
                    .contains(&format!("{name} WITH {exception}").as_str()),
            );
        }
        Some(self.allowed.contains(&name))
    }

    fn name(&mut self) -> Option<&'a str> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        (!matches!(*first, "OR" | "AND" | "WITH" | "(" | ")")).then_some(first)
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.words.first() == Some(&word);
        if found {
            self.words = &self.words[1..];
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_is_for_one_package() {
        let deny =
            "[licenses]\nexceptions = [{ allow = [\"MIT\", \"X-1.0\"], crate = \"data\" }]\n";
        assert_eq!(excepted(deny, "data"), ["MIT", "X-1.0"]);
        assert_eq!(excepted(deny, "dat"), [""; 0]);
    }

    const ALLOWED: &[&str] = &["MIT", "ISC", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"];

    #[test]
    fn expressions_are_weighed() {
        let cases = [
            ("MIT", Some(true)),
            ("GPL-3.0", Some(false)),
            ("GPL-3.0 OR MIT", Some(true)),
            ("MIT/Apache-2.0", Some(true)),
            ("MIT AND GPL-3.0", Some(false)),
            ("(MIT OR GPL-3.0) AND ISC", Some(true)),
            ("MIT OR GPL-3.0 AND LGPL-2.1", Some(true)),
            ("Apache-2.0 WITH LLVM-exception", Some(true)),
            ("GPL-2.0 WITH Classpath-exception-2.0", Some(false)),
            ("MIT OR", None),
            ("(MIT", None),
            ("MIT ISC", None),
            ("", None),
        ];
        for (expression, expected) in cases {
            assert_eq!(permits(expression, ALLOWED), expected, "{expression}");
        }
    }

    #[test]
    fn the_list_is_read_without_its_comments() {
        let deny = "[bans]\nallow = [\"x\"]\n[licenses]\nallow = [\n  \"MIT\", # not \"GPL\"\n  \"ISC\",\n]\n";
        assert_eq!(allowed(deny), ["MIT", "ISC"]);
    }

    #[test]
    fn forbidden_items_are_named() {
        let tree = Tree::of(&[("deny.toml", "[licenses]\nallow = [\n\"MIT\",\n]\n")]);
        let metadata = serde_json::json!({"packages": [
            {"name": "good", "version": "1.0.0", "license": "MIT"},
            {"name": "bad", "version": "2.0.0", "license": "AGPL-3.0"},
            {"name": "silent", "version": "3.0.0", "license": null},
        ]});
        let messages: Vec<_> = check(&tree, &metadata)
            .into_iter()
            .map(|finding| finding.message)
            .collect();
        assert_eq!(
            messages,
            [
                "bad 2.0.0 is under AGPL-3.0, which deny.toml does not allow",
                "silent 3.0.0 does not name a license"
            ]
        );
    }
}
