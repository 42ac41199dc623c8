//! The rules, one file a family. Each states the arithmetic it rests on; where a
//! figure it needs is missing it says so at the `note` level, or nothing.

mod baseline;
mod checks;
mod clock;
mod closed_loop;
mod comparison;
mod connections;
mod counts;
mod durations;
mod failures;
mod keys;
mod labels;
mod objective;
mod open_loop;
mod order;
mod place;
mod prose;
mod protocol;
mod samples;
mod series;
mod stalls;
mod tables;
mod units;

use crate::report::{Findings, Report};

/// A rule: its name, and what it looks at.
pub struct Rule {
    pub name: &'static str,
    pub says: &'static str,
    check: fn(&Report, &mut Findings),
}

macro_rules! rules {
    ($($name:literal: $says:literal => $check:path,)*) => {
        &[$(Rule { name: $name, says: $says, check: $check },)*]
    };
}

/// All of them. A name stands once, also where one function finds two rules' faults.
pub const RULES: &[Rule] = rules! {
    "negative-duration": "a duration below zero" => durations::negative,
    "impossible-minimum": "a part is longer, or a whole shorter, than it can be" => durations::impossible,
    "percentile-disorder": "percentiles out of order, a mean outside minimum and maximum" => durations::disorder,
    "coarse-clock": "the clock ticks too coarsely for the figure" => clock::coarse,
    "printed-too-coarsely": "the printed step is as large as the figure" => clock::printed,
    "percentile-undersampled": "a percentile of too few samples" => samples::undersampled,
    "run-too-short": "a run of too few windows" => samples::short,
    "startup-dominates": "the tail, a start-up burst as a rule, makes the mean" => stalls::startup,
    "hidden-stall": "a stall that the percentiles do not show" => stalls::hidden,
    "one-stall-explains": "a difference that a handful of samples make" => stalls::explains,
    "think-time-bound": "the rate is users ÷ think time" => closed_loop::think,
    "saturated-closed-loop": "average latency only restates throughput" => closed_loop::saturated,
    "lock-step": "users fire together" => closed_loop::lock_step,
    "littles-law-gap": "users, rate and latency do not fit together" => closed_loop::little,
    "gauge-as-result": "an end-of-run sample printed as a result" => closed_loop::gauge,
    "hot-key": "requests are served one at a time" => keys::hot,
    "unseeded-keys": "asked for what was not written" => keys::unseeded,
    "failures-rounded-away": "failures printed as 0.00 %" => failures::rounded,
    "failures-as-work": "failed requests counted into throughput or latency" => failures::as_work,
    "length-failures": "ab's length failures, which are no failures" => failures::length,
    "non-success-as-success": "success printed beside answers that are none" => failures::non_success,
    "timeout-as-percentile": "a figure is the client's time-out" => failures::timeout,
    "vacuous-check": "a check that cannot fail, or none" => checks::vacuous,
    "partial-check": "a check that ran on a part of the requests" => checks::partial,
    "setup-in-metrics": "requests outside the iterations inside the measured set" => checks::setup,
    "protocol-mismatch": "rows compared over different protocols" => protocol::mismatch,
    "handshake-amortised": "TLS cost claimed from kept connections" => protocol::handshake,
    "connect-left-out": "fresh connections judged by a duration without the connect" => connections::left_out,
    "keepalive-not-kept": "connections were not kept, or hide what was in flight" => connections::not_kept,
    "unit-mismatch": "a unit that the raw figure contradicts, or none" => units::mismatch,
    "declared-vs-counted": "did n, says m" => counts::declared,
    "total-mismatch": "parts that do not add up to the total" => counts::total,
    "divisor-includes-waiting": "draining counted into the rate's time" => counts::divisor,
    "copied-block": "the same block twice" => counts::copied,
    "torn-block": "a block that is not whole" => counts::torn,
    "rate-is-the-asked-rate": "the measured rate is the rate that was asked for" => open_loop::asked,
    "overdriven": "an open loop asked more than was served" => open_loop::overdriven,
    "generator-saturated": "the tool was the bottleneck" => open_loop::saturated,
    "above-baseline": "faster than the network it went through" => baseline::above,
    "objective-contradicted": "said to be met, and was not" => objective::contradicted,
    "non-monotone": "more load, less latency" => order::non_monotone,
    "single-run": "one run per cell" => order::single,
    "unlike-questions": "rows that asked different things" => order::unlike,
    "stale-prose": "a number in the prose that no block has" => prose::stale,
    "percentile-misquoted": "prose quotes one column as another" => prose::misquoted,
    "label-mismatch": "names that disagree with what they stand over" => labels::mismatch,
    "comparison-reversed": "prose turns a comparison round" => comparison::reversed,
    "wrong-base": "a percentage of the wrong base" => comparison::base,
    "inverse-rate-as-latency": "1 ÷ rate read as a latency" => comparison::inverse,
    "co-located": "generator and system share a machine" => place::co_located,
};

/// Applies every rule.
pub fn check(report: &Report, findings: &mut Findings) {
    for rule in RULES {
        (rule.check)(report, findings);
    }
}
