use std::time::Duration;

/// A run that many agents share.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Fleet")]
pub struct FleetArgs {
    /// Divide the test among this many agents: processes on this machine, or those of --fleet-server
    #[arg(long, value_name = "N")]
    pub fleet: Option<u32>,
    /// NATS server to which the agents of other machines are connected (nats://HOST:4222, tls://HOST:4222)
    #[arg(long, value_name = "ADDRESS", requires = "fleet")]
    pub fleet_server: Option<String>,
    /// What happens when an agent is lost: fail, degrade
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
}

/// `plimsoll agent`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../../help/agent.txt"))]
pub struct AgentArgs {
    /// NATS server (nats://HOST:4222, tls://HOST:4222)
    pub server: String,
    /// Name of the agent in results (default: the host name)
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Exit after one run, and when stdin is closed
    #[arg(long, hide = true)]
    pub local: bool,
}
