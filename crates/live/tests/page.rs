//! The server of the page, over real connections.

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use plimsoll_live::{LivePage, PageTitle, WebAddress};
use serde_json::Value;

fn page(address: &WebAddress) -> LivePage {
    LivePage::open(&address.clone().with_port(0), "--web").expect("a page")
}

/// Sends a request with these headers to the address of the page.
fn connect(page: &LivePage, path: &str, headers: &str) -> TcpStream {
    let rest = page.url().strip_prefix("http://").expect("a URL");
    let (host, _) = rest.split_once('/').expect("a path");
    let mut stream = TcpStream::connect(host).expect("a connection");
    let host = if headers.contains("Host:") {
        String::new()
    } else {
        format!("Host: {host}\r\n")
    };
    write!(stream, "GET {path} HTTP/1.1\r\n{host}{headers}\r\n").expect("a request");
    let patience = Some(Duration::from_secs(30));
    stream.set_read_timeout(patience).expect("a time limit");
    stream
}

fn response(page: &LivePage, path: &str, headers: &str) -> String {
    let mut text = String::new();
    let mut stream = connect(page, path, headers);
    stream.read_to_string(&mut text).expect("a response");
    text
}

/// Returns the data of each event until the stream ends.
fn events(stream: TcpStream) -> Vec<Value> {
    BufReader::new(stream)
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
        .collect()
}

#[test]
fn the_page_is_served_to_this_machine_only() {
    let page = page(&WebAddress::default());
    let found = response(&page, "/", "");
    assert!(found.starts_with("HTTP/1.1 200 OK\r\n"), "{found}");
    assert!(found.contains("Content-Security-Policy: default-src 'none'"));
    assert!(found.contains("<title>Plimsoll</title>"));
    let status = |path: &str, headers: &str| {
        let found = response(&page, path, headers);
        found.split(' ').nth(1).map(str::to_owned)
    };
    assert_eq!(status("/elsewhere", "").as_deref(), Some("404"));
    assert_eq!(
        status("/", "Host: evil.example\r\n").as_deref(),
        Some("403")
    );
    let origin = "Origin: http://evil.example\r\n";
    assert_eq!(status("/events", origin).as_deref(), Some("403"));
}

#[test]
fn another_address_requires_the_token() {
    let token = Some("a-long-token".to_owned());
    let address = WebAddress::default().with_host("0.0.0.0").with_token(token);
    let page = page(&address);
    assert!(
        page.url().ends_with("/?token=a-long-token"),
        "{}",
        page.url()
    );
    assert!(response(&page, "/", "").starts_with("HTTP/1.1 401 "));
    assert!(response(&page, "/events", "").starts_with("HTTP/1.1 401 "));
    let found = response(&page, "/?token=a-long-token", "Host: any.name\r\n");
    assert!(found.starts_with("HTTP/1.1 200 "), "{found}");
}

#[test]
fn viewers_see_all_requests_and_a_stalled_one_delays_nothing() {
    let page = page(&WebAddress::default());
    let viewers: Vec<_> = (0..3)
        .map(|_| {
            let stream = connect(&page, "/events", "");
            std::thread::spawn(|| events(stream))
        })
        .collect();
    let _stalled = connect(&page, "/events", "");
    let listener = page.listener(PageTitle::default()).expect("a listener");
    let outcome = support::run_for(3, vec![listener]);
    assert_eq!(outcome.output_errors, Vec::<String>::new());
    assert_eq!(outcome.iterations, 150);
    for viewer in viewers {
        let events = viewer.join().expect("a viewer");
        let last = &events.last().expect("events")["state"];
        assert_eq!(last["ended"], "completed");
        assert_eq!(last["requests"], 150);
        assert_eq!(last["failed"], 15);
        assert_eq!(last["iterations"]["offered"], 150);
        assert_eq!(last["iterations"]["started"], 150);
        assert_eq!(last["names"][0]["method"], "GET");
        assert_eq!(last["names"][0]["requests"], 150);
        assert_eq!(last["names"][0]["failed"], 15);
        assert!(last["names"][0]["p99"].is_number());
        assert_eq!(last["verdict"]["is_final"], true);
        assert_eq!(last["statuses"][0]["text"], "200");
        assert_eq!(last["statuses"][0]["count"], 135);
        // Later versions of a point replace earlier versions.
        let mut points: Vec<&Value> = Vec::new();
        for event in events.iter().filter(|event| event["point"].is_object()) {
            let place = event["place"].as_u64().expect("a place") as usize;
            points.truncate(place);
            points.push(&event["point"]);
        }
        assert!((3..=4).contains(&points.len()), "{points:?}");
        let sum = |key: &str| points.iter().filter_map(|p| p[key].as_u64()).sum::<u64>();
        for (key, expected) in [
            ("requests", 150),
            ("failed", 15),
            ("offered", 150),
            ("started", 150),
            ("finished", 150),
        ] {
            assert_eq!(sum(key), expected, "{key} of {points:?}");
        }
        // The latencies of a point are those of its successful requests.
        for point in &points {
            let bins = point["latency"]["spread"].as_array();
            let counts = bins
                .into_iter()
                .flatten()
                .filter_map(|pair| pair[1].as_u64());
            let number = |key: &str| point[key].as_u64().unwrap_or_default();
            let successful = number("requests") - number("failed");
            assert_eq!(successful, counts.sum::<u64>(), "{point}");
        }
        assert!(points[0]["lag"].is_number());
    }
}

#[test]
fn a_viewer_that_connects_after_the_end_gets_the_whole_run() {
    let page = page(&WebAddress::default());
    let listener = page.listener(PageTitle::default()).expect("a listener");
    support::run_for(2, vec![listener]);
    let events = events(connect(&page, "/events", ""));
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["state"]["ended"], "completed");
    let points = events[0]["points"].as_array().expect("points");
    let requests: u64 = points.iter().filter_map(|p| p["requests"].as_u64()).sum();
    assert_eq!(requests, 100);
}
