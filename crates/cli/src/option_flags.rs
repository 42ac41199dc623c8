//! The script's options as flags, read the way the environment's are.

use std::collections::BTreeMap;

use plimsoll_plan::{Errors, Fault, Options, Segment, SegmentSequence};

use crate::args::OptionArgs;

/// A flag, the variable that means the same, and what was given.
type Given<'a> = (&'static str, &'static str, Option<String>);

/// The options that the flags set.
///
/// # Errors
/// Everything that is wrong with them, each by the flag's name.
pub fn read(args: &OptionArgs) -> Result<Options, Errors> {
    let given = variables(args);
    let variables: BTreeMap<String, String> = given
        .iter()
        .filter_map(|(_, name, value)| Some(((*name).to_owned(), value.clone()?)))
        .collect();
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
            let flag = given
                .iter()
                .find(|(_, name, _)| *name == fault.place)
                .map(|(flag, ..)| *flag);
            Fault::at(
                flag.map_or(fault.place.clone(), str::to_owned),
                fault.message,
            )
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
    if !args.tags.is_empty() {
        let mut tags = BTreeMap::new();
        for text in &args.tags {
            match plimsoll_plan::parse_tag(text) {
                Ok((name, value)) => {
                    tags.insert(name, value);
                }
                Err(fault) => own("--tag", fault),
            }
        }
        options.tags = Some(tags);
    }
    if faults.is_empty() {
        Ok(options)
    } else {
        Err(Errors(faults))
    }
}

fn variables(args: &OptionArgs) -> Vec<Given<'static>> {
    let list = |values: &[String]| (!values.is_empty()).then(|| values.join(","));
    let flag = |set: bool| set.then(|| "true".to_owned());
    vec![
        ("--vus", "K6_VUS", args.vus.clone()),
        ("--duration", "K6_DURATION", args.duration.clone()),
        ("--iterations", "K6_ITERATIONS", args.iterations.clone()),
        ("--stage", "K6_STAGES", list(&args.stage)),
        ("--paused", "K6_PAUSED", flag(args.paused)),
        ("--no-setup", "K6_NO_SETUP", flag(args.no_setup)),
        ("--no-teardown", "K6_NO_TEARDOWN", flag(args.no_teardown)),
        (
            "--max-redirects",
            "K6_MAX_REDIRECTS",
            args.max_redirects.clone(),
        ),
        ("--batch", "K6_BATCH", args.batch.clone()),
        (
            "--batch-per-host",
            "K6_BATCH_PER_HOST",
            args.batch_per_host.clone(),
        ),
        ("--rps", "K6_RPS", args.rps.clone()),
        ("--user-agent", "K6_USER_AGENT", args.user_agent.clone()),
        ("--http-debug", "K6_HTTP_DEBUG", args.http_debug.clone()),
        (
            "--insecure-skip-tls-verify",
            "K6_INSECURE_SKIP_TLS_VERIFY",
            flag(args.insecure_skip_tls_verify),
        ),
        (
            "--no-connection-reuse",
            "K6_NO_CONNECTION_REUSE",
            flag(args.no_connection_reuse),
        ),
        (
            "--no-vu-connection-reuse",
            "K6_NO_VU_CONNECTION_REUSE",
            flag(args.no_vu_connection_reuse),
        ),
        (
            "--min-iteration-duration",
            "K6_MIN_ITERATION_DURATION",
            args.min_iteration_duration.clone(),
        ),
        ("--throw", "K6_THROW", flag(args.throw)),
        (
            "--blacklist-ip",
            "K6_BLACKLIST_IPS",
            list(&args.blacklist_ip),
        ),
        (
            "--block-hostnames",
            "K6_BLOCK_HOSTNAMES",
            list(&args.block_hostnames),
        ),
        (
            "--summary-trend-stats",
            "K6_SUMMARY_TREND_STATS",
            args.summary_trend_stats.clone(),
        ),
        (
            "--summary-time-unit",
            "K6_SUMMARY_TIME_UNIT",
            args.summary_time_unit.clone(),
        ),
        ("--system-tags", "K6_SYSTEM_TAGS", args.system_tags.clone()),
        (
            "--console-output",
            "K6_CONSOLE_OUTPUT",
            args.console_output.clone(),
        ),
        (
            "--discard-response-bodies",
            "K6_DISCARD_RESPONSE_BODIES",
            flag(args.discard_response_bodies),
        ),
        ("--local-ips", "K6_LOCAL_IPS", args.local_ips.clone()),
        ("--dns", "K6_DNS", args.dns.clone()),
        ("--protocol", "PLIMSOLL_PROTOCOL", args.protocol.clone()),
        (
            "--connections-per-user",
            "PLIMSOLL_CONNECTIONS_PER_USER",
            args.connections_per_user.clone(),
        ),
        (
            "--streams-per-connection",
            "PLIMSOLL_STREAMS_PER_CONNECTION",
            args.streams_per_connection.clone(),
        ),
        (
            "--unix-socket",
            "PLIMSOLL_UNIX_SOCKET",
            args.unix_socket.clone(),
        ),
    ]
}
