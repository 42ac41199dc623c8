//! "50,000 calls for each concurrency" next to runs that all counted a different number, and "200
//! connections for each thread" next to wrk's 200 connections across all threads.

use crate::block::{Block, Tool};
use crate::finding::Level;
use crate::pattern::{Pattern, pattern};
use crate::quantity::{format_number, parse_number};
use crate::report::{Findings, Report};
use crate::rules::prose::shorten;

use super::total::has_count;

static EACH: Pattern = pattern!(
    r"(?i)\b(\d{1,3}(?:,\d{3})+|\d{3,})\s+(?:http\s+)?(?:requests|calls|queries)\b[\s,]*(?:(?:are |were )?(?:sent|made|launched|run)\s+)?(?:for|per|at|in|with|by)\s+(?:each|every|all|both)?\s*(?:concurrenc\w*|levels?|runs?|tests?|attacks?|endpoints?|frameworks?|servers?)\b"
);

/// The sentence is about every run of the page, so it is wrong only if all runs agree on another number.
pub fn check_sentence(report: &Report, sentence: &str, line: usize, findings: &mut Findings) {
    if !report.document.markdown || super::super::prose::is_conditional(sentence) {
        return;
    }
    let Some((claimed, step)) = EACH
        .first(sentence)
        .and_then(|found| parse_number(found.get(1)?.as_str()))
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
    // A run with a fixed duration can reach any count, so only a fixed number can be misquoted.
    let fixed = block
        .requested_count
        .as_ref()
        .is_some_and(|requested| requested.value == counted.value);
    if !agree || !fixed || has_count(block, claimed, step) {
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
                shorten(sentence),
                counted.text,
                counted.line
            ),
            format!(
                "the command and the output of every run have {}; {} ÷ {} = {:.2}",
                format_number(counted.value),
                format_number(claimed),
                format_number(counted.value),
                claimed / counted.value
            ),
            "Correct the number in the text, or show the runs that it describes.".to_owned(),
        ],
    );
}

static THREAD: Pattern = Pattern::new(|| {
    let number = r"(\d[\d,]*)";
    let each = r"(?:each|every) (?:of the (?:\d+ )?)?threads?";
    let what = r"(?:(?:concurrent|open|http) )?(?:connections?|requests?|users?|clients?)";
    let forms = [
        // "Each thread has 200 connections", "with 200 connections for each thread".
        format!(
            r"\b{each}\s+(?:\w+ ){{0,4}}?(?:opens?|has|have|with|holds?|keeps?|handles?|handling|makes?|sends?|using|uses?|runs?|running)\s+{number}\s+{what}\b"
        ),
        format!(r"\b{number} {what} (?:in |for |by |on |per |with )*(?:{each}|per thread)\b"),
        format!(r"每个?线程[^\d,.，。；;]{{0,8}}{number}\s*个?(?:连接|请求|并发)"),
        format!(r"スレッドあたり\s*{number}\s*(?:接続|コネクション|リクエスト)"),
    ];
    regex_lite::Regex::new(&format!("(?i)(?:{})", forms.join("|"))).ok()
});

/// wrk's number of connections covers all threads. The sentence is about every run of the page, so
/// it is wrong only if each run has as many connections in total as it states for one thread.
pub fn check_connections_per_thread(
    report: &Report,
    sentence: &str,
    line: usize,
    findings: &mut Findings,
) {
    if super::super::prose::is_conditional(sentence) {
        return;
    }
    let Some((claimed, _)) = THREAD
        .first(sentence)
        .and_then(|found| parse_number((1..=4).find_map(|at| found.get(at))?.as_str()))
    else {
        return;
    };
    let parts = |block: &Block| {
        let connections = block.users.as_ref()?;
        // `8 threads and 200 connections`
        let line = report.text.lines().nth(connections.line.checked_sub(1)?)?;
        let (threads, rest) = line.trim().split_once(" threads and ")?;
        rest.ends_with(" connections")
            .then_some((connections.value, parse_number(threads)?.0))
    };
    let all = report.blocks.iter().all(|block| {
        block.tool == Tool::Wrk
            && parts(block)
                .is_some_and(|(connections, threads)| connections == claimed && threads > 1.0)
    });
    let Some(block) = report.blocks.first().filter(|_| all) else {
        return;
    };
    let Some((connections, threads)) = parts(block) else {
        return;
    };
    findings.block(
        "declared-vs-counted",
        Level::Warning,
        block,
        line,
        [
            format!(
                "\"{}\"; {} threads and {} connections",
                shorten(sentence),
                format_number(threads),
                format_number(connections)
            ),
            format!(
                "{} connections ÷ {} threads = {} for each thread, not {}",
                format_number(connections),
                format_number(threads),
                format_number(connections / threads),
                format_number(claimed)
            ),
            "State the number of connections of all threads together, which is what the option sets."
                .to_owned(),
        ],
    );
}
