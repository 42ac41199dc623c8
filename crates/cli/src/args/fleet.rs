use std::time::Duration;

/// A run that many agents share.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Fleet")]
pub struct FleetArgs {
    /// Divide the test among agents: local:4 (processes on this machine), 20, or by region eu=10,us=10
    #[arg(long, value_name = "AGENTS")]
    pub fleet: Option<String>,
    /// NATS server of the agents: its address (nats://HOST:4222, tls://HOST:4222), or a file of plimsoll fleet serve
    #[arg(long, value_name = "SERVER", requires = "fleet")]
    pub fleet_server: Option<String>,
    /// What happens when an agent is lost: fail, degrade, redistribute
    #[arg(
        long,
        value_name = "POLICY",
        default_value = "fail",
        requires = "fleet",
        hide_default_value = true
    )]
    pub fleet_loss: FleetLoss,
    /// How long to wait for agents
    #[arg(long, value_name = "TIME", value_parser = super::time, default_value = "30s", requires = "fleet")]
    pub fleet_wait: Duration,
}

/// What happens when an agent is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum FleetLoss {
    /// The run ends, and its results are invalid
    #[default]
    Fail,
    /// The run continues with less load, and its results are degraded
    Degrade,
    /// The run continues, and the others take over the schedule of the lost agent
    Redistribute,
}
