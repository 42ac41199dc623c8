//! Every name in k6's type files exists in Plimsoll, is listed as missing, or is lacked by the real k6, too, and the guide for k6 users contains the
//! same list.

#[path = "k6_types/declared.rs"]
mod declared;
mod plimsoll;
#[path = "k6_types/table.rs"]
mod table;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use declared::{Symbol, declared};
use plimsoll::RUN;
use plimsoll_testkit::cases::suite::Server;
use plimsoll_testkit::chromium::chromium;
use plimsoll_testkit::npm;
use plimsoll_testkit::program::Program;
use serde_json::json;
use table::{COMPARED, Compared, DIFFERS, EXTENSIONS, INPUTS, MISSING, MODULES, WORKS};

#[test]
fn every_name_of_the_type_files_exists_or_is_listed() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("k6-types");
    npm::install(
        &folder,
        include_str!("k6_types/package.json"),
        include_str!("k6_types/package-lock.json"),
    );
    let symbols = declared(&folder.join("node_modules/@types/k6"));
    assert!(symbols.len() > 800, "only {} names", symbols.len());
    let modules: BTreeSet<&str> = symbols.iter().map(|s| s.module.as_str()).collect();
    let listed: BTreeSet<&str> = MODULES.iter().map(|module| module.name).collect();
    assert_eq!(
        modules, listed,
        "modules with types, and those in the table"
    );

    let wanted: Vec<&Symbol> = symbols.iter().filter(|symbol| must_exist(symbol)).collect();
    let names = wanted.iter().map(
        |symbol| json!({ "module": symbol.module, "owner": symbol.owner, "name": symbol.name }),
    );
    let names = serde_json::Value::from_iter(names);
    fs::write(folder.join("names.json"), names.to_string()).unwrap();
    fs::write(
        folder.join("symbols.js"),
        include_str!("k6_types/symbols.js"),
    )
    .unwrap();
    let server = Server::start().unwrap();
    let mut program = Program::at(env!("CARGO_BIN_EXE_plimsoll"))
        .args(RUN)
        .inside(&folder);
    for (name, value) in &server.addresses.variables {
        program = program.args(["-e", &format!("{name}={value}")]);
    }
    // A second browser for scripts to connect to.
    let settings = plimsoll_browser::Settings {
        executable: Some(chromium().into()),
        arguments: vec!["no-sandbox".to_owned()],
        ..plimsoll_browser::Settings::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let other = runtime
        .block_on(plimsoll_browser::Chromium::start(&settings))
        .unwrap();
    program = program
        .args(["-e", &format!("ENDPOINT={}", other.endpoint())])
        .env("K6_BROWSER_EXECUTABLE_PATH", chromium())
        .env("K6_BROWSER_ARGS", "no-sandbox");
    let ended = program.arg("symbols.js").run();
    let line = ended
        .stderr
        .lines()
        .find_map(|line| line.strip_prefix("MISSING "))
        .unwrap_or_else(|| panic!("{}\n{}", ended.stdout, ended.stderr));
    let missing: BTreeSet<String> = serde_json::from_str(line).unwrap();
    let lacked = lacked_by_k6();
    let unknown: Vec<&String> = missing.difference(&lacked).collect();
    assert!(
        unknown.is_empty(),
        "missing names: {unknown:#?}. If k6 lacks them, too, add them to cases/modules/names-of-types and record it"
    );
    let needless: Vec<&String> = lacked.difference(&missing).collect();
    assert!(
        needless.is_empty(),
        "remove these names from cases/modules/names-of-types, because they exist or are not declared: {needless:#?}"
    );
}

/// The names in the type files that the real k6 lacks, according to the recording of a case.
fn lacked_by_k6() -> BTreeSet<String> {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/modules/names-of-types");
    let recorded = fs::read_to_string(case.join("expected.json")).unwrap();
    let recorded: serde_json::Value = serde_json::from_str(&recorded).unwrap();
    let lines = recorded["logs"].as_array().into_iter().flatten();
    let names = lines.filter_map(|line| {
        let name = line.as_str()?.strip_prefix("info: lacks ")?;
        Some(name.strip_suffix(" (source=console)")?.to_owned())
    });
    names.collect()
}

/// Whether a script can look up the name: not a type, and not a member of a type whose values scripts pass as
/// arguments.
fn must_exist(symbol: &Symbol) -> bool {
    let module = MODULES.iter().find(|module| module.name == symbol.module);
    if !module.is_some_and(|module| module.exists) || symbol.module == "k6/options" {
        return false;
    }
    match &symbol.owner {
        Some(owner) => !INPUTS.contains(&format!("{} {owner}", symbol.module).as_str()),
        None => symbol.is_value,
    }
}

#[test]
fn every_extension_of_the_table_exists() {
    let mut script = String::new();
    for (at, extension) in EXTENSIONS.iter().enumerate() {
        let name = extension.name;
        let _ = writeln!(
            script,
            "import * as all{at} from '{name}'; import default{at} from '{name}';"
        );
        for export in extension.names {
            for object in ["all", "default"] {
                let _ = writeln!(
                    script,
                    "if (!['function', 'object'].includes(typeof {object}{at}.{export})) throw new Error('{name} {export}');"
                );
            }
        }
    }
    script += "export default () => console.log('all exist');";
    let ended = Program::at(env!("CARGO_BIN_EXE_plimsoll"))
        .args(RUN)
        .arg("-")
        .input(script.into_bytes())
        .run();
    assert_eq!(ended.stderr.trim(), "all exist");
}

/// The content of every `case.json`.
fn settings(cases: &Path) -> Vec<String> {
    let folders = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let areas = folders(cases);
    let cases = areas.iter().flat_map(|area| folders(area));
    cases
        .filter_map(|case| fs::read_to_string(case.join("case.json")).ok())
        .collect()
}

/// The number of comparisons with k6, and their results.
fn compared() -> String {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases");
    let pending = fs::read_to_string(cases.join("pending.txt")).unwrap_or_default();
    let settings = settings(&cases);
    let on_purpose = settings
        .iter()
        .filter(|text| text.contains("\"differs\""))
        .count();
    let total = |column: fn(&Compared) -> usize| COMPARED.iter().map(column).sum::<usize>();
    let still = |area: &Compared| {
        let start = format!("{}/", area.name);
        let pending = pending.lines().filter(|name| name.starts_with(&start));
        area.cases - pending.count()
    };
    let mut text = format!(
        "\n## How compatibility is tested\n\n\
         Each of the {} scripts in `cases/` has a recording of a run of k6 v1.8.1: exit status, log, summary, and the samples\n\
         of every metric. A test runs Plimsoll on all of them and compares the results. In {} scripts, a part differs\n\
         intentionally, such as the log; their `case.json` gives the reason, and all other parts are compared.\n\n\
         We wrote {} of the scripts from k6's public documentation, including unusual inputs, before Plimsoll ran any of them.\n\
         The column \"same at first\" is the number of these scripts that behaved as in k6 when Plimsoll first ran them. The\n\
         column \"same now\" is the number after we corrected the faults that they revealed.\n\n\
         | area | scripts | same at first | same now |\n|---|---|---|---|\n",
        settings.len(),
        on_purpose,
        total(|area| area.cases)
    );
    for area in COMPARED {
        let (name, cases, at_first) = (area.name, area.cases, area.at_first);
        let _ = writeln!(text, "| {name} | {cases} | {at_first} | {} |", still(area));
    }
    let now: usize = COMPARED.iter().map(still).sum();
    let (cases, at_first) = (total(|area| area.cases), total(|area| area.at_first));
    let _ = writeln!(text, "| all | {cases} | {at_first} | {now} |");
    text
}

#[test]
fn the_guide_from_k6_shows_the_table() {
    let mut guide = String::from(
        "# From k6\n\n\
         Plimsoll runs k6 scripts unchanged: `plimsoll run script.js`. This page is generated from a table, and a test\n\
         compares that table with k6's type files (`@types/k6`).\n\n## What works\n\n",
    );
    for line in WORKS {
        let _ = writeln!(guide, "* {line}");
    }
    guide += "\n| module | exists | notes |\n|---|---|---|\n";
    for module in MODULES {
        let state = if module.exists { "yes" } else { "no" };
        let _ = writeln!(guide, "| `{}` | {state} | {} |", module.name, module.note);
    }
    guide += "\nThese k6 extensions work without a custom build:\n\n| extension | exports | notes |\n|---|---|---|\n";
    for extension in EXTENSIONS {
        let names = extension.names.join("`, `");
        let _ = writeln!(
            guide,
            "| `{}` | `{names}` | {} |",
            extension.name, extension.note
        );
    }
    guide += &compared();
    guide += "\n## Intended differences\n\n";
    for line in DIFFERS {
        let _ = writeln!(guide, "* {line}");
    }
    guide += "\n## What is missing\n\n";
    for line in MISSING {
        let _ = writeln!(guide, "* {line}");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/from-k6.md");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&path, &guide).unwrap();
    }
    assert_eq!(
        fs::read_to_string(&path).unwrap_or_default(),
        guide,
        "run the test with UPDATE_SNAPSHOTS=1 to write the guide again"
    );
}
