//! `plimsoll attack`: a target list, with vegeta's flags.

use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::sync::Arc;
use std::time::Duration;

use plimsoll_engine::AbortReason;
use plimsoll_output::http_result::HttpResult;
use plimsoll_plan::{Executor, Plan, Rate, Scenario};
use plimsoll_results::hash;
use plimsoll_results::secrets::url_for_display;
use plimsoll_script::{LimitedReader, open_limited};
use plimsoll_scriptless::{Aim, AttackSettings, AttackUsers, Defaults, Format, List, Stream};

use crate::args::{AttackArgs, GlobalArgs, parse_rate};
use crate::attack_settings::{body_limit, header, http_settings, positive_time};
use crate::direct::{self, Direct, Show};
use crate::exit::Exit;
use crate::metrics_page;
use crate::recording::{Model, Place, Question};
use crate::results_file::{Destination, ResultsFile};
use crate::talk::{complain, lose, say};

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
    let settings = Arc::new(http_settings(args, load.threads, load.rate.is_some())?);
    let attack = AttackSettings {
        name: args.name.clone(),
        redirects: u32::try_from(args.redirects).ok(),
        max_body: body_limit(&args.max_body)?,
        timeout: load.timeout,
        chunked: args.chunked,
        shown_url: url_for_display,
    };
    let destination = destination(args)?;
    let aim = aim(args)?;
    let stream = match &aim {
        Aim::Stream(stream) => Some(Arc::clone(stream)),
        Aim::Cycle(_) => None,
    };
    let title = title(args, &aim);
    let scenario = load.scenario()?;
    let plan = Plan::single(scenario.clone(), Vec::new());
    let figures = match args.prometheus_addr.as_deref() {
        None | Some("") => None,
        Some(address) => Some(metrics_page::serve(address)?),
    };
    let (outlet, results) = match (&destination, figures) {
        (Destination::Nowhere, None) => (None, None),
        (destination, figures) => {
            let (outlet, inlet) = plimsoll_scriptless::outlet();
            let results = ResultsFile::write(destination, inlet, figures)?;
            (Some(outlet), Some(results))
        }
    };
    let place = Place::of(&args.record)?;
    let content = match &place {
        Some(_) => content_hash(args, &aim),
        None => None,
    };
    let outcome = direct::run(
        Direct {
            users: AttackUsers::new(aim, attack, settings, outlet),
            scenario,
            title,
            duration: load.duration,
            threads: Some(load.threads),
            record: place.map(|place| (place, question(args, &plan, content))),
            read: HttpResult::new,
            is_fixed_work: false,
        },
        global,
    )?;
    let lost = results.and_then(|results| results.finish(&destination));
    let list_error = match stream.as_ref().and_then(|stream| stream.ended()) {
        Some(Some(error)) => Some(format!("{}: {error}", args.targets)),
        Some(None) => None,
        None => match &outcome.ended.aborted {
            Some(AbortReason::Failed(what)) => Some(what.clone()),
            _ => None,
        },
    };
    let show = match (args.json, &destination) {
        (true, _) => Show::Json,
        (false, Destination::Stdout) => Show::Beside,
        (false, _) => Show::Text,
    };
    outcome.show(show, global)?;
    outcome.tell_lost();
    list_error.iter().for_each(|error| complain(error));
    lost.iter().for_each(|error| lose(error));
    if let Some(AbortReason::Machine(what)) = &outcome.ended.aborted {
        return Err(what.clone());
    }
    Ok(match list_error {
        Some(_) => Exit::INVALID_CONFIG,
        None => outcome.exit(),
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
        let mut threads = direct::worker_threads(args.cpus);
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
    let rate = parse_rate(text).map_err(|error| format!("-rate={error}"))?;
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
        None | Some("stdout" | "-") => Ok(Destination::Stdout),
        Some(path) => Ok(Destination::File(path.into())),
    }
}

/// Opens the target list, and reads it unless it is to be read lazily.
fn aim(args: &AttackArgs) -> Result<Aim, String> {
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
    let defaults = Defaults {
        headers,
        body: body.into(),
    };
    let cannot_read =
        |error: std::io::Error| format!("-targets={}: cannot read it: {error}", args.targets);
    let input: Box<dyn Read + Send> = match (args.targets.as_str(), args.lazy) {
        // A lazy list is never held as a whole, so it may be endless.
        ("stdin" | "-", true) => Box::new(std::io::stdin()),
        (path, true) => Box::new(std::fs::File::open(path).map_err(cannot_read)?),
        ("stdin" | "-", false) => Box::new(LimitedReader::new(std::io::stdin())),
        (path, false) => Box::new(open_limited(path.as_ref()).map_err(cannot_read)?),
    };
    let input: Box<dyn BufRead + Send> = Box::new(BufReader::new(input));
    let list = List::new(
        input,
        format,
        defaults,
        Box::new(|path| plimsoll_script::read_file(path.as_ref())),
    );
    if args.lazy {
        return Ok(Aim::Stream(Arc::new(Stream::read(list)?)));
    }
    match list.all() {
        Ok(targets) => Ok(Aim::Cycle(targets.into())),
        Err(error) => Err(format!("{}: {error}", args.targets)),
    }
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

/// Tells lists of targets apart by what they have sent, with bodies and headers from
/// wherever they come. None for what is read once from standard input while the attack
/// runs, or cannot be read twice.
fn content_hash(args: &AttackArgs, aim: &Aim) -> Option<String> {
    /// No method, header or value is a line end, so no two lists have the same parts.
    const NEXT: &[u8] = b"\n";
    match aim {
        Aim::Cycle(targets) => Some(hash::hash(targets.iter().flat_map(|target| {
            let headers = target.headers.iter();
            let headers = headers.flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]);
            [target.method.as_bytes(), target.url.as_bytes()]
                .into_iter()
                .chain(headers)
                .chain([NEXT, &*target.body])
        }))),
        Aim::Stream(_) => {
            let is_file = std::fs::metadata(&args.targets).is_ok_and(|file| file.is_file());
            let file = is_file.then(|| std::fs::File::open(&args.targets).ok())??;
            hash::of_reader(file).ok()
        }
    }
}

/// What the record's header says of the run.
fn question<'a>(args: &AttackArgs, plan: &Plan, content: Option<String>) -> Question<'a> {
    let executors: Vec<String> = plan.scenarios.iter().map(Scenario::description).collect();
    Question {
        kind: "attack",
        model: Model::of(plan),
        configuration: serde_json::json!({
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
        }),
        files: Vec::new(),
    }
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
