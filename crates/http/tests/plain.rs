//! Complete requests over loopback against a hand-written server.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::Arc;

use plimsoll_http::{Client, Exchange, Method, Prepared, Request, Settings, Shared, Url};

/// Serves `responses`, one per request, on one connection after another. Each inner list is a
/// connection.
fn serve(connections: Vec<Vec<&'static str>>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for responses in connections {
            let (mut socket, _) = listener.accept().unwrap();
            for response in responses {
                let mut seen = Vec::new();
                while !seen.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    if socket.read(&mut byte).unwrap() == 0 {
                        return;
                    }
                    seen.push(byte[0]);
                }
                socket.write_all(response.as_bytes()).unwrap();
            }
        }
    });
    address
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}

fn client(settings: Settings) -> Client {
    Client::new(Shared::new(Arc::new(settings)), 1)
}

fn get(address: SocketAddr) -> Request {
    let url = Url::parse(&format!("http://{address}/")).unwrap();
    Request::new(Method::Get, Rc::new(url))
}

const HELLO: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: b\r\n\r\nhello";

#[test]
fn a_connection_is_reused_and_the_timeline_is_consistent() {
    let address = serve(vec![vec![HELLO, HELLO, HELLO]]);
    run(async {
        let client = client(Settings::default());
        for turn in 0..3 {
            let mut seen: Vec<Exchange> = Vec::new();
            let request = get(address);
            let response = client
                .send(&request, None, &mut |exchange| seen.push(exchange.clone()))
                .await
                .unwrap();
            assert_eq!(response.status, 200);
            assert_eq!(&response.body[..], b"hello");
            assert_eq!(response.status_text(), "200 OK");
            assert_eq!(response.remote, Some(address));
            assert_eq!(seen.len(), 1);
            let phases = seen[0].timeline.phases();
            assert_eq!(phases.sum(), seen[0].timeline.total());
            assert_eq!(phases.connecting.is_zero(), turn > 0);
            let sent: Vec<_> = response.sent.fields().collect();
            assert_eq!(sent, [("Host", address.to_string().as_str())]);
        }
        let traffic = client.traffic();
        assert_eq!(traffic.received, 3 * HELLO.len() as u64);
        assert!(traffic.sent > 0);
        assert_eq!(client.traffic().received, 0);
    });
}

#[test]
fn a_connection_closed_while_idle_is_replaced_once() {
    let address = serve(vec![vec![HELLO], vec![HELLO]]);
    run(async {
        let client = client(Settings::default());
        for _ in 0..2 {
            let response = client.send(&get(address), None, &mut |_| {}).await.unwrap();
            assert_eq!(response.status, 200);
            // The server closes its side after each response.
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    });
}

#[test]
fn prepared_requests_count_bodies() {
    let address = serve(vec![vec![HELLO, HELLO]]);
    run(async {
        let settings = Settings::default();
        let prepared = Prepared::new(&get(address), &settings).unwrap();
        let client = client(settings);
        for _ in 0..2 {
            let exchange = client.send_prepared(&prepared, plimsoll_clock::now()).await;
            assert_eq!(exchange.error, None);
            assert_eq!(exchange.status, 200);
            assert_eq!(exchange.bytes.received, HELLO.len() as u64);
        }
    });
}

#[test]
fn a_refused_connection_keeps_its_lost_time_in_the_timeline() {
    let unused = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    run(async {
        let mut seen = Vec::new();
        let failure = client(Settings::default())
            .send(&get(unused), None, &mut |exchange| {
                seen.push(exchange.clone())
            })
            .await
            .unwrap_err();
        assert_eq!(failure.error.code, 1212);
        assert_eq!(failure.response.status, 0);
        assert!(!seen[0].timeline.total().is_zero());
        assert_eq!(seen[0].timeline.phases().waiting, std::time::Duration::ZERO);
    });
}

#[test]
fn a_silent_server_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    run(async {
        let mut request = get(address);
        request.timeout = std::time::Duration::from_millis(20);
        let failure = client(Settings::default())
            .send(&request, None, &mut |_| {})
            .await
            .unwrap_err();
        assert_eq!(
            (failure.error.code, failure.error.message.as_str()),
            (1050, "request timeout")
        );
        assert!(failure.response.timeline.total() >= request.timeout);
    });
}
