//! `grpc.testing.TestService`: the server side of gRPC's interoperability tests. It reads messages
//! by field number.

use std::time::Duration;

use bytes::Bytes;
use hyper::Response;
use hyper::body::{Frame, Incoming};
use hyper::header::{HeaderMap, HeaderName};

use super::grpc::{Body, Parts, ok, put, single, status, status_only, streaming_response, whole};
use super::messages::{Reader, bytes_of, field, fields, framed, number, numbered, packed};

/// Maximum length of a response. No test needs more.
const MAX_RESPONSE: usize = 8 << 20;

const INITIAL: &str = "x-grpc-test-echo-initial";
const TRAILING: &str = "x-grpc-test-echo-trailing-bin";

/// Responds to one call.
pub async fn respond(
    method: &str,
    request_headers: &HeaderMap,
    mut body: Incoming,
) -> Response<Body> {
    let mut reader = Reader::default();
    let mut headers = echoed(request_headers, INITIAL);
    let trailers = echoed(request_headers, TRAILING);
    match method {
        "EmptyCall" => {
            reader.next(&mut body).await;
            single(headers, Bytes::new(), ended(trailers))
        }
        "UnaryCall" => {
            let message = reader.next(&mut body).await.unwrap_or_default();
            if let Some(output) = is_unexpected(&message, 8, reader.packed) {
                return output;
            }
            if let Some(output) = requested_status(&message) {
                return with_status(headers, output, trailers);
            }
            let response = payload(number(&message, 2));
            if is_set(&message, 6) {
                put(&mut headers, "grpc-encoding", "gzip");
                return whole(headers, packed(&response), ended(trailers));
            }
            single(headers, response, ended(trailers))
        }
        "StreamingInputCall" => {
            let mut sum = 0;
            while let Some(message) = reader.next(&mut body).await {
                if let Some(output) = is_unexpected(&message, 2, reader.packed) {
                    return output;
                }
                sum += bytes_of(&bytes_of(&message, 1), 2).len();
            }
            let sum = i64::try_from(sum).unwrap_or(i64::MAX);
            single(headers, numbered(sum), ended(trailers))
        }
        "StreamingOutputCall" | "FullDuplexCall" | "HalfDuplexCall" => {
            put(&mut headers, "grpc-encoding", "gzip");
            let at_once = method != "HalfDuplexCall";
            let (parts, response) = streaming_response(headers);
            tokio::spawn(stream(reader, body, parts, trailers, at_once));
            response
        }
        _ => status_only(12, &format!("unknown method {method}")),
    }
}

/// Responds to each message as the message requests, immediately or after the last message.
async fn stream(
    mut reader: Reader,
    mut body: Incoming,
    parts: Parts,
    trailers: HeaderMap,
    at_once: bool,
) {
    let mut kept = Vec::new();
    while let Some(message) = reader.next(&mut body).await {
        if let Some((code, text)) = requested_status(&message) {
            let _ = parts.send(Ok(Frame::trailers(status(code, &text)))).await;
            return;
        }
        if !at_once {
            kept.push(message);
        } else if !send(&parts, &message).await {
            return;
        }
    }
    for message in kept {
        if !send(&parts, &message).await {
            return;
        }
    }
    let _ = parts.send(Ok(Frame::trailers(ended(trailers)))).await;
}

/// Whether the client is still connected.
async fn send(parts: &Parts, message: &Bytes) -> bool {
    for (_, wish) in fields(message).into_iter().filter(|field| field.0 == 2) {
        let wait = u64::try_from(number(&wish, 2)).unwrap_or(0).min(5_000_000);
        if wait > 0 {
            tokio::time::sleep(Duration::from_micros(wait)).await;
        }
        let response = payload(number(&wish, 1));
        let framed = if is_set(&wish, 3) {
            packed(&response)
        } else {
            framed(&response)
        };
        if parts.send(Ok(Frame::data(framed))).await.is_err() {
            return false;
        }
    }
    true
}

/// A message whose first field is a payload of the given number of zeros.
fn payload(size: i64) -> Bytes {
    let size = usize::try_from(size).unwrap_or(0).min(MAX_RESPONSE);
    let mut payload = Vec::new();
    field(&mut payload, 2, &vec![0; size]);
    let mut message = Vec::new();
    field(&mut message, 1, &payload);
    message.into()
}

/// Whether the `BoolValue` in the given field is present and true.
fn is_set(message: &[u8], place: u64) -> bool {
    number(&bytes_of(message, place), 1) != 0
}

/// The error for a message whose compression differs from its declaration.
fn is_unexpected(message: &[u8], place: u64, was_packed: bool) -> Option<Response<Body>> {
    let output = fields(message).into_iter().any(|field| field.0 == place);
    (output && is_set(message, place) != was_packed)
        .then(|| status_only(3, "the message is not compressed as declared"))
}

/// The `EchoStatus` that the message requests.
fn requested_status(message: &[u8]) -> Option<(i64, String)> {
    let output = bytes_of(message, 7);
    let code = number(&output, 1);
    let text = bytes_of(&output, 2);
    (code != 0).then(|| (code, String::from_utf8_lossy(&text).into_owned()))
}

fn with_status(
    headers: HeaderMap,
    (code, text): (i64, String),
    trailers: HeaderMap,
) -> Response<Body> {
    let (parts, response) = streaming_response(headers);
    let mut last = status(code, &text);
    last.extend(trailers);
    tokio::spawn(async move { parts.send(Ok(Frame::trailers(last))).await });
    response
}

fn echoed(request_headers: &HeaderMap, name: &'static str) -> HeaderMap {
    let values = request_headers.get_all(name).iter().cloned();
    values
        .map(|value| (HeaderName::from_static(name), value))
        .collect()
}

fn ended(more: HeaderMap) -> HeaderMap {
    let mut trailers = ok();
    trailers.extend(more);
    trailers
}
