/// The HTTP version to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/2 if TLS negotiates it, otherwise HTTP/1.1.
    #[default]
    Auto,
    /// Only HTTP/1.1.
    Http1,
    /// HTTP/2 over TLS; fails if the server does not support it.
    Http2,
    /// HTTP/2 without TLS, by prior knowledge (RFC 9113, section 3.3).
    H2c,
    /// Only HTTP/3, without trying TCP first.
    Http3,
}
