use clap::{Args, Subcommand};

/// `plimsoll vegeta`.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/vegeta.txt"))]
pub struct VegetaArgs {
    #[command(subcommand)]
    pub command: VegetaCommand,
}

#[derive(Debug, Subcommand)]
pub enum VegetaCommand {
    /// Summarize results
    Report(ReportArgs),
    /// Convert results to another format
    Encode(EncodeArgs),
    /// Plot results
    Plot(PlotArgs),
}

#[derive(Debug, Args)]
#[command(args_override_self = true)]
pub struct ReportArgs {
    /// Result files (default: stdin)
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
    /// text, json, hist[0,1ms,10ms] or hdrplot
    #[arg(long = "type", value_name = "TYPE", default_value = "text")]
    pub kind: String,
    /// Bounds of the histogram's buckets, like [0,1ms,10ms]
    #[arg(long, value_name = "BOUNDS")]
    pub buckets: Option<String>,
    /// Report at this interval while results arrive
    #[arg(long, value_name = "TIME")]
    pub every: Option<String>,
    /// Use service times, from the actual send, instead of latencies from the scheduled start
    #[arg(long)]
    pub service_time: bool,
    /// Destination of the report
    #[arg(long, value_name = "FILE", default_value = "stdout")]
    pub output: String,
}

#[derive(Debug, Args)]
#[command(args_override_self = true)]
pub struct EncodeArgs {
    /// Result files (default: stdin)
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
    /// Format: json, csv, or plimsoll for the format of plimsoll attack
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    pub to: String,
    /// Destination of the results
    #[arg(long, value_name = "FILE", default_value = "stdout")]
    pub output: String,
}

#[derive(Debug, Args)]
#[command(args_override_self = true)]
pub struct PlotArgs {
    /// Result files (default: stdin)
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
    /// Title of the page
    #[arg(long, value_name = "TEXT", default_value = "Plimsoll Plot")]
    pub title: String,
    /// Maximum number of points in a series
    #[arg(long, value_name = "N", default_value_t = 4000)]
    pub threshold: usize,
    /// Destination of the page
    #[arg(long, value_name = "FILE", default_value = "stdout")]
    pub output: String,
}
