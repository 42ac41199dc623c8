//! The `plimsoll` program: arguments → plan → run → exit status.

#[cfg(feature = "scripts")]
mod archive;
mod args;
mod attack;
mod audit;
mod certs;
mod compare;
mod control;
mod find;
mod fleet;
mod grpc;
mod http;
#[cfg(feature = "scripts")]
mod inspect;
mod lab;
mod lab_new;
mod link;
mod new;
#[cfg(feature = "scripts")]
mod option_flags;
mod probe;
mod report;
#[cfg(feature = "scripts")]
mod run;
#[cfg(feature = "scripts")]
mod script_request;
mod serve;
mod throughput;
mod vegeta;

use std::borrow::Cow;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use clap::FromArgMatches;
use plimsoll_results::secrets;
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::{live_page, messages};

use args::{Cli, Command};

/// Replaces the system's allocator, including for the script engine's C code. It is designed for threads that constantly
/// allocate and free small blocks, as users do.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // The clock's origin is the program's start.
    plimsoll_clock::now();
    // If this fails, running out of memory only gives a message that is harder to understand.
    let _ = plimsoll_terminal::out_of_memory::explain(Exit::GENERIC.code());
    let matches = args::command().try_get_matches_from(args::translate(std::env::args_os()));
    let mut cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            // If the terminal is closed, nobody can read a message.
            let printed = print(&error).and_then(|()| std::io::stdout().flush());
            let is_lost = printed.is_err_and(|error| error.kind() != ErrorKind::BrokenPipe);
            return match exit_of(&error) {
                Exit::SUCCESS if is_lost => Exit::LOST_OUTPUT,
                exit => exit,
            }
            .into();
        }
    };
    if let Err(error) = plimsoll_run::memory_limit::apply() {
        messages::complain(&error);
        return Exit::GENERIC.into();
    }
    secrets::show_all(cli.global.show_secrets);
    if let Some((web, report)) = cli.command.page_and_report() {
        match live_page::export(web.web.as_deref()) {
            Ok(file) => report.reports.extend(file),
            Err(error) => {
                messages::complain(&error);
                return Exit::INVALID_CONFIG.into();
            }
        }
    }
    let exit = match cli.command {
        #[cfg(feature = "scripts")]
        Command::Run(args) => run::run(&args, &cli.global),
        #[cfg(feature = "scripts")]
        Command::Inspect(args) => inspect::inspect(&args, &cli.global),
        #[cfg(feature = "scripts")]
        Command::Archive(args) => archive::archive(&args, &cli.global),
        Command::Http(args) => http::http(&args, &cli.global),
        Command::Attack(args) => attack::attack(&args, &cli.global),
        Command::Grpc(args) => grpc::grpc(&args, &cli.global),
        Command::Vegeta(args) => vegeta::vegeta(&args),
        Command::New(args) => new::new(&args),
        Command::Audit(args) => audit::audit(&args),
        Command::Find(args) => find::find(&args, &cli.global),
        Command::Compare(args) => compare::compare(&args),
        Command::Report(args) => report::report(&args),
        Command::History(args) => compare::history(&args),
        Command::Lab(args) => lab::lab(&args),
        Command::Fleet(args) => fleet::fleet(&args),
        Command::Status(args) => control::status(&args.at),
        Command::Stats(args) => control::stats(&args.at),
        Command::Pause(args) => control::pause(&args.at, true),
        Command::Resume(args) => control::pause(&args.at, false),
        Command::Scale(args) => control::scale(&args),
        Command::Stop(args) => control::stop(&args.at),
        Command::Link(args) => link::link(&args),
        Command::Probe(args) => probe::probe(&args),
        Command::Throughput(args) => throughput::throughput(&args),
        Command::Certs(args) => certs::certs(&args),
        Command::Serve(args) => serve::serve(&args.args),
        Command::Version(args) => Exit::of_text(Ok(version(args.json))),
        Command::Completion { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut args::command(), "plimsoll", &mut text);
            messages::put(&text);
            Exit::SUCCESS
        }
        Command::Man { command } => Exit::of_text(man(command.as_deref())),
    };
    if exit == Exit::SUCCESS && messages::is_output_lost() {
        return Exit::LOST_OUTPUT.into();
    }
    exit.into()
}

/// Prints help, or an error without the secrets of the arguments that it quotes.
fn print(error: &clap::Error) -> std::io::Result<()> {
    // The flag itself has not been read.
    secrets::show_all(std::env::args_os().any(|argument| argument == "--show-secrets"));
    let text = error.to_string();
    if error.use_stderr()
        && let Cow::Owned(hidden) = secrets::for_display(&text)
        && hidden != text
    {
        messages::talk(&hidden);
        return Ok(());
    }
    error.print()
}

/// An invalid flag has the status of an invalid configuration. An unknown command has k6's status.
fn exit_of(error: &clap::Error) -> Exit {
    use clap::error::ErrorKind as E;
    match error.kind() {
        E::InvalidSubcommand
        | E::DisplayHelpOnMissingArgumentOrSubcommand
        | E::MissingSubcommand => Exit::GENERIC,
        _ if error.use_stderr() => Exit::INVALID_CONFIG,
        _ => Exit::SUCCESS,
    }
}

fn version(json: bool) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    if json {
        format!(
            "{}\n",
            serde_json::json!({ "version": version, "os": os, "arch": arch })
        )
    } else {
        format!("plimsoll v{version} ({os}/{arch})\n")
    }
}

fn man(command: Option<&str>) -> Result<String, String> {
    let mut program = args::command();
    program.build();
    let page = match command {
        None => program,
        Some(name) => match program.find_subcommand(name) {
            Some(found) => found.clone(),
            None => {
                return Err(format!(
                    "there is no command {name}; plimsoll --help lists them"
                ));
            }
        },
    };
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(page).render(&mut text);
    rendered.map_err(|error| format!("cannot write the manual page: {error}"))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
