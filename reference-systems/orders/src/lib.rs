//! `orders`: a small service to run behind a gateway. Its main response is constant, so a
//! measurement shows the gateway in front of it.

mod pages;
mod websocket;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use plimsoll_serving::connection::{Protocol, Server};
use plimsoll_serving::drain::Draining;
use plimsoll_serving::ground::{self, Places};
use plimsoll_serving::listeners::bind;
use plimsoll_serving::{Guarded, Limits, Shared, System, certificates};
use tokio_rustls::TlsAcceptor;

use pages::Pages;

/// Command line of `plimsoll-serve orders`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
  /spot/orders   any method: a constant order, about 0.8 kB of JSON
  /echo          the request's body
  /request       the request's headers, as JSON
  /status/CODE   a response with that status
  /long?ms=N     a response after N milliseconds (1000), at most a minute
  /websocket     echoes messages
  /healthz, /metrics

When ready, prints its addresses to stdout as one line of JSON:
  {\"system\":\"orders\",\"url\":\"http://127.0.0.1:9800\"}
SIGTERM and SIGINT stop it after the responses in progress.")]
pub struct Settings {
    /// Address to listen on in plain text, for HTTP/1.1 and HTTP/2 by prior knowledge (port 0
    /// takes any free one)
    #[arg(long, default_value = "127.0.0.1:9800", value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// Address to listen on with TLS, for HTTP/1.1 and HTTP/2 by ALPN [default: none]
    #[arg(long, value_name = "ADDRESS:PORT")]
    tls_listen: Option<SocketAddr>,
    /// Directory with ca.pem, server.pem, server.key, client.pem and client.key; the files are created
    /// if it is empty or missing [default: a directory that is removed at the end]
    #[arg(long, value_name = "DIRECTORY")]
    certs: Option<PathBuf>,
    /// Value of the header X-Server in each response, to distinguish several servers
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    limits: Limits,
}

/// The state that all connections share.
struct Orders {
    pages: Arc<Pages>,
}

impl System for Orders {
    type Service = pages::Service;
    type Body = pages::ResponseBody;

    fn service(&self, _worker: usize) -> pages::Service {
        pages::Service(self.pages.clone())
    }
}

/// Serves until a signal stops it. An error ends the program.
pub fn run(settings: &Settings) -> Result<(), String> {
    let limits = &settings.limits;
    ground::run(limits, async |ground| {
        let pages = Arc::new(Pages::new(settings.name.as_deref())?);
        let shared = Arc::new(Shared::new(
            Arc::new(Orders { pages }),
            ground.counters(),
            limits,
        ));
        let plain = bind(settings.listen.ip(), settings.listen.port(), "--listen")?;
        let mut places = Places::of("orders").at("url", "http://", address(&plain)?);
        let mut listeners = vec![(plain, None)];
        let mut made = None;
        if let Some(listen) = settings.tls_listen {
            let directory = match &settings.certs {
                Some(directory) => directory.clone(),
                None => {
                    let directory = tempfile::Builder::new().prefix("plimsoll-certs-").tempdir();
                    let directory = directory.map_err(|error| {
                        format!("cannot create a directory for certificates: {error}; name one with --certs")
                    })?;
                    made.insert(directory).path().to_owned()
                }
            };
            certificates::prepare(&directory)?;
            let mut config = certificates::server_config(&directory, false)?;
            config.alpn_protocols = Protocol::Auto.alpn();
            let encrypted = bind(listen.ip(), listen.port(), "--tls-listen")?;
            places = places
                .at("tls", "https://", address(&encrypted)?)
                .with("certs", directory.to_string_lossy().into_owned());
            listeners.push((encrypted, Some(TlsAcceptor::from(Arc::new(config)))));
        }
        for (listener, tls) in listeners {
            let server = Arc::new(Server::new(Protocol::Auto, tls, limits.idle()));
            let shared = shared.clone();
            ground.open(listener, move |stream, worker, draining: Draining| {
                let service = Guarded::new(shared.clone(), worker, draining.clone());
                server.clone().serve(stream, service, draining)
            });
        }
        Ok((places, async move { drop(made) }))
    })
}

fn address(listener: &tokio::net::TcpListener) -> Result<SocketAddr, String> {
    listener
        .local_addr()
        .map_err(|error| format!("the listener has no address: {error}"))
}
