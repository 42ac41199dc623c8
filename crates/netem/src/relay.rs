//! Runs a relay, or keeps a namespace behind the kernel's netem, until it is asked to stop.

use std::net::SocketAddr;
use std::rc::Rc;

use serde_json::{Value, json};
use tokio::net::UdpSocket;
use tokio::sync::Notify;

use crate::Link;
use crate::netem::Namespace;
use crate::path::NetworkPath;
use crate::priority::Priority;
use crate::{sockets, tcp, udp};

/// The settings of a relay: the emulated network, its two addresses, and the protocols.
#[derive(Clone, Copy, Debug)]
pub struct Relay {
    pub link: Link,
    pub listen: SocketAddr,
    pub to: SocketAddr,
    pub tcp: bool,
    pub udp: bool,
    /// Seed of jitter and losses.
    pub seed: u64,
}

/// Called when traffic can pass, with a description for people and one for programs. Also called
/// for each requested report, with an empty description and the statistics since the last report.
pub type Ready<'a> = &'a mut dyn FnMut(String, Value);

/// Requests to a running relay.
#[derive(Debug, Default)]
pub struct Requests {
    pub stop: Notify,
    /// Report the lateness since the last such report.
    pub report: Notify,
}

/// Parses an address to listen on or to connect to.
///
/// # Errors
/// How to write it.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        "it must be an IP address with a port, like 127.0.0.1:9000; host names are not looked up"
            .to_owned()
    })
}

impl Relay {
    /// Relays traffic until a request to stop. Returns the statistics.
    ///
    /// # Errors
    /// If it cannot listen, or if the relay fails later.
    pub fn run(&self, requests: &Requests, ready: Ready<'_>) -> Result<Value, String> {
        if self.listen == self.to && self.to.port() != 0 {
            return Err(format!(
                "--to {} is the address on which the relay listens, so it would connect to itself",
                self.to
            ));
        }
        allow_many_descriptors();
        touch_memory();
        // This affects only the current thread, which also runs the relay.
        let priority = Priority::raise();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("cannot start the relay: {error}"))?;
        let relay = plimsoll_engine::timer::run_with_timers(self.relay(&priority, requests, ready));
        tokio::task::LocalSet::new()
            .block_on(&runtime, relay)
            .map_err(|error| format!("cannot create a timer: {error}"))?
    }

    async fn relay(
        &self,
        priority: &Priority,
        requests: &Requests,
        ready: Ready<'_>,
    ) -> Result<Value, String> {
        let (listen, to) = (self.listen, self.to);
        let refused = |what: &str, error: std::io::Error| {
            format!(
                "cannot listen on {listen} for {what}: {error}; choose another address with --listen"
            )
        };
        let mut address = listen;
        let mut listener = None;
        if self.tcp {
            let bound = tcp::listen(address).map_err(|error| refused("TCP", error))?;
            // With port 0 the system chooses a port, and UDP uses the same one.
            address = bound.local_addr().map_err(|error| refused("TCP", error))?;
            listener = Some(bound);
        }
        let mut socket = None;
        if self.udp {
            let bound = UdpSocket::bind(address)
                .await
                .map_err(|error| refused("UDP", error))?;
            address = bound.local_addr().map_err(|error| refused("UDP", error))?;
            socket = Some(bound);
        }
        let path = Rc::new(NetworkPath::new(self.link, self.seed));
        ready(
            format!(
                "relaying {address} to {to}: {}\n{}",
                self.link.describe(),
                priority.describe()
            ),
            json!({
                "listening": address.to_string(),
                "to": to.to_string(),
                "real_time": priority.is_raised(),
            }),
        );
        let tcp = async {
            match listener {
                Some(listener) => tcp::relay(listener, to, Rc::clone(&path)).await,
                None => std::future::pending().await,
            }
        };
        let udp = async {
            match socket {
                Some(socket) => udp::relay(socket, to, Rc::clone(&path)).await,
                None => std::future::pending().await,
            }
        };
        let reports = async {
            loop {
                requests.report.notified().await;
                let late = path.account.since_last_report();
                ready(String::new(), json!({ "since_last_report": late }));
            }
        };
        tokio::select! {
            () = requests.stop.notified() => {}
            () = reports => {}
            () = priority.guard() => {}
            ended = tcp => ended.map_err(|error| format!("the TCP side of the relay failed: {error}"))?,
            ended = udp => ended.map_err(|error| format!("the UDP side of the relay failed: {error}"))?,
        }
        let mut report = path.account.report();
        report["real_time"] = priority.report();
        Ok(report)
    }
}

/// Keeps a namespace behind an emulated network until `stop` is ready.
///
/// # Errors
/// If the kernel refuses to create it.
pub fn namespace(
    name: &str,
    link: &Link,
    stop: &Notify,
    ready: Ready<'_>,
) -> Result<Value, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .map_err(|error| format!("cannot wait for signals: {error}"))?;
    let made = Namespace::make(name, link)?;
    ready(
        format!(
            "the namespace {} is at {}: {}\nto run a command there: ip netns exec {} COMMAND",
            made.name(),
            made.far(),
            link.describe(),
            made.name()
        ),
        json!({
            "namespace": made.name(),
            "near": made.near().to_string(),
            "far": made.far().to_string(),
        }),
    );
    runtime.block_on(stop.notified());
    Ok(json!({ "ended": made.name() }))
}

/// Raises this process's limit of open files as far as the system allows. Each relayed connection
/// needs two files, so with the usual limit of 1,024, connections wait from the 500th on.
#[cfg(target_os = "linux")]
fn allow_many_descriptors() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    // If the limit cannot be raised, connections wait until others end, and the report counts them.
    let _ = setrlimit(Resource::Nofile, raised);
    size_descriptor_table(raised.current);
}

/// Makes the kernel enlarge this process's table of open files in advance. Otherwise the table
/// grows by doubling. Each time it grows, a process with several threads waits for all processors
/// (`synchronize_rcu`): 10 to 20 ms in the middle of a burst of new connections.
#[cfg(target_os = "linux")]
fn size_descriptor_table(limit: Option<u64>) {
    // Two for each connection, and some for everything else.
    let wanted = (2 * tcp::MAX_CONNECTIONS + sockets::MAX_SOCKETS) as u64 + 100;
    let highest = limit.map_or(wanted, |limit| wanted.min(limit.saturating_sub(1)));
    if let (Ok(any), Ok(highest)) = (std::fs::File::open("/dev/null"), i32::try_from(highest)) {
        // If memory is short, the table grows when needed.
        let _ = rustix::io::fcntl_dupfd_cloexec(&any, highest);
    }
}

#[cfg(not(target_os = "linux"))]
fn allow_many_descriptors() {}

/// Touches the memory that a burst of connections needs, and frees it again. The kernel provides
/// memory on first use, which would take a quarter of the relay's time in the first burst.
fn touch_memory() {
    const CONNECTIONS: usize = 1_024;
    const BYTES_EACH: usize = 8 << 10;
    let blocks: Vec<Vec<u8>> = (0..CONNECTIONS).map(|_| vec![1; BYTES_EACH]).collect();
    std::hint::black_box(&blocks);
}
