//! Property names on hot paths. Each is converted to the engine's own form once per runtime.
//!
//! Elsewhere, a plain `"text"` key is good enough.

use plimsoll_quickjs::{Name, NameRange};

macro_rules! names {
    ($($name:ident = $text:literal),* $(,)?) => {
        // Many are only used as parts of ranges.
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, dead_code)]
        #[repr(u16)]
        enum Place { $($name),* }
        $(#[allow(dead_code)] pub const $name: Name = Name(Place::$name as u16);)*
        /// All names, in the form that [`plimsoll_quickjs::Settings::names`] expects.
        pub const TABLE: &[&str] = &[$($text),*];
    };
}

names! {
    ITER = "__ITER",
    THROW = "throw",
    // The parameters of requests, in the order of `modules::http::arguments`.
    HEADERS = "headers",
    TAGS = "tags",
    TIMEOUT = "timeout",
    COOKIES = "cookies",
    JAR = "jar",
    REDIRECTS = "redirects",
    RESPONSE_TYPE = "responseType",
    RESPONSE_CALLBACK = "responseCallback",
    COMPRESSION = "compression",
    AUTH = "auth",
    PLIMSOLL = "plimsoll",
    // The fields of responses, in the order of `modules::http::response`.
    R_REMOTE_IP = "remote_ip",
    R_REMOTE_PORT = "remote_port",
    R_URL = "url",
    R_STATUS = "status",
    R_STATUS_TEXT = "status_text",
    R_PROTO = "proto",
    R_HEADERS = "headers",
    R_COOKIES = "cookies",
    R_BODY = "body",
    R_TIMINGS = "timings",
    R_TLS_VERSION = "tls_version",
    R_TLS_CIPHER_SUITE = "tls_cipher_suite",
    R_OCSP = "ocsp",
    R_ERROR = "error",
    R_ERROR_CODE = "error_code",
    R_REQUEST = "request",
}

/// The parameters of requests.
pub const PARAMS: NameRange = NameRange {
    first: HEADERS,
    count: 11,
};
/// The fields of responses.
pub const RESPONSE: NameRange = NameRange {
    first: R_REMOTE_IP,
    count: 16,
};
