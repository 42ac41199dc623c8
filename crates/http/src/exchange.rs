use std::net::SocketAddr;
use std::rc::Rc;

use plimsoll_net::{TlsFacts, Traffic};

use crate::error::{ErrorInfo, code};
use crate::head::Head;
use crate::method::Method;
use crate::proto::Proto;
use crate::timeline::Timeline;
use crate::url::Url;

/// The data about one exchange. Each redirect hop and each authentication leg is an exchange.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub timeline: Timeline,
    pub method: Method,
    pub url: Rc<Url>,
    /// 0 if the exchange failed; `head` contains the headers that arrived before the failure.
    pub status: u16,
    pub proto: Proto,
    pub tls: Option<TlsFacts>,
    /// `None` for a unix socket.
    pub remote: Option<SocketAddr>,
    /// Whether a connection was opened for this exchange.
    pub opened: bool,
    /// How often the request was sent before, because the server closed the connection without a
    /// response or refused to process the request. If it closed the connection, it may have processed
    /// the request.
    pub resent: u32,
    /// Bytes of HTTP, without TLS: headers and bodies, as sent and as received.
    pub bytes: Traffic,
    /// Bytes of the request body as sent: after compression, without framing.
    pub body_sent: u64,
    /// Bytes of the response body as received: compressed, without framing.
    pub body_received: u64,
    /// The response headers, if they arrived completely.
    pub head: Option<Rc<Head>>,
    pub error: Option<ErrorInfo>,
}

impl Exchange {
    /// The code of the error, or of a status of 400 or above; otherwise 0.
    pub fn error_code(&self) -> u32 {
        match &self.error {
            Some(error) => error.code,
            None => code::of_status(self.status),
        }
    }

    /// Converts a complete response into a failure.
    pub(crate) fn fail(&mut self, error: ErrorInfo) {
        self.status = 0;
        self.proto = Proto::None;
        self.error = Some(error);
    }
}
