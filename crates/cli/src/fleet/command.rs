//! `plimsoll fleet`: starts servers and agents, lists agents, and recovers results.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::{ArgGroup, Args, Subcommand};
use plimsoll_fleet::{
    Access, AgentSettings, ClusterAgents, Limits, Machines, Placement, RecoverySettings, Resolve,
    Role, ServeSettings, spool_folder,
};
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::messages::{print_error, print_message, print_stdout};
use plimsoll_terminal::signals;

/// `plimsoll fleet`.
#[derive(Debug, Args)]
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
    /// List the connected agents
    Status(FleetStatusArgs),
    /// Add up the results that agents kept of a run whose coordinator is gone
    Recover(FleetRecoverArgs),
}

/// `plimsoll fleet serve`.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/fleet-serve.txt"))]
pub struct FleetServeArgs {
    /// Address to listen on; uses TLS unless it is a loopback address
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4222")]
    pub listen: SocketAddr,
    /// Name or address under which agents reach this machine; can be repeated
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
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/fleet-agent.txt"))]
pub struct FleetAgentArgs {
    /// NATS server: an address (nats://HOST:4222, tls://HOST:4222), or the file agent.json from plimsoll fleet serve
    pub server: String,
    /// Name of the agent in results (default: the host name)
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Region of the agent, for --fleet REGION=N
    #[arg(long, value_name = "REGION")]
    pub region: Option<String>,
    /// Directory for results not yet received (default: plimsoll/fleet/spool in the user's state directory)
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

/// Limits on the runs that an agent accepts.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitArgs {
    /// Maximum number of virtual users that the agent accepts
    #[arg(long, value_name = "N")]
    pub max_users: Option<u32>,
    /// Maximum iterations per second of open models that the agent accepts
    #[arg(long, value_name = "N")]
    pub max_rate: Option<f64>,
    /// Maximum duration of a run that the agent accepts
    #[arg(long, value_name = "TIME", value_parser = crate::args::time)]
    pub max_duration: Option<Duration>,
    /// Hosts that runs may reach: names, *.example.com, or IP addresses; all others are refused
    #[arg(long, value_name = "HOST,…", value_delimiter = ',')]
    pub allow_hosts: Vec<String>,
}

/// `plimsoll fleet up`.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/fleet-up.txt"))]
#[command(group = ArgGroup::new("place").required(true).args(["ssh", "kubernetes"]))]
pub struct FleetUpArgs {
    /// TOML file with the machines
    #[arg(long, value_name = "FILE")]
    pub ssh: Option<PathBuf>,
    /// Start the agents in a Kubernetes cluster, with kubectl
    #[arg(long)]
    pub kubernetes: bool,
    /// The file agent.json from plimsoll fleet serve (default: in the user's state directory)
    #[arg(long, value_name = "FILE")]
    pub access: Option<PathBuf>,
    #[command(flatten)]
    pub cluster: ClusterArgs,
}

/// Agents in Kubernetes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Kubernetes")]
pub struct ClusterArgs {
    /// Print the manifests instead of applying them
    #[arg(long, requires = "kubernetes")]
    pub print: bool,
    /// Number of agents
    #[arg(long, value_name = "N", requires = "kubernetes")]
    pub agents: Option<u32>,
    /// Container image whose entry point is plimsoll
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
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/fleet-status.txt"))]
pub struct FleetStatusArgs {
    /// NATS server of the agents: an address, or a file from plimsoll fleet serve
    #[arg(long, value_name = "SERVER")]
    pub fleet_server: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `plimsoll fleet recover`.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/fleet-recover.txt"))]
pub struct FleetRecoverArgs {
    /// Name of the run, or the start of it; without it, the runs are listed
    pub run: Option<String>,
    /// NATS server of the agents: an address, or a file from plimsoll fleet serve (default: only this machine)
    #[arg(long, value_name = "SERVER")]
    pub fleet_server: Option<String>,
    /// Directory with the results of agents on this machine (default: plimsoll/fleet/spool in the user's state directory)
    #[arg(long, value_name = "DIRECTORY")]
    pub spool: Option<PathBuf>,
}

/// Runs one of the commands. An agent resolves the commands of runs with `resolve`.
pub fn fleet(args: &FleetCommandArgs, resolve: Resolve) -> Exit {
    let done = match &args.command {
        FleetCommand::Serve(args) => serve(args).map(|()| Exit::SUCCESS),
        FleetCommand::Agent(args) => agent(args, resolve).map(|()| Exit::SUCCESS),
        FleetCommand::Up(args) => up(args).map(|()| Exit::SUCCESS),
        FleetCommand::Status(args) => status(args).map(|()| Exit::SUCCESS),
        FleetCommand::Recover(args) => recover(args),
    };
    done.unwrap_or_else(|error| {
        print_error(&error);
        Exit::GENERIC
    })
}

fn serve(args: &FleetServeArgs) -> Result<(), String> {
    plimsoll_fleet::serve_messages(&ServeSettings {
        listen: args.listen,
        hosts: args.hosts.clone(),
        folder: args.folder.clone(),
        is_only_written: args.only_write,
        notify: Box::new(print_message),
    })
}

/// Runs an agent until it is interrupted.
fn agent(args: &FleetAgentArgs, resolve: Resolve) -> Result<(), String> {
    // The kernel ignores a signal to a container's first process unless the process handles that signal.
    signals::on_signals(|_| std::process::exit(Exit::SIGNAL.code().into()), |_| {})?;
    if args.attached {
        // The process that started this agent keeps stdin open, so a closed stdin means that it has exited.
        std::thread::spawn(|| {
            let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
            std::process::exit(i32::from(Exit::GENERIC.code()));
        });
    }
    plimsoll_fleet::serve(AgentSettings {
        server: Access::named(Some(&args.server), Role::Agent)?,
        name: args.name.clone().unwrap_or_else(plimsoll_fleet::host_name),
        region: args.region.clone(),
        limits: Limits {
            max_users: args.limits.max_users,
            max_rate: args.limits.max_rate,
            max_duration: args.limits.max_duration,
            allow_hosts: args.limits.allow_hosts.clone(),
        },
        is_for_one_run: args.one_run,
        spool: spool_folder(args.spool.as_deref()),
        resolve,
        notify: Box::new(print_message),
    })
}

/// Starts agents on other machines, and stops them when this command is interrupted.
fn up(args: &FleetUpArgs) -> Result<(), String> {
    let access = args.access.as_deref();
    let cluster = ClusterAgents {
        agents: args.cluster.agents.unwrap_or_default(),
        image: args.cluster.image.clone().unwrap_or_default(),
        namespace: args.cluster.namespace.clone(),
        region: args.cluster.region.clone(),
        cpu: args.cluster.cpu.clone(),
        memory: args.cluster.memory.clone(),
    };
    if args.cluster.print {
        print_stdout(plimsoll_fleet::manifests(&cluster, access)?.as_bytes());
        return Ok(());
    }
    let is_over = signals::flag()?;
    let placement = Placement {
        access,
        notify: &print_message,
        is_over: &|| is_over.load(Ordering::Relaxed),
    };
    placement.run(&match &args.ssh {
        Some(hosts) => Machines::Hosts(hosts.clone()),
        None => Machines::Cluster(cluster),
    })
}

fn status(args: &FleetStatusArgs) -> Result<(), String> {
    let server = Access::named(args.fleet_server.as_deref(), Role::Coordinator)?;
    print_stdout(plimsoll_fleet::status(&server, args.json)?.as_bytes());
    Ok(())
}

fn recover(args: &FleetRecoverArgs) -> Result<Exit, String> {
    let server = args.fleet_server.as_deref();
    let settings = RecoverySettings {
        server: server
            .map(|name| Access::named(Some(name), Role::Coordinator))
            .transpose()?,
        spool: spool_folder(args.spool.as_deref()),
    };
    let Some(run) = &args.run else {
        print_stdout(plimsoll_fleet::kept_runs(&settings)?.as_bytes());
        return Ok(Exit::SUCCESS);
    };
    let recovered = plimsoll_fleet::recover(&settings, run)?;
    for message in &recovered.messages {
        print_message(message);
    }
    print_message(&recovered.proof.to_string());
    print_stdout(format!("{:#}\n", recovered.document()).as_bytes());
    Ok(match recovered.is_valid() {
        true => Exit::SUCCESS,
        false => Exit::GENERIC,
    })
}
