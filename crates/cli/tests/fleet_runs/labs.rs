//! Labs whose load agents generate.

use std::fs;

use crate::tiny_lab::{Lab, TINY, one_cell};

/// Agents and their server are part of the generator, and stop with it.
pub fn a_lab_measures_with_a_fleet() {
    let lab = TINY.replace("how = [\"script\", \"http\"]", "how = [\"http\"]");
    let lab = lab.replace("users = [1, 2]", "users = [2]");
    let duration = "duration = \"1s\"\n";
    let lab = lab.replace(
        duration,
        &format!("{duration}arguments = [\"--fleet\", \"local:2\"]\n"),
    );
    measured_by_two_agents(&Lab::new(&lab));
}

pub fn a_fleet_attacks_the_targets_of_a_lab() {
    let text = one_cell()
        .replace(
            "script = \"get.js\"",
            "targets = \"targets.txt\"\nrate = 40\narguments = [\"--fleet\", \"local:2\"]",
        )
        .replace("environment = { BASE = \"{pages.url}/\" }\n", "")
        .replace("users = \"{users}\"\n", "");
    let lab = Lab::new(&text);
    let path = lab.directory.path().join("targets.txt");
    fs::write(path, "GET {pages.url}/a\n").expect("a file");
    measured_by_two_agents(&lab);
}

/// Runs a lab with one cell, whose load two agents generate.
fn measured_by_two_agents(lab: &Lab) {
    let result = lab.run_well();
    let cells = result["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 1);
    let repeat = &cells[0]["repeats"][0];
    assert!(repeat["requests"].as_u64() > Some(0), "{repeat:#}");
    assert_eq!(repeat["failed"], 0);
    let messages = fs::read_dir(lab.the_run().join("cells")).expect("cells");
    let messages = messages
        .flatten()
        .map(|cell| cell.path().join("1/talk.txt"));
    let messages: String = messages
        .filter_map(|file| fs::read_to_string(file).ok())
        .collect();
    assert!(
        messages.contains("fleet: complete: every sample of 2 agents"),
        "{messages}"
    );
}
