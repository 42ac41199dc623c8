/// A command to a run in another process.
#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../../help/control.txt"))]
pub struct ControlArgs {
    #[command(flatten)]
    pub at: ApiArgs,
}

/// The run to control.
#[derive(Debug, clap::Args)]
pub struct ApiArgs {
    /// Address of the run's API: the run's --address
    #[arg(
        short,
        long,
        value_name = "[HOST:]PORT",
        default_value = "127.0.0.1:6565"
    )]
    pub address: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `plimsoll scale`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../../help/control.txt"))]
pub struct ScaleArgs {
    #[command(flatten)]
    pub at: ApiArgs,
    /// Virtual users to run, at most the scenario's maxVUs
    #[arg(
        short = 'u',
        long,
        visible_alias = "users",
        value_name = "N",
        required_unless_present = "max"
    )]
    pub vus: Option<u32>,
    /// For k6's flag: must be the scenario's maxVUs
    #[arg(short, long, hide = true)]
    pub max: Option<u32>,
}
