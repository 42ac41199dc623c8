/// The HTTP version of a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Proto {
    /// No response.
    #[default]
    None,
    Http10,
    Http11,
    Http2,
    Http3,
}

impl Proto {
    /// For example `HTTP/1.1`; empty without a response.
    pub fn as_str(self) -> &'static str {
        match self {
            Proto::None => "",
            Proto::Http10 => "HTTP/1.0",
            Proto::Http11 => "HTTP/1.1",
            Proto::Http2 => "HTTP/2.0",
            Proto::Http3 => "HTTP/3.0",
        }
    }
}
