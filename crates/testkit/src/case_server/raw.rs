//! A peer that misbehaves below HTTP. The path selects the behavior.
//!
//! `/close` closes without a response; `/reset` resets; `/garbage` is not HTTP; `/half` announces
//! 100 bytes and sends 10; `/until-close` ends its body by closing the connection; `/chunk` sends
//! an invalid chunk; `/switch` responds with 101; `/huge-header` never ends its headers (it stops
//! at 12 MB); `/bad-gzip` is declared as gzip but is not; `/stall` never responds; `/continue`
//! first sends an interim 100; `/twice` sends one header several times. Paths under `/odd/` respond
//! with unusual headers and framings; the path names what is unusual.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Accepts connections until the runtime ends.
pub async fn serve(listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(misbehave(stream));
    }
}

async fn misbehave(mut stream: TcpStream) {
    let mut head = Vec::new();
    let mut buffer = [0_u8; 4096];
    while !head.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        match stream.read(&mut buffer).await {
            Ok(length) if length > 0 => {
                head.extend_from_slice(buffer.get(..length).unwrap_or_default());
            }
            _ => return,
        }
    }
    let head = String::from_utf8_lossy(&head);
    let path = head.split(' ').nth(1).unwrap_or("/");
    let ok = "HTTP/1.1 200 OK\r\n";
    let response = match path {
        "/garbage" => "this is no HTTP at all\r\n\r\n".to_owned(),
        "/half" => format!("{ok}Content-Length: 100\r\n\r\n0123456789"),
        "/until-close" => format!("{ok}Connection: close\r\n\r\nto the end"),
        "/chunk" => format!("{ok}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n"),
        "/switch" => {
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"
                .to_owned()
        }
        "/bad-gzip" => format!("{ok}Content-Encoding: gzip\r\nContent-Length: 9\r\n\r\nnot gzip!"),
        "/continue" => {
            format!("HTTP/1.1 100 Continue\r\n\r\n{ok}Content-Length: 5\r\n\r\nafter")
        }
        "/twice" => format!("{ok}X-Many: a\r\nX-Many: b\r\nx-many: c\r\nContent-Length: 0\r\n\r\n"),
        "/bad-length" => format!("{ok}Content-Length: many\r\n\r\n"),
        "/bad-status" => "HTTP/1.1 abc OK\r\n\r\n".to_owned(),
        "/reset-in-body" => {
            let head = format!("{ok}Content-Length: 100\r\n\r\n0123456789");
            let _ = stream.write_all(head.as_bytes()).await;
            // Let the client read the bytes that were sent before the reset.
            tokio::time::sleep(Duration::from_millis(50)).await;
            let _ = socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO));
            return;
        }
        "/reset" => {
            // Closing with a linger time of zero sends a reset instead of a FIN.
            let _ = socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO));
            return;
        }
        "/huge-header" => return endless_header(stream).await,
        "/stall" => {
            tokio::time::sleep(Duration::from_secs(30)).await;
            return;
        }
        _ => match path.strip_prefix("/odd/").and_then(odd_response) {
            Some(response) => response,
            None => return,
        },
    };
    let _ = stream.write_all(response.as_bytes()).await;
    let _ = stream.shutdown().await;
    // Wait for the peer: closing before it has read everything could turn the FIN into a reset.
    let _ = tokio::time::timeout(Duration::from_secs(2), stream.read(&mut buffer)).await;
}

/// Headers and framings at the limits of what HTTP allows.
fn odd_response(what: &str) -> Option<String> {
    let ok = "HTTP/1.1 200 OK\r\n";
    Some(match what {
        "no-colon" => format!("{ok}this is no field\r\nContent-Length: 2\r\n\r\nok"),
        "empty-name" => format!("{ok}: value\r\nContent-Length: 2\r\n\r\nok"),
        "space-in-name" => format!("{ok}X Y: z\r\nContent-Length: 2\r\n\r\nok"),
        "space-before-colon" => format!("{ok}X-Y : z\r\nContent-Length: 2\r\n\r\nok"),
        "folded" => format!("{ok}X-Y: a\r\n  b\r\nContent-Length: 2\r\n\r\nok"),
        "nul-in-value" => format!("{ok}X-Y: a\0b\r\nContent-Length: 2\r\n\r\nok"),
        "negative-length" => format!("{ok}Content-Length: -2\r\n\r\nok"),
        "plus-length" => format!("{ok}Content-Length: +2\r\n\r\nok"),
        "two-lengths" => format!("{ok}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok!"),
        "same-lengths" => format!("{ok}Content-Length: 2\r\nContent-Length: 2\r\n\r\nok"),
        "huge-length" => format!("{ok}Content-Length: 99999999999999999999\r\n\r\nok"),
        "length-and-chunks" => format!(
            "{ok}Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
        ),
        "unknown-coding" => format!("{ok}Transfer-Encoding: squeezed\r\n\r\nok"),
        "huge-chunk" => format!("{ok}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nok"),
        "chunk-extension" => {
            format!("{ok}Transfer-Encoding: chunked\r\n\r\n2;a=b\r\nok\r\n0\r\n\r\n")
        }
        "trailers" => format!(
            "{ok}Transfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n2\r\nok\r\n0\r\nX-T: v\r\n\r\n"
        ),
        "half-chunk" => format!("{ok}Transfer-Encoding: chunked\r\n\r\n5\r\nok"),
        "no-last-chunk" => format!("{ok}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"),
        "line-feeds" => "HTTP/1.1 200 OK\nContent-Length: 2\n\nok".to_owned(),
        "http-1.0" => "HTTP/1.0 200 OK\r\n\r\nold".to_owned(),
        "http-0.9" => "<html>ancient</html>\r\n".to_owned(),
        "lower-case" => "http/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_owned(),
        "no-reason" => "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok".to_owned(),
        "four-digits" => "HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\nok".to_owned(),
        "status-999" => "HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nok".to_owned(),
        "status-000" => "HTTP/1.1 000 Odd\r\nContent-Length: 2\r\n\r\nok".to_owned(),
        "more-than-said" => {
            format!("{ok}Content-Length: 2\r\nConnection: close\r\n\r\nok and more")
        }
        "head-only" => ok.to_owned(),
        "half-head" => format!("{ok}Content-Len"),
        "half-line" => "HTTP/1.1 20".to_owned(),
        "empty-lines-first" => format!("\r\n\r\n{ok}Content-Length: 2\r\n\r\nok"),
        "ssh" => "SSH-2.0-OpenSSH_9.2\r\n".to_owned(),
        "tls-alert" => "\u{15}\u{3}\u{3}\0\u{2}\u{2}\u{46}".to_owned(),
        _ => return None,
    })
}

async fn endless_header(mut stream: TcpStream) {
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n").await;
    let line = format!("X-Pad: {}\r\n", "x".repeat(8000));
    for _ in 0..1500 {
        if stream.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
    let _ = stream.write_all(b"\r\n").await;
}
