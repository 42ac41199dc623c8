//! The packages for CI systems. The test runs their scripts as the CI systems do.

use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_testkit::peers::{Peer, Play};
use plimsoll_testkit::program::Program;

fn packaging(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("../../packaging").join(name)
}

/// A folder that contains the program under test as `plimsoll`.
fn with_plimsoll() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink(
        env!("CARGO_BIN_EXE_plimsoll"),
        folder.path().join("plimsoll"),
    )
    .expect("a link");
    folder
}

fn path(folder: &Path) -> String {
    format!(
        "{}:{}",
        folder.display(),
        std::env::var("PATH").unwrap_or_default()
    )
}

#[test]
fn the_action_for_github_runs_and_keeps_reports() {
    let server = Peer::start(Play::ok("hello"));
    let (folder, work) = (with_plimsoll(), tempfile::tempdir().expect("a folder"));
    let action = |arguments: &str, fail_on: &str| {
        Program::at("bash")
            .arg(packaging("github-action/run.sh"))
            .env("PATH", path(folder.path()))
            .env("ARGUMENTS", arguments)
            .env("FAIL_ON", fail_on)
            .env("DIRECTORY", "out")
            .env("GITHUB_OUTPUT", work.path().join("outputs"))
            .inside(work.path())
            .run()
    };
    let arguments = format!(
        "  http\n  -n\n  40\n  -H\n  Accept: text/html, */*\n  {}\n\n",
        server.url()
    );
    let ended = action(&arguments, "invalid");
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    for name in [
        "report.html",
        "report.md",
        "report.json",
        "junit.xml",
        "run.jsonl",
    ] {
        assert!(work.path().join("out").join(name).exists(), "{name}");
    }
    let outputs = fs::read_to_string(work.path().join("outputs")).expect("outputs");
    assert_eq!(outputs, "status=0\ndirectory=out\n");
    assert!(ended.stderr.contains("::notice title="), "{}", ended.stderr);
    let record = fs::read_to_string(work.path().join("out/run.jsonl")).expect("a record");
    assert!(
        record.contains("Accept: text/html, */*"),
        "one argument per line"
    );
    // The status of the step is that of the condition.
    assert_eq!(action(&arguments, "objective").status, Some(3));
    assert_eq!(action(" \n", "invalid").status, Some(104));
}

#[test]
fn every_input_of_the_action_reaches_its_script() {
    let action = fs::read_to_string(packaging("github-action/action.yml")).expect("the action");
    let script = fs::read_to_string(packaging("github-action/run.sh")).expect("its script");
    let inputs = action
        .split("inputs:\n")
        .nth(1)
        .and_then(|rest| rest.split("outputs:\n").next())
        .expect("inputs");
    let names = inputs.lines().filter_map(|line| {
        let name = line.strip_prefix("  ")?.strip_suffix(':')?;
        (!name.starts_with(' ')).then_some(name)
    });
    let mut count = 0;
    for name in names {
        count += 1;
        assert!(action.contains(&format!("inputs.{name} ")), "{name}");
        if name != "artifact" {
            let variable = name.to_uppercase().replace('-', "_");
            assert!(
                action.contains(&format!("{variable}: ${{{{ inputs.{name} }}}}")),
                "{name}"
            );
            assert!(script.contains(&variable), "{name}");
        }
    }
    assert_eq!(count, 6, "{inputs}");
}

#[test]
fn the_template_for_gitlab_runs_and_keeps_reports() {
    let server = Peer::start(Play::ok("hello"));
    let (folder, work) = (with_plimsoll(), tempfile::tempdir().expect("a folder"));
    let template =
        fs::read_to_string(packaging("gitlab/plimsoll.gitlab-ci.yml")).expect("the template");
    let script: String = template
        .lines()
        .skip_while(|line| *line != "    - |")
        .skip(1)
        .take_while(|line| line.starts_with("      "))
        .map(|line| format!("{}\n", &line[6..]))
        .collect();
    let job = |arguments: &str, fail_on: &str| {
        Program::at("sh")
            .args(["-c", &script])
            .env("PATH", path(folder.path()))
            .env("PLIMSOLL_ARGUMENTS", arguments)
            .env("PLIMSOLL_FAIL_ON", fail_on)
            .env("PLIMSOLL_BASELINE", "")
            .env("PLIMSOLL_DIRECTORY", "out")
            .inside(work.path())
            .run()
    };
    let arguments = format!("http -n 40 {}", server.url());
    let ended = job(&arguments, "invalid");
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    for name in [
        "report.html",
        "report.md",
        "report.json",
        "junit.xml",
        "run.jsonl",
    ] {
        assert!(work.path().join("out").join(name).exists(), "{name}");
    }
    assert_eq!(job(&arguments, "objective").status, Some(3));
    assert_eq!(job("", "invalid").status, Some(104));
    // GitLab shows the tests and the page.
    for part in ["junit: $PLIMSOLL_DIRECTORY/junit.xml", "when: always"] {
        assert!(template.contains(part), "{part}");
    }
}
