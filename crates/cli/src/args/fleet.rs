use std::path::PathBuf;
use std::time::Duration;

use clap::Subcommand;

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

/// `plimsoll fleet`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../../help/fleet.txt"))]
pub struct FleetCommandArgs {
    #[command(subcommand)]
    pub command: FleetCommand,
}

#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Start an installed NATS server, configured for agents of several machines
    Serve(FleetServeArgs),
    /// Wait for runs, and run a part of each
    Agent(FleetAgentArgs),
    /// Start agents on other machines, with SSH or Kubernetes, until interrupted
    Up(FleetUpArgs),
    /// List the agents that are connected
    Status(FleetStatusArgs),
    /// Add up the results that agents keep of a run whose coordinator is gone
    Recover(FleetRecoverArgs),
}

/// `plimsoll fleet serve`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../../help/fleet-serve.txt"))]
pub struct FleetServeArgs {
    /// Address to listen on; with TLS unless it is a loopback address
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4222")]
    pub listen: std::net::SocketAddr,
    /// Name or address under which agents reach this machine; repeat for several
    #[arg(long = "host", value_name = "HOST")]
    pub hosts: Vec<String>,
    /// Directory for the configuration and for the files with credentials (default: plimsoll/fleet in the user's state directory)
    #[arg(long, value_name = "DIRECTORY")]
    pub folder: Option<PathBuf>,
    /// Write the files, but do not start the server
    #[arg(long)]
    pub only_write: bool,
}

/// `plimsoll fleet agent`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../../help/fleet-agent.txt"))]
pub struct FleetAgentArgs {
    /// NATS server: its address (nats://HOST:4222, tls://HOST:4222), or the file agent.json of plimsoll fleet serve
    pub server: String,
    /// Name of the agent in results (default: the host name)
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Region of the agent, for --fleet REGION=N
    #[arg(long, value_name = "REGION")]
    pub region: Option<String>,
    /// Directory that keeps results until the coordinator has them (default: plimsoll/fleet/spool in the user's state directory)
    #[arg(long, value_name = "DIRECTORY")]
    pub spool: Option<PathBuf>,
    /// Exit when stdin is closed
    #[arg(long, hide = true)]
    pub attached: bool,
    /// Exit after one run
    #[arg(long, hide = true)]
    pub one_run: bool,
    #[command(flatten)]
    pub limits: LimitArgs,
}

/// What an agent accepts.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitArgs {
    /// Most virtual users that the agent accepts
    #[arg(long, value_name = "N")]
    pub max_users: Option<u32>,
    /// Most iterations per second of open models that the agent accepts
    #[arg(long, value_name = "N")]
    pub max_rate: Option<f64>,
    /// Longest run that the agent accepts
    #[arg(long, value_name = "TIME", value_parser = super::time)]
    pub max_duration: Option<Duration>,
    /// The only hosts that runs may reach: names, *.example.com, or IP addresses
    #[arg(long, value_name = "HOST,…", value_delimiter = ',')]
    pub allow_hosts: Vec<String>,
}

/// `plimsoll fleet up`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../../help/fleet-up.txt"))]
#[command(group = clap::ArgGroup::new("place").required(true).args(["ssh", "kubernetes"]))]
pub struct FleetUpArgs {
    /// TOML file with the machines
    #[arg(long, value_name = "FILE")]
    pub ssh: Option<PathBuf>,
    /// Use a Kubernetes cluster, with kubectl
    #[arg(long)]
    pub kubernetes: bool,
    /// The file agent.json of plimsoll fleet serve (default: in the user's state directory)
    #[arg(long, value_name = "FILE")]
    pub access: Option<PathBuf>,
    #[command(flatten)]
    pub cluster: ClusterArgs,
}

/// Agents in Kubernetes.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Kubernetes")]
pub struct ClusterArgs {
    /// Print the manifests instead of applying them
    #[arg(long, requires = "kubernetes")]
    pub print: bool,
    /// Number of agents
    #[arg(long, value_name = "N", requires = "kubernetes")]
    pub agents: Option<u32>,
    /// Container image with plimsoll as its entry point
    #[arg(long, value_name = "IMAGE", requires = "kubernetes")]
    pub image: Option<String>,
    /// Namespace
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub namespace: String,
    /// Region of the agents
    #[arg(long, value_name = "REGION", requires = "kubernetes")]
    pub region: Option<String>,
    /// Processors that each agent requests
    #[arg(long, value_name = "CPU", default_value = "1")]
    pub cpu: String,
    /// Memory of each agent
    #[arg(long, value_name = "MEMORY", default_value = "512Mi")]
    pub memory: String,
}

/// `plimsoll fleet status`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../../help/fleet-status.txt"))]
pub struct FleetStatusArgs {
    /// NATS server of the agents: its address, or a file of plimsoll fleet serve
    #[arg(long, value_name = "SERVER")]
    pub fleet_server: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `plimsoll fleet recover`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../../help/fleet-recover.txt"))]
pub struct FleetRecoverArgs {
    /// Run, or the start of its name; without it, the runs are listed
    pub run: Option<String>,
    /// NATS server of the agents: its address, or a file of plimsoll fleet serve (default: only this machine)
    #[arg(long, value_name = "SERVER")]
    pub fleet_server: Option<String>,
    /// Directory with the results of agents on this machine (default: plimsoll/fleet/spool in the user's state directory)
    #[arg(long, value_name = "DIRECTORY")]
    pub spool: Option<PathBuf>,
}
