use std::rc::Rc;

use bytes::Bytes;
use plimsoll_units::Moment;

use crate::head::Head;

/// The progress of an exchange, recorded even if it fails.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// HTTP/2 and HTTP/3: the request was handed to the connection.
    pub(crate) is_begun: bool,
    pub(crate) written: usize,
    pub(crate) received: u64,
    /// Body bytes among them, without framing.
    pub(crate) payload: u64,
    pub(crate) sent: Option<Moment>,
    pub(crate) first_byte: Option<Moment>,
    pub(crate) done: Option<Moment>,
    pub(crate) head: Option<Rc<Head>>,
    pub(crate) body: Bytes,
    /// Whether the connection can be used for another exchange.
    pub(crate) reusable: bool,
}
