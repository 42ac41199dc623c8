//! `zanzibar`: relationship-based authorization after Zanzibar (Pang et al., "Zanzibar: Google's
//! Consistent, Global Authorization System", USENIX ATC 2019), to measure the cost of asking for
//! permission over a network.
//!
//! Tuples state which subject has which relation to which object. The [`model`] defines which
//! relations follow from others. The [`store`] stores the tuples and checks them. The [`service`]
//! implements Connect and gRPC.

mod failure;
#[doc(hidden)]
pub mod in_memory;
mod messages;
mod model;
mod service;
mod store;
mod tuple;

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod judge;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::ValueEnum;
use plimsoll_serving::{Limits, log};

use crate::model::Model;
use crate::service::{Shared, Zanzibar};
use crate::store::{Place, Store};

/// The store of the tuples, and the algorithm of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// SQLite within the process
    Sqlite,
    /// PostgreSQL, one query for each level of a check
    Pgquery,
    /// PostgreSQL, one generated function for each relation, one round trip for a check
    Pgfunc,
}

/// Command line of `plimsoll-serve zanzibar`.
#[derive(clap::Args)]
#[command(
    args_override_self = true,
    after_help = "\
One command for each backend:
  plimsoll serve zanzibar
  plimsoll serve zanzibar --backend pgquery --database postgres://me:secret@localhost/zanzibar
  plimsoll serve zanzibar --backend pgfunc --database postgres://me:secret@localhost/zanzibar

When ready, prints its addresses to stdout as one line of JSON:
  {\"system\":\"zanzibar\",\"url\":\"http://127.0.0.1:4000\"}
Then, for example:
  curl http://127.0.0.1:4000/zanzigo.v1.ZanzigoService/Check -H 'content-type: application/json' \\
    -d '{\"tuple\":{\"objectType\":\"doc\",\"objectId\":\"1\",\"objectRelation\":\"viewer\",\
\"subjectType\":\"user\",\"subjectId\":\"me\"}}'
SIGTERM and SIGINT stop it after the responses in progress."
)]
pub struct Settings {
    /// Address to listen on (port 0: any free port)
    #[arg(long, default_value = "127.0.0.1:4000", value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// Store of the tuples, and the algorithm of a check
    #[arg(long, value_enum, default_value = "sqlite")]
    backend: Backend,
    /// sqlite: a file, created if it is missing [default: one that is removed at the end];
    /// pgquery and pgfunc: postgres://USER[:PASSWORD]@HOST[:PORT]/DATABASE
    #[arg(
        long,
        value_name = "FILE|URL",
        env = "PLIMSOLL_ZANZIBAR_DATABASE",
        hide_env_values = true
    )]
    database: Option<String>,
    /// The model in YAML or JSON [default: users, groups, folders and documents]
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Print the default model and exit
    #[arg(long)]
    print_model: bool,
    /// Maximum connections to PostgreSQL
    #[arg(long, default_value_t = 16, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1000))]
    connections: u16,
    #[command(flatten)]
    limits: Limits,
}

/// Maximum size of a model, in bytes.
const MAX_MODEL: u64 = 1 << 20;

/// Serves until a signal stops it.
pub fn run(settings: &Settings) -> Result<(), String> {
    if settings.print_model {
        use std::io::Write;
        return std::io::stdout()
            .write_all(model::DEFAULT.as_bytes())
            .map_err(|error| format!("cannot write to stdout: {error}"));
    }
    let model = Arc::new(read_model(settings)?);
    let place = place(settings)?;
    plimsoll_serving::run(
        "zanzibar",
        settings.listen,
        &settings.limits,
        async |ground| {
            let connections = usize::from(settings.connections);
            let workers = ground.workers();
            let store = Store::open(place, model.clone(), workers, connections).await?;
            log::info(
                "the tables are up to date",
                &[(
                    "backend",
                    format!("{:?}", settings.backend).to_lowercase().into(),
                )],
            );
            Ok(Zanzibar::new(
                Shared { model, store },
                settings.limits.max_body,
            ))
        },
    )
}

fn read_model(settings: &Settings) -> Result<Model, String> {
    let Some(path) = &settings.model else {
        return Model::read("the default model", model::DEFAULT);
    };
    let place = path.display().to_string();
    let explain = |error: std::io::Error| format!("cannot read the model {place}: {error}");
    let length = std::fs::metadata(path).map_err(explain)?.len();
    if length > MAX_MODEL {
        return Err(format!(
            "the model {place} has {length} bytes, at most {MAX_MODEL} are read"
        ));
    }
    Model::read(&place, &std::fs::read_to_string(path).map_err(explain)?)
}

fn place(settings: &Settings) -> Result<Place, String> {
    match (settings.backend, &settings.database) {
        (Backend::Sqlite, None) => Ok(Place::Sqlite(None)),
        (Backend::Sqlite, Some(path)) if path.contains("://") => Err(
            "--database names a server, and the backend is sqlite; add --backend pgquery or pgfunc"
                .to_owned(),
        ),
        (Backend::Sqlite, Some(path)) => Ok(Place::Sqlite(Some(path.into()))),
        (_, None) => Err(
            "PostgreSQL needs an address: --database postgres://USER[:PASSWORD]@HOST[:PORT]/DATABASE, \
             or the variable PLIMSOLL_ZANZIBAR_DATABASE"
                .to_owned(),
        ),
        (Backend::Pgquery, Some(url)) => store::read_address(url).map(Place::PgQuery),
        (Backend::Pgfunc, Some(url)) => store::read_address(url).map(Place::PgFunc),
    }
}

/// Checks whether `text` is a valid model; the error contains the line.
pub fn check_model(text: &str) -> Result<(), String> {
    Model::read("text", text).map(drop)
}
