//! The labs of this repository. Each form of each lab has the expected cells and does not exceed its time limit, and
//! the scripts can run.

mod plimsoll;

use std::fs;
use std::path::PathBuf;

use plimsoll::plimsoll;
use serde_json::Value;

/// A lab, and the number of its cells in the quick form, in the standard form and in total.
const LABS: [(&str, usize, usize, usize); 5] = [
    ("gateway", 18, 18, 18),
    ("payload", 18, 47, 50),
    ("statuslist", 11, 37, 37),
    ("timezone", 4, 12, 12),
    ("zanzibar", 13, 29, 29),
];

/// Maximum duration of the loads of a form in minutes. Excludes starting, seeding and checking, and work and searches,
/// whose duration is unknown.
const FORMS: [(&str, f64); 2] = [("--quick", 2.0), ("", 19.0)];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../labs")
}

fn plan(lab: &str, form: &str) -> Value {
    let path = folder().join(lab);
    let mut arguments = vec!["lab", "plan", "--json", path.to_str().unwrap()];
    arguments.extend((!form.is_empty()).then_some(form));
    let ended = plimsoll(&arguments).run();
    assert_eq!(ended.status, Some(0), "{lab} {form}: {}", ended.stderr);
    serde_json::from_str(&ended.stdout).unwrap()
}

fn chosen(plan: &Value) -> Vec<&Value> {
    let cells = plan["cells"].as_array().unwrap().iter();
    cells.filter(|cell| cell["chosen"] == true).collect()
}

#[test]
fn every_lab_has_the_expected_cells_and_duration() {
    for (lab, quick, standard, all) in LABS {
        for (form, minutes) in FORMS {
            let plan = plan(lab, form);
            let wanted = if form.is_empty() { standard } else { quick };
            assert_eq!(chosen(&plan).len(), wanted, "{lab} {form}");
            assert_eq!(plan["cells"].as_array().unwrap().len(), all, "{lab}");
            let text = plan["at_least"].as_str().unwrap();
            let took = plimsoll_units::duration::parse(text).unwrap().as_secs_f64() / 60.0;
            assert!(took <= minutes, "{lab} {form}: {text}");
        }
        assert_eq!(chosen(&plan(lab, "--full")).len(), all, "{lab}");
    }
    let folders = fs::read_dir(folder()).unwrap().map(Result::unwrap);
    let labs = folders.filter(|one| one.path().is_dir()).count();
    assert_eq!(labs, LABS.len(), "a lab is missing from this list");
}

#[test]
fn the_standard_form_restarts_five_times_for_at_least_three_seconds() {
    for (lab, ..) in LABS {
        let plan = plan(lab, "");
        for cell in chosen(&plan) {
            let load = &cell["load"];
            // A search repeats its own trials, and the duration of an amount of work is unknown.
            if load["source"]["command"].is_array() {
                continue;
            }
            // Fixed work takes long, but varies little.
            let least = if load["work"].is_null() { 5 } else { 3 };
            assert!(
                load["restarts"].as_u64().unwrap() >= least,
                "{}",
                cell["name"]
            );
            // Without an address, a script would use its default address.
            if load["source"]["script"].is_string() {
                let printed = load["environment"].to_string();
                assert!(printed.contains("BASE_URL"), "{}: {printed}", cell["name"]);
            }
            let duration =
                plimsoll_units::duration::parse(load["duration"].as_str().unwrap()).unwrap();
            assert!(duration.as_secs() >= 3, "{}", cell["name"]);
        }
    }
}

#[test]
fn every_script_can_be_run() {
    let mut seen = 0;
    for (lab, ..) in LABS {
        for file in fs::read_dir(folder().join(lab)).unwrap() {
            let path = file.unwrap().path();
            // Modules that export no function for users are tested with the scripts that import them.
            let is_script = path.extension().is_some_and(|extension| extension == "js")
                && fs::read_to_string(&path)
                    .unwrap()
                    .contains("export default");
            if !is_script {
                continue;
            }
            let ended = plimsoll(&["inspect", path.to_str().unwrap()]).run();
            assert_eq!(
                ended.status,
                Some(0),
                "{}: {}",
                path.display(),
                ended.stderr
            );
            let options: Value = serde_json::from_str(&ended.stdout).unwrap();
            assert!(
                options["thresholds"]["checks"].is_array(),
                "{}",
                path.display()
            );
            seen += 1;
        }
    }
    assert_eq!(seen, 12);
}

#[test]
fn the_list_of_targets_has_the_places() {
    let read = |file: &str| fs::read_to_string(folder().join("timezone").join(file)).unwrap();
    let places: Vec<Value> = serde_json::from_str(&read("places.json")).unwrap();
    let targets = read("targets.txt");
    let targets: Vec<&str> = targets
        .lines()
        .filter(|line| line.starts_with("GET"))
        .collect();
    assert_eq!((places.len(), targets.len()), (32, 32));
    for (place, target) in places.iter().zip(targets) {
        let coordinate = |text: &str, name: &str| -> f64 {
            let (_, rest) = text.split_once(name).unwrap();
            rest.split('&').next().unwrap().parse().unwrap()
        };
        assert_eq!(
            Some(coordinate(target, "lat=")),
            place["lat"].as_f64(),
            "{target}"
        );
        assert_eq!(
            Some(coordinate(target, "lng=")),
            place["lng"].as_f64(),
            "{target}"
        );
    }
}
