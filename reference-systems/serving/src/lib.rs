//! The base of every measured system: listeners, workers, limits, health, metrics,
//! the log, and a shutdown that loses no response.
//!
//! A system is a separate library (`reference-systems/<name>`) with two public items, which
//! `plimsoll-serve` uses according to the system's name:
//!
//! ```ignore
//! /// Its flags.
//! #[derive(clap::Args)]
//! pub struct Settings {
//!     /// Address to listen on (port 0: any free port)
//!     #[arg(long, default_value = "127.0.0.1:4000", value_name = "ADDRESS:PORT")]
//!     listen: SocketAddr,
//!     #[command(flatten)]
//!     limits: plimsoll_serving::Limits,
//! }
//!
//! /// Serves until a signal stops it. An error is logged, and ends the program with status 1.
//! pub fn run(settings: &Settings) -> Result<(), String> {
//!     plimsoll_serving::run("name", settings.listen, &settings.limits, async |_ground| {
//!         let state = State::connect(settings).await?; // a clear error ends the program
//!         let routes = axum::Router::new().route("/greet", get(greet)).with_state(state);
//!         Ok(Routed::new(routes, &settings.limits))
//!     })
//! }
//! ```
//!
//! The returned value is a [`System`]: [`Routed`] for an axum router (tonic's services are
//! routes of an axum router: `tonic::service::Routes::into_axum_router`), or, if the router's cost matters, the
//! system's own type that creates a hyper service for each connection.
//! One port serves HTTP/1.1 and HTTP/2 by prior knowledge. This crate adds `/healthz` and
//! `/metrics`, responds with 503 above `--max-requests` in progress and with 413 above `--max-body`,
//! closes connections beyond `--max-connections`, prints `{"system":…,"url":…}` to
//! stdout when it is ready, and drains on SIGTERM or SIGINT.
//!
//! Systems with more listeners, or TLS, use [`ground::run`] and open the listeners themselves.
//!
//! There is one [worker](workers) for each processor that the process may use, with its own event
//! loop. A connection stays on its worker. The first worker's loop is the one that
//! started the system, so tasks spawned at the start run there.

pub mod arrival;
pub mod certificates;
pub mod connection;
pub mod counters;
pub mod drain;
pub mod ground;
mod guard;
pub mod limits;
pub mod listeners;
pub mod log;
mod routed;
pub mod secret;
mod system;
pub mod trouble;
pub mod workers;

pub use guard::{Guarded, Refusal, Shared};
pub use limits::Limits;
pub use routed::Routed;
pub use system::{System, run};
