//! Closes connections: sends a close frame and gives the server a short time to close first.

use std::task::{Context, Waker};
use std::time::Duration;

use plimsoll_net::Stream;
use plimsoll_ws::{Connection, code};

/// The time limit for the server's close frame. The connection waits for it in the background.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Waits for the server to close a connection after a close frame was sent. According to RFC 6455, section 7.1.1, the
/// server closes first. This avoids a port in TIME_WAIT on this side and a reset for the server. Further messages are
/// ignored.
pub async fn linger(mut connection: Connection<Stream>) {
    let close_request = async {
        if connection.flush().await.is_ok() {
            while connection.event().await.is_ok() {}
        }
    };
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, close_request).await;
}

/// Closes a connection immediately. Sends a close frame if the kernel's buffer has space for one.
pub fn part(connection: Option<Connection<Stream>>) {
    if let Some(mut connection) = connection {
        connection.close(Some(code::GOING_AWAY), "");
        let _ = connection.poll_flush(&mut Context::from_waker(Waker::noop()));
    }
}
