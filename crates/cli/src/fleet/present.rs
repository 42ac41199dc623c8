//! `plimsoll fleet`: servers, agents, their state and what they keep.

use std::ffi::OsString;
use std::sync::Arc;

use clap::FromArgMatches as _;
use plimsoll_fleet::{
    Access, AgentSettings, ClusterAgents, CommandLoad, FleetLoad, FleetRequest, Limits, Machines,
    Placement, Policy, RecoverySettings, Role, ScriptLoad, ServeSettings, spool_folder,
};
use plimsoll_run::{Destination, FileSet, Prepared, Resolved, ScriptLog, Workers};
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::messages::{complain, put, say};
use plimsoll_terminal::signals;

use crate::args::{
    self, Cli, Command, FleetAgentArgs, FleetArgs, FleetCommand, FleetCommandArgs, FleetLoss,
    FleetRecoverArgs, FleetServeArgs, FleetStatusArgs, FleetUpArgs, RunArgs,
};

/// Runs one of the commands.
pub fn fleet(args: &FleetCommandArgs) -> Exit {
    let done = match &args.command {
        FleetCommand::Serve(args) => serve(args).map(|()| Exit::SUCCESS),
        FleetCommand::Agent(args) => agent(args).map(|()| Exit::SUCCESS),
        FleetCommand::Up(args) => up(args).map(|()| Exit::SUCCESS),
        FleetCommand::Status(args) => status(args).map(|()| Exit::SUCCESS),
        FleetCommand::Recover(args) => recover(args),
    };
    done.unwrap_or_else(|error| {
        complain(&error);
        Exit::GENERIC
    })
}

fn request(args: &FleetArgs, load: FleetLoad) -> Result<FleetRequest, String> {
    let agents = args.fleet.as_deref().unwrap_or_default();
    Ok(FleetRequest {
        agents: agents
            .parse()
            .map_err(|error| format!("--fleet: {error}"))?,
        server: args.fleet_server.clone(),
        policy: match args.fleet_loss {
            FleetLoss::Fail => Policy::Fail,
            FleetLoss::Degrade => Policy::Degrade,
        },
        patience: args.fleet_wait,
        threads: None,
        io: "auto",
        load,
    })
}

pub fn script_workers(
    args: &RunArgs,
    prepared: &Arc<Prepared>,
    log: ScriptLog,
) -> Result<Workers, String> {
    let load = FleetLoad::Script(Arc::new(ScriptLoad {
        prepared: Arc::clone(prepared),
        tls: args.options.tls.files(),
        secret_sources: args.runtime.secret_source.clone(),
        thresholds: !args.runtime.no_thresholds,
    }));
    let request = FleetRequest {
        threads: args.runtime.threads.threads,
        io: args.options.connection.io.io.name(),
        ..request(&args.fleet, load)?
    };
    plimsoll_fleet::workers(request, log)
}

pub fn command_workers(
    args: &FleetArgs,
    resolved: &Resolved,
    files: FileSet,
) -> Result<Workers, String> {
    let log: ScriptLog = Arc::new(|_, text: &str, _: &[(&str, &str)]| say(text));
    let words = std::env::args_os().skip(1).map(OsString::into_string);
    let words = words
        .collect::<Result<_, _>>()
        .map_err(|word| format!("{} is not UTF-8 text, which agents need", word.display()))?;
    let scenario = resolved.load.scenario().cloned();
    let load = FleetLoad::Command(Arc::new(CommandLoad {
        words,
        files,
        scenario: scenario.ok_or("the command has no scenario")?,
    }));
    plimsoll_fleet::workers(request(args, load)?, log)
}

/// Resolves a command on an agent. Its files are those of the coordinator.
fn resolve(words: &[String]) -> Result<Resolved, String> {
    let program = OsString::from("plimsoll");
    let words = std::iter::once(program).chain(words.iter().map(OsString::from));
    let matches = args::command().try_get_matches_from(args::translate(words));
    let cli = matches.and_then(|matches| Cli::from_arg_matches(&matches));
    match cli.map_err(|error| error.to_string())?.command {
        Command::Http(args) => args.options().resolve(),
        Command::Grpc(args) => args.options().resolve(),
        Command::Attack(args) => args.options()?.resolve(Destination::Nowhere),
        _ => Err("this command has no load for agents".to_owned()),
    }
}

fn serve(args: &FleetServeArgs) -> Result<(), String> {
    plimsoll_fleet::serve_messages(&ServeSettings {
        listen: args.listen,
        hosts: args.hosts.clone(),
        folder: args.folder.clone(),
        is_only_written: args.only_write,
        say: Box::new(say),
    })
}

/// Serves runs until it is interrupted.
fn agent(args: &FleetAgentArgs) -> Result<(), String> {
    if args.attached {
        // The process that started this agent has ended when stdin is closed.
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
        say: Box::new(say),
    })
}

/// Starts agents on other machines, and ends them when this command is interrupted.
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
        put(plimsoll_fleet::manifests(&cluster, access)?.as_bytes());
        return Ok(());
    }
    let is_over = signals::ended(Exit::SIGNAL.code())?;
    let placement = Placement {
        access,
        say: &say,
        is_over: &is_over,
    };
    placement.run(&match &args.ssh {
        Some(hosts) => Machines::Hosts(hosts.clone()),
        None => Machines::Cluster(cluster),
    })
}

fn status(args: &FleetStatusArgs) -> Result<(), String> {
    let server = Access::named(args.fleet_server.as_deref(), Role::Coordinator)?;
    put(plimsoll_fleet::status(&server, args.json)?.as_bytes());
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
        put(plimsoll_fleet::kept_runs(&settings)?.as_bytes());
        return Ok(Exit::SUCCESS);
    };
    let recovered = plimsoll_fleet::recover(&settings, run)?;
    for message in &recovered.messages {
        say(message);
    }
    say(&recovered.proof.to_string());
    put(format!("{:#}\n", recovered.document()).as_bytes());
    Ok(match recovered.is_valid() {
        true => Exit::SUCCESS,
        false => Exit::GENERIC,
    })
}
