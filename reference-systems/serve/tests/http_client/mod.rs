//! A small client for these tests: one connection, one request after another.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// Time limit for a response.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Client {
    address: String,
    stream: Option<BufReader<TcpStream>>,
}

#[derive(Debug, Clone)]
pub struct Response {
    pub status: u16,
    /// Names in lower case.
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }
}

impl Client {
    /// A client of the server at `url`, such as `http://127.0.0.1:1`.
    pub fn new(url: &str) -> Client {
        Client {
            address: url.trim_start_matches("http://").to_owned(),
            stream: None,
        }
    }

    /// Sends a request, on a new connection if there is none. After an error it is unknown whether
    /// the server processed the request.
    pub fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&str>,
    ) -> io::Result<Response> {
        let outcome = self.exchange(method, path, headers, body);
        if outcome.is_err() {
            self.stream = None;
        }
        outcome
    }

    fn exchange(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&str>,
    ) -> io::Result<Response> {
        let mut request = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\n", self.address);
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        if let Some(body) = body {
            request += &format!("content-length: {}\r\n", body.len());
        }
        request += "\r\n";
        request += body.unwrap_or_default();
        if self.stream.is_none() {
            let stream = TcpStream::connect(&self.address)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            self.stream = Some(BufReader::new(stream));
        }
        let stream = self.stream.as_mut().unwrap();
        let written = stream.get_mut().write_all(request.as_bytes());
        // A server may have responded before it closed the connection.
        let response = match read(stream, method == "HEAD") {
            Ok(response) => response,
            Err(error) => return Err(written.err().unwrap_or(error)),
        };
        if written.is_err() || response.header("connection") == Some("close") {
            self.stream = None;
        }
        Ok(response)
    }

    pub fn get(&mut self, path: &str, headers: &[(&str, &str)]) -> Response {
        self.send("GET", path, headers, None).unwrap()
    }
}

fn read(stream: &mut BufReader<TcpStream>, head_only: bool) -> io::Result<Response> {
    let mut line = String::new();
    let mut next = |stream: &mut BufReader<TcpStream>| -> io::Result<String> {
        line.clear();
        match stream.read_line(&mut line)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(line.trim_end().to_owned()),
        }
    };
    let wrong = || io::Error::other("no HTTP");
    let status = next(stream)?
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok())
        .ok_or_else(wrong)?;
    let mut headers = Vec::new();
    loop {
        let line = next(stream)?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').ok_or_else(wrong)?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut response = Response {
        status,
        headers,
        body: Vec::new(),
    };
    let length = response
        .header("content-length")
        .map_or(Ok(0), |length| length.parse().map_err(|_| wrong()))?;
    if !head_only && status != 304 {
        response.body.resize(length, 0);
        stream.read_exact(&mut response.body)?;
    }
    Ok(response)
}
