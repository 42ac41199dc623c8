//! JUnit XML, which CI systems show as tests.
//!
//! The elements follow Jenkins' schema, and have the attributes that Ant's requires.

use std::fmt::Write as _;

use plimsoll_plots::escaped;
use plimsoll_results::fail_on::{Condition, Failures};

/// A condition of `--fail-on`, and what it found.
pub type Judged = (Condition, Failures);

/// Tests of one run.
pub struct Suite {
    /// The run in a few words.
    pub name: String,
    /// When it started, RFC 3339 in UTC.
    pub started: String,
    /// Its length in seconds.
    pub seconds: f64,
    /// Names and values.
    pub properties: Vec<(&'static str, String)>,
    /// The tests.
    pub cases: Vec<Case>,
    /// The result in sentences, one a line.
    pub output: String,
}

/// One test.
pub struct Case {
    /// The kind of test.
    pub class: &'static str,
    pub name: String,
    pub outcome: Outcome,
}

/// The outcome of a test.
pub enum Outcome {
    Passed,
    /// It failed, and why.
    Failed(String),
    /// It could not be judged, and why.
    Skipped(String),
}

/// A test for each condition of `--fail-on`.
pub fn condition_cases(judged: &[Judged]) -> impl Iterator<Item = Case> {
    judged.iter().map(|(condition, failures)| Case {
        class: "fail-on",
        name: condition.name().to_owned(),
        outcome: if !failures.found.is_empty() {
            Outcome::Failed(failures.found.join("; "))
        } else if !failures.open.is_empty() {
            Outcome::Skipped(format!("not judged: {}", failures.open.join("; ")))
        } else {
            Outcome::Passed
        },
    })
}

/// The whole document.
pub fn document(suites: &[Suite]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for (id, suite) in suites.iter().enumerate() {
        write_suite(&mut out, id, suite);
    }
    out.push_str("</testsuites>\n");
    out
}

fn write_suite(out: &mut String, id: usize, suite: &Suite) {
    let count = |is: fn(&Outcome) -> bool| {
        let cases = suite.cases.iter();
        cases.filter(|case| is(&case.outcome)).count()
    };
    let failures = count(|outcome| matches!(outcome, Outcome::Failed(_)));
    let skipped = count(|outcome| matches!(outcome, Outcome::Skipped(_)));
    // The schemas have no time zone, and at most three digits of a second.
    let started: String = suite.started.chars().take(19).collect();
    let _ = writeln!(
        out,
        "  <testsuite id=\"{id}\" package=\"plimsoll\" name=\"{}\" timestamp=\"{}\" hostname=\"localhost\" tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\" time=\"{:.3}\">",
        escaped(&suite.name),
        escaped(&started),
        suite.cases.len(),
        suite.seconds.max(0.0),
    );
    out.push_str("    <properties>\n");
    for (name, value) in &suite.properties {
        let value = escaped(value);
        let _ = writeln!(out, "      <property name=\"{name}\" value=\"{value}\"/>");
    }
    out.push_str("    </properties>\n");
    for case in &suite.cases {
        let start = format!(
            "    <testcase classname=\"plimsoll.{}\" name=\"{}\" time=\"0.000\"",
            case.class,
            escaped(&case.name)
        );
        let _ = match &case.outcome {
            Outcome::Passed => writeln!(out, "{start}/>"),
            Outcome::Failed(text) => writeln!(
                out,
                "{start}>\n      <failure type=\"{}\" message=\"{text}\">{text}</failure>\n    </testcase>",
                case.class,
                text = escaped(text)
            ),
            Outcome::Skipped(text) => writeln!(
                out,
                "{start}>\n      <skipped message=\"{}\"/>\n    </testcase>",
                escaped(text)
            ),
        };
    }
    let lines: Vec<String> = suite.output.lines().map(escaped).collect();
    let _ = writeln!(
        out,
        "    <system-out>{}</system-out>\n    <system-err></system-err>\n  </testsuite>",
        lines.join("\n")
    );
}
