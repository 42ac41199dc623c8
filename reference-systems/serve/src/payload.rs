//! `payload`: one fixed response, to measure the cost of distance and encryption.
//!
//! Four listeners: plain text, TLS and mutual TLS with the [`pages`], and gRPC with
//! the [`greeter`].

mod counters;
mod greeter;
mod pages;

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyper_util::service::TowerToHyperService;
use plimsoll_serving::connection::{Protocol, Server};
use plimsoll_serving::ground::{self, Ground, Places};
use plimsoll_serving::listeners::{Port, bind};
use plimsoll_serving::{Limits, certificates};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::payload::counters::AllCounters;

/// Command line of `plimsoll-serve payload`.
#[derive(clap::Args)]
#[command(
    args_override_self = true,
    after_help = "\
When ready, prints its addresses to stdout as one line of JSON:
  {\"system\":\"payload\",\"plain\":\"http://127.0.0.1:10080\",\"tls\":\"https://127.0.0.1:10443\",…}
SIGTERM and SIGINT stop it after the responses in progress."
)]
pub struct Settings {
    /// The address to listen on
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    listen: IpAddr,
    /// Port for plain text (0: any free port, 'off': none)
    #[arg(long, default_value = "10080", value_name = "PORT")]
    plain_port: Port,
    /// Port for TLS
    #[arg(long, default_value = "10443", value_name = "PORT")]
    tls_port: Port,
    /// Port for mutual TLS, which requires a client certificate
    #[arg(long, default_value = "10444", value_name = "PORT")]
    mutual_tls_port: Port,
    /// Port for gRPC (helloworld.Greeter: SayHello, Slow, Push)
    #[arg(long, default_value = "50051", value_name = "PORT")]
    grpc_port: Port,
    /// Serve gRPC over TLS
    #[arg(long)]
    grpc_tls: bool,
    /// Bytes of the response to GET /
    #[arg(long, default_value_t = 4096, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(0..=MAX_LENGTH))]
    length: u32,
    /// HTTP versions of the three HTTP listeners
    #[arg(long, value_enum, default_value = "auto")]
    protocol: Protocol,
    /// Directory with ca.pem, server.pem, server.key, client.pem and client.key; the files are created
    /// if it is empty or missing [default: a directory that is removed at the end]
    #[arg(long, value_name = "DIRECTORY")]
    certs: Option<PathBuf>,
    #[command(flatten)]
    limits: Limits,
}

const MAX_LENGTH: i64 = 64 << 20;

/// Serves until a signal stops it.
pub fn run(settings: &Settings) -> Result<(), String> {
    let ports = [
        settings.plain_port,
        settings.tls_port,
        settings.mutual_tls_port,
        settings.grpc_port,
    ];
    if ports.iter().all(|port| *port == Port::Off) {
        return Err("all ports are off, so nothing would be served; leave one on".to_owned());
    }
    ground::run(&settings.limits, async |ground| {
        let certificates = Certificates::prepare(settings)?;
        let listeners = Listeners::bind(settings)?;
        let places = listeners.places(certificates.directory());
        listeners.open(settings, &certificates, ground)?;
        // The directory is removed after the last response.
        Ok((places, async move { drop(certificates) }))
    })
}

/// The directory of the certificates; a temporary one is removed at the end.
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
                    .map_err(|error| format!("cannot create a directory for certificates: {error}; name one with --certs"))?,
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

/// The listeners; all are bound before any is served.
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

    /// The addresses to announce.
    fn places(&self, certificates: Option<&Path>) -> Places {
        let mut places = Places::of("payload");
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
                places = places.at(name, scheme, address);
            }
        }
        match certificates {
            Some(directory) => places.with("certs", directory.to_string_lossy()),
            None => places,
        }
    }

    /// Starts to accept connections.
    fn open(
        self,
        settings: &Settings,
        certificates: &Certificates,
        ground: &Ground,
    ) -> Result<(), String> {
        let idle = settings.limits.idle();
        let protocol = settings.protocol;
        let counters = AllCounters::new(ground.workers());
        let pages = pages::Content::new(
            settings.length as usize,
            counters.clone(),
            ground.counters(),
        );
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
            let counters = counters.clone();
            ground.open(listener, move |stream, worker, draining| {
                let pages = pages::Pages::new(pages, counters.of_worker(worker), draining.clone());
                server.clone().serve(stream, pages, draining)
            });
        }
        if let Some(listener) = self.grpc {
            let acceptor = settings
                .grpc_tls
                .then(|| certificates.acceptor(false, Protocol::H2))
                .transpose()?;
            let server = Arc::new(Server::new(Protocol::H2, acceptor, idle));
            ground.open(listener, move |stream, worker, draining| {
                let service =
                    TowerToHyperService::new(greeter::service(counters.of_worker(worker)));
                server.clone().serve(stream, service, draining)
            });
        }
        Ok(())
    }
}
