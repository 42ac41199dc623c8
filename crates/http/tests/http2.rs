//! HTTP/2, with and without TLS, and HTTP/1.1 over TLS, against a server built with the crate `h2`.

mod peer;
#[path = "peer/secure.rs"]
mod secure;

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use peer::{client, request, run};
use plimsoll_address::{CipherSuite, TlsVersion};
use plimsoll_http::{BodyUse, Exchange, Method, Prepared, Proto, Protocol, Settings};
use plimsoll_net::{NetworkSettings, TlsSettings};
use secure::{acceptor, identity};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;

/// Responds to each stream by path: `/echo` with method, path and body; `/stream` with the body as
/// it arrives; `/reset` with RST_STREAM; `/big` with ten megabytes. It never responds to `/stall`.
async fn converse(io: impl AsyncRead + AsyncWrite + Unpin + 'static) {
    let mut connection = h2::server::handshake(io).await.unwrap();
    while let Some(accepted) = connection.accept().await {
        let Ok((request, mut respond)) = accepted else {
            return;
        };
        tokio::task::spawn_local(async move {
            let path = request.uri().path().to_owned();
            let head = format!(
                "{} {} {:?}",
                request.method(),
                request.uri(),
                request.headers().get("x-a")
            );
            let mut incoming = request.into_body();
            if path == "/stream" {
                let reply = http::Response::new(());
                let mut stream = respond.send_response(reply, false).unwrap();
                while let Some(Ok(piece)) = incoming.data().await {
                    let _ = incoming.flow_control().release_capacity(piece.len());
                    stream.send_data(piece, false).unwrap();
                }
                return stream.send_data(Bytes::new(), true).unwrap();
            }
            let mut body = Vec::new();
            while let Some(piece) = incoming.data().await {
                let Ok(piece) = piece else { return };
                incoming
                    .flow_control()
                    .release_capacity(piece.len())
                    .unwrap();
                body.extend_from_slice(&piece);
            }
            match path.as_str() {
                "/reset" => respond.send_reset(h2::Reason::ENHANCE_YOUR_CALM),
                "/stall" => std::future::pending::<()>().await,
                path => {
                    let reply = http::Response::builder()
                        .header("x-b", "c")
                        .body(())
                        .unwrap();
                    let mut stream = respond.send_response(reply, false).unwrap();
                    let data = if path == "/big" {
                        vec![b'x'; 10 << 20]
                    } else {
                        format!("{head} {}", body.len()).into_bytes()
                    };
                    stream.send_data(data.into(), true).unwrap();
                }
            }
        });
    }
}

async fn serve_h2c() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::task::spawn_local(async move {
        loop {
            let (socket, _) = listener.accept().await.unwrap();
            tokio::task::spawn_local(converse(socket));
        }
    });
    address
}

fn h2c() -> Settings {
    Settings {
        protocol: Protocol::H2c,
        ..Settings::default()
    }
}

#[test]
fn requests_share_one_connection() {
    run(async {
        let address = serve_h2c().await;
        let client = client(h2c());
        let mut post = request(Method::Post, &format!("http://{address}/echo?q"));
        post.headers.set("X-A", "1").unwrap();
        post.body = Bytes::from(vec![b'y'; 3 << 20]);
        for turn in 0..3 {
            let mut seen: Option<Exchange> = None;
            let response = client
                .send(&post, None, &mut |exchange| seen = Some(exchange.clone()))
                .await
                .unwrap();
            let exchange = seen.unwrap();
            assert_eq!(response.proto, Proto::Http2);
            assert_eq!(response.status_text(), "200 OK");
            let text = format!("POST http://{address}/echo?q Some(\"1\") {}", 3 << 20);
            assert_eq!(response.body, text.as_bytes());
            let phases = exchange.timeline.phases();
            assert_eq!(phases.sum(), exchange.timeline.total());
            assert_eq!(phases.connecting.is_zero(), turn > 0);
            assert!(!phases.sending.is_zero());
            assert_eq!(response.fields().collect::<Vec<_>>(), [("x-b", &b"c"[..])]);
        }
    });
}

/// A server may respond before it has read the request. The rest of the request is sent in the
/// meantime.
#[test]
fn a_body_is_sent_while_the_response_arrives() {
    run(async {
        let address = serve_h2c().await;
        let client = client(h2c());
        let mut post = request(Method::Post, &format!("http://{address}/stream"));
        post.body = Bytes::from(vec![b'y'; 3 << 20]);
        post.timeout = Duration::from_secs(20);
        let response = client.send(&post, None, &mut |_| {}).await.unwrap();
        assert_eq!(response.body, post.body);
    });
}

/// Uses the HTTP version that the first bytes of a connection indicate (RFC 9113, section 3.4).
async fn serve_both() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::task::spawn_local(async move {
        loop {
            let (mut socket, _) = listener.accept().await.unwrap();
            tokio::task::spawn_local(async move {
                let mut first = [0; 1];
                let _ = socket.peek(&mut first).await;
                if first == *b"P" {
                    return converse(socket).await;
                }
                let mut buffer = [0; 4096];
                while let Ok(1..) = socket.read(&mut buffer).await {
                    let reply = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                    socket.write_all(reply).await.unwrap();
                }
            });
        }
    });
    address
}

#[test]
fn a_request_may_force_its_version_without_affecting_others() {
    run(async {
        let address = serve_both().await;
        let client = client(Settings::default());
        let plain = request(Method::Get, &format!("http://{address}/echo"));
        let mut forced = plain.clone();
        forced.protocol = Some(Protocol::H2c);
        for _ in 0..2 {
            for (request, proto) in [(&plain, Proto::Http11), (&forced, Proto::Http2)] {
                let response = client.send(request, None, &mut |_| {}).await.unwrap();
                assert_eq!(response.proto, proto);
            }
        }
        let mut impossible = plain.clone();
        impossible.protocol = Some(Protocol::Http2);
        let failure = client
            .send(&impossible, None, &mut |_| {})
            .await
            .unwrap_err();
        let message = failure.error.message;
        assert!(message.contains("request h2c, or use https"), "{message}");
    });
}

#[test]
fn resets_and_timeouts_affect_only_their_stream() {
    run(async {
        let address = serve_h2c().await;
        let client = client(h2c());
        let url = |path: &str| format!("http://{address}{path}");
        let reset = request(Method::Get, &url("/reset"));
        let failure = client.send(&reset, None, &mut |_| {}).await.unwrap_err();
        assert_eq!(failure.error.code, 1630 + 1 + 11);
        assert_eq!(
            failure.error.message,
            "http2: stream error with http2 ErrCode ENHANCE_YOUR_CALM"
        );
        let mut stall = request(Method::Get, &url("/stall"));
        stall.timeout = Duration::from_millis(30);
        let failure = client.send(&stall, None, &mut |_| {}).await.unwrap_err();
        assert_eq!(failure.error.code, 1050);
        let echo = request(Method::Get, &url("/echo"));
        let mut connecting = Duration::MAX;
        let response = client
            .send(&echo, None, &mut |e| {
                connecting = e.timeline.phases().connecting
            })
            .await
            .unwrap();
        assert_eq!((response.status, connecting), (200, Duration::ZERO));
    });
}

#[test]
fn large_bodies_are_kept_or_counted() {
    run(async {
        let address = serve_h2c().await;
        let client = client(h2c());
        let mut big = request(Method::Get, &format!("http://{address}/big"));
        let kept = client.send(&big, None, &mut |_| {}).await.unwrap();
        assert_eq!(kept.body.len(), 10 << 20);
        big.body_use = BodyUse::Discard;
        let mut received = 0;
        let counted = client
            .send(&big, None, &mut |exchange| {
                received = exchange.bytes.received
            })
            .await
            .unwrap();
        assert_eq!(counted.body.len(), 0);
        assert!(received > 10 << 20);
        let prepared = Prepared::new(&big, &h2c()).unwrap();
        let exchange = client.send_prepared(&prepared, plimsoll_clock::now()).await;
        assert_eq!((exchange.status, exchange.error), (200, None));
    });
}

fn with_tls(tls: TlsSettings, protocol: Protocol) -> Settings {
    Settings {
        network: NetworkSettings {
            tls,
            ..NetworkSettings::default()
        },
        protocol,
        ..Settings::default()
    }
}

#[test]
fn tls_negotiates_the_version_of_http() {
    run(async {
        let identity = identity(&["localhost"]);
        let trusting = |protocol| {
            let tls = TlsSettings {
                extra_roots: vec![identity.certificate_pem.clone().into()],
                ..TlsSettings::default()
            };
            with_tls(tls, protocol)
        };
        for (offered, protocol, wanted) in [
            (&["h2", "http/1.1"][..], Protocol::Auto, Ok(Proto::Http2)),
            (&["h2", "http/1.1"], Protocol::Http1, Ok(Proto::Http11)),
            (&["http/1.1"], Protocol::Auto, Ok(Proto::Http11)),
            (&[], Protocol::Auto, Ok(Proto::Http11)),
            (&[], Protocol::Http2, Err("does not speak HTTP/2")),
        ] {
            let port = serve_tls(&identity, offered).await;
            let client = client(trusting(protocol));
            let get = request(Method::Get, &format!("https://localhost:{port}/echo"));
            for turn in 0..2 {
                let mut seen = None;
                let sent = client
                    .send(&get, None, &mut |exchange| seen = Some(exchange.clone()))
                    .await;
                match (sent, wanted) {
                    (Ok(response), Ok(proto)) => {
                        assert_eq!(response.proto, proto);
                        let tls = response.tls.unwrap();
                        assert_eq!(tls.version, "tls1.3");
                        assert!(tls.cipher_suite.starts_with("TLS_"));
                        let phases = seen.unwrap().timeline.phases();
                        assert_eq!(phases.securing.is_zero(), turn > 0);
                    }
                    (Err(failure), Err(words)) => {
                        assert!(failure.error.message.contains(words), "{}", failure.error);
                    }
                    (sent, wanted) => panic!("{sent:?} instead of {wanted:?}"),
                }
            }
        }
    });
}

/// Serves TLS: HTTP/2 if it was negotiated, otherwise a fixed HTTP/1.1 response to each request.
async fn serve_tls(identity: &secure::Identity, alpn: &[&str]) -> u16 {
    serve_with(acceptor(identity, alpn)).await
}

async fn serve_with(acceptor: tokio_rustls::TlsAcceptor) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::task::spawn_local(async move {
        loop {
            let (socket, _) = listener.accept().await.unwrap();
            let acceptor = acceptor.clone();
            tokio::task::spawn_local(async move {
                let Ok(mut io) = acceptor.accept(socket).await else {
                    return;
                };
                if io.get_ref().1.alpn_protocol() == Some(b"h2") {
                    return converse(io).await;
                }
                let mut seen = Vec::new();
                while io.read_buf(&mut seen).await.is_ok_and(|n| n > 0) {
                    if seen.ends_with(b"\r\n\r\n") {
                        seen.clear();
                        let reply = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                        let _ = io.write_all(reply).await;
                        let _ = io.flush().await;
                    }
                }
            });
        }
    });
    port
}

#[test]
fn untrusted_and_mismatched_certificates_are_distinguished() {
    run(async {
        let own = identity(&["localhost"]);
        let other = identity(&["other.example"]);
        let error = async |port: u16, tls: TlsSettings| {
            let get = request(Method::Get, &format!("https://localhost:{port}/"));
            client(with_tls(tls, Protocol::Auto))
                .send(&get, None, &mut |_| {})
                .await
                .err()
                .map(|failure| (failure.error.code, failure.error.message))
        };
        let own_port = serve_tls(&own, &[]).await;
        let other_port = serve_tls(&other, &[]).await;
        let trusting = |identity: &secure::Identity| TlsSettings {
            extra_roots: vec![identity.certificate_pem.clone().into()],
            ..TlsSettings::default()
        };
        assert_eq!(
            error(own_port, TlsSettings::default()).await,
            Some((1310, "x509: unknown authority".into()))
        );
        assert_eq!(
            error(other_port, trusting(&other)).await,
            Some((1311, "x509: certificate doesn't match hostname".into()))
        );
        assert_eq!(error(own_port, trusting(&own)).await, None);
        assert_eq!(
            error(other_port, TlsSettings::default()).await.unwrap().0,
            1311
        );
        // A certificate like those that `openssl req -x509` creates.
        let authority = secure::authority(&["localhost"]);
        let port = serve_tls(&authority, &[]).await;
        assert_eq!(error(port, trusting(&authority)).await, None);
        assert_eq!(error(port, TlsSettings::default()).await.unwrap().0, 1310);
        let misnamed = secure::authority(&["other.example"]);
        let port = serve_tls(&misnamed, &[]).await;
        assert_eq!(error(port, trusting(&misnamed)).await.unwrap().0, 1311);
        let old = secure::expired(&["localhost"]);
        let port = serve_tls(&old, &[]).await;
        let (code, words) = error(port, trusting(&old)).await.unwrap();
        assert_eq!(code, 1000);
        assert!(
            words.ends_with("Z is after 2020-02-01T00:00:00Z"),
            "{words}"
        );
        let any = TlsSettings {
            insecure_skip_verify: true,
            ..TlsSettings::default()
        };
        assert_eq!(error(other_port, any).await, None);
    });
}

#[test]
fn tls_to_a_plain_server_fails() {
    let plain = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = plain.local_addr().unwrap().port();
    std::thread::spawn(move || {
        use std::io::Write;
        for socket in plain.incoming() {
            let _ = socket
                .unwrap()
                .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    run(async {
        let get = request(Method::Get, &format!("https://localhost:{port}/"));
        let failure = client(Settings::default())
            .send(&get, None, &mut |_| {})
            .await
            .unwrap_err();
        assert_eq!(
            (failure.error.code, failure.error.message.as_str()),
            (1301, "tls: first record does not look like a TLS handshake")
        );
    });
}

#[test]
fn invalid_settings_are_detected_before_connecting() {
    let words = |tls: TlsSettings| tls.check().unwrap_err();
    let old = TlsSettings {
        versions: Some((TlsVersion::Tls10, TlsVersion::Tls11)),
        ..TlsSettings::default()
    };
    assert!(words(old).contains("tls1.0 to tls1.1 is not supported"));
    let ciphers = TlsSettings {
        versions: Some((TlsVersion::Tls12, TlsVersion::Tls12)),
        cipher_suites: vec![CipherSuite::parse("TLS_RSA_WITH_RC4_128_SHA").unwrap()],
        ..TlsSettings::default()
    };
    assert!(words(ciphers).contains("TLS_RSA_WITH_RC4_128_SHA"));
    let (one, two) = (identity(&["a.example"]), identity(&["b.example"]));
    let mut certificate = plimsoll_net::ClientCertificate {
        domains: vec!["a.example".into()],
        certificate_pem: one.certificate_pem.clone().into(),
        key_pem: two.key_pem.into(),
    };
    let with = |certificate: &plimsoll_net::ClientCertificate| TlsSettings {
        client_certificates: vec![certificate.clone()],
        ..TlsSettings::default()
    };
    assert!(
        words(with(&certificate))
            .contains("the client certificate for a.example does not match its key")
    );
    certificate.key_pem = b"-----BEGIN ENCRYPTED PRIVATE KEY-----\n".to_vec();
    assert!(words(with(&certificate)).contains("encrypted"));
    certificate.key_pem = one.key_pem.into();
    assert_eq!(with(&certificate).check(), Ok(()));
    certificate.certificate_pem = b"nothing".to_vec();
    assert!(words(with(&certificate)).contains("has no PEM certificate"));
}

#[test]
fn a_client_certificate_is_sent_only_to_its_hosts() {
    run(async {
        let server = identity(&["localhost"]);
        let own = identity(&["client"]);
        let port = serve_with(secure::acceptor_asking(&server, &own, &[])).await;
        let fetch = async |domains: &[&str]| {
            let tls = TlsSettings {
                insecure_skip_verify: true,
                client_certificates: vec![plimsoll_net::ClientCertificate {
                    domains: domains.iter().map(|domain| (*domain).to_owned()).collect(),
                    certificate_pem: own.certificate_pem.clone().into(),
                    key_pem: own.key_pem.clone().into(),
                }],
                ..TlsSettings::default()
            };
            let get = request(Method::Get, &format!("https://localhost:{port}/"));
            client(with_tls(tls, Protocol::Auto))
                .send(&get, None, &mut |_| {})
                .await
                .map(|response| response.status)
                .map_err(|failure| failure.error.message)
        };
        assert_eq!(fetch(&["localhost"]).await, Ok(200));
        assert_eq!(fetch(&[]).await, Ok(200));
        let refused = fetch(&["*.example.com"]).await.unwrap_err();
        assert_eq!(refused, "remote error: tls: certificate required");
    });
}
