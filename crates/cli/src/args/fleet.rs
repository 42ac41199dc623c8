use std::time::Duration;

/// Flags of a run whose load is divided among agents.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Fleet")]
pub struct FleetArgs {
    /// Divide the load among agents: local:4 (processes on this machine), 20, or by region: eu=10,us=10
    #[arg(long, value_name = "AGENTS")]
    pub fleet: Option<String>,
    /// NATS server of the agents: an address (nats://HOST:4222, tls://HOST:4222), or a file from plimsoll fleet serve
    #[arg(long, value_name = "SERVER", requires = "fleet")]
    pub fleet_server: Option<String>,
    /// Action when an agent is lost: fail, degrade, redistribute
    #[arg(
        long,
        value_name = "POLICY",
        default_value = "fail",
        requires = "fleet",
        hide_default_value = true
    )]
    pub fleet_loss: FleetLoss,
    /// Maximum time to wait for agents
    #[arg(long, value_name = "TIME", value_parser = super::time, default_value = "30s", requires = "fleet")]
    pub fleet_wait: Duration,
}

/// The action when an agent is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum FleetLoss {
    /// End the run; its results are invalid
    #[default]
    Fail,
    /// Continue with less load; the results are degraded
    Degrade,
    /// Continue; the other agents take over the schedule of the lost agent
    Redistribute,
}
