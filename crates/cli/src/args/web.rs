/// The live page.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Results")]
pub struct WebArgs {
    /// Serve a page that shows the run live (default: 127.0.0.1:5665; also with K6_WEB_DASHBOARD=true)
    #[arg(
        long,
        value_name = "[HOST:]PORT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ""
    )]
    pub web: Option<String>,
}
