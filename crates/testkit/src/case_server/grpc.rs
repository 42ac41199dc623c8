//! The gRPC service of `cases.proto`. A compressed request receives a compressed response.

use std::convert::Infallible;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bytes::Bytes;
use futures_util::stream;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, Response};
use tokio::sync::mpsc;

use super::interop;
use super::messages::{Reader, bytes_of, field, fields, framed, number, numbered, packed, texted};

pub(super) type Body = BoxBody<Bytes, Infallible>;
pub(super) type Parts = mpsc::Sender<Result<Frame<Bytes>, Infallible>>;

/// The output of `protoc --include_imports --descriptor_set_out` for `cases.proto`.
pub const DESCRIPTORS: &[u8] = include_bytes!("cases.protoset");
/// The source of the descriptors.
pub const PROTO: &str = include_str!("cases.proto");

/// Whether the request is a gRPC call.
pub fn is_call<B>(request: &Request<B>) -> bool {
    let kind = request.headers().get("content-type");
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"))
}

/// Responds to one call.
pub async fn respond(request: Request<Incoming>) -> Response<Body> {
    let (head, mut body) = request.into_parts();
    let path = head.uri.path().to_owned();
    let mut reader = Reader::default();
    let (service, method) = path
        .trim_start_matches('/')
        .split_once('/')
        .unwrap_or_default();
    match (service, method) {
        ("cases.Cases", "Chat") => chat(body),
        ("cases.Cases", "Sum") => {
            let mut sum = 0;
            while let Some(message) = reader.next(&mut body).await {
                sum += number(&message, 1);
            }
            single(HeaderMap::new(), numbered(sum), ok())
        }
        ("cases.Cases", method) => {
            let message = reader.next(&mut body).await.unwrap_or_default();
            unary(method, &head.headers, message, reader.packed).await
        }
        ("grpc.testing.TestService", method) => interop::respond(method, &head.headers, body).await,
        ("grpc.health.v1.Health", "Check") => {
            let message = reader.next(&mut body).await.unwrap_or_default();
            health(&message)
        }
        (
            "grpc.reflection.v1.ServerReflection" | "grpc.reflection.v1alpha.ServerReflection",
            "ServerReflectionInfo",
        ) => reflection(body),
        _ => status_only(12, &format!("unknown service {service}")),
    }
}

async fn unary(
    method: &str,
    request_headers: &HeaderMap,
    message: Bytes,
    was_packed: bool,
) -> Response<Body> {
    let same_way = |message: Bytes| {
        let mut headers = HeaderMap::new();
        if was_packed {
            put(&mut headers, "grpc-encoding", "gzip");
            return whole(headers, packed(&message), ok());
        }
        single(headers, message, ok())
    };
    match method {
        "Echo" | "EchoKnown" | "EchoWord" | "Misread" => same_way(message),
        "Fail" => fail(&message),
        "Wait" => {
            let wait = u64::try_from(number(&message, 1)).unwrap_or(0).min(30_000);
            tokio::time::sleep(Duration::from_millis(wait)).await;
            single(HeaderMap::new(), texted("waited"), ok())
        }
        "Blob" => {
            let size = usize::try_from(number(&message, 1))
                .unwrap_or(0)
                .min(64 << 20);
            same_way(texted(&"x".repeat(size)))
        }
        "Metadata" => metadata(request_headers),
        "Count" => count(number(&message, 1), ok()),
        "CountAndFail" => count(number(&message, 1), status(9, "enough counted")),
        _ => status_only(
            12,
            &format!("unknown method {method} for service cases.Cases"),
        ),
    }
}

/// Echoes each message when it arrives. "stop" ends the call with an error.
fn chat(mut body: Incoming) -> Response<Body> {
    let (parts, response) = streaming_response(HeaderMap::new());
    tokio::spawn(async move {
        let mut reader = Reader::default();
        while let Some(message) = reader.next(&mut body).await {
            if message.ends_with(b"stop") {
                let _ = parts.send(Ok(Frame::trailers(status(10, "stopped")))).await;
                return;
            }
            if parts.send(Ok(Frame::data(framed(&message)))).await.is_err() {
                return;
            }
        }
        let _ = parts.send(Ok(Frame::trailers(ok()))).await;
    });
    response
}

fn count(to: i64, last: HeaderMap) -> Response<Body> {
    let (parts, response) = streaming_response(HeaderMap::new());
    tokio::spawn(async move {
        for value in 1..=to {
            let message = framed(&numbered(value));
            if parts.send(Ok(Frame::data(message))).await.is_err() {
                return;
            }
        }
        let _ = parts.send(Ok(Frame::trailers(last))).await;
    });
    response
}

fn fail(message: &Bytes) -> Response<Body> {
    let code = number(message, 1);
    let text = String::from_utf8_lossy(&bytes_of(message, 2)).into_owned();
    let details = bytes_of(message, 3);
    let late = number(message, 4) != 0;
    let mut trailers = status(code, &text);
    if !details.is_empty() {
        put(
            &mut trailers,
            "grpc-status-details-bin",
            STANDARD_NO_PAD.encode(details),
        );
    }
    if !late {
        let mut response = Response::new(http_body_util::Empty::new().boxed());
        *response.headers_mut() = trailers;
        put(response.headers_mut(), "content-type", "application/grpc");
        return response;
    }
    let (parts, response) = streaming_response(HeaderMap::new());
    tokio::spawn(async move { parts.send(Ok(Frame::trailers(trailers))).await });
    response
}

/// Received fields whose names start with `x-`. Some of them are returned in the headers and in the
/// trailers.
fn metadata(request_headers: &HeaderMap) -> Response<Body> {
    let mut names: Vec<&str> = request_headers
        .keys()
        .map(HeaderName::as_str)
        .filter(|name| name.starts_with("x-"))
        .collect();
    names.sort_unstable();
    let mut message = Vec::new();
    for name in names {
        let values: Vec<String> = request_headers
            .get_all(name)
            .iter()
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
            .collect();
        let mut pair = Vec::new();
        field(&mut pair, 1, name.as_bytes());
        field(&mut pair, 2, values.join("|").as_bytes());
        field(&mut message, 1, &pair);
    }
    let mut headers = HeaderMap::new();
    put(&mut headers, "x-head", "one");
    headers.append("x-head", HeaderValue::from_static("two"));
    put(
        &mut headers,
        "x-head-bin",
        STANDARD_NO_PAD.encode([0, 1, 254, 255]),
    );
    let mut trailers = ok();
    put(&mut trailers, "x-tail", "last");
    put(&mut trailers, "x-tail-bin", STANDARD_NO_PAD.encode("bytes"));
    single(headers, message.into(), trailers)
}

fn health(message: &Bytes) -> Response<Body> {
    let service = bytes_of(message, 1);
    let state = match &service[..] {
        b"" | b"cases.Cases" => 1,
        b"down" => 2,
        b"odd" => 3,
        _ => return status_only(5, "unknown service"),
    };
    single(HeaderMap::new(), numbered(state), ok())
}

fn reflection(mut body: Incoming) -> Response<Body> {
    let (parts, response) = streaming_response(HeaderMap::new());
    tokio::spawn(async move {
        let mut reader = Reader::default();
        while let Some(question) = reader.next(&mut body).await {
            let response = framed(&described(&question));
            if parts.send(Ok(Frame::data(response))).await.is_err() {
                return;
            }
        }
        let _ = parts.send(Ok(Frame::trailers(ok()))).await;
    });
    response
}

/// One response of the reflection service.
fn described(question: &Bytes) -> Vec<u8> {
    let mut response = Vec::new();
    let file_named = bytes_of(question, 3);
    let symbol = bytes_of(question, 4);
    // The original request is part of the response.
    field(&mut response, 2, question);
    if !bytes_of(question, 7).is_empty() {
        let mut list = Vec::new();
        let mut service = Vec::new();
        field(&mut service, 1, b"cases.Cases");
        field(&mut list, 1, &service);
        field(&mut response, 6, &list);
        return response;
    }
    let wanted = if symbol.is_empty() {
        String::from_utf8_lossy(&file_named).into_owned()
    } else if symbol.starts_with(b"cases.") {
        "cases.proto".to_owned()
    } else {
        String::new()
    };
    let file = fields(DESCRIPTORS)
        .into_iter()
        .map(|(_, file)| file)
        .find(|file| bytes_of(file, 1) == wanted.as_bytes());
    match file {
        Some(file) => {
            let mut files = Vec::new();
            field(&mut files, 1, &file);
            field(&mut response, 4, &files);
        }
        None => {
            let mut error = vec![1 << 3, 5];
            field(&mut error, 2, b"not found");
            field(&mut response, 7, &error);
        }
    }
    response
}

/// A response whose parts follow later.
pub(super) fn streaming_response(headers: HeaderMap) -> (Parts, Response<Body>) {
    let (parts, printed) = mpsc::channel(4);
    let parts_of_body = stream::unfold(printed, |mut printed| async move {
        printed.recv().await.map(|part| (part, printed))
    });
    let mut response = Response::new(BodyExt::boxed(StreamBody::new(parts_of_body)));
    *response.headers_mut() = headers;
    put(response.headers_mut(), "content-type", "application/grpc");
    (parts, response)
}

pub(super) fn single(headers: HeaderMap, message: Bytes, trailers: HeaderMap) -> Response<Body> {
    whole(headers, framed(&message), trailers)
}

/// A response with one framed message.
pub(super) fn whole(headers: HeaderMap, framed: Bytes, trailers: HeaderMap) -> Response<Body> {
    let (parts, response) = streaming_response(headers);
    tokio::spawn(async move {
        if parts.send(Ok(Frame::data(framed))).await.is_ok() {
            let _ = parts.send(Ok(Frame::trailers(trailers))).await;
        }
    });
    response
}

/// A response that contains only a status.
pub(super) fn status_only(code: i64, message: &str) -> Response<Body> {
    let mut response = Response::new(http_body_util::Empty::new().boxed());
    *response.headers_mut() = status(code, message);
    put(response.headers_mut(), "content-type", "application/grpc");
    response
}

pub(super) fn ok() -> HeaderMap {
    status(0, "")
}

pub(super) fn status(code: i64, message: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    put(&mut headers, "grpc-status", code.to_string());
    let mut text = String::new();
    for byte in message.bytes() {
        match byte {
            b' '..=b'~' if byte != b'%' => text.push(char::from(byte)),
            _ => text += &format!("%{byte:02X}"),
        }
    }
    if !text.is_empty() {
        put(&mut headers, "grpc-message", text);
    }
    headers
}

pub(super) fn put(headers: &mut HeaderMap, name: &'static str, value: impl AsRef<str>) {
    if let Ok(value) = HeaderValue::from_str(value.as_ref()) {
        headers.insert(name, value);
    }
}
