//! A server of pages for browsers: one response per connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

/// Serves until the process exits. Returns its URL, such as `http://127.0.0.1:4711`.
pub fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || respond(stream));
        }
    });
    address
}

/// An address on which nobody listens.
pub fn closed() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

fn respond(mut stream: TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let header = |name: &str| {
        let found = headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    };
    let length = header("content-length").and_then(|length| length.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let html = "200 OK\r\nContent-Type: text/html";
    let json = "200 OK\r\nContent-Type: application/json";
    let path = target.split('?').next()?;
    let (head, body) = match path {
        "/" => (html, include_str!("home.html").to_owned()),
        "/second" => (html, include_str!("second.html").to_owned()),
        "/frame" => (html, include_str!("frame.html").to_owned()),
        "/moving" => (html, include_str!("moving.html").to_owned()),
        "/slow" => (html, "<p>document</p><img src=\"/never\">".to_owned()),
        "/redirect" => ("302 Found\r\nLocation: /second", String::new()),
        "/json" => (json, r#"{"a":1}"#.to_owned()),
        "/headers" => {
            let all: serde_json::Map<String, serde_json::Value> = headers
                .iter()
                .map(|(name, value)| (name.clone(), value.as_str().into()))
                .collect();
            (json, serde_json::Value::from(all).to_string())
        }
        "/echo" => {
            let text = format!("{method} {}", String::from_utf8_lossy(&body));
            ("200 OK\r\nContent-Type: text/plain", text)
        }
        "/picture.svg" => (
            "200 OK\r\nContent-Type: image/svg+xml",
            "<svg xmlns=\"http://www.w3.org/2000/svg\"/>".to_owned(),
        ),
        // "user:secret"
        "/private" if header("authorization") == Some("Basic dXNlcjpzZWNyZXQ=") => {
            (html, "private".to_owned())
        }
        "/private" => (
            "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"pages\"",
            String::new(),
        ),
        "/worker.js" => (
            "200 OK\r\nContent-Type: text/javascript",
            "onmessage = () => {}".to_owned(),
        ),
        "/never" => {
            // Responds only when the browser has given up.
            let _ = stream.read(&mut [0]);
            return None;
        }
        _ => (
            "404 Not Found\r\nContent-Type: text/plain",
            "none".to_owned(),
        ),
    };
    let response = format!(
        "HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(response.as_bytes()).ok()
}
