//! A WebSocket that echoes messages (RFC 6455).

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http_body_util::{Either, Full};
use hyper::header::{
    CONNECTION, HeaderMap, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use hyper::http::request::Parts;
use hyper::upgrade::OnUpgrade;
use hyper::{Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use crate::pages::{ResponseBody, error};

/// Maximum size of an echoed message, in bytes.
const MAX_MESSAGE: usize = 1 << 20;

/// Responds to the handshake (section 4.2), then echoes.
pub fn open(head: &mut Parts) -> Response<ResponseBody> {
    let says = |headers: &HeaderMap, name: HeaderName, expected: &str| {
        headers.get_all(name).iter().any(|value| {
            let tokens = value.to_str().unwrap_or_default().split(',');
            tokens
                .into_iter()
                .any(|token| token.trim().eq_ignore_ascii_case(expected))
        })
    };
    let key = head.headers.get(SEC_WEBSOCKET_KEY).cloned();
    let upgrade = head.extensions.remove::<OnUpgrade>();
    let (Some(key), Some(upgrade), true, true) = (
        key,
        upgrade,
        says(&head.headers, CONNECTION, "upgrade"),
        says(&head.headers, UPGRADE, "websocket"),
    ) else {
        return error(
            StatusCode::BAD_REQUEST,
            "this is for WebSocket over HTTP/1.1",
        );
    };
    if !says(&head.headers, SEC_WEBSOCKET_VERSION, "13") {
        let mut response = error(StatusCode::UPGRADE_REQUIRED, "WebSocket's version is 13");
        let version = HeaderValue::from_static("13");
        response
            .headers_mut()
            .insert(SEC_WEBSOCKET_VERSION, version);
        return response;
    }
    tokio::spawn(echo(upgrade));
    let mut response = Response::new(Either::Left(Full::new(Bytes::new())));
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    if let Ok(accept) = HeaderValue::from_str(&derive_accept_key(key.as_bytes())) {
        headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    }
    response
}

async fn echo(upgrade: OnUpgrade) {
    let Ok(stream) = upgrade.await else { return };
    let limits = WebSocketConfig::default()
        .max_message_size(Some(MAX_MESSAGE))
        .max_frame_size(Some(MAX_MESSAGE));
    let stream = TokioIo::new(stream);
    let mut socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(limits)).await;
    while let Some(Ok(message)) = socket.next().await {
        // The library itself responds to pings and the close.
        if (message.is_text() || message.is_binary()) && socket.send(message).await.is_err() {
            return;
        }
    }
}
