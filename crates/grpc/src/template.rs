//! The request headers of calls, encoded in advance.

use std::rc::Rc;
use std::time::Duration;

use http::{HeaderMap, HeaderValue, Uri};
use plimsoll_http2::RequestHead;

use crate::endpoint::Endpoint;
use crate::frame::Compression;
use crate::metadata::Metadata;

/// The headers of a call. They are built once and sent many times.
#[derive(Clone, Debug)]
pub struct Template {
    pub(crate) head: Rc<RequestHead>,
    path: String,
    pub(crate) timeout: Option<Duration>,
    pub(crate) compression: Compression,
}

impl Template {
    /// The headers of a call to `path` (`/package.Service/Method`) at `endpoint`. A timeout is sent to
    /// the server, and the call is cancelled when it has passed.
    ///
    /// # Errors
    /// If the path or the authority cannot be part of a URL.
    pub fn new(
        endpoint: &Endpoint,
        path: &str,
        metadata: &Metadata,
        user_agent: &str,
        timeout: Option<Duration>,
        compression: Compression,
    ) -> Result<Template, String> {
        let uri = Uri::builder()
            .scheme(endpoint.scheme())
            .authority(endpoint.authority.as_str())
            .path_and_query(path)
            .build()
            .map_err(|error| format!("{}{path}: {error}", endpoint.authority))?;
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        let path_sent = uri.path_and_query().map_or("/", |path| path.as_str());
        let mut head = RequestHead::new("POST", endpoint.scheme(), authority, path_sent);
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/grpc"));
        if let Ok(agent) = HeaderValue::from_str(user_agent)
            && !user_agent.is_empty()
        {
            headers.insert("user-agent", agent);
        }
        headers.insert("te", HeaderValue::from_static("trailers"));
        headers.insert("grpc-accept-encoding", HeaderValue::from_static("gzip"));
        if compression != Compression::Identity {
            let name = HeaderValue::from_static(compression.name());
            headers.insert("grpc-encoding", name);
        }
        if let Some(timeout) = timeout
            && let Ok(value) = HeaderValue::try_from(timeout_text(timeout))
        {
            headers.insert("grpc-timeout", value);
        }
        metadata.write(&mut headers);
        for (name, value) in &headers {
            head.add(name.as_str(), value.as_bytes());
        }
        Ok(Template {
            head: Rc::new(head),
            path: path.to_owned(),
            timeout,
            compression,
        })
    }

    /// The compression of the messages of this call.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// The timeout of the call.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// The path of the method.
    pub fn path(&self) -> &str {
        &self.path
    }
}

/// Formats a timeout in the finest unit that fits into eight digits ("gRPC over HTTP2", Timeout).
/// Rounds up, so the server does not time out first.
fn timeout_text(timeout: Duration) -> String {
    let nanos = timeout.as_nanos();
    let units = [
        (1, 'n'),
        (1_000, 'u'),
        (1_000_000, 'm'),
        (1_000_000_000, 'S'),
        (60_000_000_000, 'M'),
        (3_600_000_000_000, 'H'),
    ];
    for (unit, name) in units {
        let value = nanos.div_ceil(unit);
        if value < 100_000_000 {
            return format!("{value}{name}");
        }
    }
    "99999999H".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_have_at_most_eight_digits() {
        let text = |nanos| timeout_text(Duration::from_nanos(nanos));
        assert_eq!(text(0), "0n");
        assert_eq!(text(99_999_999), "99999999n");
        assert_eq!(text(100_000_001), "100001u");
        assert_eq!(text(2_000_000_000), "2000000u");
        assert_eq!(text(120_000_000_000), "120000m");
        assert_eq!(timeout_text(Duration::MAX), "99999999H");
    }

    #[test]
    fn the_request_headers_are_those_of_grpc() {
        let endpoint = Endpoint::parse("127.0.0.1:50051", false).unwrap();
        let mut metadata = Metadata::new();
        metadata.append("x-one", b"1").unwrap();
        let template = Template::new(
            &endpoint,
            "/a.B/C",
            &metadata,
            "test/1",
            Some(Duration::from_secs(1)),
            Compression::Gzip,
        )
        .unwrap();
        for (name, value) in [
            (":scheme", "http"),
            (":authority", "127.0.0.1:50051"),
            (":path", "/a.B/C"),
            ("content-type", "application/grpc"),
            ("te", "trailers"),
            ("grpc-timeout", "1000000u"),
            ("grpc-encoding", "gzip"),
            ("x-one", "1"),
        ] {
            assert_eq!(template.head.get(name), Some(value.as_bytes()), "{name}");
        }
        assert!(
            Template::new(
                &endpoint,
                "/a b",
                &metadata,
                "",
                None,
                Compression::Identity
            )
            .is_err()
        );
    }
}
