use std::cell::Cell;
use std::net::SocketAddr;

use plimsoll_net::TlsFacts;

use crate::h1::Progress;
use crate::h2_connection::{self, Ask, Fault};
use crate::h3_connection;

/// A connection that carries several requests at once.
#[derive(Debug)]
pub(crate) enum Multiplexed {
    Http2(h2_connection::Connection),
    Http3(h3_connection::Connection),
}

impl Multiplexed {
    /// Whether it still accepts new requests.
    pub(crate) fn is_open(&self) -> bool {
        match self {
            Multiplexed::Http2(connection) => connection.is_open(),
            Multiplexed::Http3(connection) => connection.quic.is_open(),
        }
    }

    /// Whether it can take one more request, by the caller's limit and by the server's as far as it
    /// is known. In HTTP/3, a request waits for the server's limit.
    #[inline]
    pub(crate) fn has_room(&self, limit: Option<usize>) -> bool {
        match self {
            Multiplexed::Http2(connection) => connection.has_room(limit),
            Multiplexed::Http3(connection) => {
                limit.is_none_or(|limit| connection.streams.get() < limit)
            }
        }
    }

    /// Whether it has completed a request before.
    pub(crate) fn is_used(&self) -> bool {
        match self {
            Multiplexed::Http2(connection) => connection.is_used(),
            Multiplexed::Http3(connection) => connection.is_used(),
        }
    }

    /// The number of requests in flight.
    #[inline]
    pub(crate) fn streams(&self) -> &Cell<usize> {
        match self {
            Multiplexed::Http2(connection) => &connection.streams,
            Multiplexed::Http3(connection) => &connection.streams,
        }
    }

    pub(crate) fn remote(&self) -> Option<SocketAddr> {
        match self {
            Multiplexed::Http2(connection) => connection.remote,
            Multiplexed::Http3(connection) => Some(connection.quic.remote()),
        }
    }

    pub(crate) fn tls(&self) -> Option<TlsFacts> {
        match self {
            Multiplexed::Http2(connection) => connection.tls,
            Multiplexed::Http3(connection) => Some(connection.quic.tls()),
        }
    }

    /// Sends the request and reads the response.
    pub(crate) async fn exchange(
        &self,
        ask: Ask<'_>,
        progress: &mut Progress,
    ) -> Result<(), Fault> {
        match self {
            Multiplexed::Http2(connection) => connection.exchange(ask, progress).await,
            // Boxed, so that the futures of the other versions do not become larger.
            Multiplexed::Http3(connection) => Box::pin(connection.exchange(ask, progress)).await,
        }
    }
}
