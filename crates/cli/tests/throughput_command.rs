//! `plimsoll throughput` with the real iperf3, in both roles, and with itself.

mod plimsoll;

use std::collections::{BTreeSet, HashMap};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use plimsoll_testkit::program::{Ended, Program, Running, Signal};
use serde_json::Value;

/// The program that plays a role.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Player {
    Ours,
    Iperf3,
}
use Player::{Iperf3, Ours};

impl Player {
    fn with(self, arguments: &[&str]) -> Program {
        match self {
            Ours => plimsoll::plimsoll(&[&["throughput"], arguments].concat()),
            Iperf3 => Program::at("iperf3").args(arguments),
        }
    }
}

/// A server, and its port.
fn server(player: Player, flags: &[&str]) -> (Running, String) {
    if player == Ours {
        let mut running = player.with(&[&["-s", "-p", "0"], flags].concat()).start();
        running.line();
        let line = running.line();
        let port = line.split_whitespace().nth(3).expect("a port").to_owned();
        return (running, port);
    }
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = free.local_addr().expect("an address").port().to_string();
    drop(free);
    let running = player
        .with(&[&["-s", "-4", "-p", &port], flags].concat())
        .start();
    (running, port)
}

/// Runs a client until it exits. The real server does not report when it listens, and may still be cleaning up after
/// the previous test.
fn client(player: Player, port: &str, flags: &[&str]) -> Ended {
    let given_up = Instant::now() + Duration::from_secs(15);
    loop {
        let ended = player
            .with(&[&["-c", "127.0.0.1", "-p", port], flags].concat())
            .run();
        let text = format!("{}{}", ended.stdout, ended.stderr);
        let waits = text.contains("onnection refused") || text.contains("server is busy");
        if !waits || Instant::now() > given_up {
            return ended;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn json(player: Player, port: &str, flags: &[&str]) -> Value {
    let ended = client(player, port, &[&["-J"], flags].concat());
    let value: Value = serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", ended.stdout, ended.stderr));
    assert_eq!(value["error"], Value::Null, "{flags:?}: {value:#}");
    assert_eq!(ended.status, Some(0), "{flags:?}: {}", ended.stderr);
    value
}

fn number(value: &Value, path: &str) -> f64 {
    value
        .pointer(path)
        .and_then(Value::as_f64)
        .unwrap_or_else(|| panic!("{path} in {value:#}"))
}

const TCP: &[&[&str]] = &[
    &["-n", "3M"],
    &["-n", "3M", "-R"],
    &["-n", "3M", "-P", "3", "-N", "-w", "100K", "-M", "1400"],
    &["-n", "3M", "-P", "2", "-R"],
    &["-k", "20", "-l", "10000"],
];
const UDP: &[&[&str]] = &[
    &["-u", "-n", "100K", "-b", "4M", "-l", "1000"],
    &["-u", "-n", "100K", "-b", "4M", "-l", "1000", "-R"],
    &[
        "-u",
        "-k",
        "100",
        "-b",
        "4M",
        "-l",
        "1000",
        "-P",
        "2",
        "--udp-counters-64bit",
    ],
];

/// Runs `check` for all pairs of programs that include Plimsoll.
fn all_pairs(check: impl Fn(Player, Player, &str)) {
    for (client, serving) in [(Ours, Iperf3), (Iperf3, Ours), (Ours, Ours)] {
        let (running, port) = server(serving, &[]);
        check(client, serving, &port);
        running.signal(Signal::INT);
        running.wait();
    }
}

#[test]
fn streams_transfer_the_requested_amount_with_either_server() {
    all_pairs(|asking, serving, port| {
        for flags in TCP {
            let report = json(asking, port, flags);
            let wanted = if flags.contains(&"-k") {
                200_000.0
            } else {
                f64::from(3 << 20)
            };
            let sent = number(&report, "/end/sum_sent/bytes");
            let received = number(&report, "/end/sum_received/bytes");
            let case = format!(
                "{asking:?} asks {serving:?} for {flags:?}: {sent} sent, {received} received"
            );
            assert!(sent >= wanted, "{case}");
            // The real server may end a test before it has read everything, and the real client sends whole blocks.
            if (asking, serving) == (Ours, Ours) {
                assert_eq!((sent, received), (wanted, wanted), "{case}");
            } else {
                assert!(received <= sent, "{case}");
            }
            assert!(
                number(&report, "/end/sum_sent/retransmits") >= 0.0,
                "{case}"
            );
            assert!(
                number(&report, "/end/cpu_utilization_percent/host_total") >= 0.0,
                "{case}"
            );
        }
    });
}

#[test]
fn both_sides_count_the_same_datagrams() {
    all_pairs(|asking, serving, port| {
        for flags in UDP {
            let report = json(asking, port, flags);
            let sent = number(&report, "/end/sum_sent/packets");
            let received = number(&report, "/end/sum_received/packets");
            let lost = number(&report, "/end/sum_received/lost_packets");
            let case = format!(
                "{asking:?} asks {serving:?} for {flags:?}: {sent} sent, {received} received, {lost} lost"
            );
            assert!(sent >= 100.0, "{case}");
            // Only one side counts datagrams that are in flight at the end of the test.
            assert!(
                received <= sent && received >= 10.0 && lost <= received,
                "{case}"
            );
            assert!(number(&report, "/end/sum/jitter_ms") >= 0.0, "{case}");
        }
    });
}

/// Relays UDP to a server and drops every fourth block. Does not drop the short datagrams that open a stream, because
/// iperf3 does not repeat them.
fn lose_blocks(front: UdpSocket, to: String) {
    let mut streams: HashMap<SocketAddr, UdpSocket> = HashMap::new();
    let mut buffer = [0; 2_000];
    while let Ok((count, client)) = front.recv_from(&mut buffer) {
        let back = streams.entry(client).or_insert_with(|| {
            let back = UdpSocket::bind("127.0.0.1:0").expect("a port");
            back.connect(&to).expect("an address");
            let socket = |other: &UdpSocket| other.try_clone().expect("a second handle");
            let (from, front) = (socket(&back), socket(&front));
            thread::spawn(move || {
                let mut buffer = [0; 2_000];
                for number in 0_u64.. {
                    let Ok(count) = from.recv(&mut buffer) else {
                        return;
                    };
                    if count < 100 || number % 4 > 0 {
                        let _ = front.send_to(&buffer[..count], client);
                    }
                }
            });
            back
        });
        let _ = back.send(&buffer[..count]);
    }
}

/// The real client counts blocks that arrive, so with losses the server has to send more than requested.
#[test]
fn a_fixed_number_of_datagrams_arrives_although_some_are_lost() {
    let (serving, port) = server(Ours, &[]);
    let to = format!("127.0.0.1:{port}");
    let relay = [
        "link",
        "--listen",
        "127.0.0.1:0",
        "--protocol",
        "tcp",
        "--to",
        &to,
    ];
    let mut link = plimsoll::plimsoll(&relay).start();
    let ready: Value = serde_json::from_str(&link.line()).expect("JSON");
    let listening = ready["listening"].as_str().expect("an address");
    let front = UdpSocket::bind(listening).expect("the same port");
    let port = listening.rsplit_once(':').expect("a port").1;
    thread::spawn(move || lose_blocks(front, to));
    for amount in [["-k", "60"], ["-n", "60000"]] {
        let client = ["60", "iperf3", "-c", "127.0.0.1", "-p", port, "-J", "-u"];
        let test = ["-R", "-b", "4M", "-l", "1000", amount[0], amount[1]];
        let ended = Program::at("timeout")
            .args([&client[..], &test].concat())
            .run();
        assert_eq!(ended.status, Some(0), "{}{}", ended.stdout, ended.stderr);
        let value: Value = serde_json::from_str(&ended.stdout).expect("JSON");
        assert_eq!(value["error"], Value::Null, "{value:#}");
        let sent = number(&value, "/end/sum_sent/packets");
        let sum = "/end/sum_received";
        let received = number(&value, &format!("{sum}/bytes"));
        let lost = number(&value, &format!("{sum}/lost_packets"));
        assert!(
            sent >= 75.0 && received >= 60_000.0 && lost >= 15.0,
            "{value:#}"
        );
    }
    for running in [link, serving] {
        running.signal(Signal::INT);
        running.wait();
    }
}

#[test]
fn both_directions_run_at_the_same_time() {
    all_pairs(|asking, serving, port| {
        for flags in [
            &["--bidir", "-t", "1", "-b", "4M", "-l", "10K", "-P", "2"][..],
            &["--bidir", "-t", "1", "-u", "-b", "4M", "-l", "1000"],
        ] {
            let report = json(asking, port, flags);
            for sum in [
                "sum_sent",
                "sum_received",
                "sum_sent_bidir_reverse",
                "sum_received_bidir_reverse",
            ] {
                let bytes = number(&report, &format!("/end/{sum}/bytes"));
                assert!(
                    bytes > 10_000.0,
                    "{asking:?} asks {serving:?} for {flags:?}: {sum} {bytes}: {report:#}"
                );
            }
            assert!(
                report["end"]["streams"]
                    .as_array()
                    .is_some_and(|list| list.len() % 2 == 0)
            );
        }
    });
}

#[test]
fn both_address_families_are_served_on_one_port() {
    let (running, port) = server(Ours, &[]);
    let mut hosts = vec!["127.0.0.1"];
    // Some machines do not have IPv6.
    if TcpListener::bind("[::1]:0").is_ok() {
        hosts.push("::1");
    }
    for host in hosts {
        for flags in [
            &["-n", "100K"][..],
            &["-u", "-n", "20K", "-b", "4M", "-l", "1000"],
        ] {
            let ended = Ours
                .with(&[&["-c", host, "-p", &port, "-J"], flags].concat())
                .run();
            assert_eq!(ended.status, Some(0), "{host} {flags:?}: {}", ended.stdout);
            let report: Value = serde_json::from_str(&ended.stdout).expect("JSON");
            assert_eq!(report["start"]["connected"][0]["remote_host"], host);
        }
    }
    running.signal(Signal::INT);
    running.wait();
}

/// All JSON paths in a document. All items of a list share one path.
fn places(value: &Value, at: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (key, inner) in object {
                places(inner, &format!("{at}/{key}"), found);
            }
        }
        Value::Array(list) => list
            .iter()
            .for_each(|inner| places(inner, &format!("{at}[]"), found)),
        _ => {
            found.insert(at.to_owned());
        }
    }
}

#[test]
fn json_has_the_same_structure_as_iperf3s() {
    let (running, port) = server(Iperf3, &[]);
    let mut cases = [TCP, UDP].concat();
    cases.push(&["--bidir", "-n", "1M", "-P", "2"]);
    cases.push(&["--bidir", "-u", "-n", "100K", "-b", "4M", "-l", "1000"]);
    for flags in cases {
        let [ours, theirs] = [Ours, Iperf3].map(|player| {
            let mut found = BTreeSet::new();
            places(&json(player, &port, flags), "", &mut found);
            // The real server also sends its output to a client that did not request it, if an earlier client did.
            found.retain(|place| !place.starts_with("/server_output"));
            found
        });
        let missing: Vec<_> = theirs.difference(&ours).collect();
        let more: Vec<_> = ours.difference(&theirs).collect();
        assert_eq!(missing, Vec::<&String>::new(), "{flags:?}");
        assert_eq!(more, ["/start/generator"], "{flags:?}");
    }
    running.signal(Signal::INT);
    running.wait();
}

/// The lines without the parts that differ between runs.
fn masked(text: &str) -> Vec<String> {
    let mask = |line: &str| {
        let digits: String = line
            .chars()
            .map(|c| {
                if c.is_ascii_digit() || c == '.' {
                    '9'
                } else {
                    c
                }
            })
            .collect();
        let mut shown = String::new();
        for word in digits.split_whitespace() {
            let word = match word.trim_matches(|c: char| "KMG".contains(c)) {
                "Bytes" => "Bytes",
                "bits/sec" => "bits/sec",
                _ => word,
            };
            shown += &word
                .replace("99", "9")
                .replace("99", "9")
                .replace("99", "9");
            shown.push(' ');
        }
        shown.replace("[ ", "[")
    };
    let mut lines: Vec<String> = text.lines().map(mask).collect();
    // The number of periods depends on the duration.
    lines.dedup();
    lines
}

#[test]
fn text_has_the_same_layout_as_iperf3s() {
    let (running, port) = server(Iperf3, &[]);
    for flags in [
        &["-n", "1M"][..],
        &["-n", "1M", "-P", "2"],
        &["-n", "1M", "--bidir"],
        &["-u", "-n", "100K", "-b", "4M", "-l", "1000"],
        &[
            "-u", "-n", "100K", "-b", "4M", "-l", "1000", "-R", "-T", "titled",
        ],
    ] {
        let [ours, theirs] = [Ours, Iperf3].map(|player| {
            let ended = client(player, &port, flags);
            assert_eq!(ended.status, Some(0), "{}{}", ended.stdout, ended.stderr);
            masked(&ended.stdout)
        });
        assert_eq!(ours, theirs, "{flags:?}");
    }
    running.signal(Signal::INT);
    running.wait();
}

#[test]
fn rates_omitted_time_and_server_output_match_iperf3() {
    let (running, port) = server(Ours, &["--one-off"]);
    let flags = [
        "-t",
        "1",
        "-O",
        "1",
        "-b",
        "8M",
        "-l",
        "10K",
        "--get-server-output",
    ];
    let report = json(Ours, &port, &flags);
    let bytes = number(&report, "/end/sum_sent/bytes");
    // A million bytes per second, with tolerance for a busy machine.
    assert!((300_000.0..2_100_000.0).contains(&bytes), "{bytes}");
    let omitted: Vec<_> = report["intervals"]
        .as_array()
        .expect("intervals")
        .iter()
        .map(|interval| interval["sum"]["omitted"].as_bool() == Some(true))
        .collect();
    assert!(
        omitted.contains(&true) && omitted.contains(&false),
        "{omitted:?}"
    );
    let window = number(&report, "/intervals/0/streams/0/snd_cwnd");
    assert!(window > 1_000.0, "{window}");
    let output = report["server_output_text"]
        .as_str()
        .expect("the server's lines");
    assert!(
        output.contains("Accepted connection from 127.0.0.1"),
        "{output}"
    );
    assert!(
        output.contains("(omitted)") && output.contains("receiver"),
        "{output}"
    );
    let ended = running.wait();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("receiver"), "{}", ended.stdout);
}

#[test]
fn a_second_client_gets_busy_and_a_third_is_served() {
    let (running, port) = server(Ours, &[]);
    let mut first = plimsoll::plimsoll(&[
        "throughput",
        "-c",
        "127.0.0.1",
        "-p",
        &port,
        "-t",
        "60",
        "-b",
        "1M",
    ])
    .start();
    while !first.line().contains("Interval") {}
    for player in [Ours, Iperf3] {
        let ended = player
            .with(&["-c", "127.0.0.1", "-p", &port, "-n", "1M"])
            .run();
        assert_eq!(ended.status, Some(1));
        assert!(
            ended
                .stderr
                .contains("the server is busy running a test. try again later"),
            "{}",
            ended.stderr
        );
    }
    // Ctrl-C ends a test, and the measurements so far are reported.
    first.signal(Signal::INT);
    let ended = first.wait();
    assert_eq!(ended.status, Some(105), "{}", ended.stderr);
    assert!(ended.stdout.contains("sender"), "{}", ended.stdout);
    assert!(
        ended.stderr.contains("the client has terminated"),
        "{}",
        ended.stderr
    );
    let report = json(Iperf3, &port, &["-n", "1M"]);
    assert_eq!(number(&report, "/end/sum_sent/bytes"), f64::from(1 << 20));

    let mut last = plimsoll::plimsoll(&[
        "throughput",
        "-c",
        "127.0.0.1",
        "-p",
        &port,
        "-t",
        "60",
        "-b",
        "1M",
    ])
    .start();
    while !last.line().contains("Interval") {}
    running.signal(Signal::TERM);
    let ended = last.wait();
    assert_eq!(ended.status, Some(1));
    assert!(
        ended.stderr.contains("the server has terminated"),
        "{}",
        ended.stderr
    );
    assert_eq!(running.wait().status, Some(0));
}

#[test]
fn other_protocols_are_rejected_and_the_server_continues() {
    let (running, port) = server(Ours, &[]);
    let mut browser = TcpStream::connect(format!("127.0.0.1:{port}")).expect("the server");
    browser
        .write_all(b"GET /index.html HTTP/1.1\r\nHost: example.test\r\nUser-Agent: one\r\n\r\n")
        .expect("sent");
    let mut response = Vec::new();
    // The connection may be reset, because not everything that was sent was read.
    let _ = browser.read_to_end(&mut response);
    let report = json(Ours, &port, &["-n", "100K"]);
    assert_eq!(
        number(&report, "/end/sum_received/bytes"),
        f64::from(100 << 10)
    );
    running.signal(Signal::INT);
    let ended = running.wait();
    assert!(
        ended.stderr.contains("does not use iperf3's protocol"),
        "{}",
        ended.stderr
    );

    let http = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = http.local_addr().expect("an address").port().to_string();
    std::thread::spawn(move || {
        for mut stream in http.incoming().flatten() {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
            let _ = stream.read_to_end(&mut Vec::new());
        }
    });
    let ended = client(Ours, &port, &[]);
    assert_eq!(ended.status, Some(1));
    assert!(
        ended.stderr.contains("is it an iperf3 server?"),
        "{}",
        ended.stderr
    );
}

#[test]
fn impossible_tests_are_refused() {
    for (flags, status, expected) in [
        (&["-c", "127.0.0.1", "-P", "129"][..], 104, "1 to 128"),
        (&["-c", "127.0.0.1", "-u", "-l", "8"], 104, "16 to 65507"),
        (&["-c", "127.0.0.1", "-b", "5X"], 104, "write it like 10M"),
        (&["-s", "-t", "5"], 104, "cannot be used with"),
        (&["-c", "127.0.0.1", "-s"], 104, "cannot be used with"),
        (
            &["-c", "127.0.0.1", "-R", "--bidir"],
            104,
            "cannot be used with",
        ),
        (&["-c", "nosuchhost.invalid"], 1, "nosuchhost.invalid"),
        (&["-c", "127.0.0.1", "-6"], 1, "address as requested"),
    ] {
        let ended = Ours.with(flags).run();
        assert!(
            ended.stderr.contains(expected),
            "{flags:?}: {}",
            ended.stderr
        );
        assert_eq!(ended.status, Some(status), "{flags:?}");
    }
    let port = plimsoll_testkit::ports::closed().port().to_string();
    let ended = Ours.with(&["-c", "127.0.0.1", "-p", &port, "-J"]).run();
    let report: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(
        report["error"],
        "unable to connect to server: Connection refused"
    );
    assert_eq!(ended.status, Some(1));
    let (running, port) = server(Ours, &["-1"]);
    let ended = client(Iperf3, &port, &["-n", "1K", "-C", "nonesuch"]);
    assert_eq!(ended.status, Some(1));
    assert_eq!(running.wait().status, Some(1));
}
