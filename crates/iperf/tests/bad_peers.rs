//! Peers that are silent, disconnect, send wrong data, or use another protocol.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use plimsoll_iperf::client::{self, Family, From, TestRequest};
use plimsoll_iperf::server::{Server, ServerSettings};
use plimsoll_iperf::wire::{Cookie, State, read_json, write_json};
use plimsoll_iperf::{Direction, End, Error, Protocol, Report, Test};
use serde_json::{Value, json};

const SHORT: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_secs(20);

fn request_test(port: u16, patience: Duration, test: Test) -> TestRequest {
    TestRequest {
        host: "127.0.0.1".to_owned(),
        port,
        family: Family::V4,
        from: From::default(),
        patience,
        length: Some(test.length),
        test,
        interval: None,
        format: Default::default(),
        json: false,
    }
}

fn small() -> Test {
    Test {
        end: End::Bytes(100_000),
        length: 10_000,
        ..Test::default()
    }
}

fn run(request: &TestRequest) -> Report {
    client::run(request, &AtomicBool::new(false), &mut |_| {})
}

/// A peer that reads the cookie of the first connection and then calls `play`.
fn peer(play: impl FnOnce(TcpStream) + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a client");
        Cookie::read(&stream).expect("a cookie");
        play(stream);
    });
    port
}

fn send_states(mut stream: &TcpStream, states: &[State]) {
    for state in states {
        stream.write_all(&[state.byte()]).expect("sent");
    }
}

fn error(report: Report) -> String {
    report.error.expect("an error").to_string()
}

#[test]
fn a_client_that_waits_for_a_silent_server_can_be_stopped() {
    let port = peer(|stream: TcpStream| {
        let _ = (&stream).read_to_end(&mut Vec::new());
    });
    let stop = AtomicBool::new(false);
    let started = Instant::now();
    let request = request_test(port, Duration::from_secs(60), small());
    let report = thread::scope(|scope| {
        let running = scope.spawn(|| client::run(&request, &stop, &mut |_| {}));
        thread::sleep(Duration::from_millis(300));
        stop.store(true, Ordering::Relaxed);
        running.join().expect("a report")
    });
    assert_eq!(report.error, Some(Error::Interrupted("client")));
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_silent_closed_or_foreign_server_is_reported() {
    let wait = |stream: TcpStream| {
        let _ = (&stream).read_to_end(&mut Vec::new());
    };
    let message = error(run(&request_test(peer(wait), SHORT, small())));
    assert!(
        message.starts_with("the server 127.0.0.1:")
            && message.ends_with(" was silent for 300ms: is it an iperf3 server?"),
        "{message}"
    );

    let message = error(run(&request_test(peer(drop), LONG, small())));
    assert!(
        message.contains("closed unexpectedly") || message.contains("reset"),
        "{message}"
    );

    let garbage = |stream: TcpStream| {
        (&stream)
            .write_all(b"SSH-2.0-OpenSSH_9.2\r\n")
            .expect("sent");
        let _ = (&stream).read_to_end(&mut Vec::new());
    };
    let message = error(run(&request_test(peer(garbage), LONG, small())));
    assert!(message.contains("is it an iperf3 server?"), "{message}");

    let busy = |stream: TcpStream| send_states(&stream, &[State::AccessDenied]);
    assert_eq!(
        run(&request_test(peer(busy), LONG, small())).error,
        Some(Error::Busy)
    );

    let refuses = |stream: TcpStream| {
        send_states(&stream, &[State::ParamExchange]);
        read_json(&stream).expect("parameters");
        send_states(&stream, &[State::ServerError]);
        (&stream)
            .write_all(&[0, 0, 0, 114, 0, 0, 0, 13])
            .expect("sent");
    };
    let message = error(run(&request_test(peer(refuses), LONG, small())));
    assert!(
        message.contains("error 114, Permission denied"),
        "{message}"
    );

    let hasty = |stream: TcpStream| {
        send_states(&stream, &[State::ParamExchange]);
        read_json(&stream).expect("parameters");
        send_states(&stream, &[State::DisplayResults]);
        let _ = (&stream).read_to_end(&mut Vec::new());
    };
    let message = error(run(&request_test(peer(hasty), LONG, small())));
    assert!(
        message.contains("DisplayResults instead of CreateStreams"),
        "{message}"
    );
}

/// A server that resets its control connection or its stream in the middle of a test.
fn resetting(control_too: bool) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        let (control, _) = listener.accept().expect("a client");
        Cookie::read(&control).expect("a cookie");
        send_states(&control, &[State::ParamExchange]);
        read_json(&control).expect("parameters");
        send_states(&control, &[State::CreateStreams]);
        let (mut stream, _) = listener.accept().expect("a stream");
        send_states(&control, &[State::TestStart, State::TestRunning]);
        stream.read_exact(&mut [0; 50_000]).expect("data");
        // A socket that is closed with unread data is reset (RFC 2525, section 2.17).
        drop(stream);
        if control_too {
            drop(control);
        } else {
            let _ = (&control).read_to_end(&mut Vec::new());
        }
    });
    port
}

#[test]
fn a_reset_in_the_middle_is_reported() {
    for control_too in [false, true] {
        let endless = Test {
            end: End::Time(Duration::from_secs(600)),
            ..small()
        };
        let message = error(run(&request_test(resetting(control_too), LONG, endless)));
        assert!(
            ["reset", "closed unexpectedly", "roken pipe"]
                .iter()
                .any(|word| message.contains(word)),
            "{message}"
        );
    }
}

/// A server that accepts one stream and reads from it. The caller writes the results.
fn misbehaving_server(misbehave: impl FnOnce(&TcpStream) + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        let (control, _) = listener.accept().expect("a client");
        Cookie::read(&control).expect("a cookie");
        send_states(&control, &[State::ParamExchange]);
        read_json(&control).expect("parameters");
        send_states(&control, &[State::CreateStreams]);
        let (mut stream, _) = listener.accept().expect("a stream");
        thread::spawn(move || std::io::copy(&mut stream, &mut std::io::sink()));
        send_states(&control, &[State::TestStart, State::TestRunning]);
        let mut byte = [0];
        (&control).read_exact(&mut byte).expect("the end");
        assert_eq!(State::of(byte[0]), Some(State::TestEnd));
        send_states(&control, &[State::ExchangeResults]);
        let results: Value = read_json(&control).expect("results");
        assert_eq!(results["streams"][0]["bytes"], 100_000);
        misbehave(&control);
        let _ = (&control).read_to_end(&mut Vec::new());
    });
    port
}

#[test]
fn measurements_are_kept_if_the_peers_results_are_invalid() {
    type Misbehave = fn(&TcpStream);
    let cases: [(Misbehave, &str); 5] = [
        // Send nothing, and keep the connection open.
        (|_| {}, " was silent for 300ms"),
        (
            |stream| write_json(stream, &json!({ "streams": 7 })).expect("sent"),
            "no list of streams",
        ),
        (
            |mut stream| stream.write_all(b"\x7f\xff\xff\xff{").expect("sent"),
            "does not use iperf3's protocol",
        ),
        (
            |mut stream| stream.write_all(b"\0\0\0\x05[1,2}").expect("sent"),
            "not send JSON",
        ),
        (
            |stream| stream.shutdown(std::net::Shutdown::Write).expect("shut"),
            "closed unexpectedly",
        ),
    ];
    for (misbehave, expected) in cases {
        let patience = if expected.contains("silent") {
            SHORT
        } else {
            LONG
        };
        let report = run(&request_test(
            misbehaving_server(misbehave),
            patience,
            small(),
        ));
        assert_eq!(report.streams[0].total.bytes, 100_000);
        let message = error(report);
        assert!(message.contains(expected), "{message}");
    }
    // Streams that were not requested are ignored, and missing streams stay missing.
    let other = |stream: &TcpStream| {
        write_json(stream, &json!({ "streams": [{ "id": 99, "bytes": 1 }] })).expect("sent");
        send_states(stream, &[State::DisplayResults]);
    };
    let report = run(&request_test(misbehaving_server(other), LONG, small()));
    assert_eq!(report.error, None);
    assert!(report.ends(&report.streams[0]).receiver.is_none());
}

/// Our own server on its own thread; stops when dropped.
struct Served {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<Option<Error>>>>,
}

impl Served {
    fn start(patience: Duration) -> Served {
        let server = Server::bind(ServerSettings {
            address: Some("127.0.0.1".parse().expect("an address")),
            port: 0,
            family: Family::V4,
            once: false,
            interval: None,
            format: Default::default(),
            json: true,
            patience,
        })
        .expect("a port");
        let address = server.address();
        let stop = Arc::new(AtomicBool::new(false));
        let message = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let mut errors = Vec::new();
            server
                .run(&message, &mut |_| {}, &mut |report| {
                    errors.push(report.error.clone())
                })
                .expect("a listener");
            errors
        });
        Served {
            address,
            stop,
            thread: Some(thread),
        }
    }

    /// Stops the server and returns the errors of its tests.
    fn errors(mut self) -> Vec<String> {
        self.stop.store(true, Ordering::Relaxed);
        let errors = self
            .thread
            .take()
            .expect("a thread")
            .join()
            .expect("no panic");
        errors
            .into_iter()
            .map(|error| error.map_or(String::new(), |error| error.to_string()))
            .collect()
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).expect("the server")
    }

    /// A control connection that has sent its parameters. The caller reads the server's responses.
    fn begin(&self, parameters: &Value) -> TcpStream {
        let stream = self.connect();
        (&stream).write_all(Cookie::random().bytes()).expect("sent");
        assert_eq!(read_state(&stream), Some(State::ParamExchange));
        write_json(&stream, parameters).expect("sent");
        stream
    }
}

fn read_state(mut stream: &TcpStream) -> Option<State> {
    let mut byte = [0];
    stream.read_exact(&mut byte).ok()?;
    State::of(byte[0])
}

fn end_of(stream: TcpStream) {
    // The server closed or reset the connection, and sends nothing more.
    let _ = (&stream).read_to_end(&mut Vec::new());
}

#[test]
fn a_server_survives_its_clients_errors() {
    let served = Served::start(SHORT);
    // First a client that sends nothing, then one that sends half a cookie.
    end_of(served.connect());
    let half = served.connect();
    (&half).write_all(b"half a cookie").expect("sent");
    end_of(half);
    // Invalid parameters, and streams that never arrive.
    let refused = served.begin(&json!({ "tcp": true, "len": 1_000_000_000, "time": 1 }));
    assert_eq!(read_state(&refused), Some(State::ServerError));
    end_of(refused);
    let absent = served.begin(&small().to_json());
    assert_eq!(read_state(&absent), Some(State::CreateStreams));
    assert_eq!(read_state(&absent), Some(State::ServerError));
    end_of(absent);
    let datagrams = Test {
        protocol: Protocol::Udp,
        length: 1_000,
        ..small()
    };
    let absent = served.begin(&datagrams.to_json());
    assert_eq!(read_state(&absent), Some(State::CreateStreams));
    assert_eq!(read_state(&absent), Some(State::ServerError));
    end_of(absent);
    let errors = served.errors();
    assert_eq!(errors.len(), 5, "{errors:?}");
    assert!(errors[0].contains("cookie"), "{errors:?}");
    assert!(errors[2].contains("1 to 1048576"), "{errors:?}");
    assert!(errors[3].contains("did not open all streams"), "{errors:?}");
    assert!(errors[4].contains("did not open all streams"), "{errors:?}");
}

#[test]
fn a_server_accepts_only_its_tests_streams_and_detects_a_disconnect() {
    let served = Served::start(LONG);
    let stranger = |served: &Served| {
        let stream = served.connect();
        (&stream).write_all(Cookie::random().bytes()).expect("sent");
        stream
    };
    let control = served.connect();
    let cookie = Cookie::random();
    (&control).write_all(cookie.bytes()).expect("sent");
    assert_eq!(read_state(&control), Some(State::ParamExchange));
    write_json(&control, &small().to_json()).expect("sent");
    assert_eq!(read_state(&control), Some(State::CreateStreams));
    assert_eq!(read_state(&stranger(&served)), Some(State::AccessDenied));
    let stream = served.connect();
    (&stream).write_all(cookie.bytes()).expect("sent");
    assert_eq!(read_state(&control), Some(State::TestStart));
    assert_eq!(read_state(&control), Some(State::TestRunning));
    (&stream).write_all(&[0; 5_000]).expect("sent");
    assert_eq!(read_state(&stranger(&served)), Some(State::AccessDenied));
    drop(control);
    // The next client is served, which shows that the server has detected the disconnect.
    let mut report = run(&request_test(served.address.port(), LONG, small()));
    for _ in 0..100 {
        if report.error != Some(Error::Busy) {
            break;
        }
        thread::sleep(Duration::from_millis(20));
        report = run(&request_test(served.address.port(), LONG, small()));
    }
    assert_eq!(report.error, None);
    drop(stream);
    let errors = served.errors();
    assert!(
        errors[0].contains("the client closed the connection") || errors[0].contains("reset"),
        "{errors:?}"
    );
    assert_eq!(errors[1], "");
}

#[test]
fn every_direction_transfers_its_bytes() {
    let served = Served::start(LONG);
    for (protocol, direction, parallel) in [
        (Protocol::Tcp, Direction::Forward, 3),
        (Protocol::Tcp, Direction::Reverse, 1),
        (Protocol::Tcp, Direction::Both, 2),
        (Protocol::Udp, Direction::Both, 1),
    ] {
        let test = Test {
            protocol,
            direction,
            parallel,
            length: 1_000,
            rate: plimsoll_units::BitRate::new(40_000_000).filter(|_| protocol == Protocol::Udp),
            ..small()
        };
        let mut request = request_test(served.address.port(), LONG, test);
        request.json = true;
        request.interval = Some(Duration::from_secs(1));
        let report = run(&request);
        assert_eq!(report.error, None);
        let sums = |sending: bool| -> (u64, u64) {
            let ends = report
                .streams
                .iter()
                .filter(|stream| stream.sending == sending)
                .map(|stream| {
                    let ends = report.ends(stream);
                    (
                        ends.sender.expect("a sender").bytes,
                        ends.receiver.expect("a receiver").bytes,
                    )
                });
            ends.fold((0, 0), |(sent, received), (s, r)| (sent + s, received + r))
        };
        if direction != Direction::Reverse && protocol == Protocol::Tcp {
            assert_eq!(sums(true), (100_000, 100_000), "{protocol:?} {direction:?}");
        }
        if direction != Direction::Forward && protocol == Protocol::Tcp {
            assert_eq!(
                sums(false),
                (100_000, 100_000),
                "{protocol:?} {direction:?}"
            );
        }
        if protocol == Protocol::Udp {
            assert!(
                sums(true).0 == 100_000 && sums(false).1 > 0,
                "{:?}",
                (sums(true), sums(false))
            );
        }
        assert!(!report.periods.is_empty());
    }
    assert!(served.errors().iter().all(String::is_empty));
}
