//! Help with examples for every command, manual pages and completions, which are all generated from the same
//! description of the command line.

mod plimsoll;

use plimsoll::plimsoll;

/// The commands that help lists, except for another program's commands and trivial ones.
fn commands() -> Vec<String> {
    let help = plimsoll(&["--help"]).run().stdout;
    let listed = help.lines().take_while(|line| *line != "Options:");
    let listed = listed.filter_map(|line| line.strip_prefix("  "));
    let names = listed.filter_map(|line| line.split_whitespace().next());
    names
        .filter(|name| !["serve", "version", "help"].contains(name))
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_command_has_examples_in_its_help_and_its_manual() {
    let commands = commands();
    assert!(commands.len() >= 18, "{commands:?}");
    for command in &commands {
        let help = plimsoll(&[command, "--help"]).run();
        let example = format!("  plimsoll {command}");
        assert!(
            help.stdout.contains("Examples:") && help.stdout.contains(&example)
                || command == "completion",
            "{command}: {}",
            help.stdout
        );
        let manual = plimsoll(&["man", command]).run();
        assert_eq!(manual.status, Some(0), "{command}");
        assert!(
            manual.stdout.contains("Examples:")
                && manual.stdout.contains(&format!("plimsoll\\-{command}")),
            "{command}: {}",
            manual.stdout
        );
    }
}

#[test]
fn completions_know_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let script = plimsoll(&["completion", shell]).run().stdout;
        for command in commands() {
            assert!(script.contains(&command), "{shell}: {command}");
        }
        assert!(script.contains("execution-requirements"), "{shell}");
    }
}

#[test]
fn the_manual_page_of_a_command_lists_flags_and_related_pages() {
    let lab = plimsoll(&["man", "lab"]).run().stdout.replace('\\', "");
    let named: Vec<&str> = lab
        .lines()
        .filter_map(|line| line.strip_prefix("plimsoll-lab-")?.strip_suffix("(1)"))
        .collect();
    assert!(named.contains(&"run"), "{lab}");
    for command in named {
        let ended = plimsoll(&["man", "lab", command]).run();
        assert_eq!(ended.status, Some(0), "{command}: {}", ended.stderr);
    }
    let run = plimsoll(&["man", "lab", "run"]).run().stdout;
    assert!(run.contains("\\-\\-quick"), "{run}");
}

#[test]
fn a_manual_page_of_an_unknown_command_is_refused() {
    let ended = plimsoll(&["man", "rum"]).run();
    assert_eq!(ended.status, Some(255));
    assert!(
        ended.stderr.contains("unknown command plimsoll rum"),
        "{}",
        ended.stderr
    );
    let ended = plimsoll(&["man", "lab", "rum"]).run();
    assert!(
        ended.stderr.contains("unknown command plimsoll lab rum"),
        "{}",
        ended.stderr
    );
}

/// `-h` fits on one screen, and `--help` shows everything.
#[test]
fn the_short_help_has_the_most_used_flags() {
    for command in ["run", "http", "grpc", "attack", "throughput"] {
        let short = plimsoll(&[command, "-h"]).run().stdout;
        let long = plimsoll(&[command, "--help"]).run().stdout;
        assert!(short.lines().count() < 60, "{command}: {short}");
        assert!(
            long.lines().count() > 2 * short.lines().count(),
            "{command}"
        );
        assert!(!short.contains("Examples:"), "{command}");
    }
}

#[test]
fn mistyped_commands_and_flags_get_a_suggestion() {
    for (wrong, meant) in [
        (&["htpp", "u"][..], "'http'"),
        (&["http", "--conections", "3", "u"], "'--connections'"),
        (&["attack", "-durration=5s"], "'--duration'"),
    ] {
        let ended = plimsoll(wrong).run();
        assert!(ended.stderr.contains(meant), "{ended:?}");
    }
    let ended = plimsoll(&["http", "--conections", "3", "u"]).run();
    assert_eq!(ended.status, Some(104));
}
