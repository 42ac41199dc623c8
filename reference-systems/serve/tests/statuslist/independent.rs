//! Lists are read, and their signatures verified, by libraries that share no code with the server:
//! PyPI's `token-status-list` (with `cryptography` and `cbor2`) and npm's
//! `@sd-jwt/jwt-status-list`. They are installed below `target`, in these versions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::served::{KEY, Reference, Served, TestFolder};

const FROM_PYPI: &[&str] = &[
    "token-status-list==0.1.0a2.dev1",
    "cbor2==5.6.5",
    "cryptography==45.0.7",
];
const FROM_NPM: &str = "@sd-jwt/jwt-status-list@0.19.0";
const AUTHORIZED: &[(&str, &str)] = &[("x-api-key", KEY)];

/// Creates `directory` with `make`, unless that was done for these versions before.
fn once(name: &str, versions: &str, make: impl FnOnce(&Path)) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let stamp = directory.join("versions");
    if fs::read_to_string(&stamp).is_ok_and(|made| made == versions) {
        return directory;
    }
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    make(&directory);
    fs::write(stamp, versions).unwrap();
    directory
}

fn run(command: &mut Command, hint: &str) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("cannot run {command:?}: {error}; {hint}"));
    assert!(
        output.status.success(),
        "{command:?} failed; {hint}\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

fn python() -> PathBuf {
    let hint = "this test needs Python 3 with venv, and PyPI or a copy of it; on Debian: apt-get install python3-venv";
    let directory = once("statuslist-python", &FROM_PYPI.join("\n"), |directory| {
        let mut make = Command::new("python3");
        run(make.args(["-m", "venv"]).arg(directory), hint);
        let mut install = Command::new(directory.join("bin/pip"));
        install.args(["install", "--quiet", "--disable-pip-version-check"]);
        run(install.args(FROM_PYPI), hint);
    });
    directory.join("bin/python")
}

fn node_modules() -> PathBuf {
    let hint = "this test needs Node.js with npm, and npm's registry or a copy of it; on Debian: apt-get install npm";
    once("statuslist-node", FROM_NPM, |directory| {
        fs::write(directory.join("package.json"), "{\"private\":true}").unwrap();
        let mut install = Command::new("npm");
        install
            .args(["install", "--silent", "--no-audit", "--no-fund"])
            .args(["--ignore-scripts", "--save-exact", FROM_NPM])
            .current_dir(directory);
        run(&mut install, hint);
    })
}

/// A server with a list of each width, some statuses set, and the expected content: `{"keys":…,
/// "lists":[{"uri", "bits", "size", "statuses":{index: status}}]}`.
fn prepared(folder: &TestFolder) -> (Served, Value) {
    let served = folder.start();
    let mut client = served.client();
    let mut lists = Vec::new();
    for bits in [1_u64, 2, 4, 8] {
        let path = format!("/pools/bits{bits}/new-references?amount=400");
        let references = Reference::all(&client.send("POST", &path, AUTHORIZED, None).unwrap());
        let uri = &references[0].uri;
        let mut statuses = json!({});
        for reference in references.iter().filter(|one| one.uri == *uri) {
            let status = (reference.index * 5 + 1) % (1 << bits);
            let body = reference.update(status);
            let response = client.send("PATCH", "/status-lists/update", AUTHORIZED, Some(&body));
            assert_eq!(response.unwrap().status, 204);
            statuses[reference.index.to_string()] = status.into();
        }
        lists.push(json!({"uri": uri, "bits": bits, "size": 1000, "statuses": statuses}));
    }
    let keys = client.get("/.well-known/jwks.json", &[]).json();
    (served, json!({"keys": keys, "lists": lists}))
}

fn folder() -> TestFolder {
    let pool = |bits: u8| json!({"size": 1000, "bits": bits, "prefetch": {"threshold": 1, "capacity": 400}});
    TestFolder::new(json!({"bits1": pool(1), "bits2": pool(2), "bits4": pool(4), "bits8": pool(8)}))
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/statuslist")
        .join(name)
}

#[test]
fn pythons_library_reads_jwt_cwt_and_json() {
    let python = python();
    let folder = folder();
    let (_served, expected) = prepared(&folder);
    let mut command = Command::new(python);
    command.arg(script("verify.py")).arg(expected.to_string());
    let verified = run(
        &mut command,
        "the library does not read what the server wrote",
    );
    assert_eq!(
        verified.trim(),
        "verified 4 lists in 3 forms, 1600 statuses set"
    );
}

#[test]
fn nodes_library_reads_jwt() {
    let modules = node_modules();
    let folder = folder();
    let (_served, expected) = prepared(&folder);
    let mut command = Command::new("node");
    command
        .arg(script("verify.cjs"))
        .arg(expected.to_string())
        .env("NODE_PATH", modules.join("node_modules"));
    let verified = run(
        &mut command,
        "the library does not read what the server wrote",
    );
    assert_eq!(verified.trim(), "verified 4 lists, 1600 statuses set");
}
