//! `plimsoll lab` with networks that the kernel emulates. If the test runs as root, as in CI, it uses them. Otherwise,
//! the lab must refuse before it starts anything.
#![cfg(target_os = "linux")]

mod tiny_lab;

use std::fs;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use tiny_lab::{Lab, TINY};

const LIMITED: &str =
    "[[place]]\nname = \"far\"\nby = \"kernel\"\nrate = \"50Mbit/s\"\n\n[[system]]";

/// The tiny lab with a network that the kernel emulates, and one user.
fn with_network(network: &str) -> String {
    let lab = TINY.replace("[[system]]", network);
    let lab = lab.replace("users = [1, 2]", "users = [1]\nplace = [\"far\"]");
    assert!(lab.contains("by = \"kernel\""));
    lab
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The error message of a lab that must not start.
fn refusal(lab: &Lab) -> String {
    let output = lab.run(&["run", "lab.toml"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_ne!(output.status.code(), Some(0), "{stderr}");
    assert!(!stderr.contains("variant 1 is started"), "{stderr}");
    assert!(
        stderr.contains("lab.toml:"),
        "the line is missing: {stderr}"
    );
    lab.assert_nothing_is_left();
    stderr
}

#[test]
fn a_load_passes_through_the_kernels_emulated_network() {
    let lab = Lab::new(&with_network(LIMITED));
    if !is_root() {
        let stderr = refusal(&lab);
        assert!(stderr.contains("run the lab as root"), "{stderr}");
        return;
    }
    let result = lab.run_well();
    for cell in result["cells"].as_array().expect("cells") {
        assert_eq!(cell["state"]["state"], "measured", "{cell:#}");
        assert_eq!(cell["repeats"][0]["failed"], 0, "{cell:#}");
        assert!(
            cell["repeats"][0]["requests"].as_u64() > Some(0),
            "{cell:#}"
        );
        let link = &cell["link"];
        assert_eq!(link["by"], "kernel (tbf)", "{link:#}");
        assert_eq!(link["declared_megabits_per_second"], 50.0);
        let rate = link["measured_megabits_per_second"].as_f64();
        let rate = rate.expect("the rate was measured");
        // At most the data in whole packets at that rate. A busy machine may be slower.
        assert!((10.0..50.0).contains(&rate), "{rate}");
        assert!(link["measured_connect_ms"].is_number(), "{link:#}");
    }
    let page = fs::read_to_string(lab.the_run().join("cells/topology.md")).expect("a page");
    assert!(page.contains("kernel (tbf)"), "{page}");
}

#[test]
fn an_impossible_kernel_network_is_refused_before_the_run() {
    let far = LIMITED.replace("rate = \"50Mbit/s\"", "round-trip = \"20ms\"");
    let lab = Lab::new(&with_network(&far));
    let netem = Command::new("sh")
        .args(["-c", "unshare -n tc qdisc add dev lo root netem delay 1ms"])
        .output()
        .is_ok_and(|output| output.status.success());
    if netem {
        let cell = &lab.run_well()["cells"][0];
        let connecting = cell["link"]["measured_connect_ms"].as_f64();
        assert!(connecting >= Some(20.0), "{cell:#}");
        return;
    }
    let stderr = refusal(&lab);
    let why = if is_root() {
        "it has no netem"
    } else {
        "run the lab as root"
    };
    assert!(stderr.contains(why), "{stderr}");
    assert!(stderr.contains("remove by = \"kernel\""), "{stderr}");
}

/// The interfaces of this lab in this network namespace.
fn interfaces(worker: u32) -> usize {
    let ours = format!("pl{worker}-");
    let all = fs::read_dir("/sys/class/net").expect("interfaces");
    all.flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&ours))
        .count()
}

fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(120);
    while !holds() {
        assert!(Instant::now() < end, "not within two minutes: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_killed_lab_leaves_no_network() {
    if !is_root() {
        // Other tests check that such a lab does not start.
        return;
    }
    let lab = Lab::new(&with_network(LIMITED).replace("duration = \"1s\"", "duration = \"10m\""));
    let mut keeper: Child = lab.command(&["run", "lab.toml"]).spawn().expect("it runs");
    let children = format!("/proc/{0}/task/{0}/children", keeper.id());
    let mut worker = 0;
    wait_for("the network", || {
        let text = fs::read_to_string(&children).unwrap_or_default();
        worker = text.trim().parse().unwrap_or(0);
        // The check before the run also creates a network, but no results yet.
        worker != 0 && lab.directory.path().join("results").is_dir() && interfaces(worker) == 1
    });
    for pid in [worker, keeper.id()] {
        let killed = Command::new("kill")
            .args(["-KILL", &pid.to_string()])
            .status();
        assert!(killed.expect("kill").success());
    }
    keeper.wait().expect("its end");
    wait_for("the end of the network", || interfaces(worker) == 0);
}

#[test]
fn the_network_example_is_a_valid_lab() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/networks");
    let output = Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .args(["lab", "plan", example])
        .output()
        .expect("the program runs");
    let plan = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    for line in ["link.by = \"relay\"", "link.by = \"kernel\""] {
        assert!(plan.contains(line), "{plan}");
    }
}
