//! The details of a failed call: a `google.rpc.Status`, which repeats the code and the message and
//! contains details of any type (google/rpc/status.proto).

use bytes::Bytes;
use prost_reflect::DescriptorPool;

use crate::base64;
use crate::code::Code;
use crate::json::packed_message;
use crate::json::write_string;
use crate::status::Status;
use crate::wire::{self, Field};

/// The field numbers of `google.rpc.Status`.
const CODE: u32 = 1;
const MESSAGE: u32 = 2;
const DETAILS: u32 = 3;
/// The field numbers of `google.protobuf.Any`.
const TYPE_URL: u32 = 1;
const VALUE: u32 = 2;

impl Status {
    /// Adds the `google.rpc.Status` from the trailers. As in other clients, its message takes
    /// precedence, a contradicting code is an internal error, and bytes that are not such a message are
    /// ignored.
    pub(crate) fn with_details(self, details: Bytes) -> Status {
        if details.is_empty() || !wire::is_message(&details) {
            return self;
        }
        let code = wire::fields(&details).fold(0, |last, field| match field {
            Field::Number(CODE, code) => code,
            _ => last,
        });
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let message = wire::bytes_of(&details, MESSAGE).map_or_else(String::new, text);
        if code != u64::from(self.code.0) {
            return Status::new(
                Code::INTERNAL,
                format!(
                    "grpc-status-details-bin mismatch: grpc-status={}, grpc-message={:?}, grpc-status-details-bin=code:{code} message:{message:?}",
                    self.code, self.message
                ),
            );
        }
        Status {
            message,
            details,
            ..self
        }
    }
}

/// The details as a JSON array. An invalid detail, or one of an unknown type, is represented as
/// base64: `{"@type": "…", "value": "…"}`.
pub(crate) fn to_json(details: &[u8], pool: &DescriptorPool) -> String {
    let mut text = "[".to_owned();
    for field in wire::fields(details) {
        let Field::Bytes(DETAILS, detail) = field else {
            continue;
        };
        let url = wire::bytes_of(detail, TYPE_URL).unwrap_or_default();
        let url = String::from_utf8_lossy(url);
        let packed = wire::bytes_of(detail, VALUE).unwrap_or_default();
        if text.len() > 1 {
            text.push(',');
        }
        if packed_message(&mut text, &url, packed, pool).is_err() {
            text.push_str("{\"@type\":");
            write_string(&mut text, &url);
            text.push_str(",\"value\":");
            write_string(&mut text, &base64::encode_padded(packed));
            text.push('}');
        }
    }
    text.push(']');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn any(url: &str, value: &[u8]) -> Vec<u8> {
        let mut any = Vec::new();
        wire::put_bytes(&mut any, TYPE_URL, url.as_bytes());
        wire::put_bytes(&mut any, VALUE, value);
        any
    }

    #[test]
    fn messages_of_unknown_types_are_reported_as_bytes() {
        let pool = DescriptorPool::global();
        let mut details = vec![CODE as u8 * 8, 3];
        wire::put_bytes(
            &mut details,
            DETAILS,
            &any("a.b/google.protobuf.Duration", &[8, 90]),
        );
        wire::put_bytes(&mut details, DETAILS, &any("a.b/nobody.Knows", &[1, 2, 3]));
        wire::put_bytes(
            &mut details,
            DETAILS,
            &any("a.b/google.protobuf.Duration", &[255]),
        );
        assert_eq!(
            to_json(&details, &pool),
            r#"[{"@type":"a.b/google.protobuf.Duration","value":"90s"},{"@type":"a.b/nobody.Knows","value":"AQID"},{"@type":"a.b/google.protobuf.Duration","value":"/w=="}]"#
        );
        assert_eq!(to_json(&[], &pool), "[]");
    }

    #[test]
    fn contradicting_details_are_an_error_and_malformed_ones_are_ignored() {
        let status = || Status::new(Code(3), "short");
        assert_eq!(status().with_details(Bytes::new()), status());
        assert_eq!(
            status().with_details(Bytes::from_static(&[255, 255])),
            status()
        );
        let agreed = Bytes::from_static(b"\x08\x03\x12\x04long");
        let output = status().with_details(agreed.clone());
        assert_eq!((&*output.message, &output.details), ("long", &agreed));
        let output = status().with_details(Bytes::from_static(b"\x08\x05"));
        assert_eq!(output.code, Code::INTERNAL);
        assert!(
            output.message.contains("grpc-status=InvalidArgument"),
            "{output}"
        );
    }
}
