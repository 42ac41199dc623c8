//! Requests that no latency figure includes: timeouts, failed connections, and responses without a
//! status.

use crate::block::{Block, SocketErrors, Tool};
use crate::finding::Level;
use crate::quantity::{Unit, format_number, format_value};
use crate::report::{Findings, Report};

const RULE: &str = "failures-left-out";

pub fn check_missing_requests(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        if let Some(sockets) = &block.sockets {
            check_timeouts(block, sockets, findings);
            check_connections(block, sockets, findings);
        }
        match block.tool {
            Tool::Autocannon | Tool::Gcannon => check_errors(block, findings),
            Tool::Hey | Tool::Oha => check_requests_without_status(block, findings),
            _ => {}
        }
    }
}

/// wrk records no latency for a request that times out.
fn check_timeouts(block: &Block, sockets: &SocketErrors, findings: &mut Findings) {
    let Some(requests) = &block.requests else {
        return;
    };
    if requests.value <= 0.0 {
        check_no_response(block, sockets, findings);
        return;
    }
    // If there are as many read errors as requests, or both read and write errors, the server
    // closes the connection after each response, and wrk counts both.
    let each = |errors: f64| errors > 100.0 && (errors / requests.value - 1.0).abs() < 0.01;
    let (read, write) = if each(sockets.read + sockets.write) {
        (0.0, 0.0)
    } else if each(sockets.read) {
        (0.0, sockets.write)
    } else {
        (sockets.read, sockets.write)
    };
    let lost = sockets.timeout + read + write;
    if lost <= 0.0 {
        return;
    }
    let share = lost / (requests.value + lost);
    let slowest = block.latency().and_then(|latency| latency.max.as_ref());
    let what = if sockets.timeout > 0.0 {
        format!("{} time-outs", format_number(sockets.timeout))
    } else {
        format!("{} read and write errors", format_number(read + write))
    };
    findings.block(
        RULE,
        if share >= 0.001 {
            Level::Warning
        } else {
            Level::Note
        },
        block,
        sockets.line,
        [
            format!(
                "{what}, {} requests{}",
                requests.text,
                slowest.map_or("; no latency was measured".to_owned(), |max| format!(
                    "; slowest latency {}",
                    max.text
                ))
            ),
            format!(
                "{} ÷ ({} + {}) = {} of the requests are missing from every latency figure",
                format_number(lost),
                format_number(requests.value),
                format_number(lost),
                format_value(share, Unit::Share)
            ),
            "Report the failures with the latency, and repeat the run with a longer timeout."
                .to_owned(),
        ],
    );
}

/// Reports if no request got a response and sockets failed.
fn check_no_response(block: &Block, sockets: &SocketErrors, findings: &mut Findings) {
    let failed = sockets.read + sockets.write + sockets.timeout;
    if failed <= 0.0 {
        return;
    }
    findings.block(
        RULE,
        Level::Error,
        block,
        sockets.line,
        [
            format!("0 requests; {}", sockets.to_wrk_text()),
            format!(
                "{} sockets failed and no response was counted",
                format_number(failed)
            ),
            "There is no result. Look at a response with curl, and check that it is complete HTTP."
                .to_owned(),
        ],
    );
}

fn check_connections(block: &Block, sockets: &SocketErrors, findings: &mut Findings) {
    let Some(users) = block.users.as_ref().filter(|users| users.value > 0.0) else {
        return;
    };
    if sockets.connect < 0.01 * users.value || sockets.connect < 1.0 {
        return;
    }
    let arithmetic = if sockets.connect < users.value {
        format!(
            "{} − {} = {} connections generated the load",
            users.text,
            format_number(sockets.connect),
            format_number(users.value - sockets.connect)
        )
    } else {
        let responses = block.requests.as_ref().map_or(0.0, |n| n.value);
        format!(
            "{} connection attempts failed, {} requests got a response",
            format_number(sockets.connect),
            format_number(responses)
        )
    };
    findings.block(
        RULE,
        Level::Warning,
        block,
        sockets.line,
        [
            format!("{} connections requested, connect {}", users.text, format_number(sockets.connect)),
            arithmetic,
            "Raise the limits on open files and the listen backlog, or report the number of connections that were opened.".to_owned(),
        ],
    );
}

fn check_errors(block: &Block, findings: &mut Findings) {
    let (Some(lost), Some(requests)) = (&block.lost, &block.requests) else {
        return;
    };
    let share = lost.value / requests.value.max(lost.value);
    if share < 0.001 {
        return;
    }
    findings.block(
        RULE,
        Level::Warning,
        block,
        lost.line,
        [
            format!(
                "{} of {} requests",
                block.errors.first().map_or("", |(text, _)| text),
                requests.text
            ),
            format!(
                "{} ÷ {} = {} of the requests have no response; the latencies are of the others",
                format_number(lost.value),
                format_number(requests.value.max(lost.value)),
                format_value(share, Unit::Share)
            ),
            "Report the failures with the latency, and repeat the run with a longer timeout."
                .to_owned(),
        ],
    );
}

/// Reports if rate × time requests were sent, but fewer have a status.
fn check_requests_without_status(block: &Block, findings: &mut Findings) {
    let (Some(rate), Some(elapsed), false) =
        (&block.rate, &block.elapsed, block.statuses.is_empty())
    else {
        return;
    };
    let responses: f64 = block.statuses.iter().map(|(_, count)| count.value).sum();
    // The tool recorded only some of the statuses.
    if block.sampled == Some(responses) {
        return;
    }
    let made = rate.value * elapsed.value;
    let slack = rate.value * elapsed.step + rate.step * elapsed.value + 1.0;
    let lost = made - responses;
    if lost <= slack || lost < 0.01 * made {
        return;
    }
    findings.block(
        RULE,
        Level::Warning,
        block,
        rate.line,
        [
            format!(
                "{} for {}; {} responses with a status",
                format_value(rate.value, Unit::Rate),
                format_value(elapsed.value, Unit::Time),
                format_number(responses)
            ),
            format!(
                "{} × {} = {} requests; {} − {} = {} have no status",
                format_value(rate.value, Unit::Rate),
                format_value(elapsed.value, Unit::Time),
                format_number(made.round()),
                format_number(made.round()),
                format_number(responses),
                format_number(lost.round())
            ),
            "State what happened to these requests: interrupted at the end, timed out or refused."
                .to_owned(),
        ],
    );
}
