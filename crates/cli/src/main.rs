//! The `plimsoll` program: arguments → plan → run → exit status.

mod args;
mod attack;
mod audit;
mod certs;
mod command_line;
mod compare;
mod control;
mod find;
mod flag_values;
mod fleet;
mod grpc;
mod help;
mod http;
mod lab;
mod link;
mod new;
mod probe;
mod report;
#[cfg(feature = "scripts")]
mod run;
#[cfg(feature = "scripts")]
mod script_files;
#[cfg(feature = "scripts")]
mod script_options;
mod single_dash;
mod throughput;
mod vegeta;

use std::borrow::Cow;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use plimsoll_results::secrets;
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::{live_page, messages};

/// Replaces the system's allocator, including for the script engine's C code. It is designed for threads that
/// constantly allocate and free small blocks, as virtual users do.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // The clock's origin is the program's start.
    plimsoll_clock::now();
    // If this fails, only the message on running out of memory is harder to understand.
    let _ = plimsoll_terminal::out_of_memory::explain(Exit::GENERIC.code());
    let mut cli = match command_line::parse(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => {
            // If the terminal is closed, nobody can read a message.
            let printed = print(&error).and_then(|()| std::io::stdout().flush());
            let is_lost = printed.is_err_and(|error| error.kind() != ErrorKind::BrokenPipe);
            return match flag_values::exit_for(&error) {
                Exit::SUCCESS if is_lost => Exit::LOST_OUTPUT,
                exit => exit,
            }
            .into();
        }
    };
    if let Err(error) = plimsoll_run::memory_limit::apply() {
        messages::print_error(&error);
        return Exit::GENERIC.into();
    }
    secrets::show_all(cli.global.show_secrets);
    if let Some((web, report)) = cli.command.page_and_report() {
        match live_page::export(web.sources()) {
            Ok(file) => report.reports.extend(file),
            Err(error) => {
                messages::print_error(&error);
                return Exit::INVALID_CONFIG.into();
            }
        }
    }
    let exit = cli.command.run(&cli.global);
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
        messages::print_stderr(&hidden);
        return Ok(());
    }
    error.print()
}
