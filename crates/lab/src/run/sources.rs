//! The input files of a run besides its lab file, with hashes of their contents at its start. A run
//! is not resumed after they have changed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::resolve::load::{SanityKind, Source};
use crate::resolve::{Cell, Lab};

/// A file, and the hash of its contents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    pub file: PathBuf,
    /// SHA-256 of its contents in hexadecimal digits; empty if it could not be read.
    pub sha256: String,
}

/// Maximum number of files. Labs and scripts use far fewer.
const MAX_FILES: usize = 2000;
/// Larger files contain data that is not edited by hand, so only their length is compared.
const MAX_SIZE: u64 = 64 << 20;

/// All files of a lab: included files, templates, scripts of all cells, and files that they refer
/// to.
pub fn of(lab: &Lab) -> Vec<SourceFile> {
    let mut found: BTreeSet<PathBuf> = BTreeSet::new();
    let mut left: Vec<PathBuf> = lab.document.included.clone();
    for setup in &lab.variants {
        left.extend(setup.seeds.iter().filter_map(|seed| seed.script.clone()));
        let templates = setup.processes.iter().flat_map(|one| &one.templates);
        left.extend(templates.cloned());
    }
    lab.cells
        .iter()
        .for_each(|cell| files_of_cell(cell, &mut left));
    while let Some(file) = left.pop() {
        let file = std::path::absolute(&file).unwrap_or(file);
        if found.len() < MAX_FILES && found.insert(file.clone()) {
            left.extend(files_in_script(&file));
        }
    }
    found
        .into_iter()
        .map(|file| SourceFile {
            sha256: hash(&file),
            file,
        })
        .collect()
}

pub fn changed(before: &[SourceFile]) -> Vec<PathBuf> {
    before
        .iter()
        .filter(|one| hash(&one.file) != one.sha256)
        .map(|one| one.file.clone())
        .collect()
}

fn files_of_cell(cell: &Cell, files: &mut Vec<PathBuf>) {
    let body = |text: &str| text.strip_prefix('@').map(PathBuf::from);
    match &cell.load.source {
        Source::Script(script) => files.push(script.clone()),
        Source::Targets(targets) => files.push(targets.file.clone()),
        Source::Http(http) => {
            files.extend(http.body.as_deref().and_then(body));
            files.extend(http.body_lines.iter().map(|lines| lines.file.clone()));
        }
        Source::Grpc(grpc) => {
            files.extend(body(&grpc.data));
            files.extend(grpc.proto.as_deref().map(PathBuf::from));
        }
        Source::Command(words) => files.extend(
            words
                .iter()
                .map(PathBuf::from)
                .filter(|path| is_script(path)),
        ),
        Source::Throughput(_) => {}
    }
    match &cell.sanity.how {
        SanityKind::Script(script) => files.push(script.clone()),
        SanityKind::Command(words) => {
            files.extend(
                words
                    .iter()
                    .map(PathBuf::from)
                    .filter(|path| is_script(path)),
            );
        }
        SanityKind::TheLoad => {}
    }
}

fn is_script(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("js" | "mjs" | "ts" | "py" | "sh")) && path.is_file()
}

/// Files that a script imports or opens: every quoted string in it that is the relative path of a
/// file.
fn files_in_script(script: &Path) -> Vec<PathBuf> {
    const MAX_LENGTH: usize = 300;
    let extension = script.extension().and_then(|extension| extension.to_str());
    if !matches!(extension, Some("js" | "mjs" | "ts")) {
        return Vec::new();
    }
    let Some(directory) = script.parent() else {
        return Vec::new();
    };
    let small =
        std::fs::metadata(script).is_ok_and(|file| file.is_file() && file.len() <= MAX_SIZE);
    let text = small
        .then(|| std::fs::read_to_string(script).ok())
        .flatten()
        .unwrap_or_default();
    text.lines()
        .flat_map(|line| line.split(['\'', '"', '`']))
        .filter(|piece| piece.contains('.') && piece.len() < MAX_LENGTH && !piece.contains('\0'))
        .map(|piece| directory.join(piece))
        .filter(|path| path.is_file())
        .take(MAX_FILES)
        .collect()
}

fn hash(file: &Path) -> String {
    let Ok(metadata) = std::fs::metadata(file) else {
        return String::new();
    };
    // Reading a device or a pipe may never end, and yields different contents each time.
    if !metadata.is_file() {
        return String::new();
    }
    if metadata.len() > MAX_SIZE {
        return format!("{} bytes", metadata.len());
    }
    let Ok(bytes) = std::fs::read(file) else {
        return String::new();
    };
    Sha256::digest(&bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FormName;

    #[test]
    fn changes_of_scripts_and_their_files_are_detected() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let write = |name: &str, text: &str| std::fs::write(path(name), text).unwrap();
        write("base.toml", "[load]\nduration = \"1s\"\n");
        write(
            "lab.toml",
            "include = \"base.toml\"\n[lab]\ntitle = \"x\"\n[[load]]\nscript = \"a.js\"\n",
        );
        write("a.js", "import { b } from './b.js';\nconst x = `${b}`;\n");
        write("b.js", "export const b = open(\"data.json\");\n");
        write("data.json", "[1]");
        write("other.js", "1");
        let lab = Lab::read(directory.path(), FormName::Standard).unwrap();
        let files = of(&lab);
        let names: Vec<_> = files
            .iter()
            .map(|one| one.file.file_name().unwrap().to_str().unwrap())
            .collect();
        assert_eq!(names, ["a.js", "b.js", "base.toml", "data.json"]);
        assert_eq!(changed(&files), Vec::<PathBuf>::new());
        write("data.json", "[2]");
        std::fs::remove_file(path("a.js")).unwrap();
        assert_eq!(changed(&files).len(), 2, "{:?}", changed(&files));
    }
}
