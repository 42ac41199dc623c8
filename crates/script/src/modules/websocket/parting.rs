//! How connections are let go of: told so, and closed by the server where it is quick about it.

use std::task::{Context, Waker};
use std::time::Duration;

use plimsoll_net::Stream;
use plimsoll_ws::{Connection, code};

/// How long a server has to answer a close frame. Nobody waits for it.
const PATIENCE: Duration = Duration::from_secs(1);

/// Sees a connection off whose close frame is on its way: RFC 6455, section 7.1.1, has the server close first, which
/// spares this side a port that lingers, and the server a reset. What it still says is not looked at.
pub async fn linger(mut connection: Connection<Stream>) {
    let farewell = async {
        if connection.flush().await.is_ok() {
            while connection.event().await.is_ok() {}
        }
    };
    let _ = tokio::time::timeout(PATIENCE, farewell).await;
}

/// Lets go of a connection at once, saying so if the kernel has room for it.
pub fn part(connection: Option<Connection<Stream>>) {
    if let Some(mut connection) = connection {
        connection.close(Some(code::GOING_AWAY), "");
        let _ = connection.poll_flush(&mut Context::from_waker(Waker::noop()));
    }
}
