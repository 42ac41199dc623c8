//! Closes connections: sends a close frame and gives the server a short time to close first.

use std::task::{Context, Waker};
use std::time::Duration;

use plimsoll_net::Stream;
use plimsoll_ws::{Connection, code};

/// The time limit for the server's close frame. This happens in the background.
const PATIENCE: Duration = Duration::from_secs(1);

/// Waits for the server to close a connection whose close frame has been sent. RFC 6455, section 7.1.1, has the
/// server close first, which avoids a port in TIME_WAIT on this side and a reset for the server. Further messages
/// are ignored.
pub async fn linger(mut connection: Connection<Stream>) {
    let close_request = async {
        if connection.flush().await.is_ok() {
            while connection.event().await.is_ok() {}
        }
    };
    let _ = tokio::time::timeout(PATIENCE, close_request).await;
}

/// Closes a connection at once, after a close frame if the kernel's buffer has space for one.
pub fn part(connection: Option<Connection<Stream>>) {
    if let Some(mut connection) = connection {
        connection.close(Some(code::GOING_AWAY), "");
        let _ = connection.poll_flush(&mut Context::from_waker(Waker::noop()));
    }
}
