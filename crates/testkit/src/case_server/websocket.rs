//! WebSockets under `/ws/`, with one behavior per path:
//!
//! | path | behavior |
//! |---|---|
//! | `echo` | echoes messages; compressed if the client offered it and the query is `deflate` |
//! | `close/CODE/REASON` | sends a close frame immediately (`close/none`: an empty one) |
//! | `close-after/CODE` | sends a close frame after the first message |
//! | `send/N`, `send-close/N` | sends N text messages; then nothing, or a close frame |
//! | `text/N`, `binary/N` | sends one message of N bytes |
//! | `ping` | sends a ping, and a text message after it has received the pong |
//! | `drop`, `drop-after` | closes the connection without a close frame |
//! | `headers` | sends the headers of the handshake request as JSON |
//! | `fragments` | sends a text message in three fragments, with a ping between them |
//! | `protocol`, `protocol/NAME` | selects the first offered subprotocol, or that name in any case |
//! | `set-cookie` | sets a cookie in the response |
//! | `deaf` | neither reads nor sends anything |
//! | `bad/KIND` | sends an invalid frame |
//! | `refuse/STATUS`, `bad-accept`, `not-upgraded` | rejects the handshake |
//! | `slow/MS` | like `echo`, after a delay |

use std::io;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::body::Incoming;
use hyper::header::HeaderMap;
use hyper::upgrade::OnUpgrade;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Map, Value};
use sha1::{Digest as _, Sha1};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};

use super::frames::{self, BINARY, CLOSE, CONTINUATION, LAST, PING, PONG, TEXT};

/// The response to a handshake: status, headers, body.
pub struct Handshake {
    pub status: StatusCode,
    pub headers: Vec<(&'static str, String)>,
    pub body: &'static str,
}

/// Handles a request below `/ws/`. If the request is a handshake, continues on the same connection.
pub async fn respond(mut request: Request<Incoming>) -> Handshake {
    let path = request.uri().path().to_owned();
    let query = request.uri().query().unwrap_or_default().to_owned();
    let parts: Vec<&str> = path.trim_matches('/').split('/').skip(1).collect();
    let refused = |status| Handshake {
        status,
        headers: Vec::new(),
        body: "no handshake here\n",
    };
    if let ["refuse", code] = parts.as_slice() {
        let status = code
            .parse()
            .ok()
            .and_then(|code| StatusCode::from_u16(code).ok());
        return refused(status.unwrap_or(StatusCode::BAD_REQUEST));
    }
    let headers = request.headers().clone();
    let Some(key) = headers.get("sec-websocket-key") else {
        return refused(StatusCode::BAD_REQUEST);
    };
    if let ["slow", milliseconds] = parts.as_slice() {
        tokio::time::sleep(Duration::from_millis(milliseconds.parse().unwrap_or(0))).await;
    }
    let mut digest = Sha1::new();
    digest.update(key.as_bytes());
    digest.update(b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    let accept = match parts.as_slice() {
        ["bad-accept"] => "AAAAAAAAAAAAAAAAAAAAAAAAAAA=".to_owned(),
        _ => STANDARD.encode(digest.finalize()),
    };
    let upgrade = match parts.as_slice() {
        ["not-upgraded"] => "other",
        _ => "websocket",
    };
    let mut response_headers = vec![
        ("upgrade", upgrade.to_owned()),
        ("connection", "Upgrade".to_owned()),
        ("sec-websocket-accept", accept),
    ];
    let offered = text(&headers, "sec-websocket-protocol");
    let protocol = match parts.as_slice() {
        ["protocol"] => offered.split(',').next().unwrap_or_default().trim(),
        ["protocol", name] => name,
        _ => "",
    };
    if !protocol.is_empty() {
        response_headers.push(("sec-websocket-protocol", protocol.to_owned()));
    }
    let deflate = query == "deflate"
        && text(&headers, "sec-websocket-extensions").contains("permessage-deflate");
    if deflate {
        let both = "permessage-deflate; server_no_context_takeover; client_no_context_takeover";
        response_headers.push(("sec-websocket-extensions", both.to_owned()));
    }
    if let ["set-cookie"] = parts.as_slice() {
        response_headers.push(("set-cookie", "session=abc; Path=/".to_owned()));
    }
    let upgraded = hyper::upgrade::on(&mut request);
    let parts: Vec<String> = parts.iter().map(|&part| part.to_owned()).collect();
    tokio::spawn(behave(upgraded, parts, headers, deflate));
    Handshake {
        status: StatusCode::SWITCHING_PROTOCOLS,
        headers: response_headers,
        body: "",
    }
}

fn text(headers: &HeaderMap, name: &str) -> String {
    let values = headers.get_all(name).iter();
    let values: Vec<_> = values
        .map(|value| String::from_utf8_lossy(value.as_bytes()))
        .collect();
    values.join(", ")
}

async fn behave(upgraded: OnUpgrade, parts: Vec<String>, headers: HeaderMap, deflate: bool) {
    let Ok(stream) = upgraded.await else { return };
    let mut stream = BufReader::new(TokioIo::new(stream));
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    // A client that disconnects ends the case, but not the server.
    let _ = converse(&mut stream, &parts, &headers, deflate).await;
}

async fn converse(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    parts: &[&str],
    headers: &HeaderMap,
    deflate: bool,
) -> io::Result<()> {
    match parts {
        ["close", "none"] => return close(stream, &[]).await,
        ["close", code] => return close(stream, &coded(code, "")).await,
        ["close", code, reason] => return close(stream, &coded(code, reason)).await,
        ["close-after", code] => {
            frames::read(stream).await?;
            return close(stream, &coded(code, "after")).await;
        }
        ["drop"] => return Ok(()),
        ["drop-after"] => return frames::read(stream).await.map(drop),
        ["send", count] => texts(stream, count).await?,
        ["send-close", count] => {
            texts(stream, count).await?;
            return close(stream, &coded("1000", "done")).await;
        }
        ["text", length] => {
            let message = "x".repeat(length.parse().unwrap_or(0));
            frames::write(stream, LAST | TEXT, message.as_bytes()).await?;
        }
        ["binary", length] => {
            let message: Vec<u8> = (0..length.parse().unwrap_or(0))
                .map(|n: u32| n as u8)
                .collect();
            frames::write(stream, LAST | BINARY, &message).await?;
        }
        ["ping"] => frames::write(stream, LAST | PING, b"beat").await?,
        ["headers"] => {
            let message = described(headers).to_string();
            frames::write(stream, LAST | TEXT, message.as_bytes()).await?;
        }
        ["fragments"] => {
            frames::write(
                stream,
                TEXT,
                "one, tw\u{f6}".as_bytes().get(..8).unwrap_or_default(),
            )
            .await?;
            frames::write(
                stream,
                CONTINUATION,
                "\u{f6}".as_bytes().get(1..).unwrap_or_default(),
            )
            .await?;
            frames::write(stream, LAST | PING, b"between").await?;
            frames::write(stream, LAST | CONTINUATION, b", three").await?;
        }
        ["deaf"] => {
            tokio::time::sleep(Duration::from_secs(30)).await;
            return Ok(());
        }
        ["bad", kind] => bad(stream, kind).await?,
        _ => {}
    }
    echo(stream, deflate).await
}

/// Echoes messages until the client closes. Responds to a pong with a text message.
async fn echo(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), deflate: bool) -> io::Result<()> {
    loop {
        let frame = frames::read(stream).await?;
        match frame.opcode() {
            opcode @ (TEXT | BINARY) => {
                let message = frame.message()?;
                if deflate {
                    frames::write_compressed(stream, opcode, &message).await?;
                } else {
                    frames::write(stream, LAST | opcode, &message).await?;
                }
            }
            PING => frames::write(stream, LAST | PONG, &frame.payload).await?,
            PONG => {
                let message = format!("pong {}", String::from_utf8_lossy(&frame.payload));
                frames::write(stream, LAST | TEXT, message.as_bytes()).await?;
            }
            CLOSE => {
                frames::write(stream, LAST | CLOSE, &frame.payload).await?;
                return stream.shutdown().await;
            }
            _ => {}
        }
    }
}

/// Sends a close frame, and waits for the client's close frame before the connection ends.
async fn close(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    payload: &[u8],
) -> io::Result<()> {
    frames::write(stream, LAST | CLOSE, payload).await?;
    while frames::read(stream).await?.opcode() != CLOSE {}
    stream.shutdown().await
}

fn coded(code: &str, reason: &str) -> Vec<u8> {
    frames::close_payload(code.parse().unwrap_or(1000), reason)
}

async fn texts(stream: &mut (impl AsyncWrite + Unpin), count: &str) -> io::Result<()> {
    for number in 0..count.parse().unwrap_or(0_u32) {
        let message = format!("message {number}");
        frames::write(stream, LAST | TEXT, message.as_bytes()).await?;
    }
    Ok(())
}

async fn bad(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), kind: &str) -> io::Result<()> {
    let bytes: &[u8] = match kind {
        "utf8" => &[LAST | TEXT, 2, 0xc3, 0x28],
        "opcode" => &[LAST | 3, 0],
        "reserved" => &[LAST | 0x20 | TEXT, 0],
        "compressed" => &[LAST | 0x40 | TEXT, 0],
        "masked" => &[LAST | TEXT, 0x81, 0, 0, 0, 0, b'a'],
        "continuation" => &[LAST | CONTINUATION, 0],
        "interleaved" => &[TEXT, 1, b'a', LAST | TEXT, 1, b'b'],
        "long-ping" => &[LAST | PING, 126, 0, 126],
        "close-code" => &[LAST | CLOSE, 2, 0x03, 0xed],
        "close-byte" => &[LAST | CLOSE, 1, 3],
        "half" => &[LAST | TEXT, 100, b'a'],
        _ => &[],
    };
    stream.write_all(bytes).await?;
    stream.flush().await?;
    if kind == "half" {
        stream.shutdown().await?;
    }
    // Read the client's reaction, so closing does not send a reset.
    let mut rest = Vec::new();
    let reading = stream.read_to_end(&mut rest);
    let _ = tokio::time::timeout(Duration::from_secs(5), reading).await;
    Err(io::ErrorKind::ConnectionAborted.into())
}

/// The request's headers, without data that may differ between clients or runs.
fn described(headers: &HeaderMap) -> Value {
    let mut described = Map::new();
    for name in headers.keys() {
        if !["user-agent", "host", "sec-websocket-key"].contains(&name.as_str()) {
            described.insert(name.to_string(), text(headers, name.as_str()).into());
        }
    }
    described.sort_keys();
    described.into()
}
