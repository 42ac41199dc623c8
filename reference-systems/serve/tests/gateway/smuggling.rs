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
    let mut answer = Vec::new();
    let mut piece = [0; 4096];
    while let Ok(read) = stream.read(&mut piece) {
        if read == 0 {
            break;
        }
        answer.extend_from_slice(&piece[..read]);
    }
    String::from_utf8_lossy(&answer).into_owned()
}

fn answers(text: &str) -> usize {
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
        let answer = exchange(&gateway, request.as_bytes());
        assert!(
            answer.starts_with("HTTP/1.1 4") || answer.starts_with("HTTP/1.1 501"),
            "{request:?}: {answer:?}"
        );
        assert_eq!(answers(&answer), 1, "{request:?}: {answer:?}");
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
        let answer = exchange(&gateway, request.as_bytes());
        assert_eq!(answers(&answer), 1, "{answer:?}");
        assert!(!answer.contains("418"), "{answer:?}");
    }
}

#[test]
fn chunks_are_framed_again() {
    let orders = Orders::start("A");
    let gateway = Gateway::start(&simple(&[&orders.address()], "", ""));
    let request = "POST /echo HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\
                   connection: close\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    let answer = exchange(&gateway, request.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("abc") && answer.contains("de"), "{answer}");
    assert!(!answer.contains("x=y"), "{answer}");
}

#[test]
fn sequential_requests_get_their_own_responses() {
    let orders = Orders::start("A");
    let gateway = Gateway::start(&simple(&[&orders.address()], "", ""));
    let requests: String = (0..5)
        .map(|index| format!("GET /request?{index} HTTP/1.1\r\nhost: a\r\n\r\n"))
        .collect();
    let answer = exchange(&gateway, requests.as_bytes());
    let places: Vec<_> = (0..5)
        .map(|index| answer.find(&format!("/request?{index}")))
        .collect();
    assert!(
        places.iter().all(Option::is_some) && places.is_sorted(),
        "{answer}"
    );
}

#[test]
fn an_absolute_target_names_the_host() {
    let orders = Orders::start("A");
    let gateway = Gateway::start(&simple(&[&orders.address()], "", ""));
    let request =
        "GET http://true.test/request HTTP/1.1\r\nhost: false.test\r\nconnection: close\r\n\r\n";
    let answer = exchange(&gateway, request.as_bytes());
    assert!(
        answer.contains("true.test") && !answer.contains("false.test"),
        "{answer}"
    );
    assert!(answer.contains(r#""target":"/request""#), "{answer}");
}
