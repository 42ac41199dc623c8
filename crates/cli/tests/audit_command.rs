//! Formats and exit statuses of `plimsoll audit`.

mod plimsoll;

use plimsoll::plimsoll;

/// The path of a recording from the tests of the crate `audit`.
fn recording(name: &str) -> String {
    format!(
        "{}/../audit/tests/recorded/{name}",
        env!("CARGO_MANIFEST_DIR")
    )
}

#[test]
fn exit_statuses_reflect_the_findings() {
    let sound = plimsoll(&["audit", &recording("clean/k6_one_user.txt")]).run();
    assert_eq!(sound.status, Some(0), "{}", sound.stdout);
    let noted = plimsoll(&["audit", &recording("clean/vegeta_100.txt")]).run();
    assert_eq!(noted.status, Some(0), "{}", noted.stdout);
    let found = plimsoll(&["audit", &recording("wrong/k6_stall.txt")]).run();
    assert_eq!(found.status, Some(1));
    assert!(found.stdout.contains("[hidden-stall]"), "{}", found.stdout);
    let absent = plimsoll(&["audit", "/nonexistent", &recording("wrong/k6_stall.txt")]).run();
    assert_eq!(absent.status, Some(2));
    assert!(absent.stderr.contains("/nonexistent"), "{}", absent.stderr);
    assert!(
        absent.stdout.contains("hidden-stall"),
        "the other file is still audited"
    );
}

#[test]
fn every_format_is_valid() {
    let file = recording("wrong/k6_stall.txt");
    let json = plimsoll(&["audit", "--format", "json", &file]).run();
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["blocks"][0]["tool"], "k6");
    assert_eq!(json["findings"][0]["block"], 1);
    let sarif = plimsoll(&["audit", "--format", "sarif", &file]).run();
    let sarif: serde_json::Value = serde_json::from_str(&sarif.stdout).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let rules = sarif["runs"][0]["tool"]["driver"]["rules"]
        .as_array()
        .unwrap();
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
    }
    let page = plimsoll(&["audit", "--format", "markdown", &file]).run();
    assert!(page.stdout.contains("(`hidden-stall`)"), "{}", page.stdout);
}
