//! Reference systems for measurements.
//!
//! Each is a small, real server on mainstream libraries, with a fixed interface. They share no code
//! with the load generator, so both cannot have the same bug.
//!
//! When a system is ready, it prints one line of JSON with its addresses to stdout; the log goes to
//! stderr.

mod payload;

#[cfg(not(feature = "all"))]
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use plimsoll_serving::certificates;

/// The systems allocate and free small objects for every request, on several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Reference systems to be measured.
#[derive(Parser)]
#[command(
    name = "plimsoll-serve",
    version,
    about,
    max_term_width = 100,
    args_override_self = true
)]
struct Arguments {
    #[command(subcommand)]
    system: System,
}

#[derive(Subcommand)]
enum System {
    /// One fixed response, over HTTP and gRPC, in plain text, TLS and mutual TLS
    Payload(payload::Settings),
    /// A server of token status lists: indices, statuses, signed lists
    #[cfg(feature = "statuslist")]
    Statuslist(plimsoll_statuslist::Settings),
    /// Relationship-based authorization after Zanzibar, over Connect-JSON and gRPC
    #[cfg(feature = "zanzibar")]
    Zanzibar(Box<plimsoll_zanzibar::Settings>),
    /// A constant order, an echo endpoint and a WebSocket, to run behind a gateway
    #[cfg(feature = "orders")]
    Orders(plimsoll_orders::Settings),
    /// A reverse proxy, configured by a file
    #[cfg(feature = "gateway")]
    Gateway(plimsoll_gateway::Settings),
    /// The time zone of a coordinate
    #[cfg(feature = "timezone")]
    Timezone(plimsoll_timezone::Settings),
    /// Create a certificate authority, a server certificate and a client certificate
    Certs(certificates::Settings),
    /// A system that was left out of this build, or one that does not exist.
    #[cfg(not(feature = "all"))]
    #[command(external_subcommand)]
    Missing(Vec<OsString>),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().system {
        System::Payload(settings) => payload::run(&settings),
        #[cfg(feature = "statuslist")]
        System::Statuslist(settings) => plimsoll_statuslist::run(&settings),
        #[cfg(feature = "zanzibar")]
        System::Zanzibar(settings) => plimsoll_zanzibar::run(&settings),
        #[cfg(feature = "orders")]
        System::Orders(settings) => plimsoll_orders::run(&settings),
        #[cfg(feature = "gateway")]
        System::Gateway(settings) => plimsoll_gateway::run(&settings),
        #[cfg(feature = "timezone")]
        System::Timezone(settings) => plimsoll_timezone::run(&settings),
        System::Certs(settings) => certificates::run(&settings),
        #[cfg(not(feature = "all"))]
        System::Missing(arguments) => {
            let name = arguments.first().map(|name| name.to_string_lossy());
            Err(missing(name.as_deref().unwrap_or_default()))
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            // Without stderr, the exit status still tells.
            let _ = writeln!(std::io::stderr(), "error: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Why there is no system with this name.
#[cfg(not(feature = "all"))]
fn missing(name: &str) -> String {
    const OPTIONAL: [&str; 5] = ["gateway", "orders", "statuslist", "timezone", "zanzibar"];
    if OPTIONAL.contains(&name) {
        return format!(
            "this program was built without the system {name}; build it with: \
             cargo build --release --manifest-path reference-systems/Cargo.toml"
        );
    }
    format!(
        "there is no system {name:?}; the systems are payload, {}",
        OPTIONAL.join(", ")
    )
}
