//! `plimsoll find`: searches for the highest rate that meets an objective.

use std::time::Duration;

use plimsoll_output::Paint;
use plimsoll_search::{Objective, Settings};
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::search_run::SearchRun;

use crate::args::{GlobalArgs, ReportArgs, WebArgs};

/// Find the highest load at which a service meets an objective
#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../help/find.txt"))]
pub struct FindArgs {
    /// Objective, like 'p95<50ms': p50, p90, p95, p99, p999, mean or max of the response time
    #[arg(long = "objective", value_name = "OBJECTIVE", required = true, value_parser = Objective::parse)]
    pub objectives: Vec<Objective>,
    /// Maximum share of failed requests
    #[arg(long, value_name = "PERCENT", default_value = "0.1%", value_parser = plimsoll_units::percent::parse)]
    pub fail_rate: f64,
    /// Duration of one trial; longer if a percentile needs more requests, up to --soak. Below 2s, only the soak detects a slowly growing backlog
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = crate::args::time)]
    pub trial: Duration,
    /// Warm-up before each trial, excluded from its results, in which connections are opened
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = crate::args::time)]
    pub warm_up: Duration,
    /// Duration of the soak, which confirms the result at the end
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = crate::args::time)]
    pub soak: Duration,
    /// First rate to try, per second
    #[arg(long, value_name = "RATE", default_value_t = 100)]
    pub start: u64,
    /// Highest rate to try
    #[arg(long, value_name = "RATE", default_value_t = 1_000_000)]
    pub most: u64,
    /// Stop when the interval is narrower than this share of its lower end
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = plimsoll_units::percent::parse)]
    pub precision: f64,
    /// Repeats required at each end of the interval
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub repeats: u32,
    /// Maximum number of trials
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub trials: u32,
    /// Print the result and all trials as one JSON object on stdout
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub web: WebArgs,
    #[command(flatten)]
    pub report: ReportArgs,
    /// Command to search with, after --: http, grpc, run or attack with its flags, but without a rate and a duration
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// Runs the search and prints the result.
pub fn find(args: FindArgs, global: &GlobalArgs) -> Exit {
    let search = SearchRun {
        settings: Settings {
            objectives: args.objectives,
            fail_rate: args.fail_rate,
            trial: args.trial,
            warm_up: args.warm_up,
            soak: args.soak,
            start: args.start,
            most: args.most,
            precision: args.precision,
            repeats: args.repeats,
            trials: args.trials,
        },
        command: args.command,
        report: args.report.request(),
        page: args.web.web,
        is_json: args.json,
        is_quiet: global.quiet,
        paint: Paint::new(!global.no_color()),
    };
    search
        .run()
        .unwrap_or_else(|refusal| Exit::refuse(&refusal))
}
