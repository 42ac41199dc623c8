//! `gateway`: a reverse proxy for HTTP/1.1 and HTTP/2, configured by a file.
//!
//! A request arrives at an [`entry`], is matched to a route in the [`plan`], and is sent to a
//! target of an [`upstream`] by [`proxy`]. [`reload`] replaces the plan. Each worker has its own
//! connections to targets, and a request never leaves the task of its client's connection.

mod access_log;
mod admission;
mod body;
mod config;
mod entry;
mod forwarding;
mod gate;
mod gateway;
#[doc(hidden)]
pub mod in_memory;
mod key;
mod path;
mod plan;
mod proxy;
mod ratelimit;
mod record;
mod refusal;
mod reload;
mod tunnel;
mod upstream;

use std::convert::Infallible;
use std::future::ready;
use std::net::SocketAddr;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use plimsoll_serving::Limits;
use plimsoll_serving::connection::{Protocol, Server};
use plimsoll_serving::drain::Draining;
use plimsoll_serving::ground::{self, Places};
use plimsoll_serving::listeners::bind;
use plimsoll_serving::workers;
use serde_json::{Map, Value};
use tokio::signal::unix::{SignalKind, signal};

use reload::Operator;

/// Command line of `plimsoll-serve gateway`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
When ready, prints its addresses to stdout as one line of JSON:
  {\"system\":\"gateway\",\"url\":\"http://127.0.0.1:9900\",\"entries\":{\"web\":\"http://127.0.0.1:8080\"}}
On SIGHUP, or when the file changes, the file is loaded again without losing a request.
SIGTERM and SIGINT stop it after the responses in progress.")]
pub struct Settings {
    /// The configuration: entries, routes, services and upstreams, in YAML
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Check the configuration and exit
    #[arg(long)]
    check: bool,
    /// Address of /healthz and /metrics (port 0: any free port)
    #[arg(long, default_value = "127.0.0.1:9900", value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// Threads that serve
    #[arg(long, default_value_t = workers::default_count())]
    threads: NonZero<usize>,
    /// Seconds that responses in progress have to finish after a signal to stop
    #[arg(long, default_value_t = 10, value_name = "SECONDS")]
    drain_timeout: u64,
}

/// Maximum idle time of connections to the gateway's own port.
const IDLE: Duration = Duration::from_secs(75);

/// Serves until a signal stops it. An error ends the program.
pub fn run(settings: &Settings) -> Result<(), String> {
    if settings.check {
        return config::load(&settings.config).map(drop);
    }
    let patience = Duration::from_secs(settings.drain_timeout);
    let limits = Limits::of_threads(settings.threads, patience);
    ground::run(&limits, async |ground| {
        let hangups = signal(SignalKind::hangup())
            .map_err(|error| format!("cannot listen for signals: {error}"))?;
        let listener = bind(settings.listen.ip(), settings.listen.port(), "--listen")?;
        let address = listener
            .local_addr()
            .map_err(|error| format!("the listener has no address: {error}"))?;
        let operator = Operator::start(&settings.config, ground.handles(), patience)?;
        let draining = ground.draining().ok_or("it is ending already")?;
        let mut entries = Map::new();
        for entry in &operator.entries {
            let manners = entry.manners();
            let tls = manners.settings.tls.is_some();
            let scheme = if tls { "https" } else { "http" };
            let url = format!("{scheme}://{}", entry.address);
            entries.insert(manners.name.to_string(), url.into());
        }
        let server = Arc::new(Server::new(Protocol::Auto, None, IDLE));
        let gateway = operator.gateway.clone();
        ground.open(listener, move |stream, _, draining: Draining| {
            let (gateway, started) = (gateway.clone(), draining.clone());
            let service = service_fn(move |request: Request<Incoming>| {
                let response = gateway.admin(&request, started.has_begun());
                ready(Ok::<_, Infallible>(response))
            });
            server.clone().serve(stream, service, draining)
        });
        tokio::spawn(operator.run(hangups, draining));
        let places = Places::of("gateway")
            .at("url", "http://", address)
            .with("entries", Value::Object(entries));
        Ok((places, async {}))
    })
}

/// Checks whether `text` is a valid configuration; otherwise returns the errors, one per line. Only
/// the certificates that it names are read.
pub fn check_config(text: &str) -> Result<(), String> {
    config::read(text, Path::new("text")).map(drop)
}
