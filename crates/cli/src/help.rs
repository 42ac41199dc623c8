//! The lists in `-h` and `--help`: commands in groups, and the most used flags before the others.

use std::fmt::Write;

use clap::Command;

/// The commands, in the order of their list.
const GROUPS: [(&str, &str); 6] = [
    ("Generate load", "run http attack grpc fleet"),
    ("Measure", "find probe throughput lab"),
    ("Control a run", "status stats pause resume scale stop"),
    ("Judge", "compare report history audit vegeta"),
    ("Scripts", "new inspect archive vendor deps features"),
    ("Tools", "link serve certs version completion man help"),
];

/// The flags that `-h` lists, for commands whose flags do not fit on one screen. `--help` lists all.
const MOST_USED: [(&str, &str); 5] = [
    (
        "run",
        "vus duration iterations rate stage env out insecure json record reports web threads",
    ),
    (
        "http",
        "users connections duration rate requests method headers body insecure json record reports web threads",
    ),
    (
        "grpc",
        "users connections duration rate requests proto data metadata plaintext insecure json record reports web threads",
    ),
    (
        "attack",
        "targets rate duration workers max_workers headers body insecure output json reports web",
    ),
    (
        "throughput",
        "server client port udp bitrate time parallel reverse json",
    ),
];

/// The command line with its help arranged.
pub fn arrange(mut program: Command) -> Command {
    for (name, flags) in MOST_USED {
        // A program that was built without scripts has no command `run`.
        if program.find_subcommand(name).is_none() {
            continue;
        }
        program = program.mut_subcommand(name, |command| {
            let command = command.mut_args(|arg| {
                let is_shown = arg.is_positional() || has_word(flags, arg.get_id().as_str());
                let is_hidden = arg.is_hide_short_help_set() || !is_shown;
                arg.hide_short_help(is_hidden)
            });
            command.after_help(format!(
                "plimsoll {name} --help lists all flags, with examples."
            ))
        });
    }
    let mut template = "{about}\n\n{usage-heading} {usage}\n".to_owned();
    for (group, names) in GROUPS {
        // Writing to a String never fails.
        let _ = write!(template, "\n{group}:\n");
        for name in names.split(' ') {
            let about = match (name, program.find_subcommand(name)) {
                ("help", _) => "Print help of a command".to_owned(),
                (_, Some(command)) => command
                    .get_about()
                    .map_or_else(String::new, ToString::to_string),
                _ => continue,
            };
            let _ = writeln!(template, "  {name:<11} {about}");
        }
    }
    template += "\nOptions:\n{options}{after-help}";
    program.help_template(template)
}

fn has_word(list: &str, name: &str) -> bool {
    list.split(' ').any(|listed| listed == name)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::command_line::Cli;

    #[test]
    fn every_command_is_in_a_group() {
        for command in Cli::command().get_subcommands() {
            let name = command.get_name();
            let mut groups = GROUPS.iter();
            assert!(groups.any(|(_, names)| has_word(names, name)), "{name}");
        }
    }

    #[test]
    fn flags_of_the_short_help_exist() {
        let program = Cli::command();
        for (name, flags) in MOST_USED {
            let command = program.find_subcommand(name).unwrap();
            for flag in flags.split(' ') {
                let found = command.get_arguments().any(|arg| arg.get_id() == flag);
                assert!(found, "{name}: {flag}");
            }
        }
    }

    #[test]
    fn examples_fit_into_80_columns() {
        fn check(command: &Command) {
            let text = command.get_after_long_help().or(command.get_after_help());
            let text = text.map(ToString::to_string).unwrap_or_default();
            for line in text.lines() {
                let width = line.chars().count();
                assert!(width <= 80, "{}: {line}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }

    #[test]
    fn a_flag_has_the_same_short_and_long_name_in_every_load_command() {
        // Other load commands follow k6, vegeta or iperf3, whose flags have different names.
        let program = Cli::command();
        let short = |command: &str, letter: char| {
            let command = program.find_subcommand(command).unwrap();
            let mut flags = command.get_arguments();
            flags
                .find(|flag| flag.get_short() == Some(letter))
                .and_then(|flag| flag.get_long().map(str::to_owned))
        };
        for name in "users connections rate duration".split(' ') {
            let letter = name.chars().next().unwrap();
            assert_eq!(short("http", letter).as_deref(), Some(name));
            assert_eq!(short("grpc", letter).as_deref(), Some(name));
        }
        assert_eq!(short("http", 'n').as_deref(), Some("requests"));
        assert_eq!(short("grpc", 'n').as_deref(), Some("requests"));
        for command in ["run", "http", "grpc", "attack", "probe"] {
            let insecure = short(command, 'k');
            assert_eq!(insecure.as_deref(), Some("insecure"), "{command}");
        }
        let load = "users vus rate max-users threads duration";
        let connections = "no-keepalive no-connection-reuse dns local-ips unix-socket io";
        for command in ["run", "http", "grpc"] {
            let command = program.find_subcommand(command).unwrap();
            for name in format!("{load} {connections} insecure ca cert key").split(' ') {
                let known = command.get_arguments().any(|flag| {
                    let aliases = flag.get_visible_aliases().unwrap_or_default();
                    flag.get_long() == Some(name) || aliases.contains(&name)
                });
                assert!(known, "{}: {name}", command.get_name());
            }
        }
    }
}
