//! Turns consolidated options into a valid plan.

use crate::error::{Errors, Warning};
use crate::options::Options;
use crate::scenario::{Checked, Scenario};
use crate::segment::Segment;
use crate::shortcuts;
use crate::stripe::Division;
use crate::threshold::{MetricSelector, Threshold, ThresholdMap};

/// The exports of the script.
#[derive(Clone, Debug, Default)]
pub struct Exports {
    /// Names of the exported functions.
    pub functions: Vec<String>,
}

/// A valid run.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Sorted by start time, then by name. Never empty.
    pub scenarios: Vec<Scenario>,
    /// Sorted by metric name.
    pub thresholds: Vec<Threshold>,
    /// Metrics with an empty list of thresholds. The summary shows them even without samples.
    pub watched: Vec<MetricSelector>,
    /// The consolidated options, with `scenarios`, `systemTags` and `summaryTrendStats` filled in, as
    /// `exec.test.options` shows them.
    pub options: Options,
    /// The part of the whole test that this instance runs.
    pub segment: Segment,
    pub warnings: Vec<Warning>,
}

impl Plan {
    /// Builds a plan from consolidated options.
    ///
    /// # Errors
    /// All errors, not just the first one.
    pub fn build(options: &Options, exports: &Exports) -> Result<Plan, Errors> {
        let (mut errors, mut warnings) = (Errors::default(), Vec::new());
        let mut options = options.clone();
        let segment = options.execution_segment.unwrap_or_default();
        let sequence = options
            .execution_segment_sequence
            .clone()
            .unwrap_or_default();
        if options.execution_segment_sequence.is_some() && sequence.is_empty() {
            errors.push(
                "executionSegmentSequence",
                "is empty: list the boundaries, such as \"0,1/2,1\", or leave it out",
            );
        }
        let division = Division::of(segment, &sequence).unwrap_or_else(|fault| {
            errors.0.push(fault);
            Division::whole()
        });
        if exports.functions.is_empty() {
            errors.push("", "the script does not export a function: export a default one, or those that the scenarios name in exec");
        }
        let has_own = options
            .scenarios
            .as_ref()
            .is_some_and(|own| !own.is_empty());
        let written = shortcuts::scenarios(&options, &mut warnings);
        let mut scenarios: Vec<Scenario> = written
            .iter()
            .filter_map(|(name, scenario)| {
                Checked::scenario(name, scenario, &exports.functions, &division, &mut errors)
            })
            .collect();
        if !has_own {
            shortcuts::name_options(&mut errors);
        }
        // They are already sorted by name, and the sort is stable.
        scenarios.sort_by_key(|scenario| scenario.start_time);
        options.scenarios = Some(written);
        options.fill_defaults();
        check_timeouts(&options, &mut errors);
        let thresholds = options.thresholds.iter().flatten();
        let ThresholdMap {
            thresholds,
            watched,
        } = ThresholdMap::read(thresholds, &mut errors);
        warn_of_unindexed(&thresholds, &watched, &mut warnings);
        errors.or(Plan {
            scenarios,
            thresholds,
            watched,
            options,
            segment,
            warnings,
        })
    }

    /// A plan with a single scenario, for runs without a script.
    pub fn single(scenario: Scenario, thresholds: Vec<Threshold>) -> Plan {
        Plan {
            scenarios: vec![scenario],
            thresholds,
            watched: Vec::new(),
            options: Options::default(),
            segment: Segment::WHOLE,
            warnings: Vec::new(),
        }
    }
}

/// `vu` and `iter` are metadata of samples, not tags, so selectors cannot match them.
fn warn_of_unindexed(
    thresholds: &[Threshold],
    watched: &[MetricSelector],
    warnings: &mut Vec<Warning>,
) {
    let mut selectors: Vec<_> = thresholds
        .iter()
        .map(|threshold| &threshold.metric)
        .chain(watched)
        .collect();
    selectors.dedup();
    for selector in selectors {
        for tag in selector.unindexed_tags() {
            warnings.push(Warning::new(format!(
                "thresholds.{selector}: the tag \"{tag}\" is not indexed, so no sample will match"
            )).with("component", "metrics-engine"));
        }
    }
}

fn check_timeouts(options: &Options, errors: &mut Errors) {
    let timeouts = [
        ("setupTimeout", options.setup_timeout),
        ("teardownTimeout", options.teardown_timeout),
        ("handleSummaryTimeout", options.handle_summary_timeout),
    ];
    for (name, timeout) in timeouts {
        if timeout.is_some_and(|timeout| timeout.is_zero()) {
            errors.push(name, "must be more than 0");
        }
    }
}
