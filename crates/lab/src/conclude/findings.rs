//! Finds contradictions in a cell's figures, and facts that affect their meaning.

use plimsoll_results::lab::{Finding, LinkFigures};

use super::repeat::Measured;
use crate::resolve::load::Source;
use crate::resolve::{Cell, Lab};

/// The rule of the audit about means that a few slow requests dominate.
const ABOUT_MEANS: &str = "startup-dominates";
/// The reason why such a finding is only a note.
const NO_MEANS: &str = " The conclusions of this lab use no mean.";

/// The findings about a cell: from the audit of the tools' output, and from comparing declared
/// values with measured ones.
pub fn of(
    cell: &Cell,
    repeats: &[Measured],
    link: Option<&LinkFigures>,
    shared_cpus: bool,
) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    let mut add = |rule: &str, level: &str, text: String| {
        let finding = Finding {
            rule: rule.to_owned(),
            level: level.to_owned(),
            text,
        };
        if !found
            .iter()
            .any(|one| one.rule == finding.rule && one.level == finding.level)
        {
            found.push(finding);
        }
    };
    for measured in repeats {
        // The output of a search is not a block of figures.
        let printed = match &measured.search {
            Some(_) => "",
            None => measured.repeat.raw.as_str(),
        };
        if let Ok(audit) = plimsoll_audit::audit("raw", printed) {
            for finding in &audit.findings {
                let text = format!(
                    "repeat {}: {}: {} {}",
                    measured.repeat.number, finding.evidence, finding.arithmetic, finding.advice
                );
                add(finding.rule, finding.level.name(), text);
            }
        }
        if let Some((rule, text)) = protocol(cell, measured) {
            add(rule, "error", text);
        }
        if let Some((declared, done)) = measured.repeat.work
            && declared != done
        {
            add(
                "declared-vs-counted",
                "error",
                format!("{declared} requests were declared, but {done} were counted"),
            );
        }
        for (name, (passed, failed)) in &measured.checks {
            if *failed > 0 {
                add(
                    "failed-checks",
                    "error",
                    format!(
                        "repeat {}: {failed} of {} responses did not pass the script's checks ({name}): this is not the intended load",
                        measured.repeat.number,
                        passed + failed
                    ),
                );
            }
        }
        let failed = measured.repeat.failed;
        if failed > 0 {
            add(
                "failed-requests",
                "warning",
                format!(
                    "repeat {}: {failed} of {} requests failed",
                    measured.repeat.number, measured.repeat.requests
                ),
            );
        }
    }
    // The probability of seeing a rare stall depends on the total time for which the cell was observed,
    // in all its runs.
    let seconds = cell.load.duration.as_secs_f64() * repeats.len() as f64;
    if cell.load.work.is_none() && !cell.load.is_search() && seconds < 5.0 {
        add(
            "run-too-short",
            "warning",
            format!(
                "all runs together lasted {seconds} s: in less than 5 s, it is a matter of chance whether a stall occurs"
            ),
        );
    }
    // A search repeats the measurements at each end of its interval.
    if repeats.len() == 1 && !cell.load.is_search() {
        add(
            "single-run",
            "note",
            "a single run does not show how much runs vary".to_owned(),
        );
    } else if cell.load.restarts == 1 && !cell.load.is_search() {
        add(
            "single-start",
            "note",
            "all runs used a single start of the system, so the intervals do not include the variation between starts"
                .to_owned(),
        );
    }
    if shared_cpus {
        add(
            "co-located",
            "note",
            "the generator and a system may run on the same processors: set cpus for both to separate them".to_owned(),
        );
    }
    if let Some((level, text)) = link.and_then(distance) {
        add("link-mismatch", level, text);
    }
    if let Some(text) = link.and_then(bandwidth_finding) {
        add("link-rate-mismatch", "warning", text);
    }
    found
}

/// Turns warnings about means into notes if the lab compares, shows, asks about and judges no mean. The audit recommends
/// medians without the warm-up, and a lab has no other figures then.
pub fn lower_about_means(lab: &Lab, findings: &mut [Finding]) {
    if uses_means(lab) {
        return;
    }
    let is_lowered = |one: &&mut Finding| one.rule == ABOUT_MEANS && one.level == "warning";
    for finding in findings.iter_mut().filter(is_lowered) {
        finding.level = "note".to_owned();
        finding.text.push_str(NO_MEANS);
    }
}

fn uses_means(lab: &Lab) -> bool {
    let compared = lab.compared.iter().flat_map(|one| &one.figures);
    let shown = lab.tables.iter().flat_map(|one| &one.figures);
    let judged = lab.objectives.iter().map(|one| &one.figure);
    let asked = lab.questions.iter().filter_map(|one| one.figure());
    let names = compared.chain(shown).chain(judged).map(String::as_str);
    names.chain(asked).any(|name| name == "latency_mean")
}

fn protocol(cell: &Cell, measured: &Measured) -> Option<(&'static str, String)> {
    let declared = cell.load.protocol.as_deref()?;
    let other = measured
        .protocols
        .iter()
        .find(|(name, count)| **count > 0 && !same_protocol(name, declared))?;
    Some((
        "protocol-mismatch",
        format!(
            "{declared} was declared, but {} responses used {}",
            other.1, other.0
        ),
    ))
}

/// Treats `HTTP/2` and `HTTP/2.0` as equal.
fn same_protocol(one: &str, other: &str) -> bool {
    one.trim_end_matches(".0") == other.trim_end_matches(".0")
}

/// A round trip that differs from the declared one. The measured round trip includes the system's
/// own time.
fn distance(link: &LinkFigures) -> Option<(&'static str, String)> {
    let declared = link.declared_round_trip_ms?;
    let Some(measured) = link.measured_round_trip_ms else {
        return Some((
            "note",
            format!(
                "a round trip of {declared} ms was declared, but could not be measured because the system does not echo"
            ),
        ));
    };
    let off = (measured - declared).abs();
    (off > declared * 0.1 + 2.0).then(|| {
        (
            "warning",
            format!("a round trip of {declared} ms was declared, but {measured:.3} ms were measured: {off:.3} ms off"),
        )
    })
}

/// A link whose bandwidth differs from the declared one.
fn bandwidth_finding(link: &LinkFigures) -> Option<String> {
    let declared = link.declared_megabits_per_second?;
    let measured = link.measured_megabits_per_second?;
    let share = measured / declared;
    (!(0.85..=1.1).contains(&share)).then(|| {
        format!(
            "{declared} Mbit/s were declared, but one TCP stream reached {measured:.0} Mbit/s: {:.0} % of that",
            share * 100.0
        )
    })
}

/// Whether this program generates the load and therefore observes itself.
pub fn is_self_generated(cell: &Cell) -> bool {
    cell.load.tool == "plimsoll" && !matches!(cell.load.source, Source::Command(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_about_means_count_only_if_the_lab_uses_means() {
        let lowered = |compared: &str| {
            let text = format!(
                "[lab]\ntitle = \"a\"\nquestion = \"b\"\n[axes]\nuse = [\"x\", \"y\"]\n\
                 [[system]]\nname = \"s\"\ncommand = \"true\"\nready = {{ log = \"x\" }}\n\
                 [load]\nhttp = {{ url = \"http://127.0.0.1/\" }}\nrestarts = 3\n\
                 [[compare]]\naxis = \"use\"\nfigures = \"{compared}\"\n"
            );
            let document = crate::file::Document::of_text("lab.toml".as_ref(), &text);
            let lab = document.and_then(|one| Lab::of(one, crate::FormName::Standard));
            let lab = lab.expect("a lab");
            let finding = |rule: &str, level: &str| Finding {
                rule: rule.to_owned(),
                level: level.to_owned(),
                text: "mean 5ms, p90 3.87ms.".to_owned(),
            };
            let mut found = [
                finding("startup-dominates", "warning"),
                finding("run-too-short", "warning"),
            ];
            lower_about_means(&lab, &mut found);
            // A second judgment of the same result changes nothing.
            let before = found.clone();
            lower_about_means(&lab, &mut found);
            assert_eq!(found, before);
            assert_eq!(found[1], finding("run-too-short", "warning"));
            (found[0].level.clone(), found[0].text.clone())
        };
        let text = "mean 5ms, p90 3.87ms. The conclusions of this lab use no mean.";
        assert_eq!(lowered("latency_p95"), ("note".into(), text.into()));
        assert_eq!(lowered("latency_mean").0, "warning");
    }

    #[test]
    fn a_missing_round_trip_is_detected() {
        let mut link = LinkFigures {
            declared_round_trip_ms: Some(26.4),
            measured_round_trip_ms: Some(26.9),
            ..LinkFigures::default()
        };
        assert_eq!(distance(&link), None);
        link.declared_megabits_per_second = Some(556.0);
        link.measured_megabits_per_second = Some(548.0);
        assert_eq!(bandwidth_finding(&link), None);
        link.measured_megabits_per_second = Some(200.0);
        assert!(bandwidth_finding(&link).is_some());
        link.measured_round_trip_ms = Some(0.2);
        assert_eq!(distance(&link).map(|found| found.0), Some("warning"));
    }
}
