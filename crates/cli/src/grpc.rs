//! `plimsoll grpc`: one method, no script.

use std::path::Path;

use plimsoll_grpc::{Compression, Endpoint, Limits};
use plimsoll_output::http_result::HttpResult;
use plimsoll_plan::{Plan, Scenario};
use plimsoll_run::{Grpc, Load, Request, SchemaSource};
use plimsoll_scriptless::call_values::{messages, metadata};
use plimsoll_scriptless::{CallSpec, Connections, Streaming};

use crate::args::{ConnectionUse, ConnectionsFlag, GlobalArgs, GrpcArgs};
use crate::exit::Exit;
use crate::record_request::{place, record_request};
use crate::scriptless::{self, Scriptless, worker_threads};
use crate::talk::complain;
use plimsoll_run::{Amount, Flag, parse_duration, rate_in_record};

/// Calls the method, and says what came of it.
pub fn grpc(args: &GrpcArgs, global: &GlobalArgs) -> Exit {
    match load(args, global) {
        Ok(exit) => exit,
        Err(message) => {
            complain(&message);
            Exit::INVALID_CONFIG
        }
    }
}

fn load(args: &GrpcArgs, global: &GlobalArgs) -> Result<Exit, String> {
    let (data, duration) = data_and_duration(args)?;
    let amount = amount(args, duration.as_deref());
    let scenario = amount.scenario("grpc")?;
    if args.connections == Some(ConnectionsFlag::Count(0)) {
        return Err(
            "--connections 0: at least one is needed; leave it out for one each".to_owned(),
        );
    }
    let threads = threads(args);
    let grpc = Grpc {
        call: spec(args, threads)?,
        method: method(args).to_owned(),
        schema: schema(args)?,
        messages: data,
        scenario,
    };
    let plan = Plan::single(grpc.scenario.clone(), Vec::new());
    let limit = grpc.scenario.executor.duration().unwrap_or_default();
    let place = place(&args.record)?;
    let record = place.map(|place| {
        let configuration = configuration(args, &plan, grpc.messages.len());
        record_request(&args.record, place, configuration)
    });
    scriptless::run_and_print(
        Scriptless {
            request: Request {
                load: Load::Grpc(Box::new(grpc)),
                threads,
                record,
            },
            title: title(args),
            duration: amount.is_by_time().then_some(limit),
            read: HttpResult::of_grpc,
            is_fixed_work: args.loops.is_some(),
        },
        args.json,
        global,
    )
}

fn amount<'a>(args: &GrpcArgs, duration: Option<&'a str>) -> Amount<'a> {
    Amount {
        users: Flag {
            name: "--concurrency",
            value: args.concurrency,
        },
        rate: Flag {
            name: "--rps",
            value: args.rps,
        },
        total: Flag {
            name: "--total",
            value: args.total,
        },
        max_users: args.max_users,
        duration,
        workers: args.workers,
        loops: args.loops,
    }
}

/// What the record's header says of the run.
fn configuration(args: &GrpcArgs, plan: &Plan, messages: usize) -> serde_json::Value {
    let executors: Vec<String> = plan.scenarios.iter().map(Scenario::description).collect();
    serde_json::json!({
            "title": title(args),
            "method": method(args),
            "metadata": args.metadata,
            "load": executors,
            "concurrency": args.concurrency,
            "rate": args.rps.map(rate_in_record),
            "connections": shared(args),
            "fresh": is_fresh(args),
            "include_connecting": args.include_connecting,
            "timeout": args.timeout,
            "gzip": args.gzip,
            "messages": messages,
            "workers": args.workers,
            "loops": args.loops,
            "threads": args.threads,
            "io": args.io.io.name(),
    })
}

fn method(args: &GrpcArgs) -> &str {
    let named = args.method.as_ref().or(args.call.as_ref());
    named.map_or("", String::as_str)
}

fn title(args: &GrpcArgs) -> String {
    let load = match (args.rps, args.workers) {
        (Some(rate), _) => format!("{} calls/s", rate.per_second()),
        (None, Some(workers)) => format!("{workers} workers"),
        (None, None) => format!("{} users", args.concurrency),
    };
    let connections = match (shared(args), is_fresh(args)) {
        (_, true) => ConnectionUse::Fresh.describe(true),
        (Some(1), _) if args.workers.is_some() => {
            ConnectionUse::Shared.describe(args.include_connecting)
        }
        (None, _) if args.workers.is_some() => {
            ConnectionUse::Kept.describe(args.include_connecting)
        }
        (Some(1), _) => "one connection".to_owned(),
        (Some(shared), _) => format!("{shared} connections"),
        (None, _) => "a connection each".to_owned(),
    };
    let method = method(args).trim_start_matches('/');
    format!("{}/{method}, {load}, {connections}", args.address)
}

/// Number of connections that all users share; `None` where each has its own.
fn shared(args: &GrpcArgs) -> Option<u32> {
    match args.connections {
        Some(ConnectionsFlag::Count(count)) => Some(count),
        Some(ConnectionsFlag::Use(ConnectionUse::Shared)) => Some(1),
        Some(ConnectionsFlag::Use(_)) | None => None,
    }
}

fn is_fresh(args: &GrpcArgs) -> bool {
    args.fresh || args.connections == Some(ConnectionsFlag::Use(ConnectionUse::Fresh))
}

/// A connection belongs to one thread, so there are no more threads than connections.
fn threads(args: &GrpcArgs) -> usize {
    let threads = worker_threads(args.threads);
    match shared(args) {
        Some(connections) => threads.min(connections.max(1) as usize),
        None => threads,
    }
}

/// The data of calls, and the length of the run: `-d 10s` means the latter, as no message is
/// written so.
fn data_and_duration(args: &GrpcArgs) -> Result<(Vec<String>, Option<String>), String> {
    let is_time = |text: &&String| {
        text.starts_with(|letter: char| letter.is_ascii_digit())
            && text.parse::<f64>().is_err()
            && plimsoll_units::duration::parse(text).is_ok()
    };
    let times: Vec<&String> = args.data.iter().filter(is_time).collect();
    let texts: Vec<&String> = args.data.iter().filter(|text| !is_time(text)).collect();
    let duration = match (&args.duration, &times[..]) {
        (Some(duration), []) => Some(duration.clone()),
        (None, [duration]) => Some((*duration).clone()),
        (None, []) => None,
        _ => return Err("the run's length is given twice: --duration is enough".to_owned()),
    };
    let bare_number = texts.iter().find(|text| text.trim().parse::<f64>().is_ok());
    if let Some(number) = bare_number {
        return Err(format!(
            "--data {number}: it is neither a message nor a time: write {number}s for seconds, or a message like '{{\"id\":{number}}}'"
        ));
    }
    let text = match (&texts[..], &args.data_file) {
        ([], None) => "{}".to_owned(),
        ([], Some(path)) => read_text("--data-file", path)?,
        ([text], _) => match text.strip_prefix('@') {
            Some(path) => read_text("--data", Path::new(path))?,
            None => (*text).clone(),
        },
        _ => return Err("--data is given twice; give an array: '[{…},{…}]'".to_owned()),
    };
    Ok((messages(&text)?, duration))
}

fn read(flag: &str, path: &Path) -> Result<Vec<u8>, String> {
    plimsoll_script::read_file(path)
        .map_err(|error| format!("{flag} {}: cannot read it: {error}", path.display()))
}

fn read_text(flag: &str, path: &Path) -> Result<String, String> {
    String::from_utf8(read(flag, path)?)
        .map_err(|_| format!("{flag} {}: it is no text in UTF-8", path.display()))
}

fn spec(args: &GrpcArgs, threads: usize) -> Result<CallSpec, String> {
    let mut endpoint = Endpoint::parse(&args.address, !args.plaintext)?;
    if let Some(authority) = &args.authority {
        endpoint = endpoint.with_authority(authority);
    }
    let optional = |flag: &str, text: &Option<String>| match text {
        Some(text) => parse_duration(flag, text).map(Some),
        None => Ok(None),
    };
    let timeout = parse_duration("--timeout", &args.timeout)?;
    let connect = parse_duration("--connect-timeout", &args.connect_timeout)?;
    let connections = match shared(args) {
        _ if is_fresh(args) => Connections::Fresh,
        None => Connections::PerUser,
        Some(connections) => Connections::Shared {
            connections,
            workers: u32::try_from(threads).unwrap_or(u32::MAX),
        },
    };
    Ok(CallSpec {
        endpoint,
        network: plimsoll_net::NetworkSettings {
            io: plimsoll_run::settings::io(args.io.io, args.rps.is_some())?,
            tls: tls(args)?,
            connect_timeout: connect,
            ..plimsoll_net::NetworkSettings::default()
        },
        metadata: metadata("--metadata", &args.metadata)?,
        user_agent: format!("plimsoll/{}", env!("CARGO_PKG_VERSION")),
        timeout: (!timeout.is_zero()).then_some(timeout),
        compression: if args.gzip {
            Compression::Gzip
        } else {
            Compression::Identity
        },
        limits: Limits {
            max_receive: args.max_receive_size,
            connect,
            ..Limits::default()
        },
        connections,
        opens_ahead: args.workers.is_some() && !args.include_connecting,
        streaming: Streaming {
            messages: args.stream_call_count.filter(|count| *count > 0),
            duration: optional("--stream-call-duration", &args.stream_call_duration)?
                .filter(|duration| !duration.is_zero()),
            interval: optional("--stream-interval", &args.stream_interval)?.unwrap_or_default(),
        },
    })
}

fn tls(args: &GrpcArgs) -> Result<plimsoll_net::TlsSettings, String> {
    let client_certificates = match (&args.cert, &args.key) {
        (Some(cert), Some(key)) => vec![plimsoll_net::ClientCertificate {
            domains: Vec::new(),
            certificate_pem: read("--cert", cert)?,
            key_pem: read("--key", key)?,
        }],
        _ => Vec::new(),
    };
    let tls = plimsoll_net::TlsSettings {
        insecure_skip_verify: args.skip_tls,
        client_certificates,
        extra_roots: match &args.cacert {
            Some(path) => vec![read("--cacert", path)?],
            None => Vec::new(),
        },
        ..plimsoll_net::TlsSettings::default()
    };
    tls.check()?;
    Ok(tls)
}

fn schema(args: &GrpcArgs) -> Result<SchemaSource, String> {
    Ok(match (&args.protoset, &args.proto) {
        (Some(path), _) => SchemaSource::Protoset(path.clone()),
        (None, Some(file)) => SchemaSource::Proto {
            file: file.clone(),
            imports: args.import_paths.clone(),
        },
        (None, None) => SchemaSource::Reflection(match &args.reflect_metadata {
            Some(text) => Some(metadata("--reflect-metadata", std::slice::from_ref(text))?),
            None => None,
        }),
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn reports_name_the_codes_as_the_protocol_does() {
        assert_eq!(
            plimsoll_output::grpc_status::NAMES,
            plimsoll_grpc::Code::NAMES
        );
    }
}
