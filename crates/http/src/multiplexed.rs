use std::cell::Cell;
use std::net::SocketAddr;

use plimsoll_net::TlsFacts;

use crate::h2_connection;
#[cfg(feature = "http3")]
use crate::h3_connection;
use crate::multiplexed_request::{MultiplexedRequest, RequestFault, Usage};
use crate::progress::Progress;

/// A connection that handles several requests concurrently.
#[derive(Debug)]
pub(crate) enum Multiplexed {
    Http2(h2_connection::Connection),
    #[cfg(feature = "http3")]
    Http3(h3_connection::Connection),
}

impl Multiplexed {
    /// Whether the connection still accepts new requests.
    pub(crate) fn is_open(&self) -> bool {
        match self {
            Multiplexed::Http2(connection) => connection.is_open(),
            #[cfg(feature = "http3")]
            Multiplexed::Http3(connection) => connection.quic.is_open(),
        }
    }

    /// Whether it can accept one more request within the caller's limit and, in HTTP/2, the server's
    /// limit. In HTTP/3, a request above the server's limit waits.
    #[inline]
    pub(crate) fn has_capacity(&self, limit: Option<usize>) -> bool {
        match self {
            Multiplexed::Http2(connection) => connection.has_capacity(limit),
            #[cfg(feature = "http3")]
            Multiplexed::Http3(connection) => {
                limit.is_none_or(|limit| connection.usage.in_flight.get() < limit)
            }
        }
    }

    /// Whether it has completed a request before.
    pub(crate) fn is_used(&self) -> bool {
        self.usage().is_used()
    }

    /// The number of requests in flight.
    #[inline]
    pub(crate) fn streams(&self) -> &Cell<usize> {
        &self.usage().in_flight
    }

    #[inline]
    fn usage(&self) -> &Usage {
        match self {
            Multiplexed::Http2(connection) => &connection.usage,
            #[cfg(feature = "http3")]
            Multiplexed::Http3(connection) => &connection.usage,
        }
    }

    pub(crate) fn remote(&self) -> Option<SocketAddr> {
        match self {
            Multiplexed::Http2(connection) => connection.remote,
            #[cfg(feature = "http3")]
            Multiplexed::Http3(connection) => Some(connection.quic.remote()),
        }
    }

    pub(crate) fn tls(&self) -> Option<TlsFacts> {
        match self {
            Multiplexed::Http2(connection) => connection.tls,
            #[cfg(feature = "http3")]
            Multiplexed::Http3(connection) => Some(connection.quic.tls()),
        }
    }

    /// Sends the request and reads the response.
    pub(crate) async fn exchange(
        &self,
        request: MultiplexedRequest<'_>,
        progress: &mut Progress,
    ) -> Result<(), RequestFault> {
        match self {
            Multiplexed::Http2(connection) => connection.exchange(request, progress).await,
            // Boxed, so the futures of the other versions do not become larger.
            #[cfg(feature = "http3")]
            Multiplexed::Http3(connection) => {
                Box::pin(connection.exchange(request, progress)).await
            }
        }
    }
}
