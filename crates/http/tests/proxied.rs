//! Requests through a proxy: in absolute form without TLS, and through a tunnel with TLS.

mod peer;

use peer::{client, http_response, request, run, serve};
use plimsoll_http::{Method, Proxies, Settings};

fn through(proxy: &str) -> Settings {
    let proxies = Proxies::from_env(|name| {
        name.ends_with("PROXY").then(|| match name {
            "NO_PROXY" => "direct.test".to_owned(),
            _ => proxy.to_owned(),
        })
    });
    Settings {
        proxies: proxies.unwrap(),
        ..Settings::default()
    }
}

#[test]
fn plain_requests_use_the_absolute_form() {
    let proxy = serve(|head, _| http_response("200 OK", "", head.as_bytes()));
    run(async {
        let client = client(through(&format!("u:p@{proxy}")));
        let get = request(Method::Get, "http://far.test:81/x?y");
        let response = client.send(&get, None, &mut |_| {}).await.unwrap();
        let seen = String::from_utf8(response.body.to_vec()).unwrap();
        assert_eq!(
            seen,
            "GET http://far.test:81/x?y HTTP/1.1\r\nHost: far.test:81\r\nProxy-Authorization: Basic dTpw\r\n\r\n"
        );
        assert_eq!(response.remote, Some(proxy));
    });
}

#[test]
fn a_refused_tunnel_is_reported() {
    let proxy = serve(|head, _| {
        assert!(head.starts_with("CONNECT far.test:443 HTTP/1.1\r\nHost: far.test:443\r\n"));
        http_response("407 Proxy Authentication Required", "", b"")
    });
    run(async {
        let get = request(Method::Get, "https://far.test/");
        let failure = client(through(&proxy.to_string()))
            .send(&get, None, &mut |_| {})
            .await
            .unwrap_err();
        assert_eq!(
            failure.error.message,
            format!(
                "the proxy {proxy} responded to CONNECT with 407 Proxy Authentication Required"
            )
        );
    });
}
