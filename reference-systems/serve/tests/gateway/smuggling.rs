//! Hand-written requests that two servers may interpret differently.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::running::{Gateway, Orders, simple};

/// Sends bytes, and returns everything received until the connection is closed or idle.
fn exchange(gateway: &Gateway, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(gateway.address()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_millis(500)))
        .unwrap();
    stream.write_all(bytes).unwrap();
    let mut response = Vec::new();
    let mut piece = [0; 4096];
    while let Ok(read) = stream.read(&mut piece) {
        if read == 0 {
            break;
        }
        response.extend_from_slice(&piece[..read]);
    }
    String::from_utf8_lossy(&response).into_owned()
}

fn count_responses(text: &str) -> usize {
    text.matches("HTTP/1.1 ").count()
}

#[test]
fn ambiguous_input_is_refused() {
    let orders = Orders::start("A");
    let gateway = Gateway::start(&simple(&[&orders.address()], "", ""));
    for request in [
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: a b\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabc",
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: +3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3, 3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: xchunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.0\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: a\r\nx: a\r\n b\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: a\r\nx : a\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: a\r\nx: a\0b\r\n\r\n",
        "GET /a/../b HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET /a/%2e%2E/b HTTP/1.1\r\nhost: a\r\n\r\n",
        "CONNECT a:80 HTTP/1.1\r\nhost: a\r\n\r\n",
        "TRACE / HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET * HTTP/1.1\r\nhost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET /a/..%2fb HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET /a%2f%2e%2e%2fb HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET /a%00b HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET /a%zzb HTTP/1.1\r\nhost: a\r\n\r\n",
    ] {
        let response = exchange(&gateway, request.as_bytes());
        assert!(
            response.starts_with("HTTP/1.1 4") || response.starts_with("HTTP/1.1 501"),
            "{request:?}: {response:?}"
        );
        assert_eq!(count_responses(&response), 1, "{request:?}: {response:?}");
    }
    assert_eq!(orders.requests(), 0);
}

#[test]
fn with_two_framings_the_chunks_count_and_nothing_is_left_for_a_second_request() {
    let orders = Orders::start("A");
    let gateway = Gateway::start(&simple(&[&orders.address()], "", ""));
    // By its Content-Length this is one request, by its chunks it is two (RFC 9112, section 6.3):
    // the connection must end after the first.
    let hidden = "0\r\n\r\nGET /status/418 HTTP/1.1\r\nhost: a\r\n\r\n";
    for heads in [
        format!(
            "content-length: {}\r\ntransfer-encoding: chunked",
            hidden.len()
        ),
        format!(
            "transfer-encoding: chunked\r\ncontent-length: {}",
            hidden.len()
        ),
    ] {
        let request = format!("POST /echo HTTP/1.1\r\nhost: a\r\n{heads}\r\n\r\n{hidden}");
        let response = exchange(&gateway, request.as_bytes());
        assert_eq!(count_responses(&response), 1, "{response:?}");
        assert!(!response.contains("418"), "{response:?}");
    }
}

#[test]
fn chunks_are_framed_again() {
    let orders = Orders::start("A");
    let gateway = Gateway::start(&simple(&[&orders.address()], "", ""));
    let request = "POST /echo HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\
                   connection: close\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    let response = exchange(&gateway, request.as_bytes());
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    assert!(
        response.contains("abc") && response.contains("de"),
        "{response}"
    );
    assert!(!response.contains("x=y"), "{response}");
}

#[test]
fn sequential_requests_get_their_own_responses() {
    let orders = Orders::start("A");
    let gateway = Gateway::start(&simple(&[&orders.address()], "", ""));
    let requests: String = (0..5)
        .map(|index| format!("GET /request?{index} HTTP/1.1\r\nhost: a\r\n\r\n"))
        .collect();
    let response = exchange(&gateway, requests.as_bytes());
    let places: Vec<_> = (0..5)
        .map(|index| response.find(&format!("/request?{index}")))
        .collect();
    assert!(
        places.iter().all(Option::is_some) && places.is_sorted(),
        "{response}"
    );
}

#[test]
fn an_absolute_target_names_the_host() {
    let orders = Orders::start("A");
    let gateway = Gateway::start(&simple(&[&orders.address()], "", ""));
    let request =
        "GET http://true.test/request HTTP/1.1\r\nhost: false.test\r\nconnection: close\r\n\r\n";
    let response = exchange(&gateway, request.as_bytes());
    assert!(
        response.contains("true.test") && !response.contains("false.test"),
        "{response}"
    );
    assert!(response.contains(r#""target":"/request""#), "{response}");
}
