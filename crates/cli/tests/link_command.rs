//! `plimsoll link` between a client and echo servers.

mod plimsoll;

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use plimsoll_testkit::program::{Program, Running, Signal};
use serde_json::Value;

/// A running relay and where it listens.
fn link(to: SocketAddr, flags: &[&str]) -> (Running, SocketAddr) {
    let to = to.to_string();
    let arguments = [&["link", "--listen", "127.0.0.1:0", "--to", &to], flags].concat();
    let mut running = plimsoll::plimsoll(&arguments).start();
    let ready: Value = serde_json::from_str(&running.line()).expect("JSON");
    let address = ready["listening"]
        .as_str()
        .expect("an address")
        .parse()
        .expect("an address");
    (running, address)
}

/// Stops the relay and returns its statistics.
fn account(running: Running) -> Value {
    running.signal(Signal::INT);
    let ended = running.wait();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let last = ended.stdout.lines().last().expect("an account");
    serde_json::from_str(last).expect("JSON")
}

/// An echo server.
fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            thread::spawn(move || {
                let (mut from, mut to) = (&connection, &connection);
                let _ = std::io::copy(&mut from, &mut to);
                let _ = connection.shutdown(Shutdown::Write);
            });
        }
    });
    address
}

#[test]
fn a_round_trip_takes_the_configured_time_including_the_handshake() {
    let (running, address) = link(echo(), &["--round-trip", "40ms"]);
    let began = Instant::now();
    let mut connection = TcpStream::connect(address).expect("the relay");
    connection.set_nodelay(true).expect("no delay");
    let mut reply = [0; 4];
    let mut exchange = |connection: &mut TcpStream| {
        connection.write_all(b"ping").expect("sent");
        connection.read_exact(&mut reply).expect("received");
        assert_eq!(&reply, b"ping");
    };
    exchange(&mut connection);
    let first = began.elapsed();
    assert!(
        first >= Duration::from_millis(80),
        "the first took {first:?}"
    );
    let mut quickest = Duration::MAX;
    for _ in 0..10 {
        let began = Instant::now();
        exchange(&mut connection);
        let took = began.elapsed();
        assert!(took >= Duration::from_millis(40), "{took:?}");
        quickest = quickest.min(took);
    }
    // A generous limit for a busy machine. The relay reports its own lateness.
    assert!(quickest < Duration::from_millis(50), "{quickest:?}");
    drop(connection);
    let account = account(running);
    assert_eq!(account["connections"], 1);
    assert_eq!(account["forward"]["bytes"], 44);
    assert_eq!(account["backward"]["bytes"], 44);
    assert!(
        account["forward"]["late_us"]["p50"]
            .as_f64()
            .is_some_and(|late| late < 5_000.0),
        "{account}"
    );
}

#[test]
fn a_rate_is_kept_and_every_byte_arrives_in_order_to_the_end() {
    let (running, address) = link(
        echo(),
        &[
            "--round-trip",
            "10ms",
            "--jitter",
            "4ms",
            "--rate",
            "80Mbit/s",
        ],
    );
    let sent: Vec<u8> = (0..2_000_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    let began = Instant::now();
    let connection = TcpStream::connect(address).expect("the relay");
    let mut writing = connection.try_clone().expect("a second handle");
    let out = sent.clone();
    let writer = thread::spawn(move || {
        writing.write_all(&out).expect("sent");
        writing.shutdown(Shutdown::Write).expect("ended");
    });
    let mut received = Vec::new();
    (&connection).read_to_end(&mut received).expect("all of it");
    let took = began.elapsed();
    writer.join().expect("the writer");
    assert!(
        received == sent,
        "{} of {} bytes, or others",
        received.len(),
        sent.len()
    );
    // Two megabytes take 200 ms at 10 MB/s.
    assert!(took >= Duration::from_millis(200), "{took:?}");
    assert!(took < Duration::from_millis(1_500), "{took:?}");
    assert_eq!(account(running)["backward"]["bytes"], 2_000_000);
}

/// Sends a message to an echo server and waits for the echo.
fn exchange(mut connection: &TcpStream) -> Duration {
    let began = Instant::now();
    let mut message = *b"ping";
    connection.write_all(&message).expect("sent");
    connection.read_exact(&mut message).expect("echoed");
    began.elapsed()
}

#[test]
fn new_connections_do_not_delay_established_ones() {
    let (running, address) = link(echo(), &["--round-trip", "300ms", "--rate", "556Mbit/s"]);
    let established = TcpStream::connect(address).expect("the relay");
    established.set_nodelay(true).expect("no delay");
    exchange(&established);
    let mut connections = Vec::new();
    let mut took: Vec<Duration> = (0..3)
        .map(|_| {
            let mut new = TcpStream::connect(address).expect("the relay");
            // These bytes are sent immediately, but enter the line only after the round trip of the handshake.
            new.write_all(b"hello").expect("sent");
            connections.push(new);
            thread::sleep(Duration::from_millis(30));
            exchange(&established)
        })
        .collect();
    took.sort();
    assert!(took[0] >= Duration::from_millis(300), "{took:?}");
    // After the bytes of the new connection, it would take 570 ms.
    assert!(took[1] < Duration::from_millis(430), "{took:?}");
    drop(account(running));
}

/// A relay that was stopped must still keep connections waiting until it accepts them. It must measure the delay from
/// the moment when they were opened, not from the moment when it accepted them.
#[test]
fn a_signal_prints_the_lateness_since_the_last_one() {
    let (mut running, address) = link(echo(), &["--round-trip", "20ms"]);
    let mut connection = TcpStream::connect(address).expect("the relay");
    let mut response = [0; 4];
    connection.write_all(b"ping").expect("sent");
    connection.read_exact(&mut response).expect("received");
    let mut report = || {
        running.signal(Signal::USR1);
        let line: Value = serde_json::from_str(&running.line()).expect("JSON");
        line["since_last_report"].clone()
    };
    let first = report();
    assert_eq!(first["forward"]["pieces"], 1);
    assert!(first["backward"]["late_us"]["p99"].as_f64().is_some());
    let second = report();
    assert_eq!(second["forward"]["pieces"], 0);
    assert!(second["forward"]["late_us"]["p99"].is_null());
    assert_eq!(account(running)["forward"]["pieces"], 1);
}

#[test]
fn a_late_relay_adds_only_the_configured_delay() {
    const CONNECTIONS: usize = 200;
    let (running, address) = link(echo(), &["--round-trip", "800ms", "--rate", "556Mbit/s"]);
    // The kernel starts to timestamp bytes only shortly after the first request to do so.
    thread::sleep(Duration::from_millis(100));
    running.signal(Signal::STOP);
    let connections: Vec<(Instant, TcpStream)> = (0..CONNECTIONS)
        .map(|number| {
            let began = Instant::now();
            let limit = Duration::from_secs(5);
            let mut new = TcpStream::connect_timeout(&address, limit)
                .unwrap_or_else(|error| panic!("connection {number} of a burst: {error}"));
            new.write_all(b"ping").expect("sent");
            (began, new)
        })
        .collect();
    let first = connections[0].0;
    thread::sleep(Duration::from_millis(500).saturating_sub(first.elapsed()));
    running.signal(Signal::CONT);
    let mut took: Vec<Duration> = connections
        .into_iter()
        .map(|(began, mut connection)| {
            connection.read_exact(&mut [0; 4]).expect("echoed");
            began.elapsed()
        })
        .collect();
    took.sort();
    // The round trips of the handshake and of the message.
    assert!(took[0] >= Duration::from_millis(1_600), "{took:?}");
    // If measured from the accept, it would be 2.1 s.
    assert!(
        took[CONNECTIONS / 2] < Duration::from_millis(1_900),
        "{took:?}"
    );
    assert_eq!(account(running)["connections"], CONNECTIONS);
}

/// The same test for packets. The delay of packets that arrived while the relay was stopped counts from their arrival.
#[test]
fn a_late_relay_does_not_delay_packets_further() {
    const PACKETS: u8 = 20;
    let server = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let target = server.local_addr().expect("an address");
    thread::spawn(move || {
        let mut packet = [0; 64];
        while let Ok((count, from)) = server.recv_from(&mut packet) {
            let _ = server.send_to(&packet[..count], from);
        }
    });
    let flags = ["--round-trip", "800ms", "--protocol", "udp"];
    let (running, address) = link(target, &flags);
    let client = UdpSocket::bind("127.0.0.1:0").expect("a port");
    client.connect(address).expect("connected");
    // The kernel starts to timestamp packets only shortly after the first request to do so.
    thread::sleep(Duration::from_millis(100));
    running.signal(Signal::STOP);
    let began = Instant::now();
    for number in 0..PACKETS {
        client.send(&[number]).expect("sent");
    }
    thread::sleep(Duration::from_millis(500));
    running.signal(Signal::CONT);
    let mut packet = [0; 64];
    let took: Vec<Duration> = (0..PACKETS)
        .map(|number| {
            let count = client.recv(&mut packet).expect("a packet");
            assert_eq!(packet[..count], [number]);
            began.elapsed()
        })
        .collect();
    assert!(took[0] >= Duration::from_millis(800), "{took:?}");
    // If measured from the read, it would be 1.3 s.
    assert!(took[0] < Duration::from_millis(1_200), "{took:?}");
    drop(account(running));
}

/// A line with a full buffer accepts bytes in the order of their arrival, across connections.
#[test]
fn a_burst_of_new_connections_keeps_its_order_on_the_line() {
    const CONNECTIONS: usize = 200;
    const SIZE: usize = 1_400;
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let target = listener.local_addr().expect("an address");
    // Each takes 1.4 ms on the line, which is 280 ms in total.
    let (running, address) = link(target, &["--round-trip", "300ms", "--rate", "8Mbit/s"]);
    listener.set_nonblocking(true).expect("non-blocking");
    let mut connections: Vec<(TcpStream, Vec<u8>)> = Vec::new();
    let accept_all = |connections: &mut Vec<(TcpStream, Vec<u8>)>| {
        while let Ok((connection, _)) = listener.accept() {
            connection.set_nonblocking(true).expect("non-blocking");
            connections.push((connection, Vec::new()));
        }
    };
    let clients: Vec<TcpStream> = (0..CONNECTIONS)
        .map(|number| {
            // The accept queue holds 128 connections. If it is full, a client connects a second later.
            accept_all(&mut connections);
            let mut new = TcpStream::connect(address).expect("the relay");
            let mut message = [0; SIZE];
            message[..8].copy_from_slice(&(number as u64).to_be_bytes());
            new.write_all(&message).expect("sent");
            new
        })
        .collect();
    let given_up = Instant::now() + Duration::from_secs(30);
    let mut arrived: Vec<u64> = Vec::new();
    while arrived.len() < CONNECTIONS {
        assert!(Instant::now() < given_up, "{} arrived", arrived.len());
        accept_all(&mut connections);
        let mut buffer = [0; SIZE];
        for (connection, message) in &mut connections {
            let Ok(count @ 1..) = connection.read(&mut buffer) else {
                continue;
            };
            message.extend(&buffer[..count]);
            if message.len() == SIZE {
                let number = message.first_chunk().expect("eight bytes");
                arrived.push(u64::from_be_bytes(*number));
            }
        }
        thread::sleep(Duration::from_micros(200));
    }
    drop(clients);
    let displaced: u64 = (0..)
        .zip(&arrived)
        .map(|(place, number)| number.abs_diff(place))
        .sum();
    // If connections competed for buffer space, the order would differ by 40 places.
    assert!(displaced <= 10 * CONNECTIONS as u64, "{arrived:?}");
    assert_eq!(account(running)["connections"], CONNECTIONS);
}

/// The kernel's table of open files must not grow while connections arrive, because each time the relay would wait for
/// 10 to 20 ms.
#[cfg(target_os = "linux")]
#[test]
fn the_table_of_open_files_is_large_enough_before_connections_arrive() {
    let (running, _) = link(echo(), &[]);
    let read = |file: &str| {
        let path = format!("/proc/{}/{file}", running.id());
        std::fs::read_to_string(path).expect("a file of the kernel")
    };
    let number_after = |text: &str, name: &str| -> u64 {
        let rest = text.split_once(name).expect("the line").1;
        let word = rest.split_whitespace().next().expect("a number");
        word.parse().unwrap_or(u64::MAX)
    };
    let size = number_after(&read("status"), "FDSize:");
    let limit = number_after(&read("limits"), "Max open files");
    assert!(size >= limit.min(40_000), "{size} of {limit}");
    drop(account(running));
}

/// Reads the number of each thread's scheduling policy in a process (proc(5)). The main thread is first.
#[cfg(target_os = "linux")]
fn policies(id: u32) -> Vec<u32> {
    let mut threads: Vec<u32> = std::fs::read_dir(format!("/proc/{id}/task"))
        .expect("the threads")
        .filter_map(|thread| thread.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    threads.sort_by_key(|thread| *thread != id);
    let policy = |thread: u32| {
        let text = std::fs::read_to_string(format!("/proc/{id}/task/{thread}/stat")).ok()?;
        // The name in parentheses may contain spaces. The policy is field 41, and the first field after the name is
        // field 3.
        let mut fields = text.rsplit_once(')')?.1.split_whitespace();
        fields.nth(41 - 3)?.parse().ok()
    };
    threads.into_iter().filter_map(policy).collect()
}

#[cfg(target_os = "linux")]
const ORDINARY: u32 = 0;
#[cfg(target_os = "linux")]
const FIRST_IN_FIRST_OUT: u32 = 1;

#[cfg(target_os = "linux")]
#[test]
fn only_the_thread_of_the_relay_has_real_time_priority_if_it_is_permitted() {
    let to = echo().to_string();
    let arguments = ["link", "--listen", "127.0.0.1:0", "--to", &to];
    let mut running = plimsoll::plimsoll(&arguments).start();
    let ready: Value = serde_json::from_str(&running.line()).expect("JSON");
    let is_granted = ready["real_time"].as_bool().expect("a boolean");
    let found = policies(running.id());
    let (relay, others) = found.split_first().expect("a thread");
    let expected = if is_granted {
        FIRST_IN_FIRST_OUT
    } else {
        ORDINARY
    };
    assert_eq!(*relay, expected, "{found:?}");
    assert!(others.iter().all(|other| *other == ORDINARY), "{found:?}");
    assert_eq!(account(running)["real_time"]["granted"], is_granted);
}

#[cfg(target_os = "linux")]
#[test]
fn a_relay_without_real_time_priority_reports_the_consequence_and_a_fix() {
    let to = echo().to_string();
    // Root keeps all capabilities except for the one for priorities.
    let limited = format!(
        "ulimit -r 0; drop=; test $(id -u) = 0 && drop='setpriv --bounding-set=-sys_nice'; \
         exec $drop {} link --listen 127.0.0.1:0 --to {to}",
        env!("CARGO_BIN_EXE_plimsoll")
    );
    let mut running = Program::at("sh").args(["-c", &limited]).start();
    let ready: Value = serde_json::from_str(&running.line()).expect("JSON");
    assert_eq!(ready["real_time"], false);
    assert_eq!(policies(running.id()).first(), Some(&ORDINARY));
    running.signal(Signal::INT);
    let ended = running.wait();
    for part in ["no real-time priority", "late_us", "setcap cap_sys_nice"] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
    assert!(
        ended.stdout.contains(r#""granted":false"#),
        "{}",
        ended.stdout
    );
}

#[test]
fn the_default_limit_of_open_files_does_not_limit_the_relay() {
    let to = echo().to_string();
    let limited = format!(
        "ulimit -S -n 64; exec {} link --listen 127.0.0.1:0 --to {to} --round-trip 10ms",
        env!("CARGO_BIN_EXE_plimsoll")
    );
    let mut running = Program::at("sh").args(["-c", &limited]).start();
    let ready: Value = serde_json::from_str(&running.line()).expect("JSON");
    let address = ready["listening"].as_str().expect("an address").to_owned();
    let connections: Vec<TcpStream> = (0..100)
        .map(|_| TcpStream::connect(&address).expect("the relay"))
        .collect();
    for connection in &connections {
        let limit = Some(Duration::from_secs(20));
        connection.set_read_timeout(limit).expect("a limit");
        exchange(connection);
    }
    let account = account(running);
    assert_eq!(
        (&account["connections"], &account["accept_failures"]),
        (&100.into(), &0.into())
    );
}

#[test]
fn a_server_that_sends_first_is_delayed_by_the_handshake_and_half_a_round_trip() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let target = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            let _ = connection.write_all(b"hello");
        }
    });
    let (running, address) = link(target, &["--round-trip", "100ms"]);
    let began = Instant::now();
    let mut connection = TcpStream::connect(address).expect("the relay");
    connection.read_exact(&mut [0; 5]).expect("greeted");
    let took = began.elapsed();
    // First the SYN and the SYN-ACK, then the ACK and the greeting.
    assert!(took >= Duration::from_millis(200), "{took:?}");
    drop(account(running));
}

#[test]
fn a_refused_connection_is_reported_one_round_trip_later() {
    let nobody = TcpListener::bind("127.0.0.1:0")
        .expect("a port")
        .local_addr()
        .expect("an address");
    let (running, address) = link(nobody, &["--round-trip", "30ms"]);
    let began = Instant::now();
    let mut connection = TcpStream::connect(address).expect("the relay");
    let read = connection.read(&mut [0; 1]);
    assert!(
        matches!(&read, Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset),
        "{read:?}"
    );
    assert!(began.elapsed() >= Duration::from_millis(30));
    assert_eq!(account(running)["unreachable"], 1);
}

#[test]
fn packets_are_delayed_lost_and_counted() {
    let server = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let target = server.local_addr().expect("an address");
    thread::spawn(move || {
        let mut packet = [0; 2_048];
        while let Ok((count, from)) = server.recv_from(&mut packet) {
            let _ = server.send_to(&packet[..count], from);
        }
    });
    let (running, address) = link(
        target,
        &["--round-trip", "20ms", "--loss", "20%", "--protocol", "udp"],
    );
    let client = UdpSocket::bind("127.0.0.1:0").expect("a port");
    client.connect(address).expect("connected");
    client
        .set_read_timeout(Some(Duration::from_millis(500)))
        .expect("a limit");
    for n in 0..200_u32 {
        client.send(&n.to_be_bytes()).expect("sent");
    }
    let (mut seen, mut last) = (0, None);
    let mut packet = [0; 2_048];
    while let Ok(count) = client.recv(&mut packet) {
        let number = u32::from_be_bytes(packet[..count].try_into().expect("four bytes"));
        assert!(last < Some(number), "{number} after {last:?}");
        last = Some(number);
        seen += 1;
    }
    let account = account(running);
    let lost = |side: &str| account[side]["lost"].as_u64().expect("a count");
    assert_eq!(seen + lost("forward") + lost("backward"), 200, "{account}");
    // 36 % of all round trips are lost, which is about 72 of 200. The tolerance is five standard deviations, which is
    // 34.
    assert!(
        (38..=106).contains(&(lost("forward") + lost("backward"))),
        "{account}"
    );
}

#[test]
fn impossible_settings_are_reported() {
    for (flags, expected) in [
        (
            ["--round-trip", "10ms", "--jitter", "20ms"],
            "longer than the round trip",
        ),
        (
            ["--round-trip", "10ms", "--rate", "5Mbits/s"],
            "did you mean Mbit/s?",
        ),
        (
            ["--round-trip", "10ms", "--loss", "0.5"],
            "write it like 0.1%",
        ),
    ] {
        let arguments = [
            &["link", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:9"],
            &flags[..],
        ]
        .concat();
        let ended = plimsoll::plimsoll(&arguments).run();
        assert_ne!(ended.status, Some(0));
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
        assert_eq!(ended.stdout, "");
    }
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let ended = plimsoll::plimsoll(&["link", "--listen", &address, "--to", "127.0.0.1:9"]).run();
    assert!(
        ended
            .stderr
            .contains("choose another address with --listen"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_namespace_is_created_if_the_kernel_supports_it_or_the_relay_is_suggested() {
    use std::io::BufRead;
    use std::process::{Command, Stdio};

    let name = format!("pt{}", std::process::id());
    let mut child = Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .args(["link", "--netem", &name, "--round-trip", "20ms"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    let mut ready = String::new();
    let mut stdout = std::io::BufReader::new(child.stdout.take().expect("a pipe"));
    stdout.read_line(&mut ready).expect("text");
    if ready.is_empty() {
        // Without netem, root or iproute2, the message names the missing one, and what works instead.
        let ended = child.wait_with_output().expect("its end");
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(255), "{stderr}");
        assert!(
            stderr.contains("a relay (--listen and --to) works everywhere"),
            "{stderr}"
        );
    } else {
        let ready: Value = serde_json::from_str(&ready).expect("JSON");
        assert!(
            ready["far"]
                .as_str()
                .is_some_and(|far| far.starts_with("198.1")),
            "{ready}"
        );
        let interrupt = ["-INT", &child.id().to_string()];
        assert!(
            Command::new("kill")
                .args(interrupt)
                .status()
                .expect("kill")
                .success()
        );
        assert!(child.wait().expect("its end").success());
    }
    // In both cases, nothing may remain.
    assert!(!std::path::Path::new("/run/netns").join(&name).exists());
}
