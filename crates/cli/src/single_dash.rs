//! Accepts long flags with one dash, as Go programs do: `-duration=5s` for `--duration=5s`.

use std::ffi::{OsStr, OsString};

use clap::Command;

/// The commands that imitate a Go program.
const COMMANDS: [&str; 2] = ["attack", "vegeta"];

/// Adds the second dash to long flags of these commands. Values and one-letter flags stay unchanged.
pub fn translate(program: &Command, args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.collect();
    let is_word = |arg: &OsString| !arg.as_encoded_bytes().starts_with(b"-");
    let Some(place) = args.iter().skip(1).position(is_word).map(|at| at + 1) else {
        return args;
    };
    let Some(name) = args.get(place).and_then(|name| name.to_str()) else {
        return args;
    };
    if !COMMANDS.contains(&name) {
        return args;
    }
    let mut program = program.clone();
    program.build();
    let mut command = program.find_subcommand(name);
    let mut takes = false;
    for arg in args.iter_mut().skip(place + 1) {
        if takes {
            takes = false;
            continue;
        }
        if arg == "--" {
            break;
        }
        if let Some(long) = single_dash_flag(arg) {
            let mut whole = OsString::from("--");
            whole.push(long);
            *arg = whole;
        }
        let text = arg.to_string_lossy();
        if let Some(flag) = text.strip_prefix("--") {
            takes = !flag.contains('=') && command.is_some_and(|c| takes_value(c, flag));
        } else if !text.starts_with('-') {
            command = command.and_then(|c| c.find_subcommand(&*text)).or(command);
        }
    }
    args
}

/// A long flag with a single dash, without that dash. `None` for one-letter flags.
fn single_dash_flag(arg: &OsStr) -> Option<&str> {
    let flag = arg.to_str()?.strip_prefix('-')?;
    let name = flag.split_once('=').map_or(flag, |(name, _)| name);
    let is_name = name.len() > 1 && name.starts_with(|first: char| first.is_ascii_alphabetic());
    is_name.then_some(flag)
}

fn takes_value(command: &Command, long: &str) -> bool {
    let mut flags = command.get_arguments();
    flags
        .find(|flag| flag.get_long() == Some(long))
        .is_some_and(|flag| {
            flag.get_action().takes_values()
                && flag
                    .get_num_args()
                    .is_none_or(|range| range.min_values() > 0)
        })
}

/// Parses a boolean as Go's flag package does.
pub fn go_bool(text: &str) -> Result<bool, String> {
    plimsoll_units::boolean::parse(text).ok_or_else(|| "write true or false".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::command_line::Cli;

    fn translated(line: &str) -> String {
        let args = translate(&Cli::command(), line.split(' ').map(OsString::from));
        let args: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
        args.join(" ")
    }

    #[test]
    fn long_flags_get_their_second_dash() {
        assert_eq!(
            translated(
                "plimsoll -q attack -rate=5/s -duration 5s -http2=false -insecure -v -name -x"
            ),
            "plimsoll -q attack --rate=5/s --duration 5s --http2=false --insecure -v --name -x"
        );
        assert_eq!(
            translated("plimsoll attack -redirects -1 --timeout=1s -max-body=-1"),
            "plimsoll attack --redirects -1 --timeout=1s --max-body=-1"
        );
        assert_eq!(
            translated("plimsoll vegeta report -type=text a.json -output -"),
            "plimsoll vegeta report --type=text a.json --output -"
        );
        // Other commands stay unchanged.
        let line = "plimsoll http -c 5 -nfoo http://h/ attack -rate";
        assert_eq!(translated(line), line);
        assert_eq!(translated("plimsoll"), "plimsoll");
    }
}
