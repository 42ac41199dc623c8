//! The rules, with one file per family. Each finding contains the calculation that it is based on.
//! If a figure for the calculation is missing, the finding is a note or is omitted.

mod addresses;
mod already_stated;
mod baseline;
mod certainty;
mod change;
mod checks;
mod claims;
mod clock;
mod closed_loop;
mod comparison;
mod connections;
mod copies;
mod counted_rate;
mod counts;
mod durations;
mod failures;
mod keys;
mod labels;
mod location;
mod missing_requests;
mod objective;
mod open_loop;
mod prose;
mod protocol;
mod ramp;
mod rate_label;
mod records;
mod rows;
mod same_request;
mod samples;
mod series;
mod setup_tail;
mod shares;
mod stalls;
mod tables;
mod units;

use crate::records::Grids;
use crate::report::{Findings, Report};

/// A rule: its name, and the conclusion that starts its findings.
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

/// All rules. Each name occurs once, even if several functions report findings under it.
pub const RULES: &[Rule] = rules! {
    "negative-duration": "A duration is below zero" => durations::negative,
    "impossible-minimum": "A part of the request and the whole contradict each other" => durations::impossible,
    "percentile-disorder": "These figures cannot come from the same samples" => durations::disorder,
    "coarse-clock": "The clock is too coarse for these figures" => clock::coarse,
    "printed-too-coarsely": "The figures are printed with too few digits" => clock::printed,
    "percentile-undersampled": "There are too few samples for this percentile" => samples::undersampled,
    "run-too-short": "The run is too short to show a steady state" => samples::short,
    "startup-dominates": "A few slow requests dominate the average" => stalls::startup,
    "connection-setup-tail": "As many requests are slow as there are connections" => setup_tail::tail,
    "hidden-stall": "The percentiles hide a stall" => stalls::hidden,
    "one-stall-explains": "A few slow samples cause the whole difference" => stalls::explains,
    "think-time-bound": "The think time sets the rate, not the system" => closed_loop::think,
    "saturated-closed-loop": "The latency is queueing: users divided by rate" => closed_loop::saturated,
    "lock-step": "All users send at the same moment" => closed_loop::lock_step,
    "littles-law-gap": "Users, rate and latency contradict each other" => closed_loop::little,
    "gauge-as-result": "The last sample of `vus` is not the number of users" => closed_loop::gauge,
    "hot-key": "The rate is that of one request at a time" => keys::hot,
    "unseeded-keys": "The test requests keys that it never wrote" => keys::unseeded,
    "failures-rounded-away": "Failures disappear in rounding" => failures::rounded,
    "failures-as-work": "Failed requests count in the rate or the latency" => failures::as_work,
    "failures-left-out": "Failed requests are missing from the latency" => missing_requests::left_out,
    "same-request": "Every request was the same" => same_request::same,
    "length-failures": "These failures are only responses of another length" => failures::length,
    "non-success-as-success": "Responses are errors" => failures::non_success,
    "timeout-as-percentile": "This figure is as long as a timeout" => failures::timeout,
    "vacuous-check": "The checks do not catch wrong responses" => checks::vacuous,
    "partial-check": "Only a part of the requests was checked" => checks::partial,
    "setup-in-metrics": "Setup requests are included in the figures" => checks::setup,
    "protocol-mismatch": "The encrypted row sent fewer bytes than the plain one" => protocol::mismatch,
    "handshake-amortised": "Most requests made no TLS handshake" => protocol::handshake,
    "connect-left-out": "The time to connect is missing from the comparison" => connections::left_out,
    "keepalive-not-kept": "Connections were opened for each request, or shared" => connections::not_kept,
    "unit-mismatch": "The unit does not match the figures" => units::mismatch,
    "declared-vs-counted": "The run differs from the declared one" => counts::declared,
    "total-mismatch": "The parts do not add up" => counts::total,
    "divisor-includes-waiting": "The rate was divided by another time than the run's" => counts::divisor,
    "copied-block": "Two results are identical" => counts::copied,
    "torn-block": "The output is incomplete" => counts::orphan_rows,
    "rate-is-the-asked-rate": "The rate is the one that was requested" => open_loop::requested,
    "ramp-end-as-rate": "The rate is that of the end of a ramp" => ramp::end_as_rate,
    "overdriven": "The latency grew with the length of the run" => open_loop::overdriven,
    "generator-saturated": "The load was lower than requested" => open_loop::saturated,
    "above-baseline": "The result is faster than the network" => baseline::above,
    "objective-contradicted": "The objective was missed" => objective::contradicted,
    "non-monotone": "Latency or failures fall while the load rises" => rows::non_monotone,
    "common-cap": "Several systems reach the same maximum rate" => rows::common_cap,
    "single-run": "Each result is a single run" => rows::single,
    "unlike-questions": "The rows measure different work" => rows::unlike,
    "ratio-misstated": "A factor or a percentage is wrong" => claims::ratios,
    "errors-denied": "The text denies errors that were counted" => claims::errors_denied,
    "stale-prose": "The text quotes a figure that the results do not have" => prose::stale,
    "percentile-misquoted": "The text names the wrong column" => prose::misquoted,
    "label-mismatch": "The label does not match the result" => labels::mismatch,
    "comparison-reversed": "The comparison is reversed" => comparison::reversed,
    "wrong-base": "The percentage has the wrong base" => comparison::base,
    "inverse-rate-as-latency": "This time is computed from the rate, not measured" => comparison::inverse,
    "co-located": "The load generator and the system shared a machine" => location::co_located,
};

/// Applies every rule.
pub fn check(report: &Report, grids: &Grids, findings: &mut Findings) {
    for rule in RULES {
        (rule.check)(report, findings);
    }
    // These functions report findings under names from the list above.
    claims::objectives(report, findings);
    claims::rates(report, findings);
    claims::quantiles(report, findings);
    claims::durations(report, findings);
    claims::totals(report, findings);
    claims::arithmetic(report, findings);
    claims::labelled(report, findings);
    claims::rows(report, findings);
    claims::data(report, findings);
    shares::without_counts(report, findings);
    shares::sums(report, findings);
    copies::changed(report, findings);
    addresses::mismatch(report, findings);
    counted_rate::counted(report, findings);
    rate_label::mismatch(report, findings);
    setup_tail::between_quantiles(report, findings);
    records::check(report, grids, findings);
    certainty::few_samples(report, findings);
    certainty::one_cause(report, findings);
    already_stated::stated(report, findings);
    for finding in &mut findings.found {
        let rule = RULES.iter().find(|rule| rule.name == finding.rule);
        finding.conclusion = rule.map_or("", |rule| rule.says);
    }
}
