//! `timezone`: returns the time zone of a coordinate, from built-in polygons, in memory or in
//! PostGIS.

mod coordinate;
mod embedded;
mod postgis;
mod routes;

use std::net::SocketAddr;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_serving::secret::{ApiKey, masked};
use plimsoll_serving::{Routed, log};

use coordinate::Coordinate;
use embedded::Embedded;
use postgis::PostGis;
use routes::App;

/// The default key.
const KNOWN_KEY: &str = "plimsoll";

/// Interval between checks of PostGIS.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// Time limit for PostGIS, so that requests do not wait if it hangs.
const PATIENCE: Duration = Duration::from_secs(6);

/// How to run the server.
#[derive(Debug, clap::Args)]
pub struct Settings {
    /// Address to listen on (port 0: any free port)
    #[arg(long, default_value = "127.0.0.1:8091", value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// Source of time zones: embedded, or postgres://USER@HOST:PORT/DB with PostGIS
    #[arg(
        long,
        default_value = "embedded",
        value_name = "URL",
        env = "PLIMSOLL_TIMEZONE_STORE",
        hide_env_values = true
    )]
    store: String,
    /// A key that clients may use; for several keys, repeat the flag or separate them by commas [default: plimsoll]
    #[arg(
        long = "api-key",
        value_name = "KEY",
        env = "PLIMSOLL_TIMEZONE_API_KEY",
        hide_env_values = true,
        value_delimiter = ','
    )]
    api_keys: Vec<String>,
    /// Return the nautical zones Etc/GMT… for places at sea, instead of 404
    #[arg(long)]
    oceans: bool,
    /// Connections to PostgreSQL
    #[arg(long, default_value = "16", value_name = "COUNT")]
    store_connections: NonZero<usize>,
    #[command(flatten)]
    limits: plimsoll_serving::Limits,
}

/// Serves until a signal stops it.
pub fn run(settings: &Settings) -> Result<(), String> {
    let mut keys = Vec::new();
    for key in &settings.api_keys {
        keys.push(ApiKey::new(key).map_err(|reason| format!("--api-key: {reason}"))?);
    }
    if keys.is_empty() {
        log::warn(
            "the key is one that everybody knows; give another with --api-key",
            &[("key", KNOWN_KEY.into())],
        );
        keys.push(ApiKey::new(KNOWN_KEY)?);
    }
    let limits = &settings.limits;
    plimsoll_serving::run("timezone", settings.listen, limits, async |_ground| {
        let zones = Zones::open(settings).await?;
        let reachable = Arc::new(AtomicBool::new(true));
        let app = Arc::new(App { zones, keys });
        if let Zones::PostGis(_) = app.zones {
            tokio::spawn(listen_to(app.clone(), reachable.clone()));
        }
        Ok(Routed::new(routes::routes(app), limits).health(move || {
            match reachable.load(Ordering::Relaxed) {
                true => Ok(()),
                false => Err("PostGIS is unavailable".to_owned()),
            }
        }))
    })
}

/// The zone lookup.
pub(crate) enum Zones {
    Embedded(Embedded),
    PostGis(PostGis),
}

impl Zones {
    async fn open(settings: &Settings) -> Result<Zones, String> {
        let url = settings.store.as_str();
        if url == "embedded" {
            return Ok(Zones::Embedded(Embedded::new(settings.oceans)));
        }
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(format!(
                "--store: '{}' is not a store; write embedded or postgres://USER@HOST:PORT/DB",
                masked(url)
            ));
        }
        let connections = settings.store_connections.get();
        PostGis::open(url, connections, settings.oceans)
            .await
            .map(Zones::PostGis)
            .map_err(|reason| format!("cannot open the store {}: {reason}", masked(url)))
    }

    /// The zone at a coordinate, if any. An error says why it is unknown.
    pub(crate) async fn at(&self, place: Coordinate) -> Result<Option<String>, String> {
        match self {
            Zones::Embedded(zones) => Ok(zones.at(place).map(str::to_owned)),
            Zones::PostGis(zones) => tokio::time::timeout(PATIENCE, zones.at(place))
                .await
                .unwrap_or_else(|_| Err(format!("PostGIS did not respond within {PATIENCE:?}"))),
        }
    }
}

/// Records whether PostGIS is available, for `/healthz`, and logs changes.
async fn listen_to(app: Arc<App>, reachable: Arc<AtomicBool>) {
    loop {
        let outcome = match &app.zones {
            Zones::Embedded(_) => return,
            Zones::PostGis(zones) => tokio::time::timeout(PATIENCE, zones.reachable())
                .await
                .unwrap_or_else(|_| Err(format!("it did not respond within {PATIENCE:?}"))),
        };
        let now = outcome.is_ok();
        if reachable.swap(now, Ordering::Relaxed) != now {
            match outcome {
                Ok(()) => log::info("PostGIS is there again", &[]),
                Err(reason) => log::warn("PostGIS is gone", &[("reason", reason.into())]),
            }
        }
        tokio::time::sleep(HEARTBEAT).await;
    }
}
