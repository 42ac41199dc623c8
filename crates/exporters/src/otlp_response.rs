//! Reads the response to an OTLP request.

use prost::Message;

#[derive(Clone, PartialEq, prost::Message)]
struct ExportResponse {
    #[prost(message, optional, tag = "1")]
    partial_success: Option<PartialSuccess>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct PartialSuccess {
    #[prost(int64, tag = "1")]
    rejected_data_points: i64,
    #[prost(string, tag = "2")]
    error_message: String,
}

/// Why a receiver rejected some values of a request that it accepted.
pub fn rejection(response: &[u8]) -> Option<String> {
    let response = ExportResponse::decode(response).ok()?;
    let partial = response.partial_success?;
    (partial.rejected_data_points > 0).then(|| {
        let (count, text) = (partial.rejected_data_points, partial.error_message);
        let text: String = text.chars().take(300).collect();
        format!("it rejected {count} values: {text}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejected_values_are_found() {
        let response = ExportResponse {
            partial_success: Some(PartialSuccess {
                rejected_data_points: 3,
                error_message: "no".to_owned(),
            }),
        };
        let reason = rejection(&response.encode_to_vec());
        assert_eq!(reason.as_deref(), Some("it rejected 3 values: no"));
        assert_eq!(rejection(&[]), None);
        assert_eq!(rejection(b"<html>"), None);
    }
}
