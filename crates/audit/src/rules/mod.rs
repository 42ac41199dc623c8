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
mod one_run;
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

pub use records::are_stated;

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
    "negative-duration": "A duration is below zero" => durations::check_negative,
    "impossible-minimum": "A part of the request and the whole contradict each other" => durations::check_impossible_minimum,
    "percentile-disorder": "These figures cannot come from the same samples" => durations::check_order,
    "coarse-clock": "The clock is too coarse for these figures" => clock::check_coarse_clock,
    "printed-too-coarsely": "The figures are printed with too few digits" => clock::check_printed_digits,
    "percentile-undersampled": "There are too few samples for this percentile" => samples::check_samples_above,
    "run-too-short": "The run is too short to show a steady state" => samples::check_duration,
    "startup-dominates": "A few slow requests dominate the average" => stalls::check_startup,
    "connection-setup-tail": "As many requests are slow as there are connections" => setup_tail::check_tail,
    "hidden-stall": "The percentiles hide a stall" => stalls::check_hidden_stalls,
    "one-stall-explains": "A few slow samples cause the whole difference" => stalls::check_common_cause,
    "think-time-bound": "The think time sets the rate, not the system" => closed_loop::check_think_time,
    "saturated-closed-loop": "The latency is queueing: users divided by rate" => closed_loop::check_saturation,
    "lock-step": "All users send at the same moment" => closed_loop::check_lock_step,
    "littles-law-gap": "Users, rate and latency contradict each other" => closed_loop::check_littles_law,
    "gauge-as-result": "The last sample of `vus` is not the number of users" => closed_loop::check_gauge,
    "hot-key": "The rate is that of one request at a time" => keys::check_hot_key,
    "unseeded-keys": "The test requests keys that it never wrote" => keys::check_unseeded_keys,
    "failures-rounded-away": "Failures disappear in rounding" => failures::check_rounded_shares,
    "failures-as-work": "Failed requests count in the rate or the latency" => failures::check_failures_as_work,
    "failures-left-out": "Failed requests are missing from the latency" => missing_requests::check_missing_requests,
    "same-request": "Every request was the same" => same_request::check_same_request,
    "length-failures": "These failures are only responses of another length" => failures::check_length_failures,
    "non-success-as-success": "Responses are errors" => failures::check_non_success,
    "timeout-as-percentile": "This figure is as long as a timeout" => failures::check_timeout,
    "vacuous-check": "The checks do not catch wrong responses" => checks::check_vacuous_checks,
    "partial-check": "Only a part of the requests was checked" => checks::check_partial_checks,
    "setup-in-metrics": "Setup requests are included in the figures" => checks::check_setup_requests,
    "protocol-mismatch": "The encrypted row sent fewer bytes than the plain one" => protocol::check_sent_bytes,
    "handshake-amortised": "Most requests made no TLS handshake" => protocol::check_handshakes,
    "connect-left-out": "The time to connect is missing from the comparison" => connections::check_excluded_connecting,
    "keepalive-not-kept": "Connections were opened for each request, or shared" => connections::check_kept_connections,
    "unit-mismatch": "The unit does not match the figures" => units::check_units,
    "declared-vs-counted": "The run differs from the declared one" => counts::check_declared_count,
    "total-mismatch": "The parts do not add up" => counts::check_total,
    "divisor-includes-waiting": "The rate was divided by another time than the run's" => counts::check_divisor,
    "copied-block": "Two results are identical" => counts::check_copied_latencies,
    "torn-block": "The output is incomplete" => counts::check_orphan_rows,
    "rate-is-the-asked-rate": "The rate is the one that was requested" => open_loop::check_requested_rate,
    "ramp-end-as-rate": "The rate is that of the end of a ramp" => ramp::check_ramp_end,
    "overdriven": "The latency grew with the length of the run" => open_loop::check_overdriven,
    "generator-saturated": "The load was lower than requested" => open_loop::check_saturation,
    "above-baseline": "The result is faster than the network" => baseline::check_against_baselines,
    "objective-contradicted": "The objective was missed" => objective::check_objectives,
    "non-monotone": "Latency or failures fall while the load rises" => rows::check_monotone,
    "common-cap": "Several systems reach the same maximum rate" => rows::check_common_cap,
    "single-run": "Each result is a single run" => rows::check_single_runs,
    "unlike-questions": "The rows measure different work" => rows::check_response_sizes,
    "ratio-misstated": "A factor or a percentage is wrong" => claims::check_ratios,
    "errors-denied": "The text denies errors that were counted" => claims::check_denied_errors,
    "stale-prose": "The text quotes a figure that the results do not have" => prose::check_stale_numbers,
    "percentile-misquoted": "The text names the wrong column" => prose::check_misquoted_columns,
    "label-mismatch": "The label does not match the result" => labels::check_labels,
    "comparison-reversed": "The comparison is reversed" => comparison::check_reversed,
    "wrong-base": "The percentage has the wrong base" => comparison::check_percentage_base,
    "inverse-rate-as-latency": "This time is computed from the rate, not measured" => comparison::check_inverse_rate,
    "co-located": "The load generator and the system shared a machine" => location::check_location,
};

/// Applies every rule.
pub fn check(report: &Report, grids: &Grids, findings: &mut Findings) {
    for rule in RULES {
        (rule.check)(report, findings);
    }
    // These functions report findings under names from the list above.
    claims::check_objectives(report, findings);
    claims::check_rates(report, findings);
    claims::check_quantiles(report, findings);
    claims::check_durations(report, findings);
    claims::check_totals(report, findings);
    claims::check_arithmetic(report, findings);
    claims::check_labelled_figures(report, findings);
    claims::check_rows(report, findings);
    claims::check_data(report, findings);
    one_run::check_times(report, findings);
    one_run::check_failures(report, findings);
    shares::check_share_without_counts(report, findings);
    shares::check_weighted_mean(report, findings);
    copies::check_changed_copies(report, findings);
    addresses::check_addresses(report, findings);
    counted_rate::check_counted_rate(report, findings);
    rate_label::check_rate_label(report, findings);
    setup_tail::check_quantile_gap(report, findings);
    records::check(report, grids, findings);
    certainty::demote_findings_of_short_runs(report, findings);
    certainty::drop_findings_with_same_cause(report, findings);
    already_stated::demote_stated_findings(report, findings);
    for finding in &mut findings.found {
        let rule = RULES.iter().find(|rule| rule.name == finding.rule);
        finding.conclusion = rule.map_or("", |rule| rule.says);
    }
}
