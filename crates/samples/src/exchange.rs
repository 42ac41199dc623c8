//! The facts about one HTTP exchange, in types of this crate.

use std::borrow::Cow;
use std::time::Duration;

use plimsoll_units::Moment;

use crate::system_tags::SystemTag;
use crate::watch::{Condition, OwnTags};

/// One HTTP exchange. Everything is borrowed: recording copies nothing unless outputs need it.
#[derive(Clone, Copy, Debug, Default)]
pub struct HttpFacts<'a> {
    /// How the time between `started` and `done` was spent.
    pub phases: Phases,
    /// When the exchange should have started, in an open model. For later exchanges of an iteration, this is `started`
    /// minus the lag of the iteration's start.
    pub scheduled: Option<Moment>,
    /// When the exchange actually started.
    pub started: Moment,
    /// When it ended. All its samples have this time.
    pub done: Moment,
    /// The request's method.
    pub method: &'a str,
    /// The URL of the request. This crate masks the user and password in it.
    pub url: &'a str,
    /// The `name` that the script set. It also replaces the URL.
    pub name: Option<&'a str>,
    /// The status of the response; 0 if there was none.
    pub status: u16,
    /// `HTTP/1.1`, `HTTP/2.0`; empty if there was no response.
    pub proto: &'a str,
    /// The negotiated sub-protocol, or empty.
    pub subproto: &'a str,
    /// `tls1.3` and so on; empty without TLS.
    pub tls_version: &'a str,
    /// `TLS_AES_128_GCM_SHA256` and so on; empty without TLS.
    pub tls_cipher_suite: &'a str,
    /// Status of a stapled OCSP response, or empty.
    pub ocsp_status: &'a str,
    /// The error message; empty if there was none.
    pub error: &'a str,
    /// k6's error code (1404 for status 404); 0 for success.
    pub error_code: u32,
    /// Whether it failed because this machine had no local port or file descriptor left.
    pub exhausted: bool,
    /// Whether a connection was opened for this exchange.
    pub opened: bool,
    /// How many times it was sent before, because the server closed the connection without a response or refused to
    /// process it.
    pub resent: u32,
    /// Whether the response was expected. `None` if nothing defines that.
    pub expected: Option<bool>,
    /// The server's address, or empty.
    pub ip: &'a str,
    /// The request's own tags. Tags that the program sets replace those with the same key.
    pub extra: &'a [(&'a str, &'a str)],
}

/// Added to gRPC statuses to distinguish them from HTTP statuses, because gRPC's `OK` is 0, which means "no response"
/// here.
pub const GRPC_STATUS: u16 = 1000;

/// The phases of an exchange, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// Waiting for the rate limit and for a connection.
    pub queued: Duration,
    /// Name lookup.
    pub looking_up: Duration,
    pub connecting: Duration,
    /// TLS handshake.
    pub tls: Duration,
    /// Writing the request.
    pub sending: Duration,
    /// Until the first byte of the response.
    pub waiting: Duration,
    /// Until the last byte of the response.
    pub receiving: Duration,
}

impl HttpFacts<'_> {
    /// Whether the exchange counts as failed. The script's own rule decides. Without a rule, an exchange without a
    /// response failed.
    pub fn failed(&self) -> bool {
        match self.expected {
            Some(expected) => !expected,
            None => self.status == 0,
        }
    }

    /// Calls `each` with the tags that the program sets, and their values. `name` and `url` are equal if a name was set.
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

    pub(crate) fn tagged_url(&self) -> Cow<'_, str> {
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
    // RFC 3986 §3.2: the authority is between "//" and the next "/", "?" or "#"; the user
    // information ends at its last "@".
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
