//! `--rate`: starts a script's scenario at a constant rate.

use std::collections::BTreeMap;
use std::time::Duration;

use plimsoll_plan::{Arrivals, Options, Rate, ScenarioOptions};
use serde_json::json;

/// Iterations at a rate.
#[derive(Clone, Debug)]
pub struct AtRate {
    pub rate: Rate,
    /// Maximum number of virtual users; by default ten times the initial number.
    pub max_users: Option<u32>,
    /// How arrivals are spread; by default as the script's scenario says.
    pub arrivals: Option<Arrivals>,
}

/// Duration without `--duration`.
const DURATION: Duration = Duration::from_secs(10);
/// Users created before the start without `--vus`.
const USERS: i64 = 50;
/// Default maximum number of users: ten times the initial number, but at least this many.
const USERS_MOST: i64 = 1_000;

/// Replaces `--duration` and `--vus` in the flags with a constant arrival rate. Function, variables
/// and tags are those of the script's only scenario, if it has one.
///
/// # Errors
/// If the script has several scenarios, because it is unknown which one the rate is for.
pub(crate) fn shape(
    flags: &mut Options,
    at: AtRate,
    scenarios: Option<&BTreeMap<String, ScenarioOptions>>,
) -> Result<(), String> {
    let (rate, max_users) = (at.rate, at.max_users);
    let own_arrivals = scenarios.into_iter().flat_map(BTreeMap::values);
    let own_arrivals = own_arrivals.filter_map(|scenario| scenario.arrivals.as_ref());
    if let Some(trace) = at
        .arrivals
        .iter()
        .chain(own_arrivals)
        .find_map(|arrivals| arrivals.trace())
    {
        return Err(format!(
            "--rate with arrivals: {trace}: a trace has its own rate; omit --rate"
        ));
    }
    if rate.count == 0 {
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
                "--rate {}: the script has several scenarios ({one}, {other}, …), so it is unclear which one gets the rate; keep one scenario, or set the rates in the script",
                rate.per_second()
            ));
        }
    };
    let users = flags.vus.unwrap_or(USERS);
    let duration = flags.duration.take().unwrap_or(DURATION);
    flags.vus = None;
    let shaped = json!({ "scenarios": { name: {
        "executor": "constant-arrival-rate",
        "rate": rate.count,
        "timeUnit": plimsoll_units::duration::format(rate.per),
        "duration": plimsoll_units::duration::format(duration),
        "preAllocatedVUs": users,
        "maxVUs": max_users.map_or(users.saturating_mul(10).max(USERS_MOST), i64::from),
    }}});
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
