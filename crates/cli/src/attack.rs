//! `plimsoll attack`: a target list, with vegeta's flags.

use std::fs::File;
use std::io::{IsTerminal, Write};
use std::time::Duration;

use plimsoll_engine::AbortReason;
use plimsoll_output::http_result::HttpResult;
use plimsoll_plan::{Executor, Plan, Rate, Scenario};
use plimsoll_results::secrets::url_for_display;
use plimsoll_run::{Attack, Destination, Request, TargetList};
use plimsoll_scriptless::attack_values::{body_limit, header, positive_time};
use plimsoll_scriptless::{Aim, AttackSettings, Defaults, Format};

use crate::args::{AttackArgs, GlobalArgs};
use crate::attack_settings::http_settings;
use crate::exit::Exit;
use crate::record_request::{place, record_request};
use crate::scriptless::{self, Scriptless, Show, worker_threads};
use crate::talk::{complain, say};

/// Attacks the targets, and says what came of it.
pub fn attack(args: &AttackArgs, global: &GlobalArgs) -> Exit {
    match load(args, global) {
        Ok(exit) => exit,
        Err(message) => {
            complain(&message);
            Exit::INVALID_CONFIG
        }
    }
}

fn load(args: &AttackArgs, global: &GlobalArgs) -> Result<Exit, String> {
    let load = Load::of(args)?;
    let http = http_settings(args, load.threads, load.rate.is_some())?;
    let settings = AttackSettings {
        name: args.name.clone(),
        redirects: u32::try_from(args.redirects).ok(),
        max_body: body_limit(&args.max_body)?,
        timeout: load.timeout,
        chunked: args.chunked,
        shown_url: url_for_display,
    };
    let results = destination(args)?;
    let show = match (args.json, &results) {
        (true, _) => Show::Json,
        (false, Destination::Stream(..)) => Show::Beside,
        (false, _) => Show::Text,
    };
    let aim = targets(args)?.open()?;
    let title = title(args, &aim);
    let scenario = load.scenario()?;
    let plan = Plan::single(scenario.clone(), Vec::new());
    let record = place(&args.record)?.map(|place| {
        let content = TargetList::content_hash(&aim, &args.targets);
        record_request(&args.record, place, configuration(args, &plan, content))
    });
    let finished = scriptless::run(
        Scriptless {
            request: Request {
                load: plimsoll_run::Load::Attack(Box::new(Attack {
                    aim,
                    list_name: args.targets.clone(),
                    settings,
                    http,
                    scenario,
                    results,
                    metrics_address: args
                        .prometheus_addr
                        .clone()
                        .filter(|address| !address.is_empty()),
                })),
                threads: load.threads,
                record,
            },
            title,
            duration: load.duration,
            read: HttpResult::new,
            is_fixed_work: false,
        },
        global,
    )?;
    finished.show(show, global)?;
    finished.tell_lost();
    let list_error = &finished.outcome.input_error;
    list_error.iter().for_each(|error| complain(error));
    if let Some(AbortReason::Machine(what)) = &finished.outcome.aborted {
        return Err(what.clone());
    }
    Ok(match list_error {
        Some(_) => Exit::INVALID_CONFIG,
        None => finished.exit(),
    })
}

/// What `0` stands for where it sets no limit.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 86_400);

/// When hits start, and how long.
struct Load {
    /// Hits per time; `None` for as many as workers can.
    rate: Option<Rate>,
    duration: Option<Duration>,
    workers: u32,
    max_workers: u32,
    timeout: Duration,
    threads: usize,
}

impl Load {
    fn of(args: &AttackArgs) -> Result<Load, String> {
        let rate = rate(&args.rate)?;
        let max_workers = args.max_workers.unwrap_or(u64::MAX);
        if rate.is_none() && args.max_workers.is_none() {
            return Err("-rate=0 requires setting -max-workers: write -max-workers=100".to_owned());
        }
        if max_workers == 0 {
            return Err("-max-workers=0: at least one is needed to send anything".to_owned());
        }
        if rate.is_none() && max_workers > 1_000_000 {
            return Err(format!(
                "-max-workers={max_workers}: with -rate=0 all of them work at once; 1000000 are the most"
            ));
        }
        let duration = positive_time("-duration", &args.duration)?;
        let mut threads = worker_threads(args.cpus);
        if args.max_connections > 0 {
            // Each thread has connections of its own.
            threads = threads.min(args.max_connections);
        }
        let max_workers = u32::try_from(max_workers).unwrap_or(u32::MAX);
        Ok(Load {
            rate,
            duration: (!duration.is_zero()).then_some(duration),
            workers: args.workers.clamp(1, max_workers),
            max_workers,
            timeout: match positive_time("-timeout", &args.timeout)? {
                Duration::ZERO => FOR_EVER,
                timeout => timeout,
            },
            threads,
        })
    }

    fn scenario(&self) -> Result<Scenario, String> {
        let duration = self.duration.unwrap_or(FOR_EVER);
        let executor = match self.rate {
            Some(rate) => Executor::ConstantArrivalRate {
                rate,
                duration,
                pre_allocated: self.workers,
                max_users: self.max_workers,
            },
            None => Executor::ConstantUsers {
                users: self.max_workers,
                duration,
            },
        };
        let mut scenario = Scenario::new("attack", executor);
        // Hits that were sent are waited for, as long as they may take.
        scenario.graceful_stop = self.timeout + Duration::from_secs(1);
        Ok(scenario)
    }
}

/// `50`, `50/s`, `10.5/1m`; none for 0, which is as fast as workers can.
fn rate(text: &str) -> Result<Option<Rate>, String> {
    if text == "infinity" {
        return Ok(None);
    }
    let rate = Rate::parse(text).map_err(|error| format!("-rate={error}"))?;
    Ok((rate.count > 0).then_some(rate))
}

fn destination(args: &AttackArgs) -> Result<Destination, String> {
    match args.output.as_deref() {
        None if args.json => Ok(Destination::Nowhere),
        Some("stdout" | "-") if args.json => Err(
            "-output=stdout and --json both write to standard output: name a file for one of them"
                .to_owned(),
        ),
        None | Some("stdout" | "-") if std::io::stdout().is_terminal() => {
            say(
                "results are binary and not shown on a terminal: pipe them into `plimsoll vegeta report`, \
                 or name a file with -output",
            );
            Ok(Destination::Nowhere)
        }
        None | Some("stdout" | "-") => {
            let stdout =
                unbuffered_stdout().map_err(|error| format!("cannot write results: {error}"))?;
            Ok(Destination::Stream("standard output", stdout))
        }
        Some(path) => Ok(Destination::File(path.into())),
    }
}

/// Standard output without the buffer that waits for the end of a line: batches
/// are large already.
#[cfg(unix)]
fn unbuffered_stdout() -> std::io::Result<Box<dyn Write + Send>> {
    use std::os::fd::AsFd;
    let output = std::io::stdout().as_fd().try_clone_to_owned()?;
    Ok(Box::new(File::from(output)))
}

#[cfg(not(unix))]
fn unbuffered_stdout() -> std::io::Result<Box<dyn Write + Send>> {
    Ok(Box::new(std::io::stdout()))
}

/// The target list, and what targets have that say nothing else.
fn targets(args: &AttackArgs) -> Result<TargetList, String> {
    let format = match args.format.as_str() {
        "http" | "text" => Format::Text,
        "json" => Format::Json,
        other => {
            return Err(format!(
                "-format={other}: it isn't one of http (text) and json"
            ));
        }
    };
    let body = match &args.body {
        Some(path) => plimsoll_script::read_file(path)
            .map_err(|error| format!("-body={}: cannot read it: {error}", path.display()))?,
        None => Vec::new(),
    };
    let headers = args
        .headers
        .iter()
        .map(|line| header("-header", line))
        .collect::<Result<_, String>>()?;
    Ok(TargetList {
        name: args.targets.clone(),
        format,
        defaults: Defaults {
            headers,
            body: body.into(),
        },
        is_lazy: args.lazy,
    })
}

fn title(args: &AttackArgs, aim: &Aim) -> String {
    let what = match aim {
        Aim::Stream(_) => format!("targets of {}", args.targets),
        Aim::Cycle(targets) => match &**targets {
            [only] => format!("{} {}", only.method, only.url),
            targets => format!("{} targets", targets.len()),
        },
    };
    let load = match (args.rate.as_str(), args.max_workers) {
        ("0" | "infinity", Some(workers)) => format!("{workers} workers"),
        (rate, _) if rate.contains('/') => format!("{rate} requests"),
        (rate, _) => format!("{rate} requests/s"),
    };
    let name = match args.name.as_str() {
        "" => String::new(),
        name => format!("{name}: "),
    };
    format!("{name}{what}, {load}")
}

/// What the record's header says of the run.
fn configuration(args: &AttackArgs, plan: &Plan, content: Option<String>) -> serde_json::Value {
    let executors: Vec<String> = plan.scenarios.iter().map(Scenario::description).collect();
    serde_json::json!({
            "targets": args.targets,
            "targets_content": content,
            "format": args.format,
            "lazy": args.lazy,
            "headers": args.headers,
            "load": executors,
            "rate": args.rate,
            "duration": args.duration,
            "workers": args.workers,
            "max_workers": args.max_workers,
            "cpus": args.cpus,
            "connections": args.connections,
            "max_connections": args.max_connections,
            "keep_alive": args.keepalive,
            "http2": args.http2,
            "h2c": args.h2c,
            "http3": args.http3,
            "unix_socket": args.unix_socket,
            "redirects": args.redirects,
            "timeout": args.timeout,
            "chunked": args.chunked,
            "max_body": args.max_body,
            "laddr": args.laddr,
            "resolvers": args.resolvers,
            "dns_ttl": args.dns_ttl,
            "connect_to": args.connect_to,
            "unix_socket": args.unix_socket,
            "proxy_headers": args.proxy_headers,
            "insecure": args.insecure,
            "client_certificate": args.cert.is_some(),
            "root_certs": args.root_certs,
            "session_tickets": args.session_tickets,
            "name": args.name,
            "io": args.io.io.name(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_as_vegeta_reads_them() {
        let read = |text: &str| rate(text).map(|rate| rate.map(|r| (r.count, r.per)));
        let second = Duration::from_secs(1);
        assert_eq!(read("50"), Ok(Some((50, second))));
        assert_eq!(read("3/2s"), Ok(Some((3, 2 * second))));
        for unlimited in ["0", "0/1s", "5/0s", "infinity"] {
            assert_eq!(read(unlimited), Ok(None), "{unlimited}");
        }
        assert!(read("x").unwrap_err().starts_with("-rate=x: "));
    }
}
