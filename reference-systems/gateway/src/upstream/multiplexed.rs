//! HTTP/2 connections of one worker to one target, each shared by many requests.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::client::conn::http2;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::sync::Mutex;

use super::{Trouble, connect};
use crate::config::Upstream;
use crate::outgoing::Outgoing;

/// Bytes that a target may send ahead, per stream and per connection.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 4 << 20;

/// Maximum length of response headers, in bytes.
const LARGEST_HEAD: u32 = 64 << 10;

/// Interval of pings on a silent connection.
const PING: Duration = Duration::from_secs(20);

pub struct Multiplexed {
    slots: Vec<Mutex<Option<http2::SendRequest<Outgoing>>>>,
    next: AtomicUsize,
}

impl Multiplexed {
    /// This number of connections, opened on demand.
    pub fn new(count: usize) -> Multiplexed {
        Multiplexed {
            slots: (0..count).map(|_| Mutex::new(None)).collect(),
            next: AtomicUsize::new(0),
        }
    }

    /// The next connection. Requests that arrive while it is being opened wait for it.
    pub async fn sender(&self, address: &str, upstream: &Upstream) -> Result<Sender, Trouble> {
        let turn = self.next.fetch_add(1, Relaxed) % self.slots.len().max(1);
        let Some(slot) = self.slots.get(turn) else {
            return Err(Trouble::unreachable(
                "there is no place for a connection".to_owned(),
            ));
        };
        let mut slot = slot.lock().await;
        if let Some(sender) = slot.as_ref().filter(|sender| !sender.is_closed()) {
            return Ok(Sender(sender.clone()));
        }
        *slot = None;
        let stream = connect::connect(address, upstream).await?;
        let (sender, connection) = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .keep_alive_interval(PING)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_header_list_size(LARGEST_HEAD)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| Trouble::unreachable(error.to_string()))?;
        // It ends with the last sender; its requests get the error that broke it.
        tokio::spawn(connection);
        *slot = Some(sender.clone());
        Ok(Sender(sender))
    }
}

/// A handle of a connection.
pub struct Sender(http2::SendRequest<Outgoing>);

impl Sender {
    /// Sends a request and waits for the headers of its response.
    pub async fn exchange(
        mut self,
        request: Request<Outgoing>,
    ) -> Result<Response<Incoming>, Trouble> {
        self.0.try_send_request(request).await.map_err(|mut error| {
            let request = error.take_message();
            Trouble::of(error.error(), request)
        })
    }
}
