//! What is known of one HTTP exchange, in the caller's own terms.

use std::borrow::Cow;
use std::time::Duration;

use plimsoll_units::Moment;

use crate::system_tags::SystemTag;
use crate::watch::{Condition, OwnTags};

/// One HTTP exchange as it happened. Everything is borrowed: recording copies
/// nothing unless outputs ask for it.
#[derive(Clone, Copy, Debug, Default)]
pub struct HttpFacts<'a> {
    /// Where the time between `started` and `done` went.
    pub phases: Phases,
    /// When the exchange should have started, in an open model. For the later
    /// exchanges of an iteration: as much before `started` as the iteration
    /// started late.
    pub scheduled: Option<Moment>,
    /// When it did start.
    pub started: Moment,
    /// When it ended; the time of all its samples.
    pub done: Moment,
    /// The request's method.
    pub method: &'a str,
    /// The request's URL. User and password in it are masked here.
    pub url: &'a str,
    /// The `name` the script gave, which stands in for the URL too.
    pub name: Option<&'a str>,
    /// The answer's status; 0 if there was none.
    pub status: u16,
    /// `HTTP/1.1`, `HTTP/2.0`; empty if there was no answer.
    pub proto: &'a str,
    /// The negotiated sub-protocol, or empty.
    pub subproto: &'a str,
    /// `tls1.3` and so on; empty without TLS.
    pub tls_version: &'a str,
    /// `TLS_AES_128_GCM_SHA256` and so on; empty without TLS.
    pub tls_cipher_suite: &'a str,
    /// Status of a stapled OCSP response, or empty.
    pub ocsp_status: &'a str,
    /// What went wrong; empty if nothing did.
    pub error: &'a str,
    /// k6's number for what went wrong (1404 for status 404); 0 for nothing.
    pub error_code: u32,
    /// It failed because this machine had no local port or file descriptor left.
    pub exhausted: bool,
    /// Whether a connection was opened for it, and is open.
    pub opened: bool,
    /// How often it was sent before, on connections that the server closed without a response.
    pub resent: u32,
    /// Whether the answer was an expected one; `None` where nobody asked.
    pub expected: Option<bool>,
    /// The server's address, or empty.
    pub ip: &'a str,
    /// The request's own tags. What the program sets replaces those of the same
    /// key.
    pub extra: &'a [(&'a str, &'a str)],
}

/// Where the statuses of gRPC calls begin among those of exchanges, above all of HTTP's own: `OK`,
/// which is 0 there, would be no answer here.
pub const GRPC_STATUS: u16 = 1000;

/// The parts of an exchange, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// Waiting for leave to start and for a connection.
    pub queued: Duration,
    /// Looking up the name.
    pub looking_up: Duration,
    /// Connecting.
    pub connecting: Duration,
    /// TLS handshake.
    pub tls: Duration,
    /// Writing the request.
    pub sending: Duration,
    /// Until the answer's first byte.
    pub waiting: Duration,
    /// Until the answer's last byte.
    pub receiving: Duration,
}

impl HttpFacts<'_> {
    /// Whether the exchange counts as failed: as the script's own judgement has
    /// it or, where there is none, if no answer came.
    pub fn failed(&self) -> bool {
        match self.expected {
            Some(expected) => !expected,
            None => self.status == 0,
        }
    }

    /// The tags the program sets, each with a value. The `name` and `url` are
    /// the same if a name was given.
    pub(crate) fn for_each_tag<'f>(&'f self, mut each: impl FnMut(SystemTag, Cow<'f, str>)) {
        let url = self.tagged_url();
        each(SystemTag::Url, url.clone());
        each(SystemTag::Name, url);
        each(SystemTag::Method, self.method.into());
        each(SystemTag::Status, self.status.to_string().into());
        if self.error_code != 0 {
            each(SystemTag::ErrorCode, self.error_code.to_string().into());
        }
        if let Some(expected) = self.expected {
            let expected = if expected { "true" } else { "false" };
            each(SystemTag::ExpectedResponse, expected.into());
        }
        let texts = [
            (SystemTag::Proto, self.proto),
            (SystemTag::Subproto, self.subproto),
            (SystemTag::TlsVersion, self.tls_version),
            (SystemTag::TlsCipherSuite, self.tls_cipher_suite),
            (SystemTag::OcspStatus, self.ocsp_status),
            (SystemTag::Error, self.error),
            (SystemTag::Ip, self.ip),
        ];
        for (tag, text) in texts {
            if !text.is_empty() {
                each(tag, text.into());
            }
        }
    }

    fn tagged_url(&self) -> Cow<'_, str> {
        match self.name {
            Some(name) => name.into(),
            None => mask_userinfo(self.url),
        }
    }
}

impl OwnTags for HttpFacts<'_> {
    #[inline]
    fn holds(&self, tag: SystemTag, condition: &Condition) -> Option<bool> {
        let text = |text: &str| (!text.is_empty()).then(|| text == condition.value);
        match tag {
            SystemTag::ExpectedResponse => self
                .expected
                .map(|expected| condition.truth == Some(expected)),
            SystemTag::Url | SystemTag::Name => Some(self.tagged_url() == condition.value),
            SystemTag::Method => Some(self.method == condition.value),
            SystemTag::Status => Some(condition.number == Some(self.status.into())),
            SystemTag::ErrorCode => {
                (self.error_code != 0).then(|| condition.number == Some(self.error_code))
            }
            SystemTag::Proto => text(self.proto),
            SystemTag::Subproto => text(self.subproto),
            SystemTag::TlsVersion => text(self.tls_version),
            SystemTag::TlsCipherSuite => text(self.tls_cipher_suite),
            SystemTag::OcspStatus => text(self.ocsp_status),
            SystemTag::Error => text(self.error),
            SystemTag::Ip => text(self.ip),
            _ => None,
        }
    }
}

/// The URL with user and password replaced, so that no secret reaches a tag.
pub fn mask_userinfo(url: &str) -> Cow<'_, str> {
    // RFC 3986 §3.2: the authority lies between "//" and the next "/", "?" or
    // "#"; the user information ends at its last "@".
    let Some(start) = url.find("//").map(|at| at + 2) else {
        return url.into();
    };
    let rest = &url[start..];
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let Some(at) = authority.rfind('@') else {
        return url.into();
    };
    let mask = if authority[..at].contains(':') {
        "****:****"
    } else {
        "****"
    };
    format!("{}{mask}{}", &url[..start], &rest[at..]).into()
}
