//! `plimsoll find`.

use std::time::Duration;

use clap::Args;
use plimsoll_search::{Objective, Settings};

/// Find the highest load that keeps an objective
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    plimsoll find --objective 'p95<50ms' -- http http://127.0.0.1:8080/\n  \
    plimsoll find --objective 'p99<=100ms' --objective 'mean<20ms' --trial 10s --soak 2m -- \\\n      \
    http -H 'Accept: application/json' http://127.0.0.1:8080/items\n  \
    plimsoll find --objective 'p95<200ms' -- run -e BASE=http://127.0.0.1:8080 script.js\n\n\
    A script is searched by iterations per second (run --rate), whatever executor it names itself.\n\
    Each trial is a run of the command at a rate, in the open model: response time counts from the\n\
    scheduled start. A trial meets the objective when every --objective holds, no more than --fail-rate\n\
    of the requests failed and of the iterations were dropped, and at least 95% of the rate was served.\n\
    A miss that the generator may have caused does not count: it is repeated, users are added where they\n\
    were short (unless --max-users sets their number), and if that does not help the answer is a lower\n\
    bound. The answer is an interval; its lower end was held for the whole --soak. It is confirmed only\n\
    by valid trials, and not where the service became slower or faster during the search.\n\n\
    Exit status: 0 confirmed, 1 not even the least rate met the objective, 3 not confirmed: too few\n\
    trials, trials in doubt, a service that drifted, or the generator was the limit.")]
pub struct FindArgs {
    /// What must hold, like 'p95<50ms': p50, p90, p95, p99, p999, mean or max of the response time
    #[arg(long = "objective", value_name = "OBJECTIVE", required = true, value_parser = Objective::parse)]
    pub objectives: Vec<Objective>,
    /// The share of requests that may fail
    #[arg(long, value_name = "PERCENT", default_value = "0.1%", value_parser = plimsoll_units::percent::parse)]
    pub fail_rate: f64,
    /// Duration of one trial. Below 2s, only the soak notices a slowly growing backlog
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = super::time)]
    pub trial: Duration,
    /// How much goes before each trial and is not counted: connections are opened then
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = super::time)]
    pub warm_up: Duration,
    /// How long the answer is held at last
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = super::time)]
    pub soak: Duration,
    /// The first rate to try, per second
    #[arg(long, value_name = "RATE", default_value_t = 100)]
    pub start: u64,
    /// No rate above is tried
    #[arg(long, value_name = "RATE", default_value_t = 1_000_000)]
    pub most: u64,
    /// How wide the interval may be, of its lower end
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = plimsoll_units::percent::parse)]
    pub precision: f64,
    /// How often each end of the interval must answer alike
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub repeats: u32,
    /// Trials at the most
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub trials: u32,
    /// The answer and all trials as one JSON object on standard output
    #[arg(long)]
    pub json: bool,
    /// The command, after --: http, grpc, run or attack with its flags, without a rate and a duration
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

impl FindArgs {
    /// What is searched for, and how.
    pub fn settings(&self) -> Settings {
        Settings {
            objectives: self.objectives.clone(),
            fail_rate: self.fail_rate,
            trial: self.trial,
            warm_up: self.warm_up,
            soak: self.soak,
            start: self.start,
            most: self.most,
            precision: self.precision,
            repeats: self.repeats,
            trials: self.trials,
        }
    }
}
