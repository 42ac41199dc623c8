//! The cell that a lab measures twice, and the floor of its comparisons.
#![cfg(target_os = "linux")]

mod tiny_lab;

use std::net::TcpListener;

use serde_json::Value;
use tiny_lab::{Lab, TINY};

/// The copy of a cell has its own processes, which use the same port.
#[test]
fn a_cell_measured_twice_sets_the_floor_of_comparisons() {
    // A port below the range that the system assigns to connections.
    let first = 20_000 + u16::try_from(std::process::id() % 10_000).expect("a port");
    let port = (first..32_000)
        .find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .expect("a free port");
    let lab = TINY
        .replace("restarts = 1", "restarts = 3")
        .replace("duration = \"1s\"", "duration = \"300ms\"")
        .replace("[\"script\", \"http\"]", "[\"http\"]")
        .replace(
            "command = \"SYSTEM\"",
            &format!("command = \"SYSTEM\"\nport = {port}"),
        );
    let lab = Lab::new(&lab);
    let result = lab.run_well();
    let same = &result["same_cell"];
    assert_eq!(same["cell"], "how=http users=1");
    assert_eq!(same["copy"]["name"], "how=http users=1 (second time)");
    assert_eq!(same["copy"]["state"]["state"], "measured", "{same:#}");
    assert_eq!(same["copy"]["repeats"].as_array().map(Vec::len), Some(3));
    assert_eq!(result["cells"].as_array().map(Vec::len), Some(2));
    // On a busy machine, all figures may be invalid.
    let Some(floors) = same["floors"]
        .as_array()
        .filter(|floors| !floors.is_empty())
    else {
        assert!(
            same["method"]
                .as_str()
                .is_some_and(|text| text.contains("no floor"))
        );
        return;
    };
    for comparison in result["comparisons"].as_array().expect("comparisons") {
        let of = |floor: &&Value| floor["figure"] == comparison["figure"];
        let share = floors.iter().find(of).map(|floor| &floor["share"]);
        assert_eq!(comparison.get("floor"), share, "{comparison:#}");
        let ratio = comparison["ratio"].as_f64().unwrap_or(1.0);
        if let Some(share) = share.and_then(Value::as_f64)
            && ratio.ln().abs() <= share.ln_1p()
        {
            assert!(
                !["larger", "smaller"].contains(&comparison["outcome"].as_str().expect("text")),
                "{comparison:#}"
            );
        }
    }
}
