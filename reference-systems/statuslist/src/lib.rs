//! `statuslist`: a server for the IETF's Token Status List. It issues each index only once, sets
//! statuses, and returns signed lists.

mod accept;
mod app;
mod cbor;
mod pools;
mod problem;
mod published;
mod ready;
mod routes;
mod shuffle;
mod signer;
mod status;
mod store;
mod token;

use std::net::SocketAddr;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::Response;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use plimsoll_serving::secret::ApiKey;
use plimsoll_serving::{Refusal, Routed, log};

use app::App;
use pools::Pools;
use problem::Problem;
use published::Published;
use ready::Orders;
use signer::Signer;
use store::{Address, Durability, Failure, Store};

/// The key of the built-in pools, unless another is given.
const KNOWN_KEY: &str = "plimsoll";

/// Interval between checks of the store.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// How to run the server.
#[derive(Debug, clap::Args)]
pub struct Settings {
    /// Address to listen on (port 0: any free port)
    #[arg(long, default_value = "127.0.0.1:8090", value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// Store of the lists: sqlite:FILE, redis://HOST:PORT/DB or postgres://USER@HOST:PORT/DB
    #[arg(
        long,
        default_value = "sqlite:plimsoll-statuslist.db",
        value_name = "URL",
        env = "PLIMSOLL_STATUSLIST_STORE",
        hide_env_values = true
    )]
    store: String,
    /// Pools, in YAML, TOML or JSON [default: 'tests', which delays on underflow, and 'tests-fail', which fails]
    #[arg(long, value_name = "FILE")]
    pools: Option<PathBuf>,
    /// The key of pools that name none [default without --pools: plimsoll]
    #[arg(
        long,
        value_name = "KEY",
        env = "PLIMSOLL_STATUSLIST_API_KEY",
        hide_env_values = true
    )]
    api_key: Option<String>,
    /// Start of the URIs of lists, unless their pool names an issuer [default: the server's address]
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Private key to sign with (PEM, PKCS#8, P-256), made if it does not exist [default: a new one at each start]
    #[arg(long, value_name = "FILE")]
    signing_key: Option<PathBuf>,
    /// Connections to PostgreSQL
    #[arg(long, default_value = "32", value_name = "COUNT")]
    store_connections: NonZero<usize>,
    /// Durability that Redis must provide
    #[arg(long, default_value = "always", value_name = "PROMISE")]
    redis_durability: Durability,
    /// Milliseconds after which changes by other servers on the same store are seen
    #[arg(long, default_value_t = 1000, value_name = "MILLISECONDS", value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    refresh: u64,
    #[command(flatten)]
    limits: plimsoll_serving::Limits,
}

/// Serves until a signal stops it.
pub fn run(settings: &Settings) -> Result<(), String> {
    let key = match (&settings.api_key, &settings.pools) {
        (Some(key), _) => Some(ApiKey::new(key).map_err(|reason| format!("--api-key: {reason}"))?),
        (None, None) => {
            log::warn(
                "the pools have the key that everybody knows; give another with --api-key",
                &[("key", KNOWN_KEY.into())],
            );
            Some(ApiKey::new(KNOWN_KEY)?)
        }
        (None, Some(_)) => None,
    };
    let pools = Pools::load(settings.pools.as_deref(), key.as_ref())?;
    let address = Address::parse(&settings.store).map_err(|reason| format!("--store: {reason}"))?;
    let signer = match &settings.signing_key {
        Some(file) => Signer::of_file(file)?,
        None => Signer::ephemeral()?,
    };
    plimsoll_serving::run(
        "statuslist",
        settings.listen,
        &settings.limits,
        async |ground| {
            let store = Store::open(
                &address,
                settings.store_connections.get(),
                settings.redis_durability,
            )
            .await?;
            log::info(
                "the store is open",
                &[("store", address.to_string().into())],
            );
            let store = Arc::new(store);
            let refresh = Duration::from_millis(settings.refresh);
            let base = match &settings.public_url {
                Some(url) => url.trim_end_matches('/').to_owned(),
                None => format!("http://{}", ground.address()),
            };
            let published = Published::new(store.clone(), signer, refresh);
            let app = App::new(store, published, pools, base, settings.limits.max_body);
            begin(app, &settings.limits).await
        },
    )
}

/// Reserves the first indices and starts the background tasks.
async fn begin(app: App, limits: &plimsoll_serving::Limits) -> Result<Routed, String> {
    let app = Arc::new(app);
    for ready in app.pools.values() {
        let started = async {
            ready.fill(&app.store, &mut Orders::default()).await?;
            ready.precreate_now(&app.store).await
        };
        started.await.map_err(|failure| {
            format!("pool '{}' cannot be made ready: {failure}", ready.pool.name)
        })?;
        tokio::spawn(ready.clone().keep(app.store.clone()));
        tokio::spawn(ready.clone().precreate(app.store.clone()));
    }
    let reachable = Arc::new(AtomicBool::new(true));
    tokio::spawn(listen_to(app.store.clone(), reachable.clone()));
    let message = app.clone();
    Ok(Routed::new(routes::routes(app), limits)
        .health(move || match reachable.load(Ordering::Relaxed) {
            true => Ok(()),
            false => Err("the store is unavailable".to_owned()),
        })
        .metrics(move |text| {
            for (name, ready) in &message.pools {
                let (indices, waiting) = ready.counts();
                let name = name.replace(['-', '.'], "_");
                text.metric(
                    &format!("plimsoll_statuslist_indices_ready_{name}"),
                    "Indices ready to be issued.",
                    indices as u64,
                );
                text.metric(
                    &format!("plimsoll_statuslist_requests_waiting_{name}"),
                    "Requests that wait for indices.",
                    waiting as u64,
                );
            }
            text.metric(
                "plimsoll_statuslist_lists_kept",
                "Signed lists kept in memory.",
                message.published.kept() as u64,
            );
        })
        .refuse(refuse))
}

fn refuse(refusal: Refusal) -> Response<Bytes> {
    let problem = match refusal {
        Refusal::Overloaded => Problem::Overloaded,
        Refusal::TooLarge(most) => Problem::TooLarge(most),
    };
    let mut response = Response::new(problem.body().into());
    *response.status_mut() = refusal.status();
    let kind = HeaderValue::from_static("application/problem+json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// Records whether the store is available, for `/healthz`, and logs changes.
async fn listen_to(store: Arc<Store>, reachable: Arc<AtomicBool>) {
    loop {
        let outcome = store.reachable().await;
        // An overloaded store is available.
        let now = !matches!(outcome, Err(Failure::Unavailable(_)));
        if reachable.swap(now, Ordering::Relaxed) != now {
            match outcome {
                Err(Failure::Unavailable(reason)) => {
                    log::warn("the store is gone", &[("reason", reason.into())]);
                }
                _ => log::info("the store is there again", &[]),
            }
        }
        tokio::time::sleep(HEARTBEAT).await;
    }
}
