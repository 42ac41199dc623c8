//! A user's connection to Chromium: JSON messages over a WebSocket.

use std::task::{Context, Poll};

use plimsoll_ws::{Connection as WebSocket, Error, Event, Kind, Limits};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Maximum length of a message in bytes. A screenshot of a long page is the longest message.
const MAX_MESSAGE: usize = 256 << 20;
/// Maximum length of the response to the handshake in bytes.
const MAX_RESPONSE: usize = 16 << 10;

/// Messages to and from Chromium.
#[derive(Debug)]
pub struct Connection(WebSocket<TcpStream>);

impl Connection {
    /// Connects to `endpoint`, such as `ws://127.0.0.1:9222/devtools/browser/…`.
    ///
    /// # Errors
    /// An error message for users.
    pub async fn open(endpoint: &str) -> Result<Connection, String> {
        let failed = |reason: String| format!("cannot connect to Chromium at {endpoint}: {reason}");
        let (host, path) = split(endpoint)
            .ok_or_else(|| failed("the address must be ws://HOST:PORT/PATH".to_owned()))?;
        let mut stream = TcpStream::connect(host)
            .await
            .map_err(|error| failed(error.to_string()))?;
        // Commands are small, and the script waits for each of them.
        let _ = stream.set_nodelay(true);
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: cGxpbXNvbGwgYnJvd3Nlcg==\r\n\r\n"
        );
        stream
            .write_all(request.as_bytes())
            .await
            .map_err(|error| failed(error.to_string()))?;
        let mut response = Vec::new();
        let end = loop {
            if let Some(end) = response.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            if response.len() > MAX_RESPONSE {
                return Err(failed(
                    "its response to the handshake is too long".to_owned(),
                ));
            }
            match stream.read_buf(&mut response).await {
                Ok(0) => return Err(failed("it closed the connection".to_owned())),
                Ok(_) => {}
                Err(error) => return Err(failed(error.to_string())),
            }
        };
        let (head, rest) = response.split_at(end);
        let line =
            String::from_utf8_lossy(head.split(|byte| *byte == b'\r').next().unwrap_or(head));
        if line.split(' ').nth(1) != Some("101") {
            return Err(failed(format!("it responded {line}")));
        }
        let limits = Limits {
            max_message: MAX_MESSAGE,
        };
        Ok(Connection(WebSocket::new(stream, rest, None, limits)))
    }

    /// Queues a message. [`Connection::poll_message`] writes it.
    pub fn send(&mut self, message: &str) {
        // This fails only after a close frame, which the next read reports.
        let _ = self.0.send(Kind::Text, message.as_bytes());
    }

    /// Writes the queued messages, and returns the next message that arrives.
    ///
    /// # Errors
    /// Why there are no more messages.
    pub fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Result<String, String>> {
        loop {
            return Poll::Ready(match std::task::ready!(self.0.poll_event(cx)) {
                Ok(Event::Text(text)) => Ok(text),
                Ok(Event::Close(_)) => Err("Chromium has ended".to_owned()),
                Ok(Event::Binary(_) | Event::Ping(_) | Event::Pong(_)) => continue,
                Err(Error::Closed { .. } | Error::Io(_)) => Err("Chromium has ended".to_owned()),
                Err(Error::Violation(violation)) => {
                    Err(format!("Chromium sent an invalid message: {violation}"))
                }
            });
        }
    }

    /// The next message.
    ///
    /// # Errors
    /// See [`Connection::poll_message`].
    pub async fn message(&mut self) -> Result<String, String> {
        std::future::poll_fn(|cx| self.poll_message(cx)).await
    }
}

/// The host with its port, and the path.
fn split(endpoint: &str) -> Option<(&str, &str)> {
    let rest = endpoint.strip_prefix("ws://")?;
    let slash = rest.find('/')?;
    let (host, path) = rest.split_at(slash);
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
    (host.contains(':') && is_plain(host) && is_plain(path)).then_some((host, path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    /// Accepts one connection and responds to its handshake with `response`.
    async fn peer(response: &'static [u8]) -> (String, tokio::task::JoinHandle<TcpStream>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let accepting = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                assert_ne!(stream.read_buf(&mut request).await.unwrap(), 0);
            }
            assert!(request.starts_with(b"GET /devtools/browser/1 HTTP/1.1\r\n"));
            stream.write_all(response).await.unwrap();
            stream
        });
        (format!("ws://{address}/devtools/browser/1"), accepting)
    }

    #[tokio::test]
    async fn messages_are_exchanged() {
        // The first message arrives with the response.
        let (endpoint, accepting) =
            peer(b"HTTP/1.1 101 Switching Protocols\r\n\r\n\x81\x02{}").await;
        let mut connection = Connection::open(&endpoint).await.unwrap();
        let mut stream = accepting.await.unwrap();
        assert_eq!(connection.message().await.as_deref(), Ok("{}"));
        connection.send("[1]");
        let reading = async {
            let mut frame = [0; 9];
            stream.read_exact(&mut frame).await.unwrap();
            stream.write_all(b"\x89\x00\x81\x03[2]").await.unwrap();
            frame
        };
        let (frame, received) = tokio::join!(reading, connection.message());
        assert_eq!(received.as_deref(), Ok("[2]"));
        assert_eq!(frame[..2], [0x81, 0x83]);
        let text: Vec<u8> = (0..3).map(|i| frame[6 + i] ^ frame[2 + i]).collect();
        assert_eq!(text, b"[1]");
        drop(stream);
        assert_eq!(
            connection.message().await,
            Err("Chromium has ended".to_owned())
        );
    }

    #[tokio::test]
    async fn refusals_are_explained() {
        let (endpoint, accepting) = peer(b"HTTP/1.1 404 Not Found\r\n\r\n").await;
        let error = Connection::open(&endpoint).await.unwrap_err();
        assert!(
            error.ends_with("it responded HTTP/1.1 404 Not Found"),
            "{error}"
        );
        drop(accepting);
        let (endpoint, accepting) = peer(b"HTTP/1.1 101").await;
        let opening = tokio::spawn(async move { Connection::open(&endpoint).await });
        drop(accepting.await.unwrap());
        let error = opening.await.unwrap().unwrap_err();
        assert!(error.ends_with("it closed the connection"), "{error}");
        for wrong in [
            "http://a:1/",
            "ws://a:1",
            "ws://host/path",
            "ws://a:1/b c",
            "",
        ] {
            let error = Connection::open(wrong).await.unwrap_err();
            assert!(error.ends_with("must be ws://HOST:PORT/PATH"), "{error}");
        }
    }
}
