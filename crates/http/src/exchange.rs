use std::net::SocketAddr;
use std::rc::Rc;

use plimsoll_net::{TlsFacts, Traffic};

use crate::error::{ErrorInfo, code};
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
    /// 0 if the exchange failed; the head tells what came before the failure.
    pub status: u16,
    pub proto: Proto,
    pub tls: Option<TlsFacts>,
    /// None behind a unix socket.
    pub remote: Option<SocketAddr>,
    /// A connection was opened for it, and is open.
    pub opened: bool,
    /// How often it was sent before, on connections that the server closed without a response. The
    /// server may have seen each of them.
    pub resent: u32,
    /// Bytes of HTTP, without TLS: head and body as sent and as received.
    pub bytes: Traffic,
    /// Bytes of the request's body, coded as it went, without framing.
    pub body_sent: u64,
    /// Bytes of the answer's body as they came, without framing.
    pub body_received: u64,
    /// The head of the answer, if one came whole.
    pub head: Option<Rc<Head>>,
    pub error: Option<ErrorInfo>,
}

impl Exchange {
    /// The error's code, or that of a status from 400 on; else 0.
    pub fn error_code(&self) -> u32 {
        match &self.error {
            Some(error) => error.code,
            None => code::of_status(self.status),
        }
    }

    /// Turns an answer that came whole into a failure.
    pub(crate) fn fail(&mut self, error: ErrorInfo) {
        self.status = 0;
        self.proto = Proto::None;
        self.error = Some(error);
    }
}
