use std::net::SocketAddr;
use std::rc::Rc;

use net::{TlsFacts, Traffic};

use crate::error::ErrorInfo;
use crate::head::Head;
use crate::method::Method;
use crate::response::Proto;
use crate::timeline::Timeline;
use crate::url::Url;

/// The facts of one round trip: a redirect hop and an authentication leg are
/// each one.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub timeline: Timeline,
    pub method: Method,
    pub url: Rc<Url>,
    /// 0 if no answer began.
    pub status: u16,
    pub proto: Proto,
    pub tls: Option<TlsFacts>,
    pub remote: Option<SocketAddr>,
    /// Bytes of HTTP, without TLS: head and body as sent and as received.
    pub bytes: Traffic,
    /// The head of the answer, if one came whole.
    pub head: Option<Rc<Head>>,
    pub error: Option<ErrorInfo>,
}
