//! Status line and headers of HTTP/1.x responses: parses and checks them.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::{ErrorInfo, code};
use crate::proto::Proto;

/// Maximum length of response headers.
pub(crate) const MAX_HEAD: usize = 1 << 20;
/// Maximum number of header fields in a response.
const MAX_FIELDS: usize = 16_384;

/// Status line and header fields of a response, and the framing of its body.
#[derive(Debug)]
pub struct Head {
    raw: Box<[u8]>,
    status: u16,
    proto: Proto,
    reason: Range<u32>,
    fields: Box<[Field]>,
    pub(crate) framing: Framing,
    /// Whether the connection can be reused for another request.
    pub(crate) keeps_alive: bool,
    pub(crate) has_encoding: bool,
    pub(crate) sets_cookies: bool,
}

#[derive(Debug)]
struct Field {
    name: Range<u32>,
    value: Range<u32>,
}

/// How the end of a body is determined (RFC 9112, section 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    Length(u64),
    Chunked,
    UntilClose,
}

impl Head {
    /// Parses `raw`, which contains complete headers including the empty line. `None` if they are
    /// unusual and possibly malformed.
    pub(crate) fn parse_strict(raw: &[u8]) -> Option<Result<Head, ErrorInfo>> {
        let mut buffer = [httparse::EMPTY_HEADER; 64];
        match Self::parse_into(raw, &mut buffer) {
            Err(httparse::Error::TooManyHeaders) => {}
            parsed => return parsed.ok(),
        }
        let mut buffer = vec![httparse::EMPTY_HEADER; MAX_FIELDS];
        match Self::parse_into(raw, &mut buffer) {
            Err(httparse::Error::TooManyHeaders) => Some(Err(transport_broken(format!(
                "the response has more than {MAX_FIELDS} header fields"
            )))),
            parsed => parsed.ok(),
        }
    }

    fn parse_into<'a>(
        raw: &'a [u8],
        buffer: &mut [httparse::Header<'a>],
    ) -> Result<Result<Head, ErrorInfo>, httparse::Error> {
        let mut response = httparse::Response::new(buffer);
        match response.parse(raw)? {
            httparse::Status::Complete(_) => {}
            httparse::Status::Partial => return Err(httparse::Error::NewLine),
        }
        let within = |part: &[u8]| {
            let start = part.as_ptr() as usize - raw.as_ptr() as usize;
            // The headers are at most MAX_HEAD long.
            start as u32..(start + part.len()) as u32
        };
        let fields: Box<[Field]> = response
            .headers
            .iter()
            .map(|field| Field {
                name: within(field.name.as_bytes()),
                value: within(field.value),
            })
            .collect();
        let reason = match response.reason {
            Some(reason) if !reason.is_empty() => within(reason.as_bytes()),
            _ => 0..0,
        };
        let proto = match response.version {
            Some(0) => Proto::Http10,
            _ => Proto::Http11,
        };
        Ok(Head::assemble(
            raw.into(),
            response.code.unwrap_or(0),
            proto,
            reason,
            fields,
        ))
    }

    /// Whether [`Head::from_parts`] would return an equal value for these parts.
    pub(crate) fn has_parts<'a>(
        &self,
        status: u16,
        mut parts: impl Iterator<Item = (&'a str, &'a [u8])>,
    ) -> bool {
        self.status == status
            && self.fields().all(|known| parts.next() == Some(known))
            && parts.next().is_none()
    }

    /// Builds headers for a protocol version that does not transmit them as text.
    pub(crate) fn from_parts<'a>(
        proto: Proto,
        status: u16,
        parts: impl Iterator<Item = (&'a str, &'a [u8])>,
    ) -> Result<Head, ErrorInfo> {
        Head::build(proto, status, standard_reason(status).as_bytes(), parts)
    }

    /// The same with the reason phrase that the server sent.
    pub(crate) fn build<'a>(
        proto: Proto,
        status: u16,
        reason: &[u8],
        parts: impl Iterator<Item = (&'a str, &'a [u8])>,
    ) -> Result<Head, ErrorInfo> {
        let mut raw = format!("{} {status:03} ", proto.as_str()).into_bytes();
        let at = |raw: &Vec<u8>| raw.len() as u32;
        let reason_start = at(&raw);
        raw.extend_from_slice(reason);
        let reason = reason_start..at(&raw);
        raw.extend_from_slice(b"\r\n");
        let mut fields = Vec::new();
        for (name, value) in parts {
            let name_start = at(&raw);
            raw.extend_from_slice(name.as_bytes());
            let name = name_start..at(&raw);
            raw.extend_from_slice(b": ");
            let value_start = at(&raw);
            raw.extend_from_slice(value);
            fields.push(Field {
                name,
                value: value_start..at(&raw),
            });
            raw.extend_from_slice(b"\r\n");
        }
        raw.extend_from_slice(b"\r\n");
        Head::assemble(raw.into(), status, proto, reason, fields.into())
    }

    fn assemble(
        raw: Box<[u8]>,
        status: u16,
        proto: Proto,
        reason: Range<u32>,
        fields: Box<[Field]>,
    ) -> Result<Head, ErrorInfo> {
        let mut head = Head {
            raw,
            status,
            proto,
            reason,
            fields,
            framing: Framing::UntilClose,
            keeps_alive: proto != Proto::Http10,
            has_encoding: false,
            sets_cookies: false,
        };
        let mut length: Option<u64> = None;
        let mut chunked = false;
        let (mut keep_alive, mut close) = (false, false);
        let (mut has_encoding, mut sets_cookies) = (false, false);
        for (name, value) in head.fields() {
            if name.eq_ignore_ascii_case("content-length") {
                let announced = parse_length(value)?;
                // Conflicting lengths are an unrecoverable error (RFC 9112, section 6.3, item 5).
                if length.is_some_and(|length| length != announced) {
                    let all: Vec<_> = head.all("content-length").map(printable).collect();
                    return Err(transport_broken(format!(
                        "http: message cannot contain multiple Content-Length headers; got [\"{}\"]",
                        all.join("\" \"")
                    )));
                }
                length = Some(announced);
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                if !value.trim_ascii().eq_ignore_ascii_case(b"chunked") || chunked {
                    return Err(transport_broken(format!(
                        "unsupported transfer encoding: {:?}",
                        String::from_utf8_lossy(value)
                    )));
                }
                chunked = true;
            } else if name.eq_ignore_ascii_case("connection") {
                for token in value.split(|&b| b == b',').map(<[u8]>::trim_ascii) {
                    close |= token.eq_ignore_ascii_case(b"close");
                    keep_alive |= token.eq_ignore_ascii_case(b"keep-alive");
                }
            } else if name.eq_ignore_ascii_case("content-encoding") {
                has_encoding = true;
            } else if name.eq_ignore_ascii_case("set-cookie") {
                sets_cookies = true;
            }
        }
        head.has_encoding = has_encoding;
        head.sets_cookies = sets_cookies;
        head.keeps_alive = !close && (head.keeps_alive || keep_alive);
        // Transfer-Encoding takes precedence (RFC 9112, section 6.3, item 3).
        head.framing = match (chunked, length) {
            (true, _) if head.proto == Proto::Http11 => Framing::Chunked,
            (_, Some(length)) => Framing::Length(length),
            _ => Framing::UntilClose,
        };
        Ok(head)
    }

    pub fn status(&self) -> u16 {
        self.status
    }

    pub fn proto(&self) -> Proto {
        self.proto
    }

    /// The reason phrase; empty if the server sent none.
    pub fn reason(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.part(&self.reason))
    }

    /// The headers as received, including the empty line.
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// Names as received, and values as bytes, in the order received.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.fields.iter().map(|field| {
            (
                std::str::from_utf8(self.part(&field.name)).unwrap_or_default(),
                self.part(&field.value),
            )
        })
    }

    /// The first value of the given field.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.fields()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    /// All values of the given field.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.fields()
            .filter(move |(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    fn part(&self, range: &Range<u32>) -> &[u8] {
        self.raw
            .get(range.start as usize..range.end as usize)
            .unwrap_or_default()
    }
}

/// Formats a field name as Go does: `x-request-id` becomes `X-Request-Id`. A name with a byte that
/// is not allowed in a token stays unchanged.
pub fn canonical_name(name: &str) -> Cow<'_, str> {
    let mut upper = true;
    let mut canonical = true;
    for byte in name.bytes() {
        if !crate::method::is_token_byte(byte) {
            return Cow::Borrowed(name);
        }
        let wanted = if upper {
            byte.to_ascii_uppercase()
        } else {
            byte.to_ascii_lowercase()
        };
        canonical &= wanted == byte;
        upper = byte == b'-';
    }
    if canonical {
        return Cow::Borrowed(name);
    }
    let mut upper = true;
    Cow::Owned(
        name.chars()
            .map(|c| {
                let wanted = if upper {
                    c.to_ascii_uppercase()
                } else {
                    c.to_ascii_lowercase()
                };
                upper = c == '-';
                wanted
            })
            .collect(),
    )
}

fn parse_length(value: &[u8]) -> Result<u64, ErrorInfo> {
    let digits = value.trim_ascii();
    let number = std::str::from_utf8(digits)
        .ok()
        .filter(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()))
        .and_then(|text| text.parse::<u64>().ok());
    number.ok_or_else(|| {
        transport_broken(format!(
            "bad Content-Length {:?}",
            String::from_utf8_lossy(digits)
        ))
    })
}

/// An error that makes the connection unusable, with k6's wording.
pub(crate) fn transport_broken(message: String) -> ErrorInfo {
    let detail = format!("net/http: HTTP/1.x transport connection broken: {message}");
    ErrorInfo::new(code::DEFAULT, message).with_detail(detail)
}

/// Checks a status line (RFC 9112, section 4). The line may be incomplete.
pub(crate) fn check_status_line(raw: &[u8]) -> Result<(), ErrorInfo> {
    const MAX_SHOWN: usize = 120;
    let line = raw.split(|&b| b == b'\n').next().unwrap_or_default();
    let line = line.get(..line.len().min(MAX_SHOWN)).unwrap_or_default();
    let line = printable(line.trim_ascii_end());
    let Some((version, rest)) = line.split_once(' ') else {
        return Err(transport_broken(format!(
            "malformed HTTP response \"{line}\""
        )));
    };
    let status = rest.trim_start().split(' ').next().unwrap_or_default();
    if status.len() != 3 || !status.bytes().all(|b| b.is_ascii_digit()) {
        return Err(transport_broken(format!(
            "malformed HTTP status code \"{status}\""
        )));
    }
    if !matches!(version, "HTTP/1.0" | "HTTP/1.1") {
        return Err(transport_broken(format!(
            "malformed HTTP version \"{version}\""
        )));
    }
    Ok(())
}

/// Quotes bytes as Go does: unprintable bytes as `\xNN`.
pub(crate) fn printable(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => {
                out.push('\\');
                out.push(char::from(byte));
            }
            b' '..=b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out
}

/// The reason phrases of the IANA registry, with Go's wording.
pub(crate) fn standard_reason(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        101 => "Switching Protocols",
        102 => "Processing",
        103 => "Early Hints",
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        203 => "Non-Authoritative Information",
        204 => "No Content",
        205 => "Reset Content",
        206 => "Partial Content",
        207 => "Multi-Status",
        208 => "Already Reported",
        226 => "IM Used",
        300 => "Multiple Choices",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        305 => "Use Proxy",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        407 => "Proxy Authentication Required",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        411 => "Length Required",
        412 => "Precondition Failed",
        413 => "Request Entity Too Large",
        414 => "Request URI Too Long",
        415 => "Unsupported Media Type",
        416 => "Requested Range Not Satisfiable",
        417 => "Expectation Failed",
        418 => "I'm a teapot",
        421 => "Misdirected Request",
        422 => "Unprocessable Entity",
        423 => "Locked",
        424 => "Failed Dependency",
        425 => "Too Early",
        426 => "Upgrade Required",
        428 => "Precondition Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        451 => "Unavailable For Legal Reasons",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        506 => "Variant Also Negotiates",
        507 => "Insufficient Storage",
        508 => "Loop Detected",
        510 => "Not Extended",
        511 => "Network Authentication Required",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_head::parse_head;

    fn head(raw: &str) -> Head {
        parse_head(raw.as_bytes()).unwrap()
    }

    #[test]
    fn fields_and_framing_are_parsed() {
        let head = head(
            "HTTP/1.1 200 Fine\r\ncontent-length: 5\r\nX-A: 1\r\nx-a:2\r\nContent-Encoding: gzip\r\n\r\n",
        );
        assert_eq!((head.status(), &*head.reason()), (200, "Fine"));
        assert_eq!(head.framing, Framing::Length(5));
        assert!(head.keeps_alive && head.has_encoding && !head.sets_cookies);
        assert_eq!(head.all("x-a").collect::<Vec<_>>(), [b"1", b"2"]);
    }

    #[test]
    fn persistence_follows_version_and_connection() {
        assert!(!head("HTTP/1.0 200 OK\r\n\r\n").keeps_alive);
        assert!(head("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n\r\n").keeps_alive);
        assert!(!head("HTTP/1.1 200 OK\r\nConnection: x, close\r\n\r\n").keeps_alive);
    }

    #[test]
    fn transfer_encoding_overrides_length() {
        let both =
            head("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n");
        assert_eq!(both.framing, Framing::Chunked);
        assert_eq!(head("HTTP/1.1 200\r\n\r\n").framing, Framing::UntilClose);
    }

    #[test]
    fn errors_describe_the_garbage() {
        let words = |raw: &str| parse_head(raw.as_bytes()).unwrap_err().message;
        assert!(words("SSH-2.0-OpenSSH\r\n\r\n").contains("SSH-2.0-OpenSSH"));
        assert!(words("HTTP/1.1 2x0 OK\r\n\r\n").contains("status code"));
        assert!(
            words("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n")
                .contains("bad Content-Length \"-1\"")
        );
        assert!(
            words("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n")
                .contains("multiple")
        );
        assert!(words("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n").contains("gzip"));
        assert!(words("HTTP/1.1 200 OK\r\nnocolon\r\n\r\n").contains("missing colon: \"nocolon\""));
        assert!(words("HTTP/x.1 200 OK\r\n\r\n").contains("version \"HTTP/x.1\""));
    }

    #[test]
    fn names_become_canonical() {
        assert_eq!(canonical_name("x-request-ID"), "X-Request-Id");
        assert!(matches!(canonical_name("Content-Type"), Cow::Borrowed(_)));
        assert_eq!(canonical_name("a b"), "a b");
    }
}
