//! Networks that the kernel creates. If this process may create a network namespace (as root, as in
//! CI), the tests create real ones. Otherwise each test checks that the message states what is
//! missing.
#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use plimsoll_lab::Location;
use plimsoll_lab::resolve::{Implementation, Link};
use plimsoll_lab::run::network::Network;

fn link(rate: Option<u64>, round_trip: Duration) -> Link {
    Link {
        name: "far".to_owned(),
        by: Implementation::Kernel,
        round_trip,
        jitter: Duration::ZERO,
        rate,
        loss: 0.0,
        cpus: Vec::new(),
        host: None,
        place: Location::default(),
    }
}

/// The network, or `None` if this process may not create one and the error stated that.
fn make(link: &Link) -> Option<Network> {
    match Network::make(link) {
        Ok(network) => Some(network),
        Err(why) => {
            assert!(!rustix::process::geteuid().is_root(), "{why}");
            assert!(why.contains("run the lab as root"), "{why}");
            assert!(why.contains("remove by"), "{why}");
            None
        }
    }
}

/// Sends as much as possible for some time. Returns the received bits per second and the sender's
/// address.
/// sender's address.
fn transfer(network: Option<&Network>, receives_inside: bool) -> (f64, IpAddr) {
    const RATE_DURATION: Duration = Duration::from_millis(700);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    let inside = network.map(|network| network.enter().expect("the network can be entered"));
    let client = TcpStream::connect_timeout(&address, Duration::from_secs(10)).expect("connected");
    drop(inside);
    let (server, peer) = listener.accept().expect("a connection");
    let (mut from, mut to) = match receives_inside {
        true => (server, client),
        false => (client, server),
    };
    let closing = to.try_clone().expect("a socket");
    let sender = thread::spawn(move || {
        let block = [0; 32 << 10];
        while from.write_all(&block).is_ok() {}
    });
    let mut block = vec![0; 256 << 10];
    let first = to.read(&mut block).expect("bytes");
    assert!(first > 0);
    let (began, mut bytes) = (Instant::now(), 0);
    while began.elapsed() < RATE_DURATION {
        bytes += to.read(&mut block).expect("bytes");
    }
    let rate = bytes as f64 * 8.0 / began.elapsed().as_secs_f64();
    let _ = closing.shutdown(std::net::Shutdown::Both);
    drop((to, closing));
    sender.join().expect("the sender exits");
    (rate, peer.ip())
}

/// An unlimited network in the same test shows that only the declared rate limits the other
/// network.
#[test]
fn the_kernel_limits_both_directions_to_the_declared_rate() {
    const RATE: f64 = 40e6;
    let Some(limited) = make(&link(Some(RATE as u64), Duration::ZERO)) else {
        return;
    };
    let free = make(&link(None, Duration::ZERO)).expect("a second network");
    assert_eq!(limited.made_by, "kernel (tbf)");
    for receives_inside in [false, true] {
        let (reference, _) = transfer(Some(&free), receives_inside);
        let (rate, peer) = transfer(Some(&limited), receives_inside);
        assert!(
            peer.to_string().starts_with("198.1"),
            "{peer} did not come through the network"
        );
        assert!(
            reference > 3.0 * RATE,
            "the machine is too busy: {reference}"
        );
        // The kernel counts Ethernet frames: 1,448 of 1,514 bytes are data.
        assert!(rate < RATE, "{rate} of {RATE} bit/s");
        assert!(rate > RATE * 0.7, "{rate} of {RATE} bit/s");
    }
}

#[test]
fn the_generator_reaches_only_this_hosts_loopback_addresses() {
    let Some(network) = make(&link(None, Duration::ZERO)) else {
        return;
    };
    let datagrams = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = datagrams.local_addr().expect("an address");
    let range = || std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok();
    let outside = range();
    let inside = network.enter().expect("the network can be entered");
    assert_eq!(
        range(),
        outside,
        "the range of local ports is that of this host"
    );
    let sender = UdpSocket::bind("0.0.0.0:0").expect("a port");
    sender.connect(address).expect("a route");
    sender.send(b"there").expect("sent");
    // A name for loopback also leads there, although its IPv6 address does not.
    let listening = {
        drop(inside);
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port")
    };
    let port = listening.local_addr().expect("an address").port();
    let inside = network.enter().expect("the network can be entered again");
    TcpStream::connect(("localhost", port)).expect("connected");
    let elsewhere = SocketAddr::from(([192, 0, 2, 1], 9));
    let refused = TcpStream::connect_timeout(&elsewhere, Duration::from_secs(5));
    assert!(
        refused.is_err_and(|error| error.kind() == std::io::ErrorKind::NetworkUnreachable),
        "other hosts are unreachable"
    );
    drop(inside);
    let mut buffer = [0; 16];
    datagrams
        .set_read_timeout(Some(Duration::from_secs(10)))
        .expect("a limit");
    let (length, from) = datagrams.recv_from(&mut buffer).expect("a datagram");
    assert_eq!(&buffer[..length], b"there");
    datagrams.send_to(b"back", from).expect("sent");
    sender
        .set_read_timeout(Some(Duration::from_secs(10)))
        .expect("a limit");
    let length = sender.recv(&mut buffer).expect("a response");
    assert_eq!(&buffer[..length], b"back");
    let interface = Path::new("/sys/class/net").join(&network.outside);
    assert!(interface.exists());
    drop(network);
    assert!(!interface.exists());
}

/// If the kernel has netem, connecting takes the declared round trip. Otherwise the message states
/// that, and how to continue.
#[test]
fn a_round_trip_is_measured_or_its_absence_is_explained() {
    const ROUND_TRIP: Duration = Duration::from_millis(40);
    match Network::make(&link(Some(100_000_000), ROUND_TRIP)) {
        Ok(network) => {
            assert_eq!(network.made_by, "kernel (netem)");
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
            let inside = network.enter().expect("the network can be entered");
            let began = Instant::now();
            let address = listener.local_addr().expect("an address");
            TcpStream::connect_timeout(&address, Duration::from_secs(10)).expect("connected");
            assert!(began.elapsed() >= ROUND_TRIP, "{:?}", began.elapsed());
            drop(inside);
        }
        Err(why) if rustix::process::geteuid().is_root() => {
            assert!(why.contains("no netem (CONFIG_NET_SCH_NETEM)"), "{why}");
            assert!(why.contains("remove round-trip, jitter and loss"), "{why}");
            assert!(why.contains("remove by = \"kernel\""), "{why}");
        }
        Err(why) => assert!(why.contains("run the lab as root"), "{why}"),
    }
}
