//! Sends one plain HTTP/1.1 request, to check whether a system is ready or to read values from it.
//! This module measures nothing.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// Maximum length of a response in bytes.
const MAX_RESPONSE: usize = 4 << 20;

/// Requests `http://HOST:PORT/PATH`. Returns the status and the body.
///
/// # Errors
/// The reason why there is no response.
pub fn get(url: &str, patience: Duration) -> Result<(u16, String), String> {
    let rest = url.strip_prefix("http://").ok_or_else(|| {
        format!("{url} does not start with http://; use tcp or log for other protocols")
    })?;
    let (host, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
    let address = host
        .to_socket_addrs()
        .map_err(|error| format!("{host}: {error}"))?
        .next()
        .ok_or_else(|| format!("{host} has no address"))?;
    let fail = |error: std::io::Error| format!("{url}: {error}");
    let mut stream = TcpStream::connect_timeout(&address, patience).map_err(fail)?;
    stream.set_read_timeout(Some(patience)).map_err(fail)?;
    stream.set_write_timeout(Some(patience)).map_err(fail)?;
    // With HTTP/1.0, the response has simple framing: a length, or the end of the connection.
    let request =
        format!("GET {path} HTTP/1.0\r\nHost: {host}\r\nConnection: close\r\nAccept: */*\r\n\r\n");
    stream.write_all(request.as_bytes()).map_err(fail)?;
    let mut response = Vec::new();
    let mut buffer = [0; 1 << 14];
    while response.len() < MAX_RESPONSE && !is_whole(&response) {
        match stream.read(&mut buffer).map_err(fail)? {
            0 => break,
            read => response.extend_from_slice(buffer.get(..read).unwrap_or_default()),
        }
    }
    let text = String::from_utf8_lossy(&response);
    let (head, body) = text
        .split_once("\r\n\r\n")
        .ok_or_else(|| format!("{url}: the response has no headers"))?;
    let status = head
        .split_whitespace()
        .nth(1)
        .and_then(|status| status.parse().ok())
        .ok_or_else(|| format!("{url}: the response has no status"))?;
    Ok((status, body.to_owned()))
}

/// Whether everything that the headers announce has arrived (RFC 9112, section 6.3).
fn is_whole(response: &[u8]) -> bool {
    let text = String::from_utf8_lossy(response);
    let Some((head, _)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().ok())?
    });
    // The headers are ASCII, so their length in characters is their length in bytes.
    length.is_some_and(|length| response.len() >= head.len() + 4 + length)
}

/// The URL of a path on a process. A complete URL stays unchanged.
pub fn url_of(host: IpAddr, port: u16, path: &str) -> String {
    if path.contains("://") {
        path.to_owned()
    } else {
        let at = SocketAddr::new(host, port);
        format!("http://{at}/{}", path.trim_start_matches('/'))
    }
}
