//! The same requests through io_uring. If the kernel does not allow io_uring, they use epoll and
//! must give the same results.

mod peer;

use std::io::Write;
use std::net::TcpListener;
use std::time::Duration;

use bytes::Bytes;
use peer::{client, http_response, request, run, serve};
use plimsoll_http::{BodyUse, Client, Exchange, Method, Settings};
use plimsoll_net::{Io, NetworkSettings};

fn client_with_uring() -> Client {
    client(Settings {
        network: NetworkSettings {
            io: match plimsoll_net::check_uring() {
                Ok(()) => Io::Uring,
                Err(_) => Io::Epoll,
            },
            ..NetworkSettings::default()
        },
        ..Settings::default()
    })
}

#[test]
fn bodies_of_any_size_are_transferred_in_both_directions() {
    let address = serve(|_, body| http_response("200 OK", "", body));
    run(async {
        let client = client_with_uring();
        for size in [0, 1, 10_000, 65_536, 3_000_000] {
            for turn in 0..2 {
                let mut post = request(Method::Post, &format!("http://{address}/"));
                post.body = (0..size)
                    .map(|n| (n % 251) as u8)
                    .collect::<Vec<_>>()
                    .into();
                let mut phases = None;
                let response = client
                    .send(&post, None, &mut |exchange| {
                        let line = exchange.timeline;
                        assert_eq!(line.phases().sum(), line.total());
                        phases = Some(line.phases());
                    })
                    .await
                    .unwrap();
                assert_eq!(response.body, post.body);
                let phases = phases.unwrap();
                assert_eq!(phases.connecting.is_zero(), size > 0 || turn > 0);
                assert!(!phases.waiting.is_zero());
            }
        }
        let traffic = client.traffic();
        let bodies = 2 * (1 + 10_000 + 65_536 + 3_000_000);
        assert!(traffic.sent > bodies && traffic.received > bodies);
    });
}

#[test]
fn concurrent_users_receive_their_own_responses() {
    let address = serve(|head, _| http_response("200 OK", "", head.as_bytes()));
    run(async {
        let mut tasks = Vec::new();
        for user in 0..50 {
            tasks.push(tokio::task::spawn_local(async move {
                let client = client_with_uring();
                for turn in 0..20 {
                    let get = request(Method::Get, &format!("http://{address}/{user}/{turn}"));
                    let response = client.send(&get, None, &mut |_| {}).await.unwrap();
                    let line = format!("GET /{user}/{turn} HTTP/1.1\r\n");
                    assert!(response.body.starts_with(line.as_bytes()));
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
    });
}

#[test]
fn closes_resets_and_silence_are_reported() {
    let closing = serve(|head, _| match head.contains("/close") {
        true => Vec::new(),
        false => http_response("200 OK", "", b"x"),
    });
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_at = silent.local_addr().unwrap();
    run(async {
        let client = client_with_uring();
        let get = |path: &str| request(Method::Get, &format!("http://{closing}{path}"));
        client.send(&get("/"), None, &mut |_| {}).await.unwrap();
        let failure = client
            .send(&get("/close"), None, &mut |_| {})
            .await
            .unwrap_err();
        assert_eq!(failure.error.message, "EOF");
        let mut waiting = request(Method::Get, &format!("http://{silent_at}/"));
        waiting.timeout = Duration::from_millis(30);
        let mut phases = None;
        let failure = client
            .send(&waiting, None, &mut |exchange| {
                phases = Some(exchange.timeline.phases())
            })
            .await
            .unwrap_err();
        assert_eq!(failure.error.code, 1050);
        assert!(phases.unwrap().waiting >= Duration::from_millis(20));
        // If a request is dropped in the middle, its connection is closed, and the next request works.
        drop(
            tokio::time::timeout(
                Duration::from_millis(5),
                client.send(&waiting, None, &mut |_| {}),
            )
            .await,
        );
        assert_eq!(
            client
                .send(&get("/"), None, &mut |_| {})
                .await
                .unwrap()
                .status,
            200
        );
    });
}

#[test]
fn a_stream_of_bytes_larger_than_all_buffers_is_counted() {
    const SIZE: usize = 64 << 20;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {SIZE}\r\n\r\n");
        socket.write_all(head.as_bytes()).unwrap();
        let piece = Bytes::from(vec![b'x'; 1 << 20]);
        for _ in 0..SIZE >> 20 {
            socket.write_all(&piece).unwrap();
        }
        std::thread::sleep(Duration::from_millis(100));
    });
    run(async {
        let mut get = request(Method::Get, &format!("http://{address}/"));
        get.body_use = BodyUse::Discard;
        let mut received = 0;
        let client = client_with_uring();
        let count = &mut |exchange: &Exchange| received = exchange.bytes.received;
        assert_eq!(client.send(&get, None, count).await.unwrap().status, 200);
        assert!(received as usize > SIZE);
    });
}
