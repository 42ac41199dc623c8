//! Tests what a client does after a response: redirects, cookies, credentials, codings.

mod peer;

use bytes::Bytes;
use peer::{client, http_response, request, run, serve};
use plimsoll_http::{
    Auth, BodyUse, CookieJar, Encoding, Exchange, Method, RequestCookie, Settings, Url,
};

/// `/r/STATUS` redirects to `/echo`; `/echo` responds with the request itself.
fn echo() -> std::net::SocketAddr {
    serve(|head, body| {
        let path = head.split(' ').nth(1).unwrap();
        match path.strip_prefix("/r/") {
            Some("loop") => http_response("302 Found", "Location: /r/loop\r\n", b""),
            Some("away") => {
                let host = head.lines().find_map(|l| l.strip_prefix("Host: ")).unwrap();
                let port = host.rsplit(':').next().unwrap();
                http_response(
                    "302 Found",
                    &format!("Location: http://localhost:{port}/echo\r\n"),
                    b"",
                )
            }
            Some(status) => http_response(
                &format!("{status} x"),
                "Location: /echo?n\r\nSet-Cookie: hop=1; Path=/\r\n",
                b"moved",
            ),
            None => http_response("200 OK", "", &[head.as_bytes(), body].concat()),
        }
    })
}

fn lines(body: &Bytes) -> Vec<String> {
    let text = String::from_utf8(body.to_vec()).unwrap();
    text.split("\r\n").map(str::to_owned).collect()
}

#[test]
fn redirects_change_methods_and_keep_cookies() {
    let address = echo();
    run(async {
        let client = client(Settings::default());
        for (status, kept) in [
            (301, false),
            (302, false),
            (303, false),
            (307, true),
            (308, true),
        ] {
            let jar = CookieJar::new();
            let mut post = request(Method::Post, &format!("http://{address}/r/{status}"));
            post.body = Bytes::from_static(b"body!");
            post.headers.set("Content-Type", "text/x").unwrap();
            post.headers.set("Authorization", "A").unwrap();
            post.cookies.push(RequestCookie {
                name: "c".into(),
                value: "v".into(),
                replace: false,
            });
            let mut seen: Vec<Exchange> = Vec::new();
            let response = client
                .send(&post, Some(&jar), &mut |exchange| {
                    seen.push(exchange.clone())
                })
                .await
                .unwrap();
            assert_eq!(response.url.as_str(), format!("http://{address}/echo?n"));
            assert_eq!(
                seen.iter().map(|e| e.status).collect::<Vec<_>>(),
                [status, 200]
            );
            let got = lines(&response.body);
            let method = if kept { "POST" } else { "GET" };
            assert_eq!(got[0], format!("{method} /echo?n HTTP/1.1"));
            assert!(got.contains(&"Cookie: c=v; hop=1".into()), "{got:?}");
            assert!(got.contains(&"Authorization: A".into()));
            assert!(got.contains(&format!("Referer: http://{address}/r/{status}")));
            assert_eq!(got.contains(&"Content-Type: text/x".into()), kept);
            assert_eq!(got.last().unwrap(), if kept { "body!" } else { "" });
            let first: Vec<_> = response.sent.fields().map(|(name, _)| name).collect();
            assert!(first.contains(&"Content-Type") && !first.contains(&"Referer"));
        }
    });
}

#[test]
fn another_host_receives_no_credentials() {
    let address = echo();
    run(async {
        let mut get = request(Method::Get, &format!("http://u:p@{address}/r/away"));
        get.headers.set("Cookie", "raw=1").unwrap();
        get.headers.set("X-Kept", "1").unwrap();
        let response = client(Settings::default())
            .send(&get, None, &mut |_| {})
            .await
            .unwrap();
        let got = lines(&response.body);
        assert!(got.contains(&"X-Kept: 1".into()));
        assert!(
            !got.iter()
                .any(|l| l.starts_with("Cookie") || l.starts_with("Authorization"))
        );
        assert_eq!(response.url.host(), "localhost");
    });
}

#[test]
fn redirects_end_at_their_limit() {
    let address = echo();
    run(async {
        let client = client(Settings::default());
        for (limit, hops) in [(None, 11), (Some(0), 1), (Some(3), 4)] {
            let mut get = request(Method::Get, &format!("http://{address}/r/loop"));
            get.max_redirects = limit;
            let mut count = 0;
            let response = client.send(&get, None, &mut |_| count += 1).await.unwrap();
            assert_eq!((response.status, count), (302, hops));
        }
    });
}

#[test]
fn basic_credentials_are_sent_first_and_digest_ones_after_a_challenge() {
    let address = serve(|head, body| {
        let authorization = head
            .lines()
            .find_map(|line| line.strip_prefix("Authorization: "));
        match authorization {
            Some(text) => http_response("200 OK", "", &[text.as_bytes(), b"|", body].concat()),
            None => http_response(
                "401 Unauthorized",
                "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n",
                b"who?",
            ),
        }
    });
    run(async {
        let client = client(Settings::default());
        let mut post = request(Method::Post, &format!("http://u:p@{address}/x"));
        post.body = Bytes::from_static(b"data");
        let mut legs = 0;
        let basic = client.send(&post, None, &mut |_| legs += 1).await.unwrap();
        assert_eq!((&basic.body[..], legs), (&b"Basic dTpw|data"[..], 1));

        post.auth = Auth::Digest;
        legs = 0;
        let digest = client.send(&post, None, &mut |_| legs += 1).await.unwrap();
        let text = String::from_utf8(digest.body.to_vec()).unwrap();
        assert_eq!((digest.status, legs), (200, 2));
        assert!(text.starts_with("Digest username=\"u\", realm=\"r\", nonce=\"n\", uri=\"/x\""));
        assert!(text.ends_with("|data"));

        post.auth = Auth::Ntlm;
        let failure = client.send(&post, None, &mut |_| {}).await.unwrap_err();
        assert!(
            failure
                .error
                .message
                .contains("NTLM authentication is not supported")
        );
    });
}

#[test]
fn codings_work_in_both_directions() {
    let address = serve(|head, body| {
        let coding = head
            .lines()
            .find_map(|line| line.strip_prefix("Content-Encoding: "))
            .unwrap();
        http_response("200 OK", &format!("Content-Encoding: {coding}\r\n"), body)
    });
    run(async {
        let client = client(Settings::default());
        let mut post = request(Method::Post, &format!("http://{address}/"));
        post.body = b"data ".repeat(100).into();
        post.compression = vec![Encoding::Gzip, Encoding::Brotli];
        let kept = client.send(&post, None, &mut |_| {}).await.unwrap();
        assert_eq!(kept.body, post.body);
        assert_eq!(kept.sent.body, post.body);
        post.body_use = BodyUse::Discard;
        let dropped = client.send(&post, None, &mut |_| {}).await.unwrap();
        assert_eq!((dropped.status, dropped.body.len()), (200, 0));
        // The server declares a coding that does not match the body.
        post.body_use = BodyUse::Keep;
        post.compression.clear();
        post.headers.set("Content-Encoding", "gzip").unwrap();
        let mut seen = Vec::new();
        let failure = client
            .send(&post, None, &mut |exchange| {
                seen.push(exchange.error_code())
            })
            .await
            .unwrap_err();
        assert_eq!((failure.error.code, failure.response.status), (1701, 0));
        assert_eq!(seen, [1701]);
    });
}

#[test]
fn unusable_urls_fail_with_an_exchange() {
    run(async {
        let client = client(Settings::default());
        let mut seen = 0;
        let get = request(Method::Get, "ftp://127.0.0.1/");
        let failure = client
            .send(&get, None, &mut |_| seen += 1)
            .await
            .unwrap_err();
        assert_eq!(failure.error.message, "unsupported protocol scheme \"ftp\"");
        assert_eq!(seen, 1);
        assert!(Url::parse("http://h:x/").is_err());
    });
}
