use std::path::PathBuf;
use std::time::Duration;

use plimsoll_live::PageSources;
use plimsoll_output::Paint;
use plimsoll_run::{PrecisionGoal, RecordOptions};
use plimsoll_terminal::load_run::Presentation;

use super::{GlobalArgs, ObjectiveArgs, ReportArgs};

/// Flags for the results of a run: outputs, record, store and reports.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Results")]
pub struct RecordArgs {
    /// Write every sample to json[=FILE|-|FILE.gz] or csv[=FILE], parquet[=FILE], parquet-samples[=FILE] or hdrhistogram[=FILE], or send it to experimental-prometheus-rw[=URL],
    /// opentelemetry[=ADDRESS], influxdb[=URL] or statsd[=HOST:PORT]
    #[cfg(feature = "scripts")]
    #[arg(
        short,
        long,
        value_name = "OUTPUT",
        env = "K6_OUT",
        hide_env = true,
        value_delimiter = ','
    )]
    pub out: Vec<String>,
    /// Print only the result on stdout, as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Record the run in this file while it runs, with one JSON line per second
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Add the run to the store, for compare and history (also with --store or PLIMSOLL_STORE)
    #[arg(long)]
    pub keep: bool,
    /// Store of runs (default: plimsoll/runs.sqlite in XDG_DATA_HOME or ~/.local/share)
    #[arg(long, value_name = "FILE", env = "PLIMSOLL_STORE", hide_env = true)]
    pub store: Option<PathBuf>,
    /// Warm-up: leave this much of the start out of the verdict. The figures of the run include it
    #[arg(long, value_name = "TIME", value_parser = super::time)]
    pub warm_up: Option<Duration>,
    /// End the run early, once a latency figure is this precise, like "p99 ±5%"
    #[arg(long, value_name = "PRECISION", value_parser = PrecisionGoal::parse)]
    pub until: Option<PrecisionGoal>,
    #[command(flatten)]
    pub objectives: ObjectiveArgs,
    #[command(flatten)]
    pub report: ReportArgs,
}

/// Flags for the live page.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Results")]
pub struct WebArgs {
    /// Serve a live page of the run (default: 127.0.0.1:5665; also with K6_WEB_DASHBOARD=true)
    #[arg(
        long,
        value_name = "[HOST:]PORT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ""
    )]
    pub web: Option<String>,
}

impl WebArgs {
    /// Where a page can be requested.
    pub fn sources(&self) -> PageSources<'_> {
        PageSources {
            flag: self.web.as_deref(),
            ..PageSources::default()
        }
    }
}

impl RecordArgs {
    /// Whether a record of the run is requested, as a file or in the store.
    #[cfg(feature = "scripts")]
    pub fn is_requested(&self) -> bool {
        self.record.is_some() || self.is_kept()
    }

    /// Whether the run is added to the store.
    fn is_kept(&self) -> bool {
        self.keep || self.store.is_some()
    }

    /// How to show the run, and which results to keep.
    pub fn presentation(&self, web: &WebArgs, global: &GlobalArgs) -> Presentation {
        Presentation {
            #[cfg(feature = "scripts")]
            outputs: self.out.clone(),
            record: RecordOptions {
                file: self.record.clone(),
                is_kept: self.is_kept(),
                store: self.store.clone(),
                warm_up: self.warm_up.unwrap_or_default(),
                objectives: self.objectives.list.clone(),
            },
            report: self.report.request(),
            page: web.web.clone(),
            until: self.until,
            is_json: self.json,
            is_quiet: global.quiet,
            paint: Paint::new(!global.no_color()),
        }
    }
}
