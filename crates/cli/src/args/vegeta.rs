use clap::{Args, Subcommand};

/// `plimsoll vegeta`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    plimsoll attack … | plimsoll vegeta report\n  \
    plimsoll vegeta report -type='hist[0,1ms,10ms,100ms]' results.bin\n  \
    plimsoll vegeta report -type=json -output=report.json one.bin two.bin\n  \
    plimsoll vegeta encode -to=csv results.bin > results.csv\n  \
    plimsoll vegeta plot -title='before and after' before.bin after.bin > plot.html\n\n\
    Files are those of plimsoll attack, or what `vegeta encode` writes in JSON or CSV; which it is, is \
    found out. Without a file, standard input is read.")]
pub struct VegetaArgs {
    #[command(subcommand)]
    pub command: VegetaCommand,
}

#[derive(Debug, Subcommand)]
pub enum VegetaCommand {
    /// Add results up
    Report(ReportArgs),
    /// Write results in another format
    Encode(EncodeArgs),
    /// Draw results
    Plot(PlotArgs),
}

#[derive(Debug, Args)]
#[command(args_override_self = true)]
pub struct ReportArgs {
    /// Files of results; standard input if none is named
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
    /// text, json, hist[0,1ms,10ms] or hdrplot
    #[arg(long = "type", value_name = "TYPE", default_value = "text")]
    pub kind: String,
    /// Bounds of the histogram, like [0,1ms,10ms]
    #[arg(long, value_name = "BOUNDS")]
    pub buckets: Option<String>,
    /// Report so often while results come in
    #[arg(long, value_name = "TIME")]
    pub every: Option<String>,
    /// Add service times up, from the actual send, instead of latencies from the scheduled start
    #[arg(long)]
    pub service_time: bool,
    /// Where the report goes
    #[arg(long, value_name = "FILE", default_value = "stdout")]
    pub output: String,
}

#[derive(Debug, Args)]
#[command(args_override_self = true)]
pub struct EncodeArgs {
    /// Files of results; standard input if none is named
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
    /// json, csv, or plimsoll for the format of plimsoll attack
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    pub to: String,
    /// Where they go
    #[arg(long, value_name = "FILE", default_value = "stdout")]
    pub output: String,
}

#[derive(Debug, Args)]
#[command(args_override_self = true)]
pub struct PlotArgs {
    /// Files of results; standard input if none is named
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
    /// Title of the page
    #[arg(long, value_name = "TEXT", default_value = "Plimsoll Plot")]
    pub title: String,
    /// Points a series at the most
    #[arg(long, value_name = "N", default_value_t = 4000)]
    pub threshold: usize,
    /// Where the page goes
    #[arg(long, value_name = "FILE", default_value = "stdout")]
    pub output: String,
}
