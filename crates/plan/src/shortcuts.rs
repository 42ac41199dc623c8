//! The shortcut options `vus`, `duration`, `iterations` and `stages`: they define one scenario
//! named `default`.

use std::collections::BTreeMap;

use crate::error::{Errors, Warning};
use crate::executor::ExecutorKind;
use crate::options::Options;
use crate::scenario::ScenarioOptions;

/// The name of the scenario that the shortcuts define.
const NAME: &str = "default";

/// The scenarios to run: those in the options, or the one that the shortcuts define.
pub(crate) fn scenarios(
    options: &Options,
    warnings: &mut Vec<Warning>,
) -> BTreeMap<String, ScenarioOptions> {
    if let Some(scenarios) = options.scenarios.as_ref().filter(|s| !s.is_empty()) {
        return scenarios.clone();
    }
    let scenario = if let Some(iterations) = options.iterations {
        let mut shared = ScenarioOptions::new(ExecutorKind::SharedIterations);
        shared.vus = options.vus;
        shared.iterations = Some(iterations);
        shared.max_duration = options.duration;
        shared
    } else if let Some(duration) = options.duration {
        let mut constant = ScenarioOptions::new(ExecutorKind::ConstantUsers);
        constant.vus = options.vus;
        constant.duration = Some(duration);
        constant
    } else if options.timed_stages().next().is_some() {
        let mut ramping = ScenarioOptions::new(ExecutorKind::RampingUsers);
        ramping.start_vus = options.vus;
        ramping.stages = Some(options.timed_stages().collect());
        ramping
    } else {
        warn_ignored(options, warnings);
        ScenarioOptions::new(ExecutorKind::PerUserIterations)
    };
    BTreeMap::from([(NAME.to_owned(), scenario)])
}

/// Replaces the paths of the scenario's options in errors by the shortcut options that the user has set.
pub(crate) fn name_options(errors: &mut Errors) {
    for fault in &mut errors.0 {
        let path = fault.place.strip_prefix("scenarios.").and_then(|rest| {
            let option = rest.strip_prefix(NAME)?.strip_prefix('.')?;
            Some(match option {
                "startVUs" => "vus",
                "maxDuration" => "duration",
                // There is no shortcut for it.
                "exec" => "",
                other => other,
            })
        });
        if let Some(path) = path.map(str::to_owned) {
            fault.place = path;
        }
    }
}

fn warn_ignored(options: &Options, warnings: &mut Vec<Warning>) {
    // One user is the default anyway.
    if let Some(vus) = options.vus.filter(|vus| *vus != 1) {
        warnings.push(Warning::new(format!(
            "`vus={vus}` has no effect alone: set `iterations`, `duration` or `stages` with it"
        )));
    }
    let empty = [
        ("stages", options.stages.is_some()),
        (
            "scenarios",
            options.scenarios.as_ref().is_some_and(BTreeMap::is_empty),
        ),
    ];
    for (name, empty) in empty {
        if empty {
            warnings.push(Warning::new(format!(
                "`{name}` is empty, so one user runs one iteration"
            )));
        }
    }
}
