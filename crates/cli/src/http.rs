//! `plimsoll http`: one address, no script.

use std::path::Path;

use plimsoll_output::http_result::HttpResult;
use plimsoll_plan::{Plan, Scenario};
use plimsoll_run::{
    Http, Load, Request,
    settings::{io, is_open, unix_socket},
};
use plimsoll_scriptless::RequestSpec;

use crate::args::{ConnectionUse, ConnectionsFlag, GlobalArgs, HttpArgs};
use crate::exit::Exit;
use crate::record_request::{place, record_request};
use crate::scriptless::{self, Scriptless, worker_threads};
use crate::talk::complain;
use plimsoll_run::{Amount, Flag, parse_duration, rate_in_record};

/// Loads the address, and says what came of it.
pub fn http(args: &HttpArgs, global: &GlobalArgs) -> Exit {
    match load(args, global) {
        Ok(exit) => exit,
        Err(message) => {
            complain(&message);
            Exit::INVALID_CONFIG
        }
    }
}

fn load(args: &HttpArgs, global: &GlobalArgs) -> Result<Exit, String> {
    check_connections(args)?;
    let spec = request(args)?;
    let amount = amount(args)?;
    let scenario = amount.scenario("http")?;
    let plan = Plan::single(scenario.clone(), Vec::new());
    let settings = settings(args, &spec, &plan)?;
    let duration = scenario.executor.duration().unwrap_or_default();
    let place = place(&args.record)?;
    let record =
        place.map(|place| record_request(&args.record, place, configuration(args, &spec, &plan)));
    let title = title(args, &spec);
    scriptless::run_and_print(
        Scriptless {
            request: Request {
                load: Load::Http(Box::new(Http {
                    request: spec,
                    settings,
                    scenario,
                    users_per_connection: streams(args).unwrap_or(1),
                    opens_ahead: args.workers.is_some() && !args.include_connecting,
                })),
                threads: worker_threads(args.threads),
                record,
            },
            title,
            duration: amount.is_by_time().then_some(duration),
            read: HttpResult::new,
            is_fixed_work: args.loops.is_some(),
        },
        args.json,
        global,
    )
}

/// What the record's header says of the run. Files are named by their contents.
fn configuration(args: &HttpArgs, spec: &RequestSpec, plan: &Plan) -> serde_json::Value {
    let executors: Vec<String> = plan.scenarios.iter().map(Scenario::description).collect();
    serde_json::json!({
            "method": spec.method,
            "url": spec.url,
            "headers": spec.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>(),
            "body_bytes": spec.body.len(),
            "load": executors,
            "connections": match connection_use(args) {
                None => users(args).into(),
                Some(name) => serde_json::Value::from(name.name()),
            },
            "include_connecting": args.include_connecting,
            "streams": args.streams,
            "unix_socket": args.unix_socket,
            "rate": args.rate.map(rate_in_record),
            "requests": args.requests,
            "duration": args.duration,
            "timeout": args.timeout,
            "protocol": match (args.h1, args.h2, args.h2c) {
                _ if args.h3 => "HTTP/3",
                (true, _, _) => "HTTP/1.1",
                (_, true, _) => "HTTP/2",
                (_, _, true) => "HTTP/2 without TLS",
                _ => "negotiated",
            },
            "keep_alive": !is_fresh(args),
            "insecure": args.insecure,
            "client_certificate": args.cert.is_some(),
            "workers": args.workers,
            "loops": args.loops,
            "threads": args.threads,
            "io": args.io.io.name(),
    })
}

fn title(args: &HttpArgs, spec: &RequestSpec) -> String {
    let load = match (args.rate, args.workers) {
        (Some(rate), _) => format!("{} requests/s", rate.per_second()),
        (None, Some(workers)) => format!("{workers} workers"),
        (None, None) => format!("{} connections", users(args)),
    };
    let load = match connection_use(args) {
        None => load,
        Some(name) => format!("{load}, {}", name.describe(args.include_connecting)),
    };
    let load = match (args.streams, args.rate) {
        (Some(streams), None) => format!("{load} × {streams} streams"),
        (Some(streams), Some(_)) => {
            format!("{load}, {streams} streams on each connection")
        }
        (None, _) => load,
    };
    format!("{} {}, {load}", spec.method, spec.url)
}

/// Users where the work is not fixed, each with a connection.
fn users(args: &HttpArgs) -> u32 {
    match args.connections {
        Some(ConnectionsFlag::Count(count)) => count,
        Some(ConnectionsFlag::Use(_)) | None => 50,
    }
}

/// How fixed work uses connections; `None` where the work is not fixed.
fn connection_use(args: &HttpArgs) -> Option<ConnectionUse> {
    args.workers?;
    Some(match args.connections {
        _ if args.no_keepalive => ConnectionUse::Fresh,
        Some(ConnectionsFlag::Use(how)) => how,
        Some(ConnectionsFlag::Count(_)) | None => ConnectionUse::Kept,
    })
}

fn is_shared(args: &HttpArgs) -> bool {
    connection_use(args) == Some(ConnectionUse::Shared)
}

fn is_fresh(args: &HttpArgs) -> bool {
    args.no_keepalive || connection_use(args) == Some(ConnectionUse::Fresh)
}

/// Users that share a connection, each with a stream of its own.
fn streams(args: &HttpArgs) -> Option<u32> {
    match args.workers {
        Some(workers) if is_shared(args) => Some(workers),
        _ => args.streams,
    }
}

/// Refuses values of `--connections` that do not fit the other flags.
fn check_connections(args: &HttpArgs) -> Result<(), String> {
    match (args.connections, args.workers) {
        (Some(ConnectionsFlag::Count(count)), Some(_)) => Err(format!(
            "--connections {count} with --workers: write shared, kept or fresh; --workers sets the number of users"
        )),
        (Some(ConnectionsFlag::Use(how)), None) => Err(format!(
            "--connections {}: needs --workers and --loops; write a number",
            how.name()
        )),
        (Some(ConnectionsFlag::Use(how)), Some(_))
            if args.no_keepalive && how != ConnectionUse::Fresh =>
        {
            Err(format!(
                "--no-keepalive with --connections {}: leave one of them out",
                how.name()
            ))
        }
        _ => Ok(()),
    }
}

fn amount(args: &HttpArgs) -> Result<Amount<'_>, String> {
    if args.streams == Some(0) {
        return Err("--streams 0: at least one is needed to send anything".to_owned());
    }
    let streams = args.streams.unwrap_or(1);
    let connections = users(args);
    let users = connections.checked_mul(streams).ok_or_else(|| {
        format!(
            "--connections {connections} with --streams {streams}: that is too many users at once"
        )
    })?;
    Ok(Amount {
        users: Flag {
            name: "--connections",
            value: users,
        },
        rate: Flag {
            name: "--rate",
            value: args.rate,
        },
        total: Flag {
            name: "--requests",
            value: args.requests,
        },
        max_users: args.max_users,
        duration: args.duration.as_deref(),
        workers: args.workers,
        loops: args.loops,
    })
}

fn request(args: &HttpArgs) -> Result<RequestSpec, String> {
    let body = match &args.body {
        None => Vec::new(),
        Some(text) => match text.strip_prefix('@') {
            Some(path) => plimsoll_script::read_file(path.as_ref())
                .map_err(|error| format!("--body @{path}: cannot read it: {error}"))?,
            None => text.clone().into_bytes(),
        },
    };
    let headers = args
        .headers
        .iter()
        .map(|line| {
            let (name, value) = line.split_once(':').ok_or_else(|| {
                format!("--header \"{line}\": write it as NAME: VALUE, like \"Accept: text/plain\"")
            })?;
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        })
        .collect::<Result<_, String>>()?;
    let method = match &args.method {
        Some(method) => method.clone(),
        None if args.body.is_some() => "POST".to_owned(),
        None => "GET".to_owned(),
    };
    let url = if args.url.contains("://") {
        args.url.clone()
    } else {
        format!("http://{}", args.url)
    };
    let timeout = parse_duration("--timeout", &args.timeout)?;
    Ok(RequestSpec {
        method,
        url,
        headers,
        body: body.into(),
        timeout,
    })
}

fn settings(
    args: &HttpArgs,
    spec: &RequestSpec,
    plan: &Plan,
) -> Result<plimsoll_http::Settings, String> {
    let is_tls = spec
        .url
        .get(..8)
        .is_some_and(|start| start.eq_ignore_ascii_case("https://"));
    let protocol = match (args.h1, args.h2, args.h2c) {
        _ if args.h3 => plimsoll_http::Protocol::Http3,
        (false, false, false) if is_shared(args) && !is_tls => {
            return Err(
                "--connections shared needs HTTP/2 or HTTP/3: add --h2c where the server speaks HTTP/2 without TLS, or give an https:// URL, with --h3 for HTTP/3"
                    .to_owned(),
            );
        }
        (true, _, _) if is_shared(args) => {
            return Err(
                "--connections shared: an HTTP/1.1 connection carries one request at a time; write kept, or use HTTP/2"
                    .to_owned(),
            );
        }
        (false, false, false) if args.streams.is_some() && !is_tls => {
            return Err(
                "--streams needs HTTP/2 or HTTP/3: add --h2c where the server speaks HTTP/2 without TLS, or give an https:// URL, with --h3 for HTTP/3"
                    .to_owned(),
            );
        }
        (false, false, false) if streams(args).is_some() => plimsoll_http::Protocol::Http2,
        (true, _, _) => plimsoll_http::Protocol::Http1,
        (_, true, _) => plimsoll_http::Protocol::Http2,
        (_, _, true) => plimsoll_http::Protocol::H2c,
        _ => plimsoll_http::Protocol::Auto,
    };
    Ok(plimsoll_http::Settings {
        user_agent: format!("plimsoll/{}", env!("CARGO_PKG_VERSION")),
        no_connection_reuse: is_fresh(args),
        protocol,
        connections_per_host: streams(args).map(|_| 1),
        streams_per_connection: streams(args).map(|streams| streams as usize),
        discard_response_bodies: true,
        network: plimsoll_net::NetworkSettings {
            io: io(args.io.io, is_open(plan))?,
            tls: tls(args)?,
            unix_socket: args
                .unix_socket
                .as_deref()
                .map(|path| unix_socket("--unix-socket", path))
                .transpose()?,
            ..plimsoll_net::NetworkSettings::default()
        },
        ..plimsoll_http::Settings::default()
    })
}

fn tls(args: &HttpArgs) -> Result<plimsoll_net::TlsSettings, String> {
    let read = |flag: &str, path: &Path| {
        plimsoll_script::read_file(path)
            .map_err(|error| format!("{flag} {}: cannot read it: {error}", path.display()))
    };
    let client_certificates = match (&args.cert, &args.key) {
        (Some(cert), Some(key)) => vec![plimsoll_net::ClientCertificate {
            domains: Vec::new(),
            certificate_pem: read("--cert", cert)?,
            key_pem: read("--key", key)?,
        }],
        _ => Vec::new(),
    };
    let tls = plimsoll_net::TlsSettings {
        insecure_skip_verify: args.insecure,
        client_certificates,
        ..plimsoll_net::TlsSettings::default()
    };
    tls.check()?;
    Ok(tls)
}
