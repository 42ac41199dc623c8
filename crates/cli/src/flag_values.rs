//! Values of flags, as in Go programs: `--throw`, `--throw=true` and `--throw=0`. Errors that name what the user wrote.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, Error};
use plimsoll_terminal::exit::Exit;

use crate::single_dash::go_bool;

/// The same program, whose boolean flags accept a value. Help shows the program without it.
pub fn accept_values(program: Command) -> Command {
    let in_commands = |command: Command| command.mut_args(with_value);
    program.mut_args(with_value).mut_subcommands(in_commands)
}

fn with_value(flag: Arg) -> Arg {
    if !matches!(flag.get_action(), ArgAction::SetTrue) {
        return flag;
    }
    // The parsers of flags with a variable accept an empty one.
    let has_parser = flag.get_env().is_some();
    let flag = flag
        .action(ArgAction::Set)
        .num_args(0..=1)
        .require_equals(true)
        .default_value("false")
        .default_missing_value("true")
        .value_name("BOOL");
    if has_parser {
        flag
    } else {
        flag.value_parser(go_bool)
    }
}

/// The flags of a command that the user wrote, with their values. A repeated flag has one item for each value.
pub fn given(matches: &ArgMatches) -> Vec<(String, String)> {
    let Some((_, matches)) = matches.subcommand() else {
        return Vec::new();
    };
    let ids = matches.ids().map(clap::Id::as_str);
    let ids = ids.filter(|id| matches.value_source(id) == Some(ValueSource::CommandLine));
    let values = |id: &str| {
        let flag = format!("--{}", id.replace('_', "-"));
        if let Ok(Some(value)) = matches.try_get_one::<bool>(id) {
            return vec![(flag, value.to_string())];
        }
        let values = matches.try_get_raw(id).ok().flatten().into_iter().flatten();
        let values = values.map(|value| value.to_string_lossy().into_owned());
        values
            .map(|value| (flag.clone(), value))
            .collect::<Vec<_>>()
    };
    ids.flat_map(values).collect()
}

/// The error to print: that of the `plain` program if both fail for the same reason, because it shows boolean flags
/// without a value. Names the alias or the variable that the user wrote.
pub fn explain(error: Error, plain: Command, program: &Command, words: &[OsString]) -> Error {
    let shown = plain.try_get_matches_from(words).err();
    let mut error = shown
        .filter(|shown| shown.kind() == error.kind())
        .unwrap_or(error);
    let Some(ContextValue::String(shown)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let shown = shown.trim_end_matches("[=<BOOL>]").to_owned();
    let words = || words.iter().filter_map(|word| word.to_str());
    let command = words().find_map(|word| program.find_subcommand(word));
    let mut flags = command.unwrap_or(program).get_arguments();
    let name = shown.trim_start_matches("--").split([' ', '[', '=']).next();
    let Some(flag) = flags.find(|flag| name.is_some() && flag.get_long() == name) else {
        return error;
    };
    let (name, aliases) = (name.unwrap_or_default(), flag.get_all_aliases());
    let names = words().filter_map(|word| word.strip_prefix("--")?.split('=').next());
    let mut written =
        names.filter(|word| *word == name || aliases.iter().flatten().any(|a| a == word));
    let has_short = |word: &str| {
        let letter = flag.get_short().filter(|_| !word.starts_with("--"));
        word.starts_with('-') && letter.is_some_and(|letter| word.contains(letter))
    };
    let variable = flag.get_env().and_then(|variable| variable.to_str());
    let place = match (written.next_back(), variable) {
        (Some(written), _) => shown.replacen(name, written, 1),
        (None, Some(variable)) if !words().any(has_short) => variable.to_owned(),
        _ => shown,
    };
    error.insert(ContextKind::InvalidArg, ContextValue::String(place));
    error
}

/// The exit status of an error. An invalid flag has the status of an invalid configuration. An unknown command has k6's
/// status, and so has an invalid value of a flag that k6 has, too.
pub fn exit_for(error: &Error) -> Exit {
    match error.kind() {
        ErrorKind::InvalidSubcommand
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        | ErrorKind::MissingSubcommand => Exit::GENERIC,
        ErrorKind::InvalidValue | ErrorKind::ValueValidation if is_of_k6(error) => Exit::GENERIC,
        _ if error.use_stderr() => Exit::INVALID_CONFIG,
        _ => Exit::SUCCESS,
    }
}

/// Whether the value is that of a flag or a variable of k6.
fn is_of_k6(error: &Error) -> bool {
    let Some(ContextValue::String(place)) = error.get(ContextKind::InvalidArg) else {
        return false;
    };
    let mut name = place.split([' ', '[', '=']);
    name.next()
        .is_some_and(|name| name.starts_with("K6_") || K6_FLAGS.split(' ').any(|flag| flag == name))
}

/// The flags of k6 whose values are checked when the command line is parsed.
const K6_FLAGS: &str = "--compatibility-mode --discard-response-bodies --dns --include-system-env-vars \
    --insecure-skip-tls-verify --linger --local-ips --new-machine-readable-summary --no-color --no-connection-reuse \
    --no-setup --no-summary --no-teardown --no-thresholds --no-usage-report --no-vu-connection-reuse --paused \
    --profiling-enabled --quiet --summary-mode --throw --type --verbose";
