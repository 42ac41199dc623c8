//! Lab files: the cells and effective values that they define, and the line number of every error.

use std::path::Path;

use plimsoll_lab::file::Document;
use plimsoll_lab::run::command;
use plimsoll_lab::run::names::Names;
use plimsoll_lab::run::order::order;
use plimsoll_lab::{FormName, Lab};

const LAB: &str = r#"
[lab]
title = "A check"

[axes]
backend = ["sqlite", "pg"]
wire = ["http", "grpc"]
place = ["near", "far"]

[[exclude]]
backend = "pg"
place = "far"

[variables]
base = "http://{authz.address}"

[[place]]
name = "far"
round-trip = "7ms"
rate = "1Gbit/s"

[[service]]
name = "db"
kind = "postgres"
when = { backend = "pg" }
settings = { max_connections = 50 }

[[service]]
name = "db"
when = { backend = "pg", wire = "grpc" }
settings = { work_mem = "8MB" }

[[system]]
name = "authz"
command = "plimsoll serve zanzibar --backend {backend} --listen 127.0.0.1:{port}"
cpus = [0]

[[system]]
name = "authz"
when = { backend = "pg" }
command = "plimsoll serve zanzibar --database {db.url} --listen 127.0.0.1:{port}"

[[load]]
command = "true {base} {repeat} '{{raw}} {wire}'"
users = 10
duration = "5s"

[[load]]
when = { wire = "grpc" }
grpc = { address = "{authz.address}", call = "a.B/C" }
users = 20

[[objective]]
metric = "latency"
p = 95
at-most = "50ms"

[forms.quick]
only = { wire = "grpc" }
repeats = 2
"#;

fn lab(text: &str, which: FormName) -> Result<Lab, Vec<String>> {
    Document::of_text(Path::new("labs/lab.toml"), text)
        .and_then(|document| Lab::of(document, which))
        .map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

#[test]
fn tables_are_merged_for_each_cell() {
    let lab = lab(LAB, FormName::Standard).unwrap();
    let names: Vec<&str> = lab.matrix().iter().map(|cell| cell.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "backend=sqlite wire=http place=near",
            "backend=sqlite wire=http place=far",
            "backend=sqlite wire=grpc place=near",
            "backend=sqlite wire=grpc place=far",
            "backend=pg wire=http place=near",
            "backend=pg wire=grpc place=near",
        ]
    );
    // Cells of both protocols share a variant, unless they use different services.
    let variants: Vec<usize> = lab.matrix().iter().map(|cell| cell.variant).collect();
    assert_eq!(variants, [0, 0, 0, 0, 1, 2]);

    let plan = plimsoll_lab::plan::json(&lab);
    let pg = &plan["variants"][2]["processes"];
    assert_eq!(pg[0]["name"], "db");
    assert_eq!(
        pg[0]["settings"],
        serde_json::json!([["max_connections", "50"], ["work_mem", "8MB"]])
    );
    assert_eq!(pg[1]["command"][4], "{db.url}");
    assert_eq!(pg[1]["cpus"], serde_json::json!([0]));
    assert_eq!(pg[1]["ready"], "json");

    let http = &plan["cells"][0];
    assert_eq!(
        http["load"]["source"]["command"],
        serde_json::json!(["true", "http://{authz.address}", "{repeat}", "{{raw}} http"])
    );
    assert_eq!(http["link"], serde_json::Value::Null);
    assert_eq!(plan["cells"][1]["link"]["round_trip"], "7ms");
    assert_eq!(plan["cells"][2]["load"]["users"], 20);
    assert_eq!(plan["cells"][2]["load"]["source"]["grpc"]["call"], "a.B/C");
    assert_eq!(plan["cells"][2]["load"]["restarts"], 3);
    assert_eq!(plan["objectives"][0]["limit"], 50.0);
    assert_eq!(plan["compared"][0]["base"], "sqlite");
}

#[test]
fn forms_change_only_durations_restarts_and_the_share_of_cells() {
    let quick = lab(LAB, FormName::Quick).unwrap();
    let chosen: Vec<bool> = quick.matrix().iter().map(|cell| cell.chosen).collect();
    assert_eq!(chosen, [false, false, true, true, false, true]);
    let runs = |lab: &Lab| (lab.cells[2].load.restarts, lab.cells[2].load.repeats);
    assert_eq!(runs(&quick), (1, 2));
    assert_eq!(runs(&lab(LAB, FormName::Standard).unwrap()), (3, 1));
    assert_eq!(quick.cells[2].load.duration.as_secs(), 2);
    let full = lab(LAB, FormName::Full).unwrap();
    assert_eq!(full.cells[2].load.duration.as_secs(), 60);
    assert_eq!(runs(&full), (5, 1));
    assert_eq!(
        serde_json::to_string(&full.variants[..3]).unwrap(),
        serde_json::to_string(&quick.variants).unwrap()
    );
    let text = plimsoll_lab::plan::text(&quick);
    assert!(
        text.contains("3 of 6 cells in 2 variants, 6 runs"),
        "{text}"
    );
    assert!(text.contains("not part of this form"), "{text}");
}

#[test]
fn each_restart_is_a_block_in_random_order_and_starts_each_variant_once() {
    let text = LAB
        .replace("[lab]\n", "[lab]\nkeep = 2\n")
        .replace("duration = \"5s\"\n", "duration = \"5s\"\nrepeats = 2\n");
    let lab = lab(&text, FormName::Full).unwrap();
    let turns = order(&lab, 7);
    assert_eq!(turns, order(&lab, 7), "the same seed gives the same order");
    let cells = lab.cells.len();
    assert_eq!(turns.len(), cells * 5 * 2);
    let mut first = Vec::new();
    for (restart, block) in turns.chunks(cells * 2).enumerate() {
        assert!(
            block
                .iter()
                .all(|turn| turn.restart as usize == restart + 1)
        );
        for cell in 0..cells {
            let runs = block.iter().filter(|turn| turn.cell == cell);
            let runs: Vec<u32> = runs.map(|turn| turn.run).collect();
            assert_eq!(runs, [2 * restart as u32 + 1, 2 * restart as u32 + 2]);
        }
        // Two of the three variants run at the same time, and the third one before or after them.
        let mut variants: Vec<usize> = block
            .iter()
            .map(|turn| lab.cells[turn.cell].variant)
            .collect();
        variants.dedup();
        let changes_to = |variant: usize| variants.iter().filter(|one| **one == variant).count();
        assert!(
            (0..3).any(|variant| changes_to(variant) == 1),
            "{variants:?}"
        );
        first.push(block[0].cell);
    }
    first.sort_unstable();
    first.dedup();
    assert!(first.len() > 1, "the blocks have different orders");
    assert_ne!(turns, order(&lab, 8));
}

#[test]
fn the_base_of_the_first_comparison_is_measured_twice() {
    let standard = lab(LAB, FormName::Standard).unwrap();
    let (cell, copy) = standard.same_cell().expect("three restarts");
    assert_eq!(cell.name, "backend=sqlite wire=http place=near");
    assert_eq!(
        copy.name,
        "backend=sqlite wire=http place=near (second time)"
    );
    assert_ne!(
        cell.variant, copy.variant,
        "each cell has its own processes"
    );
    assert_eq!(standard.twin_of(cell.variant), Some(copy.variant));
    assert_eq!(standard.twin_of(copy.variant), Some(cell.variant));
    assert_eq!(standard.twin_of(1), None);
    let plan = plimsoll_lab::plan::json(&standard);
    assert_eq!(plan["same_cell"]["cell"], cell.name);
    assert_eq!(plan["cells"].as_array().map(Vec::len), Some(6));
    assert_eq!(plan["runs"], 7 * 3);

    // The copy is a separate block, directly before or after the block that contains the cell.
    let turns = order(&standard, 1);
    for restart in turns.chunks(7) {
        let at = |number: usize| restart.iter().position(|turn| turn.cell == number);
        let copy = at(6).expect("each restart measures the copy");
        assert!(copy == 0 || copy == 6, "{restart:?}");
    }

    // A primary comparison comes first.
    let primary = "\n[[compare]]\naxis = \"wire\"\n\
                   [[compare]]\naxis = \"wire\"\nbase = \"grpc\"\nprimary = true\nfigures = \"latency_p95\"\n";
    let other = lab(&format!("{LAB}{primary}"), FormName::Standard).unwrap();
    let (cell, _) = other.same_cell().expect("three restarts");
    assert_eq!(cell.name, "backend=sqlite wire=grpc place=near");

    // The lab declares how much its runs differ.
    let noise = format!("{LAB}\n[[compare]]\naxis = \"wire\"\nnoise = \"10%\"\n");
    let known = lab(&noise, FormName::Standard).unwrap();
    assert!(known.same_cell().is_none() && known.why_no_same_cell().is_none());

    let quick = lab(LAB, FormName::Quick).unwrap();
    assert!(quick.same_cell().is_none());
    let why = quick.why_no_same_cell().expect("a reason");
    assert!(
        why.contains("at least 3 restarts, and there are 2"),
        "{why}"
    );
}

#[test]
fn the_plan_states_what_comparisons_can_show() {
    let design =
        |text: &str, which| plimsoll_lab::plan::json(&lab(text, which).unwrap())["design"].clone();
    let standard = design(LAB, FormName::Standard);
    assert_eq!(standard["pairs"], 3);
    assert_eq!(standard["primary"], 0);
    // (t(0.975, 2) + t(0.8, 2)) × 5 % × √2 ÷ √3 = (4.3027 + 1.0607) × 0.040825 = 0.21896.
    let smallest = standard["smallest_difference"].as_f64().unwrap();
    assert!((smallest - 0.2448).abs() < 1e-3, "{smallest}");
    // (t(0.975, 7) + t(0.8, 7)) × 0.070711 ÷ √8 = 0.0815, and ln 1.1 = 0.0953; 7 pairs: 0.0896.
    assert_eq!(standard["would_find_10_percent"], 7);

    // Six primary comparisons need more than one.
    let primary = format!(
        "{LAB}\n[[compare]]\naxis = \"wire\"\nprimary = true\nfigures = [\"latency_p95\", \"latency_p50\"]\n"
    );
    let of_six = design(&primary, FormName::Standard);
    assert_eq!(of_six["primary"], 6);
    assert!(of_six["smallest_difference"].as_f64().unwrap() > 2.0 * smallest);
    let text = plimsoll_lab::plan::text(&lab(&primary, FormName::Standard).unwrap());
    assert!(text.contains("3 restarts find a difference of"), "{text}");
    assert!(text.contains("in one of 6 primary comparisons"), "{text}");
    assert!(text.contains("Measured twice"), "{text}");

    let quick = design(LAB, FormName::Quick);
    assert_eq!(quick["smallest_difference"], serde_json::Value::Null);
    assert_eq!(
        (&quick["pairs"], &quick["unit"]),
        (&2.into(), &"runs".into())
    );
    let text = plimsoll_lab::plan::text(&lab(LAB, FormName::Quick).unwrap());
    assert!(
        text.contains("2 runs of each cell cannot show any difference: at least 3 are needed"),
        "{text}"
    );
}

#[test]
fn comparisons_that_can_show_nothing_are_rejected_with_the_required_number() {
    let with = |compare: &str, restarts: u32| {
        let text = LAB.replace(
            "duration = \"5s\"\n",
            &format!("duration = \"5s\"\nrestarts = {restarts}\n"),
        );
        format!("{text}\n[[compare]]\naxis = \"wire\"\n{compare}")
    };
    let refused = lab(&with("", 2), FormName::Standard).unwrap_err();
    assert!(
        refused[0].contains("its cells have only 2 restarts: set restarts = 3 in [[load]], or 7 to find a difference of 10 %"),
        "{refused:?}"
    );
    assert!(refused[0].starts_with("labs/lab.toml:"), "{refused:?}");
    assert!(lab(&with("", 3), FormName::Standard).is_ok());
    // The quick form only shows that the lab works.
    assert!(lab(&with("", 2), FormName::Quick).is_ok());
    // Comparisons that the lab does not declare are made if they are possible.
    assert!(
        lab(
            &LAB.replace("duration = \"5s\"\n", "duration = \"5s\"\nrestarts = 1\n"),
            FormName::Standard
        )
        .is_ok()
    );
    let vague = lab(&with("primary = true\n", 3), FormName::Standard).unwrap_err();
    assert!(
        vague[0].contains("a primary comparison needs the key \"figures\""),
        "{vague:?}"
    );
}

#[test]
fn excluded_processes_and_searches_are_in_the_plan() {
    let text = LAB
        .replace(
            "command = \"true {base} {repeat} '{{raw}} {wire}'\"",
            "command = \"plimsoll find --json --objective p95<5ms -- http {base}\"\nwithin = \"7m\"",
        )
        .replacen("kind = \"postgres\"", "kind = \"postgres\"\ncounts = false", 1);
    let lab = lab(&text, FormName::Standard).unwrap();
    let plan = plimsoll_lab::plan::json(&lab);
    assert_eq!(plan["variants"][1]["processes"][0]["counts"], false);
    assert_eq!(plan["variants"][1]["processes"][1]["counts"], true);
    let text = plimsoll_lab::plan::text(&lab);
    assert!(text.contains("3 restarts × a search of up to 7m"), "{text}");
}

/// The only problem that a change of the file causes.
fn mistake(from: &str, to: &str) -> String {
    assert!(LAB.contains(from), "{from}");
    let error = lab(&LAB.replacen(from, to, 1), FormName::Standard).expect_err("a mistake");
    assert_eq!(error.len(), 1, "{error:#?}");
    error.concat()
}

#[test]
fn each_error_is_reported_with_its_line_and_a_fix() {
    let error = mistake(
        "{authz.address}\"\n\n[[place]]",
        "{auth.address}\"\n\n[[place]]",
    );
    assert!(
        error.starts_with("labs/lab.toml:15: unknown variable {auth.address} in this cell; did you mean \"authz.address\"?"),
        "{error}"
    );
    let error = mistake("{db.url}", "{db.uri}");
    assert!(
        error.contains("lab.toml:41: unknown variable {db.uri}: of db, did you mean \"url\"?"),
        "{error}"
    );
    let error = mistake("127.0.0.1:{port}", "127.0.0.1:{prot}");
    assert!(error.contains("did you mean \"port\"?"), "{error}");
    let error = mistake("when = { wire = \"grpc\" }", "when = { wire = \"gprc\" }");
    assert!(
        error.contains(
            "lab.toml:49: unknown value of the axis wire \"gprc\"; did you mean \"grpc\"?"
        ),
        "{error}"
    );
    let error = mistake("name = \"far\"", "name = \"fat\"");
    assert!(
        error.contains("unknown place \"far\"; did you mean \"fat\"?"),
        "{error}"
    );
    let error = mistake("duration = \"5s\"", "duration = \"{authz.port}s\"");
    assert!(
        error.contains("duration must be known before the lab runs"),
        "{error}"
    );
    let error = mistake("at-most = \"50ms\"", "at-most = 50");
    assert!(error.contains("give the limit a unit"), "{error}");
    let error = mistake("command = \"true", "script = \"none.js\"\ncommand = \"true");
    assert!(
        error.contains("script and command, but only one"),
        "{error}"
    );
    let error = mistake("users = 10", "users = \"{wire}\"");
    assert!(
        error.contains("lab.toml:45: users must be a whole number, not \"http\""),
        "{error}"
    );
    let error = mistake("p = 95", "p = 97");
    assert!(
        error.contains("p must be 50, 90, 95, 99 or 99.9"),
        "{error}"
    );
    // Without a figure of this name, no cell would be judged.
    let error = mistake("metric = \"latency\"", "metric = \"latencyy\"");
    assert!(
        error.contains("unknown figure \"latencyy\"; did you mean latency?"),
        "{error}"
    );
    let error = mistake("title = \"A check\"", "");
    assert!(error.contains("[lab] needs the key \"title\""), "{error}");
}

#[test]
fn errors_in_templates_are_reported_with_their_own_lines() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
    write(
        "nginx.conf",
        "events {}\nhttp {\n  server { listen {prot}; }\n}\n",
    );
    write(
        "lab.toml",
        "[lab]\ntitle = \"x\"\n[[service]]\nname = \"web\"\nkind = \"nginx\"\nconfig = \"nginx.conf\"\n[load]\ncommand = \"true\"\n",
    );
    let error = Lab::read(directory.path(), FormName::Standard).unwrap_err();
    assert_eq!(error.len(), 1);
    assert!(
        error[0]
            .to_string()
            .contains("nginx.conf:3: unknown variable {prot}"),
        "{}",
        error[0]
    );
    write(
        "nginx.conf",
        "events {}\nhttp {\n  server { listen {port}; }\n}\n",
    );
    assert!(Lab::read(directory.path(), FormName::Standard).is_ok());
}

/// A group contains the script's own work and its pauses.
#[test]
fn the_duration_of_a_group_cannot_be_the_latency() {
    let of = |latency: &str| {
        lab(
            &LAB.replace(
                "duration = \"5s\"\n",
                &format!("duration = \"5s\"\nlatency = \"{latency}\"\n"),
            ),
            FormName::Standard,
        )
    };
    let problems = of("group_duration").map(|_| ()).unwrap_err();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains("grpc_req_total"), "{problems:?}");
    assert!(of("grpc_req_total").is_ok());
}

/// Fixed work accepts each kind of connection, over gRPC and HTTP, and passes it to the load.
#[test]
fn fixed_work_has_shared_kept_or_fresh_connections_over_grpc_and_http() {
    let text = |source: &str, work: &str| {
        format!(
            "[lab]\ntitle = \"x\"\n[axes]\nhow = [\"shared\", \"kept\", \"fresh\"]\n\
             [[system]]\nname = \"s\"\ncommand = \"true\"\n\
             [load]\n{source}\n{work}\nwarmup = \"0s\"\nduration = \"1s\"\n"
        )
    };
    let work = "work = { workers = 2, loops = 5 }";
    for source in [
        "http = { url = \"{s.url}/\", connections = \"{how}\" }",
        "grpc = { address = \"{s.address}\", call = \"a.B/C\", connections = \"{how}\" }",
    ] {
        let lab = lab(&text(source, work), FormName::Standard).expect(source);
        let directory = tempfile::tempdir().unwrap();
        let mut names = Names::default();
        names.set("s.url", "http://127.0.0.1:1");
        names.set("s.address", "127.0.0.1:1");
        let given: Vec<String> = lab
            .matrix()
            .iter()
            .map(|cell| {
                let names = command::names_of(cell, 1, &names);
                let words = command::of(cell, &names, directory.path()).unwrap().words;
                assert!(words.windows(2).any(|two| two == ["--loops", "5"]));
                let at = words.iter().position(|word| word == "--connections");
                words[at.expect("the flag") + 1].clone()
            })
            .collect();
        assert_eq!(given, ["shared", "kept", "fresh"], "{source}");
    }
    let http = "http = { url = \"{s.url}/\", connections = \"shared\" }";
    let problems = lab(&text(http, ""), FormName::Standard)
        .map(|_| ())
        .unwrap_err();
    assert!(problems[0].contains("add work"), "{problems:?}");
}

/// A table names axes and figures. Each error is reported with its line.
#[test]
fn tables_are_declared_with_axes_and_figures() {
    let with = |table: &str| lab(&format!("{LAB}\n[[table]]\n{table}\n"), FormName::Standard);
    let read = with(
        "title = \"How long?\"\nrows = \"backend\"\ncolumns = [\"place\"]\nfigures = \"latency_p95\"\nwhen = { wire = \"http\" }",
    )
    .unwrap();
    let layout = read.tables[0].layout(read.matrix());
    assert_eq!(layout.rows, ["backend"]);
    assert_eq!(
        layout.cells,
        [
            "backend=sqlite wire=http place=near",
            "backend=sqlite wire=http place=far",
            "backend=pg wire=http place=near",
        ]
    );
    let buckets = with("title = \"Where?\"\nbuckets = [\"1ms\", \"2s\"]").unwrap();
    assert_eq!(buckets.tables[0].buckets, [1.0, 2000.0]);
    for (table, message) in [
        (
            "figures = \"makespan\"",
            "[[table]] needs the key \"title\"",
        ),
        (
            "title = \"x\"\nrows = \"plaec\"\nfigures = \"makespan\"",
            "unknown axis \"plaec\"",
        ),
        (
            "title = \"x\"\nfigures = \"latency_p97\"",
            "unknown figure latency_p97",
        ),
        ("title = \"x\"", "one of the keys"),
        (
            "title = \"x\"\nbuckets = [\"2ms\", \"1ms\"]",
            "must increase",
        ),
    ] {
        let problems = with(table).map(|_| ()).unwrap_err();
        assert!(
            problems.iter().any(|problem| problem.contains(message)),
            "{table}: {problems:?}"
        );
    }
}
