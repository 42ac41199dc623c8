//! Flags for the load, with the same meaning in every command.

use std::time::Duration;

use plimsoll_plan::{Arrivals, Rate};
use plimsoll_run::{Connections, LoadOptions};

/// The load of a command without a script.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Load")]
pub struct LoadArgs {
    /// Virtual users (default: one per connection, or 50)
    #[arg(
        short,
        long,
        visible_alias = "vus",
        alias = "concurrency",
        value_name = "N"
    )]
    pub users: Option<u32>,
    /// Connections: a number, shared, kept (one per user) or fresh (one per request)
    #[arg(short, long, value_name = "N|USE")]
    pub connections: Option<Connections>,
    /// Duration of the run (default: 10s; no limit with --loops)
    #[arg(short, short_alias = 'z', long, value_name = "TIME", value_parser = LoadOptions::parse_duration)]
    pub duration: Option<Duration>,
    /// Requests per second (open model), like 200, 10.5 or 600/m
    #[arg(short, long, visible_alias = "rps", value_name = "N[/TIME]", value_parser = Rate::parse)]
    pub rate: Option<Rate>,
    #[command(flatten)]
    pub limit: MaxUsersArgs,
    /// Stop after this number of requests, or after --duration if that is earlier
    #[arg(
        short = 'n',
        long,
        visible_alias = "total",
        value_name = "N",
        conflicts_with = "rate"
    )]
    pub requests: Option<u64>,
    /// Fixed work: each user makes this number of requests
    #[arg(long, value_name = "N", requires = "users", conflicts_with_all = ["rate", "requests"])]
    pub loops: Option<u64>,
    /// Fixed work: open connections within the makespan instead of before it
    #[arg(long, requires = "loops")]
    pub include_connecting: bool,
    #[command(flatten)]
    pub threads: ThreadArgs,
}

/// The maximum number of users in an open model, and the distribution of arrivals.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Load")]
pub struct MaxUsersArgs {
    /// Maximum number of virtual users with --rate (default: 10 times the initial number, at least 1,000)
    #[arg(long, value_name = "N", requires = "rate")]
    pub max_users: Option<u32>,
    /// Distribution of arrivals at --rate: even, poisson, gamma:SHAPE or on-off:ON/OFF; @SEED sets the seed. Without
    /// --rate: trace:FILE, the times in a file; @2x replays them twice as fast
    #[arg(long, value_name = "PROCESS", value_parser = Arrivals::parse)]
    pub arrivals: Option<Arrivals>,
    /// Default seed of random arrivals; a command that starts several runs sets it for each run
    #[arg(long, value_name = "SEED", env = plimsoll_results::run_seed::VARIABLE, hide = true)]
    pub arrivals_seed: Option<u64>,
}

/// The worker threads of a load.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[command(next_help_heading = "Load")]
pub struct ThreadArgs {
    /// Worker threads (default: one per processor that this process may use)
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
}

impl LoadArgs {
    /// The load options, in the form that a run needs.
    pub fn options(&self, no_keepalive: bool) -> LoadOptions {
        LoadOptions {
            users: self.users,
            connections: self.connections,
            no_keepalive,
            duration: self.duration,
            rate: self.rate,
            max_users: self.limit.max_users,
            arrivals: self.limit.arrivals.clone(),
            arrivals_seed: self.limit.arrivals_seed,
            requests: self.requests,
            loops: self.loops,
            include_connecting: self.include_connecting,
            threads: self.threads.threads,
        }
    }
}
