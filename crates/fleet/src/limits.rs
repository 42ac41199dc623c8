//! Limits that an agent enforces, regardless of what the coordinator requests.

use std::time::Duration;

use plimsoll_plan::{Executor, Plan, Rate, Scenario};

/// The limits of an agent.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Maximum number of users.
    pub max_users: Option<u32>,
    /// Maximum number of iterations that open models may start per second.
    pub max_rate: Option<f64>,
    /// Maximum duration of a run.
    pub max_duration: Option<Duration>,
    /// The only hosts to which connections are allowed.
    pub allow_hosts: Vec<String>,
}

impl Limits {
    /// Restricts the connections of this process until it exits.
    pub fn apply(&self) -> Result<(), String> {
        plimsoll_run::allow_only_hosts(&self.allow_hosts)
    }

    /// Checks the agent's part of a plan.
    ///
    /// # Errors
    /// If it exceeds a limit.
    pub fn check(&self, plan: &Plan) -> Result<(), String> {
        let needs = plan.requirements();
        if let Some(most) = self.max_users.filter(|most| *most < needs.max_users) {
            return Err(format!(
                "this agent accepts {most} users (--max-users), and its part has {}",
                needs.max_users
            ));
        }
        let rate: f64 = plan.scenarios.iter().map(highest_rate).sum();
        if let Some(most) = self.max_rate.filter(|most| *most < rate) {
            return Err(format!(
                "this agent accepts {most} iterations/s (--max-rate), and its part has {rate:.1}"
            ));
        }
        let longest = needs.duration_with_graceful_stop;
        if let Some(most) = self.max_duration
            && longest.is_none_or(|longest| longest > most)
        {
            let longest = longest.map_or("no end".to_owned(), plimsoll_units::duration::format);
            return Err(format!(
                "this agent accepts runs of {} (--max-duration), and this one has {longest} with its graceful stop",
                plimsoll_units::duration::format(most)
            ));
        }
        Ok(())
    }
}

/// The highest rate of an open model in this part of the test, per second.
fn highest_rate(scenario: &Scenario) -> f64 {
    let highest = match &scenario.executor {
        Executor::ConstantArrivalRate { rate, .. } => rate.per_second(),
        Executor::RampingArrivalRate { start, stages, .. } => {
            let targets = stages.iter().map(|stage| stage.target);
            let count = targets.max().unwrap_or(0).max(start.count);
            Rate { count, ..*start }.per_second()
        }
        _ => 0.0,
    };
    let (own, all) = scenario.stripe.fraction();
    highest * f64::from(own) / f64::from(all.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_compared_with_the_part() {
        let second = Duration::from_secs(1);
        let rate = Rate {
            count: 50,
            per: second,
        };
        let executor = Executor::ConstantArrivalRate {
            rate,
            duration: 10 * second,
            pre_allocated: 5,
            max_users: 20,
        };
        let mut scenario = Scenario::new("open", executor);
        scenario.graceful_stop = second;
        let plan = Plan::single(scenario, Vec::new());
        let limits = |max_users, max_rate, seconds: Option<u64>| Limits {
            max_users,
            max_rate,
            max_duration: seconds.map(Duration::from_secs),
            allow_hosts: Vec::new(),
        };
        assert_eq!(limits(None, None, None).check(&plan), Ok(()));
        assert_eq!(limits(Some(20), Some(50.0), Some(11)).check(&plan), Ok(()));
        for (limits, flag) in [
            (limits(Some(19), None, None), "--max-users"),
            (limits(None, Some(49.9), None), "--max-rate"),
            (limits(None, None, Some(10)), "--max-duration"),
        ] {
            let error = limits.check(&plan).unwrap_err();
            assert!(error.contains(flag), "{error}");
        }
    }
}
