//! "50,000 calls for each concurrency" next to runs that all counted another number.

use std::sync::LazyLock;

use regex_lite::Regex;

use crate::finding::Level;
use crate::quantity::{digits, number};
use crate::report::{Findings, Report};
use crate::rules::prose::shortened;

use super::total::counts;

static EACH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(\d{1,3}(?:,\d{3})+|\d{3,})\s+(?:http\s+)?(?:requests|calls|queries)\b[\s,]*(?:(?:are |were )?(?:sent|made|launched|run)\s+)?(?:for|per|at|in|with|by)\s+(?:each|every|all|both)?\s*(?:concurrenc\w*|levels?|runs?|tests?|attacks?|endpoints?|frameworks?|servers?)\b").ok()
});

/// Every run of the page is the subject, so the number is certain only if all runs agree on another.
pub fn sentence(report: &Report, sentence: &str, line: usize, findings: &mut Findings) {
    if !report.document.markdown || super::super::prose::is_conditional(sentence) {
        return;
    }
    let Some((said, step)) = EACH
        .as_ref()
        .and_then(|pattern| pattern.captures(sentence))
        .and_then(|found| number(found.get(1)?.as_str()))
    else {
        return;
    };
    let mut blocks = report.blocks.iter();
    let Some((block, counted)) = blocks
        .next()
        .and_then(|block| Some((block, block.requests.as_ref()?)))
    else {
        return;
    };
    let agree = blocks.all(|other| {
        other
            .requests
            .as_ref()
            .is_some_and(|count| count.value == counted.value)
    });
    // A run for a fixed time counts what it can; only a fixed number can be misquoted.
    let fixed = block
        .asked_count
        .as_ref()
        .is_some_and(|asked| asked.value == counted.value);
    if !agree || !fixed || counts(block, said, step) {
        return;
    }
    findings.block(
        "declared-vs-counted",
        Level::Warning,
        block,
        line,
        [
            format!(
                "\"{}\"; {} (line {})",
                shortened(sentence),
                counted.text,
                counted.line
            ),
            format!(
                "the command and the output of every run have {}; {} ÷ {} = {:.2}",
                digits(counted.value),
                digits(said),
                digits(counted.value),
                said / counted.value
            ),
            "Correct the number in the text, or print the runs that it describes.".to_owned(),
        ],
    );
}
