//! HTTP/3 against a server that is built on another library's frames and headers, and against a
//! server that violates the protocol.

mod peer;
#[path = "peer/quic.rs"]
mod quic;
#[path = "peer/secure.rs"]
mod secure;

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use bytes::Bytes;
use peer::{client, request, run};
use plimsoll_http::{
    BodyUse, Client, CookieJar, ErrorInfo, Exchange, Method, Prepared, Proto, Protocol, Settings,
};
use plimsoll_net::{ClientCertificate, NetworkSettings, TlsSettings};
use secure::{Identity, acceptor, acceptor_asking, identity};

/// Settings that force HTTP/3 and trust `server`.
fn http3(server: &Identity) -> Settings {
    Settings {
        protocol: Protocol::Http3,
        network: NetworkSettings {
            tls: TlsSettings {
                extra_roots: vec![server.certificate_pem.clone().into_bytes()],
                ..TlsSettings::default()
            },
            ..NetworkSettings::default()
        },
        ..Settings::default()
    }
}

async fn error_of(client: &Client, method: Method, url: &str) -> ErrorInfo {
    let sent = client.send(&request(method, url), None, &mut |_| {}).await;
    sent.expect_err(url).error
}

#[test]
fn an_exchange_has_its_data_and_requests_share_one_connection() {
    run(async {
        let server = identity(&["localhost", "127.0.0.1"]);
        let (address, seen) = quic::serve(&acceptor(&server, &["h3"]));
        let mut settings = http3(&server);
        settings.user_agent = "ours/1".to_owned();
        let client = client(settings);
        let url = format!("https://{address}/a?b");
        for turn in 0..3 {
            let mut exchange: Option<Exchange> = None;
            let mut post = request(Method::Post, &url);
            post.body = Bytes::from(vec![b'y'; turn << 20]);
            let response = client
                .send(&post, None, &mut |ended| exchange = Some(ended.clone()))
                .await
                .unwrap();
            let exchange = exchange.unwrap();
            assert_eq!((response.status, response.proto), (200, Proto::Http3));
            assert_eq!(response.body, post.body);
            let head = response.head.as_ref().unwrap();
            assert_eq!(
                head.get("x-seen").unwrap(),
                format!("POST {url}").as_bytes()
            );
            assert_eq!(head.get("x-agent").unwrap(), b"ours/1");
            assert_eq!(exchange.body_received, (turn << 20) as u64);
            assert_eq!(exchange.remote, Some(address));
            let tls = exchange.tls.unwrap();
            assert_eq!(tls.version, "tls1.3");
            assert!(tls.cipher_suite.starts_with("TLS_"), "{tls:?}");
            let phases = exchange.timeline.phases();
            let is_first = turn == 0;
            assert_eq!(phases.connecting > Duration::ZERO, is_first);
            assert_eq!(phases.securing > Duration::ZERO, is_first);
            assert!(phases.waiting + phases.sending > Duration::ZERO);
            assert_eq!(phases.sum(), exchange.timeline.total());
            let traffic = client.traffic();
            assert!(traffic.sent > exchange.body_received, "{traffic:?}");
            assert!(traffic.received > exchange.body_received, "{traffic:?}");
        }
        assert_eq!((seen.connections.get(), seen.requests.get()), (1, 3));
        // Both encoded on each call and prepared.
        let settings = http3(&server);
        let prepared = Prepared::new(&request(Method::Get, &url), &settings).unwrap();
        let first = client.send_prepared(&prepared, plimsoll_clock::now());
        let second = client.send_prepared(&prepared, plimsoll_clock::now());
        let both = futures(first, second).await;
        assert_eq!((both.0.status, both.1.status), (200, 200));
        assert_eq!((seen.connections.get(), seen.requests.get()), (1, 5));
    });
}

async fn futures<T>(first: impl Future<Output = T>, second: impl Future<Output = T>) -> (T, T) {
    tokio::join!(first, second)
}

#[test]
fn redirects_cookies_and_hints_work_as_in_http1() {
    run(async {
        let server = identity(&["127.0.0.1"]);
        let (address, seen) = quic::serve(&acceptor(&server, &["h3"]));
        let client = client(http3(&server));
        let jar = CookieJar::default();
        let mut exchanges = 0;
        let response = client
            .send(
                &request(Method::Get, &format!("https://{address}/redirect")),
                Some(&jar),
                &mut |_| exchanges += 1,
            )
            .await
            .unwrap();
        assert_eq!(&response.body[..], b"cookie a=b");
        assert_eq!((exchanges, seen.connections.get()), (2, 1));
        let hints = request(Method::Get, &format!("https://{address}/hints"));
        let response = client.send(&hints, None, &mut |_| {}).await.unwrap();
        assert_eq!(
            (response.status, &response.body[..]),
            (200, &b"after hints"[..])
        );
        let mut large = request(Method::Post, &format!("https://{address}/early"));
        large.body = Bytes::from(vec![0; 8 << 20]);
        let response = client.send(&large, None, &mut |_| {}).await.unwrap();
        assert_eq!(
            (response.status, &response.body[..]),
            (413, &b"too much"[..])
        );
        let mut dropped = request(Method::Post, &format!("https://{address}/echo"));
        dropped.body = Bytes::from_static(b"not kept");
        dropped.body_use = BodyUse::Discard;
        let response = client.send(&dropped, None, &mut |_| {}).await.unwrap();
        assert_eq!((response.status, &response.body[..]), (200, &b""[..]));
        let head = request(Method::Head, &format!("https://{address}/half"));
        let response = client.send(&head, None, &mut |_| {}).await.unwrap();
        assert_eq!(response.status, 200);
    });
}

#[test]
fn connections_are_not_reused_on_request() {
    run(async {
        let server = identity(&["127.0.0.1"]);
        let (address, seen) = quic::serve(&acceptor(&server, &["h3"]));
        let mut settings = http3(&server);
        settings.no_connection_reuse = true;
        let client = client(settings);
        let get = request(Method::Get, &format!("https://{address}/"));
        for _ in 0..20 {
            client.send(&get, None, &mut |_| {}).await.unwrap();
        }
        assert_eq!(seen.connections.get(), 20);
    });
}

#[test]
fn few_closed_connections_remain() {
    run(async {
        let server = identity(&["127.0.0.1"]);
        let client = client(http3(&server));
        // The server never responds, so each closed connection would remain for three seconds.
        let mute = UdpSocket::bind("127.0.0.1:0").unwrap();
        let url = format!("https://{}/", mute.local_addr().unwrap());
        let mut get = request(Method::Get, &url);
        get.timeout = Duration::from_millis(1);
        for _ in 0..300 {
            client.send(&get, None, &mut |_| {}).await.unwrap_err();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        // The tasks of 64 closed connections and of 8 sockets.
        let tasks = tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks();
        assert!(tasks < 80, "{tasks} tasks");
    });
}

#[test]
fn requests_that_the_server_rejects_are_sent_again_and_counted() {
    run(async {
        let server = identity(&["127.0.0.1"]);
        let (address, seen) = quic::serve(&acceptor(&server, &["h3"]));
        let client = client(http3(&server));
        let url = |path: &str| format!("https://{address}{path}");
        let post = |path: &str| request(Method::Post, &url(path));
        // The server rejects the second request that it sees, but not the third.
        client.send(&post("/"), None, &mut |_| {}).await.unwrap();
        let (mut resent, mut sent) = (Vec::new(), Vec::new());
        let mut count = |exchange: &Exchange| {
            resent.push(exchange.resent);
            sent.push(exchange.bytes.sent);
        };
        let rejected = post("/rejected");
        let response = client.send(&rejected, None, &mut count).await.unwrap();
        assert_eq!(response.status, 200);
        assert_eq!((seen.connections.get(), seen.requests.get()), (2, 3));
        // After GOAWAY, the next request opens a connection.
        client
            .send(&post("/goaway"), None, &mut count)
            .await
            .unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        let response = client.send(&post("/"), None, &mut count).await.unwrap();
        assert_eq!(response.status, 200);
        // Only the first request was sent twice, and that is one exchange.
        assert_eq!(resent, [1, 0, 0]);
        let longer = "rejected".len() as u64;
        assert_eq!(sent[0], 2 * (sent[2] + longer), "{sent:?}");
        assert_eq!(seen.connections.get(), 3);
    });
}

#[test]
fn invalid_ends_are_reported() {
    run(async {
        let server = identity(&["127.0.0.1"]);
        let (address, _) = quic::serve(&acceptor(&server, &["h3"]));
        let client = client(http3(&server));
        for (path, words) in [
            ("/reset", "stream reset with H3_EXCESSIVE_LOAD"),
            ("/half", "unexpected EOF"),
            (
                "/close",
                "connection closed with H3_INTERNAL_ERROR (by and by)",
            ),
        ] {
            // Send another request first, so the failing one is not the first on its connection.
            let url = format!("https://{address}");
            let well = request(Method::Get, &url);
            client.send(&well, None, &mut |_| {}).await.unwrap();
            let error = error_of(&client, Method::Post, &format!("{url}{path}")).await;
            assert!(error.message.contains(words), "{path}: {error:?}");
        }
        let mut stalls = request(Method::Get, &format!("https://{address}/stall"));
        stalls.timeout = Duration::from_millis(200);
        let sent = client.send(&stalls, None, &mut |_| {}).await;
        assert_eq!(sent.unwrap_err().error.message, "request timeout");
        let error = error_of(&client, Method::Get, &format!("http://{address}/")).await;
        assert!(error.message.contains("use https"), "{error:?}");
    });
}

#[test]
fn silence_and_closed_ports_are_reported_with_a_fix() {
    run(async {
        let server = identity(&["127.0.0.1"]);
        let mute = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut settings = http3(&server);
        settings.network.connect_timeout = Duration::from_millis(400);
        let impatient = client(settings);
        let at = |socket: &UdpSocket| format!("https://{}/", socket.local_addr().unwrap());
        let error = error_of(&impatient, Method::Get, &at(&mute)).await;
        assert!(error.message.contains("no QUIC response"), "{error:?}");
        assert!(error.detail().contains("within 400ms"), "{error:?}");
        assert!(error.detail().contains("--h3"), "{error:?}");

        let patient = client(http3(&server));
        let mut get = request(Method::Get, &at(&mute));
        get.timeout = Duration::from_millis(200);
        let error = patient
            .send(&get, None, &mut |_| {})
            .await
            .unwrap_err()
            .error;
        assert!(
            error.detail().contains("within the request's timeout"),
            "{error:?}"
        );

        let nowhere = at(&UdpSocket::bind("127.0.0.1:0").unwrap());
        let error = error_of(&patient, Method::Get, &nowhere).await;
        assert!(error.message.contains("nothing listens"), "{error:?}");
    });
}

#[test]
fn handshake_errors_have_their_own_messages() {
    run(async {
        let server = identity(&["127.0.0.1"]);
        let (address, _) = quic::serve(&acceptor(&server, &["h3"]));
        let url = format!("https://{address}/");
        let mut wary = http3(&server);
        wary.network.tls.extra_roots.clear();
        let error = error_of(&client(wary.clone()), Method::Get, &url).await;
        assert_eq!(error.message, "x509: unknown authority");
        let mut blind = wary;
        blind.network.tls.insecure_skip_verify = true;
        let get = request(Method::Get, &url);
        let response = client(blind).send(&get, None, &mut |_| {}).await.unwrap();
        assert_eq!(response.status, 200);

        let elsewhere = identity(&["localhost"]);
        let (other, _) = quic::serve(&acceptor(&elsewhere, &["h3"]));
        let error = error_of(
            &client(http3(&elsewhere)),
            Method::Get,
            &format!("https://{other}/"),
        )
        .await;
        assert_eq!(error.message, "x509: certificate doesn't match hostname");

        let (other, _) = quic::serve(&acceptor(&server, &["hq-interop"]));
        let error = error_of(
            &client(http3(&server)),
            Method::Get,
            &format!("https://{other}/"),
        )
        .await;
        assert!(error.message.contains("does not speak HTTP/3"), "{error:?}");
    });
}

#[test]
fn a_client_certificate_is_sent_if_the_server_requests_one() {
    run(async {
        let (server, user) = (identity(&["127.0.0.1"]), identity(&["user"]));
        let (address, _) = quic::serve(&acceptor_asking(&server, &user, &["h3"]));
        let url = format!("https://{address}/");
        let error = error_of(&client(http3(&server)), Method::Get, &url).await;
        assert!(error.message.contains("certificate required"), "{error:?}");
        let mut settings = http3(&server);
        settings.network.tls.client_certificates = vec![ClientCertificate {
            domains: Vec::new(),
            certificate_pem: user.certificate_pem.clone().into_bytes(),
            key_pem: user.key_pem.clone().into_bytes(),
        }];
        let get = request(Method::Get, &url);
        let response = client(settings)
            .send(&get, None, &mut |_| {})
            .await
            .unwrap();
        assert_eq!(response.status, 200);
    });
}

/// A valid start of a control stream: its type and empty settings.
const CONTROL: &[u8] = &[0, 4, 0];
/// HEADERS with `:status: 200`.
const OK: &[u8] = &[1, 3, 0, 0, 0xd9];

#[test]
fn protocol_violations_are_reported() {
    run(async {
        let server = identity(&["127.0.0.1"]);
        let quic_tls = acceptor(&server, &["h3"]);
        let client = client(http3(&server));
        let after = |bytes: &[u8]| [OK, bytes].concat();
        let mut long = vec![1, 0xbf, 0xff, 0xff, 0xff];
        long.extend_from_slice(&[0; 1000]);
        let cases: Vec<(&'static [u8], Vec<u8>, &str)> = vec![
            (CONTROL, vec![], "EOF"),
            (
                CONTROL,
                b"HTTP/1.1 200 OK\r\n\r\n".to_vec(),
                "unexpected EOF",
            ),
            (CONTROL, vec![0, 1, b'x'], "not allowed in a response"),
            (CONTROL, long, "at most 1048576 are read"),
            (CONTROL, vec![1, 3, 0, 0, 0x80], "dynamic table"),
            (CONTROL, vec![1, 2, 0, 0], "do not start with :status"),
            (CONTROL, after(&[0, 9, b'x']), "unexpected EOF"),
            (CONTROL, after(&[9, 0]), "HTTP/3 forbids"),
            (
                CONTROL,
                after(&[1, 2, 0, 0, 0, 1, b'x']),
                "not allowed in a response",
            ),
            (
                CONTROL,
                vec![1, 8, 0, 0, 0xd9, 0x21, b'A', 2, b'x', b'y'],
                "malformed field",
            ),
        ];
        for (control, bytes, words) in cases {
            let address: SocketAddr = quic::serve_raw(&quic_tls, control, bytes.clone());
            let error = error_of(&client, Method::Post, &format!("https://{address}/")).await;
            assert!(error.message.contains(words), "{bytes:?}: {error:?}");
        }
        // Unknown frames and trailers are skipped.
        let odd = after(&[0x21, 2, 9, 9, 0, 1, b'x', 0, 1, b'y', 1, 2, 0, 0, 0x21, 0]);
        let address = quic::serve_raw(&quic_tls, CONTROL, odd);
        let get = request(Method::Get, &format!("https://{address}/"));
        let response = client.send(&get, None, &mut |_| {}).await.unwrap();
        assert_eq!((response.status, &response.body[..]), (200, &b"xy"[..]));
    });
}
