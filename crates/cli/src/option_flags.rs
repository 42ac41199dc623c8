//! The script's options as flags. They are read as the environment variables of the same name are.

use std::collections::BTreeMap;

use plimsoll_plan::{Errors, Fault, Options, Segment, SegmentSequence};

use crate::args::OptionArgs;

/// Flags whose environment variable has another name.
const OTHER_NAMES: [(&str, &str); 5] = [
    ("--stage", "K6_STAGES"),
    ("--blacklist-ip", "K6_BLACKLIST_IPS"),
    ("--connections-per-user", "PLIMSOLL_CONNECTIONS_PER_USER"),
    (
        "--streams-per-connection",
        "PLIMSOLL_STREAMS_PER_CONNECTION",
    ),
    ("--unix-socket", "PLIMSOLL_UNIX_SOCKET"),
];

/// The options that the flags set.
///
/// # Errors
/// Everything that is wrong with them, each by the flag's name.
pub fn read(args: &OptionArgs) -> Result<Options, Errors> {
    let given = given(args);
    let mut variables = BTreeMap::new();
    for (flag, value) in &given {
        variables.insert(variable(flag), value.clone());
    }
    let mut faults = Vec::new();
    for (flag, time) in [
        ("--duration", &args.duration),
        ("--min-iteration-duration", &args.min_iteration_duration),
    ] {
        if let Some(fault) = time.as_deref().map(plimsoll_units::duration::needs_unit) {
            faults.extend(fault.err().map(|message| Fault::at(flag, message)));
        }
    }
    let mut options = Options::from_env(&variables).unwrap_or_else(|errors| {
        faults.extend(errors.0.into_iter().map(|fault| {
            let flag = given.iter().find(|(flag, _)| variable(flag) == fault.place);
            let place = flag.map_or(fault.place.clone(), |(flag, _)| (*flag).to_owned());
            Fault::at(place, fault.message)
        }));
        Options::default()
    });
    let mut own = |flag: &str, fault: Fault| faults.push(Fault::at(flag, fault.message));
    if let Some(text) = &args.execution_segment {
        match Segment::parse(text) {
            Ok(segment) => options.execution_segment = Some(segment),
            Err(fault) => own("--execution-segment", fault),
        }
    }
    if let Some(text) = &args.execution_segment_sequence {
        match SegmentSequence::parse(text) {
            Ok(sequence) => options.execution_segment_sequence = Some(sequence),
            Err(fault) => own("--execution-segment-sequence", fault),
        }
    }
    let mut tags = BTreeMap::new();
    for text in &args.tags {
        match plimsoll_plan::parse_tag(text) {
            Ok((name, value)) => {
                tags.insert(name, value);
            }
            Err(fault) => own("--tag", fault),
        }
    }
    options.tags = (!args.tags.is_empty()).then_some(tags);
    options.dns.clone_from(&args.connection.dns);
    options.local_ips.clone_from(&args.connection.local_ips);
    options.protocol = args.version.protocol();
    if faults.is_empty() {
        Ok(options)
    } else {
        Err(Errors(faults))
    }
}

/// The environment variable that means the same as a flag.
fn variable(flag: &str) -> String {
    let other = OTHER_NAMES.iter().find(|(listed, _)| *listed == flag);
    other.map_or_else(
        || {
            format!(
                "K6_{}",
                flag.trim_start_matches('-')
                    .replace('-', "_")
                    .to_uppercase()
            )
        },
        |(_, name)| (*name).to_owned(),
    )
}

/// The flags that were given, with their values.
fn given(args: &OptionArgs) -> Vec<(&'static str, String)> {
    let list = |values: &[String]| (!values.is_empty()).then(|| values.join(","));
    let flag = |set: bool| set.then(|| "true".to_owned());
    let connection = &args.connection;
    let all = [
        ("--vus", args.vus.clone()),
        ("--duration", args.duration.clone()),
        ("--iterations", args.iterations.clone()),
        ("--stage", list(&args.stage)),
        ("--paused", flag(args.paused)),
        ("--no-setup", flag(args.no_setup)),
        ("--no-teardown", flag(args.no_teardown)),
        ("--max-redirects", args.max_redirects.clone()),
        ("--batch", args.batch.clone()),
        ("--batch-per-host", args.batch_per_host.clone()),
        ("--rps", args.rps.clone()),
        ("--user-agent", args.user_agent.clone()),
        ("--http-debug", args.http_debug.clone()),
        ("--insecure-skip-tls-verify", flag(args.tls.insecure)),
        ("--no-connection-reuse", flag(connection.no_keepalive)),
        (
            "--no-vu-connection-reuse",
            flag(args.no_vu_connection_reuse),
        ),
        (
            "--min-iteration-duration",
            args.min_iteration_duration.clone(),
        ),
        ("--throw", flag(args.throw)),
        ("--blacklist-ip", list(&args.blacklist_ip)),
        ("--block-hostnames", list(&args.block_hostnames)),
        ("--summary-trend-stats", args.summary_trend_stats.clone()),
        ("--summary-time-unit", args.summary_time_unit.clone()),
        ("--system-tags", args.system_tags.clone()),
        ("--console-output", args.console_output.clone()),
        (
            "--discard-response-bodies",
            flag(args.discard_response_bodies),
        ),
        ("--connections-per-user", args.connections_per_user.clone()),
        (
            "--streams-per-connection",
            args.streams_per_connection.clone(),
        ),
        ("--unix-socket", connection.unix_socket.clone()),
    ];
    let given = all.into_iter();
    given
        .filter_map(|(flag, value)| Some((flag, value?)))
        .collect()
}
