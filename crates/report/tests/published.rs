//! The reports in `docs/reports` match what this version renders from their results. `UPDATE_SNAPSHOTS=1` renders them again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_report::pages;
use plimsoll_results::lab::LabResult;

#[test]
fn published_reports_are_those_of_their_results() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reports");
    let mut read = 0;
    let mut long = Vec::new();
    for report in folders(&folder) {
        let Ok(text) = fs::read_to_string(report.join("result.json")) else {
            continue;
        };
        let result: LabResult = serde_json::from_str(&text).expect("a result");
        let written: BTreeMap<String, String> = pages(&result).into_iter().collect();
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            render(&report, &written);
        }
        for (name, text) in &written {
            let published = fs::read_to_string(report.join(name)).unwrap_or_default();
            let at = report.join(name);
            assert!(
                published == *text,
                "{} is not what this version writes: UPDATE_SNAPSHOTS=1 renders it again",
                at.display()
            );
        }
        for name in ["cells", "plots"] {
            for file in folders(&report.join(name)) {
                let known = file.strip_prefix(&report).expect("a file of the report");
                assert!(
                    written.contains_key(&known.display().to_string()),
                    "{} belongs to no report: UPDATE_SNAPSHOTS=1 renders it again",
                    file.display()
                );
            }
        }
        let page = &written["report.md"];
        let (answers, all) = words_of_conclusion(page);
        let headlines = words_of_headlines(page);
        if !(20..=MAX_IN_ANSWERS).contains(&answers)
            || !(20..=MAX_IN_HEADLINES).contains(&headlines)
            || all > MAX_WORDS
        {
            let name = report.display();
            long.push(format!("{name}: {headlines}, {answers} and {all} words"));
        }
        read += 1;
    }
    assert!(read >= 5, "only {read} reports");
    assert!(
        long.is_empty(),
        "conclusions are too long or too short: {long:#?}"
    );
}

/// Maximum number of words in the answers to the questions, without figures: about twenty seconds of reading.
const MAX_IN_HEADLINES: usize = 90;
/// Maximum number of words in the answers to the questions, with their figures, ratios, intervals and conditions.
const MAX_IN_ANSWERS: usize = 290;
/// Maximum number of words of a conclusion before its small tables and its collapsed part. These words include the
/// statements of the source, with their limits and conditions.
const MAX_WORDS: usize = 590;

/// The number of words in bold. Each point of the conclusion begins with the answer to a question in bold.
fn words_of_headlines(page: &str) -> usize {
    let conclusion = page.split_once("## Conclusion").expect("a conclusion").1;
    let points = conclusion
        .lines()
        .skip_while(|line| !line.starts_with("- "))
        .take_while(|line| !line.is_empty());
    let headlines = points.map(|line| {
        let bold = line.strip_prefix("- **").expect("bold words at the start");
        bold.split_once("**").expect("its end").0
    });
    headlines.map(|text| text.split_whitespace().count()).sum()
}

/// The number of words in the first sentences of a report, without and with the statements.
fn words_of_conclusion(page: &str) -> (usize, usize) {
    let conclusion = page.split_once("## Conclusion").expect("a conclusion").1;
    let until = |ends: &[&str]| {
        let ends = ends.iter().filter_map(|end| conclusion.find(end));
        let text = &conclusion[..ends.min().expect("an end")];
        let text = text.replace(['|', '*'], " ");
        let words = text.split_whitespace();
        words
            .filter(|word| word.contains(char::is_alphanumeric))
            .count()
    };
    let tables = ["\n*How ", "\n*Which ", "<details>", "\n| | |"];
    let answers = [&["\n*Statements "], &tables[..]].concat();
    (until(&answers), until(&tables))
}

fn render(report: &Path, written: &BTreeMap<String, String>) {
    for name in ["cells", "plots"] {
        for file in folders(&report.join(name)) {
            fs::remove_file(&file).expect("a file of the report");
        }
    }
    for (name, text) in written {
        fs::write(report.join(name), text).expect("a file of the report");
    }
}

/// The entries of a folder.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}
