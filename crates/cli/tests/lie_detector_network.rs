//! Compares the output of `throughput`, `probe` and `link` with the traffic between the two sides, or with the server's
//! log.

mod plimsoll;

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use plimsoll_testkit::program::{Ended, Program, Running, Signal};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn number(value: &Value, path: &str) -> u64 {
    let found = value.pointer(path).and_then(Value::as_u64);
    found.unwrap_or_else(|| panic!("{path} in {value:#}"))
}

fn milliseconds(value: &Value, path: &str) -> f64 {
    let found = value.pointer(path).and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("{path} in {value:#}"))
}

/// The program that plays a role.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Player {
    Plimsoll,
    Iperf3,
}
use Player::{Iperf3, Plimsoll};

const PAIRS: [(Player, Player); 3] = [(Plimsoll, Iperf3), (Iperf3, Plimsoll), (Plimsoll, Plimsoll)];

impl Player {
    fn program(self, arguments: &[&str]) -> Program {
        match self {
            Plimsoll => plimsoll::plimsoll(&[&["throughput"], arguments].concat()),
            Iperf3 => Program::at("iperf3").args(arguments),
        }
    }
}

/// A server that runs one test and prints JSON, and its port.
fn serve_once(player: Player) -> (Running, u16) {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = free.local_addr().expect("an address").port();
    drop(free);
    let flags = ["-s", "-4", "-1", "-J", "-p", &port.to_string()];
    (player.program(&flags).start(), port)
}

/// The wire drops every seventh datagram.
const DROPPED: u64 = 7;
/// Datagrams of at least this size contain data. Smaller ones open a stream.
const DATAGRAM: usize = 1_000;
/// The number of bytes at the beginning of a stream that precede its data.
const COOKIE: u64 = 37;

/// The traffic in one direction.
#[derive(Default)]
struct Passed {
    /// Bytes of data streams, excluding the control connection.
    bytes: AtomicU64,
    datagrams: AtomicU64,
}

/// Forwards and counts the traffic between a client and a server.
struct Wire {
    port: u16,
    to_server: Arc<Passed>,
    to_client: Arc<Passed>,
}

/// The sockets to which clients connect.
fn entrance() -> (TcpListener, UdpSocket) {
    let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
    let udp = UdpSocket::bind(tcp.local_addr().expect("an address")).expect("the same port");
    (tcp, udp)
}

impl Wire {
    fn between((tcp, udp): (TcpListener, UdpSocket), server: u16) -> Wire {
        let server = SocketAddr::from(([127, 0, 0, 1], server));
        let wire = Wire {
            port: tcp.local_addr().expect("an address").port(),
            to_server: Arc::default(),
            to_client: Arc::default(),
        };
        let (forth, back) = (Arc::clone(&wire.to_server), Arc::clone(&wire.to_client));
        thread::spawn(move || pass_streams(&tcp, server, &forth, &back));
        let (forth, back) = (Arc::clone(&wire.to_server), Arc::clone(&wire.to_client));
        thread::spawn(move || pass_datagrams(&udp, server, &forth, &back));
        wire
    }
}

fn pass_streams(
    listener: &TcpListener,
    server: SocketAddr,
    forth: &Arc<Passed>,
    back: &Arc<Passed>,
) {
    for (number, client) in listener.incoming().flatten().enumerate() {
        // iperf3 does not report when it listens.
        let given_up = Instant::now() + Duration::from_secs(20);
        let server = loop {
            match TcpStream::connect(server) {
                Ok(server) => break server,
                Err(error) => assert!(Instant::now() < given_up, "{error}"),
            }
            thread::sleep(Duration::from_millis(20));
        };
        // The first connection is the control connection.
        let counts = |passed: &Arc<Passed>| (number > 0).then(|| Arc::clone(passed));
        for (from, to, passed) in [
            (&client, &server, counts(forth)),
            (&server, &client, counts(back)),
        ] {
            let (from, to) = (
                from.try_clone().expect("a copy"),
                to.try_clone().expect("a copy"),
            );
            thread::spawn(move || copy(&from, &to, passed.as_deref()));
        }
    }
}

fn copy(mut from: &TcpStream, mut to: &TcpStream, passed: Option<&Passed>) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
        if let Some(passed) = passed {
            passed.bytes.fetch_add(count as u64, Ordering::Relaxed);
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

fn pass_datagrams(udp: &UdpSocket, server: SocketAddr, forth: &Arc<Passed>, back: &Arc<Passed>) {
    let mut buffer = [0; 2_048];
    let mut upstreams: HashMap<SocketAddr, UdpSocket> = HashMap::new();
    while let Ok((count, client)) = udp.recv_from(&mut buffer) {
        let upstream = upstreams.entry(client).or_insert_with(|| {
            let upstream = UdpSocket::bind("127.0.0.1:0").expect("a port");
            upstream.connect(server).expect("connected");
            let (from, to) = (
                upstream.try_clone().expect("a copy"),
                udp.try_clone().expect("a copy"),
            );
            let back = Arc::clone(back);
            thread::spawn(move || {
                let mut buffer = [0; 2_048];
                while let Ok(count) = from.recv(&mut buffer) {
                    if is_kept(&back, count) {
                        let _ = to.send_to(&buffer[..count], client);
                    }
                }
            });
            upstream
        });
        if is_kept(forth, count) {
            let _ = upstream.send(&buffer[..count]);
        }
    }
}

fn is_kept(passed: &Passed, size: usize) -> bool {
    size < DATAGRAM
        || !(passed.datagrams.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(DROPPED)
}

/// Runs a test through the wire. Returns the JSON of client and server, and the wire.
fn test(asking: Player, serving: Player, flags: &[&str]) -> (Value, Value, Wire) {
    // Open the wire's sockets before the server starts, which may take some time to listen. Otherwise, the wire could get
    // the server's own port in that time.
    let entrance = entrance();
    let (server, port) = serve_once(serving);
    let wire = Wire::between(entrance, port);
    let port = wire.port.to_string();
    let client: Ended = asking
        .program(&[&["-c", "127.0.0.1", "-J", "-p", &port], flags].concat())
        .run();
    assert_eq!(client.status, Some(0), "{asking:?} {flags:?}: {client:?}");
    let server = server.wait();
    (json(&client.stdout), json(&server.stdout), wire)
}

#[test]
fn bytes_of_a_stream_are_counted_with_either_server() {
    for (asking, serving) in PAIRS {
        for reverse in [false, true] {
            let direction: &[&str] = if reverse { &["-R"] } else { &[] };
            let (client, server, wire) =
                test(asking, serving, &[&["-n", "3M"], direction].concat());
            let passed = if reverse {
                wire.to_client.bytes.load(Ordering::Relaxed)
            } else {
                wire.to_server.bytes.load(Ordering::Relaxed) - COOKIE
            };
            let sent = number(&client, "/end/sum_sent/bytes");
            let received = number(&client, "/end/sum_received/bytes");
            let case = format!(
                "{asking:?} asks {serving:?}, reverse {reverse}: {sent} sent, {passed} passed, {received} received"
            );
            assert!(received <= passed && passed <= sent, "{case}");
            assert!(sent >= 3 << 20, "{case}");
            // Each side's own figure, as the other side prints it.
            let of_server = if reverse {
                "/end/sum_sent/bytes"
            } else {
                "/end/sum_received/bytes"
            };
            assert_eq!(
                number(&server, of_server),
                number(&client, of_server),
                "{case}"
            );
            // iperf3 may end a test before it has read everything.
            let receiver = if reverse { asking } else { serving };
            if receiver == Plimsoll && (asking, serving) == (Plimsoll, Plimsoll) {
                assert_eq!((received, sent), (passed, passed), "{case}");
            }
        }
    }
}

#[test]
fn lost_datagrams_are_counted_with_either_server() {
    // Slow enough that no buffer overflows, even if a side waits for a processor for a second.
    let flags = ["-u", "-t", "2", "-l", "1000", "-b", "400K"];
    for (asking, serving) in PAIRS {
        for reverse in [false, true] {
            let direction: &[&str] = if reverse { &["-R"] } else { &[] };
            let (client, server, wire) = test(asking, serving, &[&flags, direction].concat());
            let passed = if reverse {
                &wire.to_client
            } else {
                &wire.to_server
            };
            let on_the_wire = passed.datagrams.load(Ordering::Relaxed);
            let packets = number(&client, "/end/sum_received/packets");
            let lost = number(&client, "/end/sum_received/lost_packets");
            let case = format!(
                "{asking:?} asks {serving:?}, reverse {reverse}: {on_the_wire} on the wire, {packets} counted, {lost} lost"
            );
            // Neither side counts datagrams after the end of the test. Up to the last counted one, every seventh is
            // missing.
            assert!(packets <= on_the_wire && packets >= 10, "{case}");
            assert_eq!(lost, packets / DROPPED, "{case}");
            if !reverse {
                assert_eq!(number(&server, "/end/sum/lost_packets"), lost, "{case}");
                // If the client sent more, this is the number that it sent, because the last one may arrive too late.
                let sum = number(&server, "/end/sum/packets");
                assert!(
                    (packets..=on_the_wire).contains(&sum),
                    "{case}, {sum} in the sum"
                );
            }
        }
    }
}

/// How long a server delayed each message, from reading it to writing the response.
type Held = Arc<Mutex<Vec<Duration>>>;

/// Responds to messages that end with `end`, after `delay`.
fn slow_server(
    delay: Duration,
    end: &'static [u8],
    response: Option<&'static [u8]>,
) -> (SocketAddr, Held) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let held = Held::default();
    let log = Arc::clone(&held);
    thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            let log = Arc::clone(&log);
            thread::spawn(move || {
                let _ = connection.set_nodelay(true);
                let mut buffer = [0; 4_096];
                let mut message = Vec::new();
                while let Ok(count @ 1..) = connection.read(&mut buffer) {
                    message.extend(&buffer[..count]);
                    if !message.ends_with(end) {
                        continue;
                    }
                    let began = Instant::now();
                    thread::sleep(delay);
                    log.lock().expect("not poisoned").push(began.elapsed());
                    if connection.write_all(response.unwrap_or(&message)).is_err() {
                        return;
                    }
                    message.clear();
                }
            });
        }
    });
    (address, held)
}

#[test]
fn round_trips_of_a_probe_are_within_the_bounds_of_the_servers_log() {
    const REPEATS: usize = 20;
    let delay = Duration::from_millis(20);
    let http: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    for (end, response, by) in [
        (&b""[..], None, "echo"),
        (b"\r\n\r\n", Some(http), "HTTP GET, first byte"),
    ] {
        let (address, held) = slow_server(delay, end, response);
        let began = Instant::now();
        let repeats = REPEATS.to_string();
        let ended =
            plimsoll::plimsoll(&["probe", "--json", "-n", &repeats, &address.to_string()]).run();
        let life = began.elapsed().as_secs_f64() * 1e3;
        assert_eq!(ended.status, Some(0), "{ended:?}");
        let report = json(&ended.stdout);
        assert_eq!(report["round_trip_by"], by, "{report:#}");
        assert_eq!(number(&report, "/round_trip_ms/count"), REPEATS as u64);
        let mut held = held.lock().expect("not poisoned").clone();
        // The server also delayed the messages that test whether the peer echoes.
        assert!(
            (REPEATS..=REPEATS + 3).contains(&held.len()),
            "{}",
            held.len()
        );
        held.sort();
        let at_least = |index: usize| held[index].as_secs_f64() * 1e3 * 0.99;
        let figure = |name: &str| milliseconds(&report, &format!("/round_trip_ms/{name}"));
        assert!(figure("min") >= at_least(0), "{report:#} {held:?}");
        assert!(
            figure("p50") >= at_least((REPEATS - 1) / 2),
            "{report:#} {held:?}"
        );
        assert!(
            figure("max") >= at_least(REPEATS - 1),
            "{report:#} {held:?}"
        );
        // The messages were sent one after another during the run, and at least half of them took the median or longer.
        assert!(
            figure("p50") * (REPEATS / 2) as f64 <= life,
            "{report:#} {life}"
        );
        assert!(figure("max") <= life, "{report:#} {life}");
    }
}

#[test]
fn a_link_counts_its_traffic_and_reports_its_lateness() {
    const EXCHANGES: usize = 20;
    const SIZE: usize = 1_000;
    for (rate, on_the_line) in [(None, 0.0), (Some("8Mbit/s"), 1.0)] {
        let (address, held) = slow_server(Duration::ZERO, b"\n", None);
        let mut arguments = vec![
            "link",
            "--listen",
            "127.0.0.1:0",
            "--round-trip",
            "40ms",
            "--to",
        ];
        let to = address.to_string();
        arguments.push(&to);
        arguments.extend(rate.into_iter().flat_map(|rate| ["--rate", rate]));
        let mut relay = plimsoll::plimsoll(&arguments).start();
        let ready = json(&relay.line());
        let address = ready["listening"].as_str().expect("an address").to_owned();
        let mut message = [b'x'; SIZE];
        message[SIZE - 1] = b'\n';
        // The first exchange includes the handshake, however long this program then waits for a processor.
        let mut began = Instant::now();
        let mut connection = TcpStream::connect(&address).expect("the relay");
        connection.set_nodelay(true).expect("no delay");
        let mut excess: Vec<f64> = (0..EXCHANGES)
            .map(|number| {
                if number > 0 {
                    began = Instant::now();
                }
                connection.write_all(&message).expect("sent");
                connection.read_exact(&mut [0; SIZE]).expect("echoed");
                let took = began.elapsed().as_secs_f64() * 1e3;
                // The first exchange also includes the round trip of the handshake. A thousand bytes take a millisecond
                // in each direction.
                let round_trips = if number == 0 { 2.0 } else { 1.0 };
                let configured = 40.0 * round_trips + 2.0 * on_the_line;
                let server = held.lock().expect("not poisoned")[number].as_secs_f64() * 1e3;
                assert!(took - server >= configured, "{number}: {took} {configured}");
                took - server - configured
            })
            .collect();
        drop(connection);
        relay.signal(Signal::INT);
        let ended = relay.wait();
        let account = json(ended.stdout.lines().last().expect("an account"));
        assert_eq!(account["connections"], 1, "{account:#}");
        let bytes = (SIZE * EXCHANGES) as u64;
        for side in ["forward", "backward"] {
            assert_eq!(
                number(&account, &format!("/{side}/bytes")),
                bytes,
                "{account:#}"
            );
            // The excess must equal the reported lateness. That is rounded to a tenth of a microsecond, and in the
            // histogram to 1 %.
            excess.sort_by(f64::total_cmp);
            let late = milliseconds(&account, &format!("/{side}/late_us/max")) / 1e3;
            let most = excess[EXCHANGES - 1].max(0.0);
            assert!(late <= most * 1.01 + 1.0, "{late} {excess:?} {account:#}");
        }
    }
}
