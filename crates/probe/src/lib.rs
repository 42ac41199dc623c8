//! Measures the network path to a server: name lookup, connecting, the TLS handshake, and the round
//! trip of a small message.
//!
//! [`probe`] repeats the measurements and returns a [`Report`]. It measures the round trip on an
//! open byte stream. For a peer that sends back what it receives ([`Peer::Echo`]), this is the time
//! of an echo. For an HTTP server ([`Peer::Http`]), it is the time to the first byte of the
//! response, which includes the processing time of the server. A single message detects the kind of
//! peer: a complete HTTP request, to which an HTTP server responds and which an echo server sends
//! back unchanged.

mod capacity;
mod echo;
mod http_peer;
mod report;
mod spread;

use std::rc::Rc;
use std::time::Duration;

use plimsoll_address::HostPort;
use plimsoll_net::{
    Alpn, Network, NetworkSettings, Steps, Stream, TlsFacts, TlsSettings, TrafficCounter,
};

pub use capacity::Capacity;
pub use report::{Report, RoundTrip};
pub use spread::Spread;

/// The measurements to make, and how often.
#[derive(Clone, Debug)]
pub struct Plan {
    pub address: HostPort,
    /// Number of repetitions of each measurement, at least one.
    pub repeats: u32,
    /// Timeout of each step.
    pub timeout: Duration,
    /// The TLS settings, or `None` for a plain stream.
    pub tls: Option<TlsSettings>,
    /// The path of HTTP requests.
    pub path: String,
    /// The port of an iperf3 server on the same host, to measure throughput for one second in each
    /// direction.
    pub throughput_port: Option<u16>,
}

/// How a peer responds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// The peer sends back what it receives.
    Echo,
    /// The peer responds with HTTP/1.1.
    Http,
}

/// Runs the measurements on a separate event loop.
///
/// # Errors
/// Returns the reason, as one sentence, if the peer cannot be reached or TLS fails. A failure to
/// measure round trips is part of the report instead.
pub fn probe(plan: &Plan) -> Result<Report, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start an event loop: {error}"))?;
    tokio::task::LocalSet::new().block_on(&runtime, measure(plan))
}

async fn measure(plan: &Plan) -> Result<Report, String> {
    let mut report = Report::new(plan);
    let path = NetworkPath::new(plan, false);
    if plan.tls.is_some() {
        // The first handshake also loads the root certificates of the system, which is not part of
        // the network path.
        path.open().await?;
    }
    for _ in 0..plan.repeats.max(1) {
        let (_, opening, facts) = path.open().await?;
        report.opened(&opening, facts);
    }
    if plan.tls.is_some() {
        resume(plan, &mut report).await?;
    }
    report.round_trip = round_trip(plan, &path).await?;
    // Measure throughput last, so that it does not fill the path during the other measurements.
    report.capacity = plan
        .throughput_port
        .map(|port| capacity::measure(plan, port));
    Ok(report)
}

/// Measures the handshakes of resumed sessions, if the server supports resumption.
async fn resume(plan: &Plan, report: &mut Report) -> Result<(), String> {
    let path = NetworkPath::new(plan, true);
    // The first connection has no session to resume.
    for _ in 0..=plan.repeats.max(1) {
        let (mut stream, opening, facts) = path.open().await?;
        if facts.is_some_and(|facts| facts.resumed) {
            report.resumed(&opening);
        }
        // In TLS 1.3, the data for resuming a session arrives after the handshake, with the first
        // response (RFC 8446 §4.6.1).
        let patience = plan.timeout.min(Duration::from_millis(500));
        let _ = echo::identify_peer(&mut stream, &plan.address, &plan.path, patience).await;
    }
    Ok(())
}

async fn round_trip(
    plan: &Plan,
    path: &NetworkPath<'_>,
) -> Result<Result<RoundTrip, String>, String> {
    let (mut stream, ..) = path.open().await?;
    match echo::identify_peer(&mut stream, &plan.address, &plan.path, plan.timeout).await {
        Ok(Peer::Echo) => Ok(echo::measure(stream, plan).await),
        Ok(Peer::Http) => {
            drop(stream);
            Ok(http_peer::measure(plan).await)
        }
        Err(why) => Ok(Err(why)),
    }
}

/// The settings for opening streams to the peer.
struct NetworkPath<'a> {
    plan: &'a Plan,
    network: Network,
    traffic: Rc<TrafficCounter>,
}

/// The duration of each step.
struct Opening {
    looking_up: Option<Duration>,
    connecting: Duration,
    securing: Option<Duration>,
}

impl<'a> NetworkPath<'a> {
    fn new(plan: &'a Plan, resume: bool) -> Self {
        NetworkPath {
            plan,
            network: Network::new(network_settings(plan, resume)),
            traffic: Rc::default(),
        }
    }

    async fn open(&self) -> Result<(Stream, Opening, Option<TlsFacts>), String> {
        let HostPort { host, port } = &self.plan.address;
        let began = plimsoll_clock::now();
        let mut steps = Steps::default();
        let secured = self.plan.tls.is_some();
        let dialed = self
            .network
            .dial(host, *port, None, &self.traffic, secured, &mut steps)
            .await
            .map_err(|error| format!("cannot connect to {}: {error}", self.plan.address))?;
        let connected = steps.connected.unwrap_or_else(plimsoll_clock::now);
        let mut opening = Opening {
            looking_up: steps.looked_up.map(|at| at.since(began)),
            connecting: connected.since(steps.looked_up.unwrap_or(began)),
            securing: None,
        };
        if !secured {
            return Ok((dialed.stream, opening, None));
        }
        let started = plimsoll_clock::now();
        let (stream, facts) = self
            .network
            .secure(dialed.stream, host, Alpn::Http1, &mut steps)
            .await
            .map_err(|error| {
                format!(
                    "the TLS handshake with {} failed: {error}",
                    self.plan.address
                )
            })?;
        opening.securing = steps.secured.map(|at| at.since(started));
        Ok((stream, opening, Some(facts)))
    }
}

fn network_settings(plan: &Plan, resume: bool) -> NetworkSettings {
    NetworkSettings {
        connect_timeout: plan.timeout,
        tls: TlsSettings {
            resume_sessions: resume,
            ..plan.tls.clone().unwrap_or_default()
        },
        ..NetworkSettings::default()
    }
}
