//! The tags that the program sets on samples.

use serde::Serialize;

/// A tag that the program sets if it is enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
#[allow(missing_docs)]
pub enum SystemTag {
    Proto,
    Subproto,
    Status,
    Method,
    Url,
    Name,
    Group,
    Check,
    Error,
    ErrorCode,
    TlsVersion,
    Scenario,
    Service,
    ExpectedResponse,
    Iter,
    Vu,
    OcspStatus,
    Ip,
    /// Plimsoll's addition to k6's tags.
    TlsCipherSuite,
}

impl SystemTag {
    /// Every system tag.
    pub const ALL: [SystemTag; 19] = [
        SystemTag::Proto,
        SystemTag::Subproto,
        SystemTag::Status,
        SystemTag::Method,
        SystemTag::Url,
        SystemTag::Name,
        SystemTag::Group,
        SystemTag::Check,
        SystemTag::Error,
        SystemTag::ErrorCode,
        SystemTag::TlsVersion,
        SystemTag::Scenario,
        SystemTag::Service,
        SystemTag::ExpectedResponse,
        SystemTag::Iter,
        SystemTag::Vu,
        SystemTag::OcspStatus,
        SystemTag::Ip,
        SystemTag::TlsCipherSuite,
    ];

    pub const fn key(self) -> &'static str {
        match self {
            SystemTag::Proto => "proto",
            SystemTag::Subproto => "subproto",
            SystemTag::Status => "status",
            SystemTag::Method => "method",
            SystemTag::Url => "url",
            SystemTag::Name => "name",
            SystemTag::Group => "group",
            SystemTag::Check => "check",
            SystemTag::Error => "error",
            SystemTag::ErrorCode => "error_code",
            SystemTag::TlsVersion => "tls_version",
            SystemTag::Scenario => "scenario",
            SystemTag::Service => "service",
            SystemTag::ExpectedResponse => "expected_response",
            SystemTag::Iter => "iter",
            SystemTag::Vu => "vu",
            SystemTag::OcspStatus => "ocsp_status",
            SystemTag::Ip => "ip",
            SystemTag::TlsCipherSuite => "tls_cipher_suite",
        }
    }

    pub fn from_key(key: &str) -> Option<SystemTag> {
        SystemTag::ALL.into_iter().find(|tag| tag.key() == key)
    }

    /// Whether the tag is metadata of a sample, which selectors cannot use. As a tag, it would make each sample a
    /// series of its own.
    pub const fn is_metadata(self) -> bool {
        matches!(self, SystemTag::Iter | SystemTag::Vu)
    }
}

/// The system tags that are enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemTags(u32);

impl Default for SystemTags {
    /// The tags that are enabled by default: all except `iter`, `vu`, `ocsp_status`, `ip` and `tls_cipher_suite`.
    fn default() -> Self {
        SystemTag::ALL
            .into_iter()
            .filter(|tag| *tag < SystemTag::Iter)
            .collect()
    }
}

impl FromIterator<SystemTag> for SystemTags {
    fn from_iter<I: IntoIterator<Item = SystemTag>>(tags: I) -> Self {
        SystemTags(tags.into_iter().fold(0, |set, tag| set | 1 << tag as u8))
    }
}

impl SystemTags {
    /// No tags.
    pub const NONE: SystemTags = SystemTags(0);

    /// Whether `tag` is enabled.
    #[inline]
    pub const fn has(self, tag: SystemTag) -> bool {
        self.0 & (1 << tag as u8) != 0
    }
}
