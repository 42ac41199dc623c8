//! Writable streams of `k6/experimental/streams`, which k6 lacks, behave like those of Node.js.

mod plimsoll;

use std::fs;
use std::process::Command;

use plimsoll::{RUN, plimsoll};

const SCENARIO: &str = include_str!("streams/scenario.js");

#[test]
fn writable_streams_behave_like_those_of_node() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
    write(
        "node.js",
        format!(
            "{SCENARIO}\nscenario(globalThis).then((lines) => console.log(lines.join('\\n')));"
        ),
    );
    let output = Command::new("node")
        .arg(folder.path().join("node.js"))
        .output()
        .expect("this test needs Node.js");
    let expected = String::from_utf8(output.stdout).unwrap();
    assert!(expected.lines().count() > 30, "{expected}");

    write(
        "script.js",
        format!(
            "import * as streams from 'k6/experimental/streams';\n{SCENARIO}\n\
             export default async function () {{ console.log((await scenario(streams)).join('\\n')); }}"
        ),
    );
    let ended = plimsoll(&[&RUN[..], &["script.js"]].concat())
        .inside(folder.path())
        .run();
    assert_eq!(ended.stderr.trim(), expected.trim());
}
