use std::net::SocketAddr;

use plimsoll_http2::Streams;
use plimsoll_net::TlsFacts;

/// An open connection.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) streams: Streams,
    pub(crate) remote: Option<SocketAddr>,
    pub(crate) tls: Option<TlsFacts>,
}
