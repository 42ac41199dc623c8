//! `--rate` and `--arrivals`: start a script's scenario at a constant rate, or at recorded times.

use std::collections::BTreeMap;
use std::time::Duration;

use plimsoll_plan::{ArrivalProcess, Arrivals, Options, Rate, ScenarioOptions};
use serde_json::json;

/// Iterations at a rate.
#[derive(Clone, Debug)]
pub struct RateOverride {
    /// `None` if the arrivals follow a trace, which has its own rate.
    pub rate: Option<Rate>,
    /// Maximum number of virtual users. The default is ten times the initial number.
    pub max_users: Option<u32>,
    /// The distribution of arrivals. The default is that of the script's scenario.
    pub arrivals: Option<Arrivals>,
}

/// The duration if `--duration` is not given.
const DEFAULT_DURATION: Duration = Duration::from_secs(10);
/// The initial number of users if `--vus` is not given.
const DEFAULT_USERS: i64 = 50;
/// The smallest default for the maximum number of users.
const MIN_DEFAULT_MAX_USERS: i64 = 1_000;

impl RateOverride {
    /// Whether the times are in a file that was given on the command line.
    pub(crate) fn has_trace(&self) -> bool {
        let arrivals = self.arrivals.as_ref();
        arrivals.is_some_and(|arrivals| arrivals.trace().is_some())
    }

    /// The option that determines the load.
    fn flag(&self) -> String {
        match (self.rate, &self.arrivals) {
            (Some(rate), _) => format!("--rate {}", rate.per_second()),
            (None, Some(arrivals)) => format!("--arrivals {arrivals}"),
            (None, None) => "--rate".to_owned(),
        }
    }
}

/// Replaces `--duration` and `--vus` in the flags with a constant arrival rate or a trace. Function, variables and tags
/// are those of the script's only scenario, if it has exactly one.
///
/// # Errors
/// If the script has several scenarios, because it is unclear which one the rate applies to.
pub(crate) fn shape(
    flags: &mut Options,
    mut at: RateOverride,
    scenarios: Option<&BTreeMap<String, ScenarioOptions>>,
) -> Result<(), String> {
    // The path of a trace is relative to the script if the script names it, and to the current directory if a flag
    // does.
    if let Some(Arrivals {
        process: ArrivalProcess::Trace(trace),
        ..
    }) = &mut at.arrivals
        && let Ok(path) = std::path::absolute(&trace.file)
    {
        trace.file = path.display().to_string();
    }
    let own_arrivals = scenarios.into_iter().flat_map(BTreeMap::values);
    let own_arrivals = own_arrivals.filter_map(|scenario| scenario.arrivals.as_ref());
    let mut arrivals = at.arrivals.iter().chain(own_arrivals);
    match at.rate {
        Some(_) => {
            if let Some(trace) = arrivals.find_map(|arrivals| arrivals.trace()) {
                return Err(format!(
                    "--rate with arrivals: {trace}: a trace has its own rate; omit --rate"
                ));
            }
        }
        None if flags.iterations.is_some() || flags.stages.is_some() => {
            return Err(
                "--arrivals with a trace has its own rate; omit --iterations and --stage"
                    .to_owned(),
            );
        }
        None => {}
    }
    if at.rate.is_some_and(|rate| rate.count == 0) {
        return Err(
            "--rate 0: no iteration would ever start; omit --rate to use the script's own scenario"
                .to_owned(),
        );
    }
    let mut own = scenarios.into_iter().flatten();
    let (name, scenario) = match (own.next(), own.next()) {
        (None, _) => ("default", None),
        (Some((name, scenario)), None) => (name.as_str(), Some(scenario)),
        (Some((one, _)), Some((other, _))) => {
            return Err(format!(
                "{}: the script has several scenarios ({one}, {other}, …), so it is unclear which one gets the rate; keep one scenario, or set the rates in the script",
                at.flag()
            ));
        }
    };
    let users = flags.vus.unwrap_or(DEFAULT_USERS);
    let duration = flags.duration.take();
    flags.vus = None;
    let mut shaped = json!({
        "executor": "constant-arrival-rate",
        "preAllocatedVUs": users,
        "maxVUs": at.max_users.map_or(users.saturating_mul(10).max(MIN_DEFAULT_MAX_USERS), i64::from),
    });
    if let Some(rate) = at.rate {
        shaped["rate"] = rate.count.into();
        shaped["timeUnit"] = plimsoll_units::duration::format(rate.per).into();
    }
    // A trace ends with its last arrival.
    if let Some(duration) = duration.or(at.rate.map(|_| DEFAULT_DURATION)) {
        shaped["duration"] = plimsoll_units::duration::format(duration).into();
    }
    let shaped = json!({ "scenarios": { name: shaped } });
    let (shaped, _) = Options::from_json(shaped).map_err(|errors| errors.to_string())?;
    flags.scenarios = shaped.scenarios;
    if let Some(shaped) = flags.scenarios.as_mut().and_then(|all| all.get_mut(name)) {
        shaped.arrivals = at
            .arrivals
            .or_else(|| scenario.and_then(|scenario| scenario.arrivals.clone()));
    }
    if let (Some(shaped), Some(scenario)) = (&mut flags.scenarios, scenario)
        && let Some(shaped) = shaped.get_mut(name)
    {
        shaped.exec.clone_from(&scenario.exec);
        shaped.env.clone_from(&scenario.env);
        shaped.tags.clone_from(&scenario.tags);
    }
    Ok(())
}
