//! Entry points for fuzz targets only. They process a server's bytes without a socket.

use bytes::Bytes;
use plimsoll_units::Moment;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

use crate::coding::{self, DecodeLimits};
use crate::cookie::Cookie;
use crate::digest::Challenge;
use crate::h1::{Connection, H1Request};
use crate::head::Head;
use crate::memory_budget::MemoryBudget;
use crate::parse_head::parse_head;
use crate::progress::Progress;
use crate::proxy::Proxies;
use crate::scratch::Scratch;
use crate::url::Url;

/// The parsed form of a response.
#[derive(Debug)]
pub struct ParsedResponse {
    pub status: u16,
    /// The decoded body, or the reason why it could not be decoded.
    pub body: Result<Bytes, String>,
    pub cookies: Vec<Cookie>,
}

/// Reads `pieces` as the response to a GET or HEAD. They arrive one by one, and then the connection
/// ends. At most `max_body` bytes of the body are kept.
///
/// # Errors
/// If the bytes are not a response.
pub async fn read_response(
    pieces: &[&[u8]],
    is_head: bool,
    max_body: u64,
    deadline: Moment,
) -> Result<ParsedResponse, String> {
    let (ours, mut theirs) = duplex(1 << 16);
    let server = async {
        let mut request = [0; 64];
        // The client may disconnect early, and reports that itself.
        let _ = theirs.read(&mut request).await;
        for piece in pieces {
            if theirs.write_all(piece).await.is_err() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(theirs);
    };
    let client = async move {
        let mut connection = Connection::new(ours);
        let mut progress = Progress::default();
        let ask = H1Request {
            head: b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            body: b"",
            is_head,
            keep_body: true,
            max_body,
            cut_body: false,
            watch: None,
            deadline,
            is_upgrade: false,
        };
        let scratch = Scratch::new(1 << 12);
        let ended = connection.exchange(&ask, &scratch, &mut progress).await;
        // A connection that failed must not outlive its exchange.
        drop(connection);
        ended.map(|()| progress)
    };
    let (progress, ()) = tokio::join!(client, server);
    let progress = progress.map_err(|fault| format!("{fault:?}"))?;
    let head = progress.head.ok_or("the response has no headers")?;
    let cookies = head.all("set-cookie").filter_map(Cookie::parse).collect();
    for challenge in head.all("www-authenticate") {
        Challenge::parse(&String::from_utf8_lossy(challenge));
    }
    let limits = DecodeLimits {
        max: max_body,
        cut: false,
        memory: MemoryBudget::process(),
    };
    let body = coding::decode(progress.body, coding::codings(&head), limits, deadline).await;
    Ok(ParsedResponse {
        status: head.status(),
        body: body.map_err(|error| error.message),
        cookies,
    })
}

/// Parses the status line and the headers of a response.
///
/// # Errors
/// If they are malformed.
pub fn read_head(raw: &[u8]) -> Result<Head, String> {
    parse_head(raw).map_err(|error| error.message)
}

/// Parses a Digest challenge, and returns the `Authorization` header for the user and the password in `url`. `None` if
/// the challenge is not supported.
pub fn respond_to_digest(value: &str, url: &Url, body: &[u8]) -> Option<String> {
    let challenge = Challenge::parse(value)?;
    Some(challenge.respond(url.userinfo()?, "GET", url, body, "c"))
}

/// Requests a tunnel to `url` from a proxy, which sends `response` and closes the connection. `None`
/// if `proxies` contains no proxy for `url`.
pub async fn open_tunnel(
    proxies: &Proxies,
    url: &Url,
    response: &[u8],
) -> Option<Result<(), String>> {
    let proxy = proxies.for_url(url)?;
    let (mut ours, mut theirs) = duplex(1 << 17);
    // The buffer is larger than the longest response that is read, so nothing has to wait.
    let sent = response.get(..1 << 17).unwrap_or(response);
    theirs.write_all(sent).await.ok()?;
    let _ = theirs.shutdown().await;
    let opened = proxy.tunnel(&mut ours, url, proxies).await;
    Some(opened.map_err(|error| error.message))
}
