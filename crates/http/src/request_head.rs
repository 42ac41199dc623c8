use plimsoll_http2::RequestHead;

use crate::encode::{HeadParts, decimal};

/// The headers of a request in the form that HTTP/2 and HTTP/3 send: without the fields that are
/// specific to HTTP/1.1 connections (RFC 9113, section 8.2.2).
pub(crate) fn request_head(parts: &HeadParts<'_>) -> RequestHead {
    let own_host = parts.fields.get("host").filter(|host| !host.is_empty());
    let mut head = RequestHead::new(
        parts.method.as_str(),
        parts.url.scheme(),
        own_host.unwrap_or(parts.url.authority()),
        parts.url.target(),
    );
    let mut own_agent = false;
    let mut own_authorization = false;
    for (name, value) in parts.fields.iter() {
        match name {
            "Host" | "Connection" | "Keep-Alive" | "Proxy-Connection" | "Transfer-Encoding"
            | "Upgrade" | "Content-Length" | "Cookie" => continue,
            // Section 8.2.2 allows no other value.
            "Te" if value != "trailers" => continue,
            "User-Agent" => {
                own_agent = true;
                if value.is_empty() {
                    continue;
                }
            }
            "Authorization" => own_authorization = true,
            _ => {}
        }
        head.add(name, value.as_bytes());
    }
    if !own_agent && !parts.user_agent.is_empty() {
        head.add("user-agent", parts.user_agent.as_bytes());
    }
    if let Some(authorization) = parts.authorization.filter(|_| !own_authorization) {
        head.add("authorization", authorization.as_bytes());
    }
    if !parts.cookies.is_empty() {
        head.add("cookie", parts.cookies.as_bytes());
    }
    if parts.body_length > 0 || parts.method.announces_empty_body() {
        let mut digits = Vec::new();
        decimal(&mut digits, parts.body_length as u64);
        head.add("content-length", &digits);
    }
    head
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Fields;
    use crate::method::Method;
    use crate::url::Url;

    #[test]
    fn connection_fields_are_omitted() {
        let url = Url::parse("https://h:81/p?q").unwrap();
        let mut fields = Fields::new();
        for (name, value) in [
            ("Connection", "close"),
            ("Keep-Alive", "1"),
            ("Proxy-Connection", "x"),
            ("Transfer-Encoding", "chunked"),
            ("Upgrade", "h2c"),
            ("Content-Length", "999"),
            ("TE", "gzip"),
            ("Host", "other"),
            ("X-Own", "1"),
        ] {
            fields.set(name, value).unwrap();
        }
        let head = request_head(&HeadParts {
            method: &Method::Post,
            url: &url,
            fields: &fields,
            user_agent: "plimsoll",
            body_length: 5,
            cookies: "a=b",
            authorization: Some("Basic x"),
            close: true,
            proxy: None,
        });
        let sent: Vec<_> = head
            .fields()
            .map(|(name, value)| (name, std::str::from_utf8(value).unwrap()))
            .collect();
        assert_eq!(
            sent,
            [
                (":method", "POST"),
                (":scheme", "https"),
                (":authority", "other"),
                (":path", "/p?q"),
                ("x-own", "1"),
                ("user-agent", "plimsoll"),
                ("authorization", "Basic x"),
                ("cookie", "a=b"),
                ("content-length", "5"),
            ]
        );
    }
}
