//! A peer that misbehaves below HTTP, one way for each path.
//!
//! `/close` answers nothing and closes; `/reset` resets; `/garbage` is no HTTP; `/half` promises
//! 100 bytes and sends 10; `/until-close` ends its body by closing; `/chunk` breaks a chunk;
//! `/switch` answers 101; `/huge-header` never ends its headers (it stops at 12 MB);
//! `/bad-gzip` is not what its coding says; `/stall` never answers; `/continue` sends an
//! interim 100 first; `/twice` sends one header many times.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Accepts until the runtime ends.
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
    let answer = match path {
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
        "/reset" => {
            // Closing with a linger time of zero sends a reset instead of an end.
            let _ = socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO));
            return;
        }
        "/huge-header" => return endless_header(stream).await,
        "/stall" => {
            tokio::time::sleep(Duration::from_secs(30)).await;
            return;
        }
        _ => return,
    };
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
    // Closing before the peer has read could turn the end into a reset.
    let _ = tokio::time::timeout(Duration::from_secs(2), stream.read(&mut buffer)).await;
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
