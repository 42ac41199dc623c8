//! `payload`: one fixed answer, to find out what distance and encryption cost.
//!
//! Four listeners: plain text, TLS and mutual TLS with the [`pages`], and gRPC with
//! the [`greeter`].

mod greeter;
mod pages;

use std::io::Write;
use std::net::IpAddr;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hyper_util::service::TowerToHyperService;
use serde_json::{Map, Value};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::connection::{Protocol, Server};
use crate::counters::AllCounters;
use crate::drain::{Drain, Draining, Signals};
use crate::listeners::{self, Port, Room, accept, bind};
use crate::workers::{self, Workers};
use crate::{certificates, log};

/// Command line of `plimsoll-serve payload`.
#[derive(clap::Args)]
#[command(
    args_override_self = true,
    after_help = "\
When ready, one line of JSON on standard output says where:
  {\"system\":\"payload\",\"plain\":\"http://127.0.0.1:10080\",\"tls\":\"https://127.0.0.1:10443\",…}
SIGTERM and SIGINT finish the answers under way, then end it."
)]
pub struct Settings {
    /// The address to listen on
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    listen: IpAddr,
    /// Port for plain text (0 for any free one, 'off' for none)
    #[arg(long, default_value = "10080", value_name = "PORT")]
    plain_port: Port,
    /// Port for TLS
    #[arg(long, default_value = "10443", value_name = "PORT")]
    tls_port: Port,
    /// Port for mutual TLS, where the client must show a certificate
    #[arg(long, default_value = "10444", value_name = "PORT")]
    mutual_tls_port: Port,
    /// Port for gRPC (helloworld.Greeter: SayHello, Slow, Push)
    #[arg(long, default_value = "50051", value_name = "PORT")]
    grpc_port: Port,
    /// Speak gRPC over TLS
    #[arg(long)]
    grpc_tls: bool,
    /// Bytes of the answer to GET /
    #[arg(long, default_value_t = 4096, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(0..=LONGEST))]
    length: u32,
    /// Which HTTP the three HTTP listeners speak
    #[arg(long, value_enum, default_value = "auto")]
    protocol: Protocol,
    /// Directory with ca.pem, server.pem, server.key, client.pem and client.key; made
    /// if it is empty or absent [default: a directory that is removed at the end]
    #[arg(long, value_name = "DIRECTORY")]
    certs: Option<PathBuf>,
    /// Threads that serve
    #[arg(long, default_value_t = workers::default_count())]
    threads: NonZero<usize>,
    /// Connections open at once, at most; further ones are closed at once
    #[arg(long, default_value_t = 50_000, value_name = "COUNT")]
    max_connections: u64,
    /// Seconds after which an idle connection is closed
    #[arg(long, default_value_t = 75, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    idle_timeout: u64,
    /// Seconds that answers under way have to finish, once told to end
    #[arg(long, default_value_t = 10, value_name = "SECONDS")]
    drain_timeout: u64,
}

const LONGEST: i64 = 64 << 20;

/// Serves until told to end.
pub fn run(settings: &Settings) -> Result<(), String> {
    listeners::allow_many_connections();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start the event loop: {error}"))?;
    runtime.block_on(serve(settings))
}

async fn serve(settings: &Settings) -> Result<(), String> {
    let certificates = Certificates::prepare(settings)?;
    let listeners = Listeners::bind(settings)?;
    let workers = Workers::start(settings.threads)
        .map_err(|error| format!("cannot start the workers: {error}"))?;
    let room = Room {
        workers: workers.handles().to_vec(),
        counters: AllCounters::new(workers.count()),
        limit: settings.max_connections,
    };
    let (drain, draining) = Drain::new();
    let mut signals =
        Signals::listen().map_err(|error| format!("cannot listen for signals: {error}"))?;
    let places = listeners.places(certificates.directory());
    listeners.open(settings, &certificates, &room, &draining)?;
    drop(draining);

    announce(&places)?;
    let signal = signals.received().await;
    log::info(
        "draining",
        &[
            ("signal", signal.into()),
            ("connections", room.counters.open().into()),
        ],
    );
    let patience = Duration::from_secs(settings.drain_timeout);
    if !drain.run(patience).await {
        log::warn(
            "connections were cut off: --drain-timeout was too short for them",
            &[("connections", room.counters.open().into())],
        );
    }
    workers.stop();
    log::info("done", &[]);
    Ok(())
}

/// Says where the listeners are, to programs and to people.
fn announce(places: &Map<String, Value>) -> Result<(), String> {
    let fields: Vec<_> = places
        .iter()
        .map(|(key, value)| (key.as_str(), value.clone()))
        .collect();
    log::info("ready", &fields);
    let mut out = std::io::stdout();
    writeln!(out, "{}", Value::Object(places.clone()))
        .and_then(|()| out.flush())
        .map_err(|error| format!("cannot write to standard output: {error}"))
}

/// Where the certificates are; a directory of our own is removed at the end.
enum Certificates {
    None,
    Given(PathBuf),
    Temporary(TempDir),
}

impl Certificates {
    fn prepare(settings: &Settings) -> Result<Certificates, String> {
        let tls = settings.tls_port != Port::Off || settings.mutual_tls_port != Port::Off;
        if !tls && !settings.grpc_tls {
            return Ok(Certificates::None);
        }
        let certificates = match &settings.certs {
            Some(directory) => Certificates::Given(directory.clone()),
            None => Certificates::Temporary(
                tempfile::Builder::new()
                    .prefix("plimsoll-certs-")
                    .tempdir()
                    .map_err(|error| format!("cannot make a directory for certificates: {error}; name one with --certs"))?,
            ),
        };
        if let Some(directory) = certificates.directory() {
            certificates::prepare(directory)?;
        }
        Ok(certificates)
    }

    fn directory(&self) -> Option<&Path> {
        match self {
            Certificates::None => None,
            Certificates::Given(directory) => Some(directory),
            Certificates::Temporary(directory) => Some(directory.path()),
        }
    }

    fn acceptor(&self, mutual: bool, protocol: Protocol) -> Result<TlsAcceptor, String> {
        let directory = self.directory().ok_or("there are no certificates")?;
        let mut config = certificates::server_config(directory, mutual)?;
        config.alpn_protocols = protocol.alpn();
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

/// What is listened on; all are bound before any is served.
struct Listeners {
    plain: Option<TcpListener>,
    tls: Option<TcpListener>,
    mutual_tls: Option<TcpListener>,
    grpc: Option<TcpListener>,
}

impl Listeners {
    fn bind(settings: &Settings) -> Result<Listeners, String> {
        let on = |port: Port, flag: &str| match port {
            Port::Off => Ok(None),
            Port::Number(port) => bind(settings.listen, port, flag).map(Some),
        };
        Ok(Listeners {
            plain: on(settings.plain_port, "--plain-port")?,
            tls: on(settings.tls_port, "--tls-port")?,
            mutual_tls: on(settings.mutual_tls_port, "--mutual-tls-port")?,
            grpc: on(settings.grpc_port, "--grpc-port")?,
        })
    }

    /// The places as they are announced.
    fn places(&self, certificates: Option<&Path>) -> Map<String, Value> {
        let mut places = Map::new();
        places.insert("system".into(), "payload".into());
        let listeners = [
            ("plain", "http://", &self.plain),
            ("tls", "https://", &self.tls),
            ("mutual_tls", "https://", &self.mutual_tls),
            ("grpc", "", &self.grpc),
        ];
        for (name, scheme, listener) in listeners {
            let address = listener
                .as_ref()
                .and_then(|listener| listener.local_addr().ok());
            if let Some(address) = address {
                places.insert(name.into(), format!("{scheme}{address}").into());
            }
        }
        if let Some(directory) = certificates {
            places.insert("certs".into(), directory.to_string_lossy().into());
        }
        places
    }

    /// Begins to take up connections.
    fn open(
        self,
        settings: &Settings,
        certificates: &Certificates,
        room: &Room,
        draining: &Draining,
    ) -> Result<(), String> {
        let idle = Duration::from_secs(settings.idle_timeout);
        let protocol = settings.protocol;
        let pages = pages::Content::new(settings.length as usize, room.counters.clone());
        for (listener, tls) in [
            (self.plain, None),
            (self.tls, Some(false)),
            (self.mutual_tls, Some(true)),
        ] {
            let Some(listener) = listener else { continue };
            let acceptor = tls
                .map(|mutual| certificates.acceptor(mutual, protocol))
                .transpose()?;
            let server = Arc::new(Server::new(protocol, acceptor, idle));
            let serve = move |stream, counters, draining: Draining| {
                let pages = pages::Pages::new(pages, counters, draining.clone());
                server.clone().serve(stream, pages, draining)
            };
            tokio::spawn(accept(listener, room.clone(), draining.clone(), serve));
        }
        if let Some(listener) = self.grpc {
            let acceptor = settings
                .grpc_tls
                .then(|| certificates.acceptor(false, Protocol::H2))
                .transpose()?;
            let server = Arc::new(Server::new(Protocol::H2, acceptor, idle));
            let serve = move |stream, counters, draining: Draining| {
                let service = TowerToHyperService::new(greeter::service(counters));
                server.clone().serve(stream, service, draining)
            };
            tokio::spawn(accept(listener, room.clone(), draining.clone(), serve));
        }
        Ok(())
    }
}
