//! Detects whether a peer echoes what it receives, and measures the round trips of echoes.

use std::time::Duration;

use plimsoll_address::HostPort;
use plimsoll_net::Stream;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::spread::Spread;
use crate::{Peer, Plan, RoundTrip};

/// Sends a request and identifies the peer by the first bytes of its response.
///
/// # Errors
/// Returns the reason if the peer cannot be identified.
pub async fn identify_peer(
    stream: &mut Stream,
    address: &HostPort,
    path: &str,
    patience: Duration,
) -> Result<Peer, String> {
    let request = request(address, path);
    let exchange = async {
        stream.write_all(request.as_bytes()).await?;
        let mut response = vec![0; request.len()];
        let mut filled = 0;
        // Continue while the response can still be either kind. Read an echo to its end.
        while filled < response.len() {
            let count = stream.read(&mut response[filled..]).await?;
            if count == 0 {
                break;
            }
            filled += count;
            if !request.as_bytes().starts_with(&response[..filled]) && filled >= b"HTTP/".len() {
                break;
            }
        }
        response.truncate(filled);
        Ok::<_, std::io::Error>(response)
    };
    let response = timeout(patience, exchange)
        .await
        .map_err(|_| {
            format!(
                "the peer neither responded to an HTTP request nor echoed it within {}",
                plimsoll_units::duration::format(patience)
            )
        })?
        .map_err(|error| format!("the connection to the peer was lost: {error}"))?;
    if response == request.as_bytes() {
        Ok(Peer::Echo)
    } else if response.starts_with(b"HTTP/") {
        Ok(Peer::Http)
    } else if response.is_empty() {
        Err("the peer closed the connection without a response".to_owned())
    } else {
        Err("the peer neither echoes nor speaks HTTP/1.1".to_owned())
    }
}

/// Measures round trips of echoes on one stream. The first round trip has already been made and
/// does not count.
pub async fn measure(mut stream: Stream, plan: &Plan) -> Result<RoundTrip, String> {
    let message = request(&plan.address, &plan.path);
    let mut response = vec![0; message.len()];
    let mut times = Spread::default();
    for _ in 0..plan.repeats.max(1) {
        let began = plimsoll_clock::now();
        let exchange = async {
            stream.write_all(message.as_bytes()).await?;
            stream.flush().await?;
            stream.read_exact(&mut response).await
        };
        timeout(plan.timeout, exchange)
            .await
            .map_err(|_| "the peer stopped echoing".to_owned())?
            .map_err(|error| format!("the connection to the peer was lost: {error}"))?;
        times.add(plimsoll_clock::now().since(began));
        if response != message.as_bytes() {
            return Err("the peer sent back other bytes than it received".to_owned());
        }
    }
    Ok(RoundTrip {
        peer: Peer::Echo,
        new_connections: false,
        times,
    })
}

fn request(address: &HostPort, path: &str) -> String {
    format!(
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nUser-Agent: plimsoll-probe\r\nConnection: close\r\n\r\n"
    )
}
