//! `plimsoll link`: the relay that emulates a network.

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use plimsoll_netem::netem::Namespace;
use plimsoll_netem::priority::Priority;
use plimsoll_netem::tcp::Way;
use plimsoll_netem::{Link, tcp, udp};
use tokio::net::UdpSocket;
use tokio::sync::Notify;

use crate::args::{LinkArgs, LinkProtocol};
use crate::exit::Exit;
use crate::interrupts;
use crate::talk::{complain, put, say};

/// Relays until a signal comes, and then reports what was relayed.
pub fn link(args: &LinkArgs) -> Exit {
    match run(args) {
        Ok(report) => {
            put(format!("{report}\n").as_bytes());
            Exit::SUCCESS
        }
        Err(text) => {
            complain(&text);
            Exit::GENERIC
        }
    }
}

fn run(args: &LinkArgs) -> Result<serde_json::Value, String> {
    let link = Link {
        round_trip: args.round_trip,
        jitter: args.jitter,
        rate: args.rate,
        loss: args.loss,
    };
    link.check()?;
    let stop = Arc::new(Notify::new());
    let stopping = Arc::clone(&stop);
    interrupts::on_signals(move |_| stopping.notify_one(), |_| {})?;
    let (listen, to) = match (&args.netem, args.listen, args.to) {
        (Some(name), ..) => return namespace(name, &link, &stop),
        (None, Some(listen), Some(to)) => (listen, to),
        (None, ..) => return Err("a relay needs --listen and --to".to_owned()),
    };
    allow_many_descriptors();
    // Last: it also holds for this thread only, which runs the relay.
    let priority = Priority::raise();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start the relay: {error}"))?;
    let tasks = tokio::task::LocalSet::new();
    tasks
        .block_on(
            &runtime,
            plimsoll_engine::timer::run_with_timers(relay(
                args,
                (listen, to),
                link,
                &priority,
                &stop,
            )),
        )
        .map_err(|error| format!("cannot make a timer: {error}"))?
}

/// Raises this process's limit of open files as far as the system allows: each relayed connection needs two, and the
/// usual limit of 1,024 makes connections wait from the 500th on.
#[cfg(target_os = "linux")]
fn allow_many_descriptors() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    // Where it cannot be raised, connections wait until others end, and the report counts them.
    let _ = setrlimit(Resource::Nofile, raised);
    size_descriptor_table(raised.current);
}

/// Has the kernel make its table of open files as large as it can get. It grows by doubling otherwise, and each time a process with
/// several threads waits for all processors (`synchronize_rcu`), 10 to 20 ms in the middle of a burst of new connections.
#[cfg(target_os = "linux")]
fn size_descriptor_table(limit: Option<u64>) {
    // Two for each connection, and some for everything else.
    let wanted = 2 * tcp::MOST as u64 + 100;
    let highest = limit.map_or(wanted, |limit| wanted.min(limit.saturating_sub(1)));
    if let (Ok(any), Ok(highest)) = (std::fs::File::open("/dev/null"), i32::try_from(highest)) {
        // Where there is not enough memory, the table grows as it is needed.
        let _ = rustix::io::fcntl_dupfd_cloexec(&any, highest);
    }
}

#[cfg(not(target_os = "linux"))]
fn allow_many_descriptors() {}

async fn relay(
    args: &LinkArgs,
    (listen, to): (SocketAddr, SocketAddr),
    link: Link,
    priority: &Priority,
    stop: &Notify,
) -> Result<serde_json::Value, String> {
    let wants = |protocol| args.protocol == protocol || args.protocol == LinkProtocol::Both;
    let refused = |what: &str, error: std::io::Error| {
        format!("cannot listen on {listen} for {what}: {error}; choose another address by --listen")
    };
    let mut address = listen;
    let mut listener = None;
    if wants(LinkProtocol::Tcp) {
        let bound = tcp::listen(address).map_err(|error| refused("TCP", error))?;
        // With port 0 the system chooses, and UDP takes the same.
        address = bound.local_addr().map_err(|error| refused("TCP", error))?;
        listener = Some(bound);
    }
    let mut socket = None;
    if wants(LinkProtocol::Udp) {
        let bound = UdpSocket::bind(address)
            .await
            .map_err(|error| refused("UDP", error))?;
        address = bound.local_addr().map_err(|error| refused("UDP", error))?;
        socket = Some(bound);
    }
    let way = Rc::new(Way::new(link, args.seed));
    say(&format!(
        "relaying {address} to {to}: {}\n{}",
        describe(&link),
        priority.describe()
    ));
    let ready = serde_json::json!({
        "listening": address.to_string(),
        "to": to.to_string(),
        "real_time": priority.is_raised(),
    });
    put(format!("{ready}\n").as_bytes());
    let tcp = async {
        match listener {
            Some(listener) => tcp::relay(listener, to, Rc::clone(&way)).await,
            None => std::future::pending().await,
        }
    };
    let udp = async {
        match socket {
            Some(socket) => udp::relay(socket, to, Rc::clone(&way)).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = stop.notified() => {}
        () = priority.guard() => {}
        ended = tcp => ended.map_err(|error| format!("the TCP side of the relay failed: {error}"))?,
        ended = udp => ended.map_err(|error| format!("the UDP side of the relay failed: {error}"))?,
    }
    let mut report = way.account.report();
    report["real_time"] = priority.report();
    Ok(report)
}

/// Keeps a namespace behind an emulated network until a signal comes.
fn namespace(name: &str, link: &Link, stop: &Notify) -> Result<serde_json::Value, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .map_err(|error| format!("cannot wait for signals: {error}"))?;
    let made = Namespace::make(name, link)?;
    say(&format!(
        "the namespace {} is at {}: {}\nto run a command there: ip netns exec {} COMMAND",
        made.name(),
        made.far(),
        describe(link),
        made.name()
    ));
    let ready = serde_json::json!({
        "namespace": made.name(),
        "near": made.near().to_string(),
        "far": made.far().to_string(),
    });
    put(format!("{ready}\n").as_bytes());
    runtime.block_on(stop.notified());
    Ok(serde_json::json!({ "ended": made.name() }))
}

fn describe(link: &Link) -> String {
    let time = plimsoll_units::duration::format;
    let mut text = format!("round trip {}", time(link.round_trip));
    if !link.jitter.is_zero() {
        text += &format!(" ±{}", time(link.jitter));
    }
    if let Some(rate) = link.rate {
        text += &format!(", {rate} in each direction");
    }
    if link.loss > 0.0 {
        text += &format!(", {}% lost", link.loss * 100.0);
    }
    text
}
