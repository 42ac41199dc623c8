use std::rc::Rc;

use bytes::Bytes;
use plimsoll_units::Moment;

use crate::head::Head;

/// The progress of an exchange, which is recorded even if the exchange fails.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// HTTP/2 and HTTP/3: whether the request was passed to the connection.
    pub(crate) is_begun: bool,
    pub(crate) written: usize,
    pub(crate) received: u64,
    /// The body bytes among the received bytes, without framing.
    pub(crate) payload: u64,
    pub(crate) sent: Option<Moment>,
    pub(crate) first_byte: Option<Moment>,
    pub(crate) done: Option<Moment>,
    pub(crate) head: Option<Rc<Head>>,
    pub(crate) body: Bytes,
    /// Whether the connection can be used for another exchange.
    pub(crate) reusable: bool,
}
