//! Encodes the headers of HTTP/1.1 requests.

use crate::fields::Fields;
use crate::method::Method;
use crate::proxy::Proxy;
use crate::url::Url;

/// The data for the headers of an HTTP/1.1 request.
pub(crate) struct HeadParts<'a> {
    pub(crate) method: &'a Method,
    pub(crate) url: &'a Url,
    pub(crate) fields: &'a Fields,
    /// Sent if `fields` contains no `User-Agent`. Not sent if empty.
    pub(crate) user_agent: &'a str,
    pub(crate) body_length: usize,
    /// The `Cookie` field: the request's header, its cookie parameters and the jar combined.
    pub(crate) cookies: &'a str,
    /// `Authorization`, if this leg computes it.
    pub(crate) authorization: Option<&'a str>,
    /// Whether the connection closes after this exchange.
    pub(crate) close: bool,
    /// Set for a proxy without a tunnel: the request line contains the complete URL, and the headers
    /// contain the proxy's credentials.
    pub(crate) proxy: Option<&'a Proxy>,
}

/// Appends the request line, the headers and the empty line, in the order in which Go writes them.
pub(crate) fn write_head(out: &mut Vec<u8>, parts: &HeadParts<'_>) {
    out.extend_from_slice(parts.method.as_str().as_bytes());
    out.push(b' ');
    if parts.proxy.is_some() {
        out.extend_from_slice(parts.url.scheme().as_bytes());
        out.extend_from_slice(b"://");
        out.extend_from_slice(parts.url.authority().as_bytes());
    }
    out.extend_from_slice(parts.url.target().as_bytes());
    out.extend_from_slice(b" HTTP/1.1\r\n");
    let (mut own_host, mut own_agent, mut has_ours, mut own_authorization) =
        (None, None, false, false);
    for (name, value) in parts.fields.iter() {
        match name {
            "Host" => own_host = Some(value),
            "User-Agent" => own_agent = Some(value),
            "Content-Length" | "Transfer-Encoding" | "Cookie" => has_ours = true,
            "Authorization" => own_authorization = true,
            _ => {}
        }
    }
    field(out, "Host", own_host.unwrap_or(parts.url.authority()));
    let agent = own_agent.unwrap_or(parts.user_agent);
    if !agent.is_empty() {
        field(out, "User-Agent", agent);
    }
    if parts.body_length > 0 || parts.method.announces_empty_body() {
        out.extend_from_slice(b"Content-Length: ");
        decimal(out, parts.body_length as u64);
        out.extend_from_slice(b"\r\n");
    }
    if own_host.is_none() && own_agent.is_none() && !has_ours {
        out.extend_from_slice(parts.fields.wire());
    } else {
        for (name, value) in parts.fields.iter() {
            if !matches!(
                name,
                "Host" | "User-Agent" | "Content-Length" | "Transfer-Encoding" | "Cookie"
            ) {
                field(out, name, value);
            }
        }
    }
    if let Some(authorization) = parts.authorization.filter(|_| !own_authorization) {
        field(out, "Authorization", authorization);
    }
    if !parts.cookies.is_empty() {
        field(out, "Cookie", parts.cookies);
    }
    if let Some(authorization) = parts.proxy.and_then(|proxy| proxy.authorization.as_deref()) {
        field(out, "Proxy-Authorization", authorization);
    }
    if parts.close {
        out.extend_from_slice(b"Connection: close\r\n");
    }
    out.extend_from_slice(b"\r\n");
}

fn field(out: &mut Vec<u8>, name: &str, value: &str) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value.as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// Appends a number in decimal digits.
#[inline]
pub(crate) fn decimal(out: &mut Vec<u8>, number: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at -= 1;
        if let Some(digit) = digits.get_mut(at) {
            *digit = b'0' + (rest % 10) as u8;
        }
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(at..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(edit: impl FnOnce(&mut Fields), method: Method, body_length: usize) -> String {
        let url = Url::parse("http://h:81/p?q").unwrap();
        let mut fields = Fields::new();
        edit(&mut fields);
        let mut out = Vec::new();
        write_head(
            &mut out,
            &HeadParts {
                method: &method,
                url: &url,
                fields: &fields,
                user_agent: "plimsoll",
                body_length,
                cookies: "",
                authorization: Some("Basic x"),
                close: false,
                proxy: None,
            },
        );
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn plain_request_headers() {
        assert_eq!(
            written(|f| f.set("X-A", "1").unwrap(), Method::Get, 0),
            "GET /p?q HTTP/1.1\r\nHost: h:81\r\nUser-Agent: plimsoll\r\nX-A: 1\r\nAuthorization: Basic x\r\n\r\n"
        );
    }

    #[test]
    fn the_users_fields_replace_defaults_except_the_framing() {
        let head = written(
            |f| {
                f.set("host", "other").unwrap();
                f.set("user-agent", "me").unwrap();
                f.set("content-length", "999").unwrap();
                f.set("authorization", "Bearer y").unwrap();
            },
            Method::Post,
            1234,
        );
        assert_eq!(
            head,
            "POST /p?q HTTP/1.1\r\nHost: other\r\nUser-Agent: me\r\nContent-Length: 1234\r\nAuthorization: Bearer y\r\n\r\n"
        );
        assert!(written(|_| {}, Method::Put, 0).contains("Content-Length: 0\r\n"));
    }
}
