//! A connection that has switched to another protocol, such as WebSocket: bytes are forwarded
//! unchanged.

use std::io;
use std::time::Duration;

use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::record::Record;
use crate::upstream::Lease;

/// Maximum time for one side to end after the other has ended.
const HALF_CLOSED: Duration = Duration::from_secs(2);

/// Bytes that are read at a time.
const PIECE: usize = 16 << 10;

/// Forwards bytes between a client and the connection that `record` has, until one side ends,
/// nothing has arrived for `idle`, or draining times out: the drain waits for every record.
pub async fn forward(client: OnUpgrade, mut record: Record, idle: Duration) {
    record.count_tunnel();
    let server = record.lease.take().and_then(Lease::into_stream);
    let (Some((server, first)), Ok(client)) = (server, client.await) else {
        return;
    };
    let (mut from_client, mut to_client) = split(TokioIo::new(client));
    let (mut from_server, mut to_server) = split(server);
    // The value states whether one side has ended; each piece that arrives counts as a change.
    let (heard, mut changes) = watch::channel(false);
    let silence = async {
        let mut limit = idle;
        while let Ok(Ok(())) = timeout(limit, changes.changed()).await {
            if *changes.borrow_and_update() {
                limit = idle.min(HALF_CLOSED);
            }
        }
    };
    let both = async {
        to_client.write_all(&first).await?;
        tokio::try_join!(
            pass(&mut from_client, &mut to_server, &heard),
            pass(&mut from_server, &mut to_client, &heard),
        )
    };
    tokio::select! {
        // Either side may end it at any time.
        _ = both => {}
        () = silence => {}
    }
}

async fn pass(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    heard: &watch::Sender<bool>,
) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        let length = from.read(&mut piece).await?;
        if length == 0 {
            heard.send_replace(true);
            return to.shutdown().await;
        }
        heard.send_modify(|_| {});
        to.write_all(piece.get(..length).unwrap_or_default())
            .await?;
        to.flush().await?;
    }
}
