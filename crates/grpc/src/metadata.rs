use http::{HeaderMap, HeaderName, HeaderValue};

use crate::base64;

/// Names and values that are sent with a call, in order. The name of a binary value ends in `-bin`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata(Vec<(String, Vec<u8>)>);

impl Metadata {
    pub fn new() -> Metadata {
        Metadata::default()
    }

    /// Adds a value. If the name ends in `-bin`, `value` is the bytes, not their Base64 form.
    ///
    /// # Errors
    /// A sentence that states why the name or the value cannot be sent.
    pub fn append(&mut self, name: &str, value: &[u8]) -> Result<(), String> {
        let name = name.to_ascii_lowercase();
        if name.is_empty() {
            return Err("metadata needs a name before its value".to_owned());
        }
        // The names that gRPC metadata allows ("gRPC over HTTP2", Custom-Metadata).
        let allowed = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'_' | b'-' | b'.');
        if !name.bytes().all(allowed) {
            return Err(format!(
                "metadata {name:?}: a name may contain only letters, digits, \"_\", \"-\" and \".\""
            ));
        }
        let printable = |byte: &u8| (b' '..=b'~').contains(byte);
        if !name.ends_with("-bin") && !value.iter().all(printable) {
            return Err(format!(
                "metadata {name:?}: a value may contain only printable ASCII; for anything else use a name that ends in \"-bin\""
            ));
        }
        self.0.push((name, value.to_vec()));
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Names and values. Values of `-bin` names are decoded.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_slice()))
    }

    /// Adds the metadata to headers. Reserved names are omitted.
    pub(crate) fn write(&self, headers: &mut HeaderMap) {
        for (name, value) in self.iter() {
            if is_reserved(name) {
                continue;
            }
            let value = if name.ends_with("-bin") {
                HeaderValue::try_from(base64::encode(value))
            } else {
                HeaderValue::from_bytes(value)
            };
            // `append` has checked both.
            if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), value) {
                headers.append(name, value);
            }
        }
    }

    /// Reads headers or trailers. Returns an empty list if there are none.
    pub(crate) fn of(heading: Option<&plimsoll_http2::Headers>) -> Metadata {
        heading.map_or_else(Metadata::new, |heading| Metadata::read(&heading.fields))
    }

    /// Reads the metadata that a server sent.
    pub(crate) fn read(headers: &HeaderMap) -> Metadata {
        let mut read = Vec::with_capacity(headers.len());
        for (name, value) in headers {
            let name = name.as_str();
            if is_of_transport(name) {
                continue;
            }
            if name.ends_with("-bin") {
                // Several values may have been joined ("gRPC over HTTP2", Binary-Header).
                for part in value.as_bytes().split(|byte| *byte == b',') {
                    if let Some(bytes) = base64::decode(part.trim_ascii()) {
                        read.push((name.to_owned(), bytes));
                    }
                }
            } else {
                read.push((name.to_owned(), value.as_bytes().to_vec()));
            }
        }
        Metadata(read)
    }
}

/// Names that callers cannot set.
fn is_reserved(name: &str) -> bool {
    name.starts_with("grpc-") && name != "grpc-tags-bin" && name != "grpc-trace-bin"
        || matches!(
            name,
            "content-type" | "te" | "user-agent" | "connection" | "host"
        )
}

/// Names in a response that belong to the transport.
fn is_of_transport(name: &str) -> bool {
    matches!(
        name,
        "grpc-status" | "grpc-message" | "grpc-encoding" | "grpc-accept-encoding"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_encoded_as_base64_and_decoded() {
        let mut sent = Metadata::new();
        sent.append("X-Token", b"secret").unwrap();
        sent.append("x-raw-bin", &[0, 255, 7]).unwrap();
        let mut headers = HeaderMap::new();
        sent.write(&mut headers);
        assert_eq!(headers["x-raw-bin"], "AP8H");
        let back = Metadata::read(&headers);
        let pairs: Vec<_> = back.iter().collect();
        assert!(pairs.contains(&("x-token", b"secret".as_slice())));
        assert!(pairs.contains(&("x-raw-bin", [0u8, 255, 7].as_slice())));
    }

    #[test]
    fn values_that_cannot_be_sent_are_refused() {
        let mut metadata = Metadata::new();
        assert!(metadata.append("a b", b"").is_err());
        assert!(metadata.append("", b"").is_err());
        assert!(metadata.append("plain", &[0]).is_err());
        assert!(metadata.append(":path", b"/").is_err());
        metadata.append("grpc-timeout", b"1S").unwrap();
        let mut headers = HeaderMap::new();
        metadata.write(&mut headers);
        assert!(headers.is_empty());
    }
}
