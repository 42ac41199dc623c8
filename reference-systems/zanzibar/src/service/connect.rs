//! Connect's protocol for unary calls, with messages in JSON or binary
//! (connectrpc.com/docs/protocol, "Unary-Request" and "Error Codes").

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use plimsoll_serving::Refusal;
use prost::Message;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Methods, json};
use crate::failure::Failure;

const SERVICE: &str = "/zanzigo.v1.ZanzigoService/";

/// Time limit for a body, because slow clients would block others.
const BODY: Duration = Duration::from_secs(10);

const ACCEPT_POST: HeaderName = HeaderName::from_static("accept-post");

/// The format of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Binary,
}

impl Form {
    fn of(headers: &HeaderMap) -> Option<Form> {
        let kind = headers.get(CONTENT_TYPE)?.to_str().ok()?;
        let (kind, parameters) = kind.split_once(';').unwrap_or((kind, ""));
        let charset = parameters.trim();
        match kind.trim().to_ascii_lowercase().as_str() {
            "application/json"
                if charset.is_empty() || charset.eq_ignore_ascii_case("charset=utf-8") =>
            {
                Some(Form::Json)
            }
            "application/proto" => Some(Form::Binary),
            _ => None,
        }
    }

    fn content_type(self) -> HeaderValue {
        match self {
            Form::Json => HeaderValue::from_static("application/json"),
            Form::Binary => HeaderValue::from_static("application/proto"),
        }
    }

    fn read<T: Message + Default + DeserializeOwned>(self, body: &Bytes) -> Result<T, Failure> {
        match self {
            Form::Json => {
                json::read(body).map_err(|error| Failure::Invalid(format!("the body: {error}")))
            }
            Form::Binary => T::decode(body.clone())
                .map_err(|error| Failure::Invalid(format!("the body: {error}"))),
        }
    }

    fn write<T: Message + Serialize>(self, message: &T) -> Result<Bytes, Failure> {
        match self {
            Form::Json => serde_json::to_vec(message)
                .map(Bytes::from)
                .map_err(|error| Failure::internal("cannot write a response", &error)),
            Form::Binary => Ok(message.encode_to_vec().into()),
        }
    }
}

/// Responds to a request that is not gRPC.
pub async fn respond(
    methods: &Methods,
    max_body: usize,
    request: Request<Incoming>,
) -> Response<Bytes> {
    let Some(method) = request.uri().path().strip_prefix(SERVICE) else {
        return not_found(&format!(
            "page not found; call {SERVICE}Check by POST, or get /healthz or /metrics"
        ));
    };
    let Some(method) = MethodName::of(method) else {
        let hint = crate::model::suggestion(method, MethodName::NAMES);
        return not_found(&format!(
            "the service has no such method{hint}; it has {}",
            MethodName::NAMES.join(", ")
        ));
    };
    if request.method() != Method::POST {
        let mut response = page(StatusCode::METHOD_NOT_ALLOWED, Bytes::new());
        let post = HeaderValue::from_static("POST");
        response.headers_mut().insert(ALLOW, post);
        return response;
    }
    let Some(form) = Form::of(request.headers()) else {
        let mut response = page(StatusCode::UNSUPPORTED_MEDIA_TYPE, Bytes::new());
        let forms =
            HeaderValue::from_static("application/json, application/proto, application/grpc");
        response.headers_mut().insert(ACCEPT_POST, forms);
        return response;
    };
    match call(methods, method, form, max_body, request).await {
        Ok(body) => {
            let mut response = Response::new(body);
            response
                .headers_mut()
                .insert(CONTENT_TYPE, form.content_type());
            response
        }
        Err(failure) => error_response(status(&failure), code(&failure), failure.message()),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MethodName {
    Write,
    Delete,
    Read,
    List,
    Check,
}

impl MethodName {
    const NAMES: [&str; 5] = ["Write", "Delete", "Read", "List", "Check"];

    fn of(name: &str) -> Option<MethodName> {
        Some(match name {
            "Check" => MethodName::Check,
            "Write" => MethodName::Write,
            "Delete" => MethodName::Delete,
            "Read" => MethodName::Read,
            "List" => MethodName::List,
            _ => return None,
        })
    }
}

async fn call(
    methods: &Methods,
    method: MethodName,
    form: Form,
    max_body: usize,
    request: Request<Incoming>,
) -> Result<Bytes, Failure> {
    let encoding = request.headers().get(CONTENT_ENCODING);
    if encoding.is_some_and(|encoding| encoding != "identity") {
        return Err(Failure::Unimplemented(
            "compressed requests are not read; send it without content-encoding".to_owned(),
        ));
    }
    let body = Limited::new(request.into_body(), max_body).collect();
    let body = tokio::time::timeout(BODY, body)
        .await
        .map_err(|_| Failure::Invalid(format!("the body did not arrive within {BODY:?}")))?
        .map_err(|error| match error.downcast::<LengthLimitError>() {
            Ok(_) => Failure::TooMuch(format!("the body is too large: at most {max_body} bytes")),
            Err(error) => Failure::Invalid(format!("the body ended early: {error}")),
        })?
        .to_bytes();
    match method {
        MethodName::Check => form.write(&methods.check(form.read(&body)?).await?),
        MethodName::Write => form.write(&methods.write(form.read(&body)?).await?),
        MethodName::Delete => form.write(&methods.delete(form.read(&body)?).await?),
        MethodName::Read => form.write(&methods.read(form.read(&body)?).await?),
        MethodName::List => form.write(&methods.list(form.read(&body)?).await?),
    }
}

/// Connect's names of the codes, and the HTTP status of each.
fn code(failure: &Failure) -> &'static str {
    match failure {
        Failure::Invalid(_) => "invalid_argument",
        Failure::NotFound => "not_found",
        Failure::TooMuch(_) => "resource_exhausted",
        Failure::Unavailable(_) => "unavailable",
        Failure::Unimplemented(_) => "unimplemented",
        Failure::Internal => "internal",
    }
}

fn status(failure: &Failure) -> StatusCode {
    match failure {
        Failure::Invalid(_) => StatusCode::BAD_REQUEST,
        Failure::NotFound => StatusCode::NOT_FOUND,
        Failure::TooMuch(_) => StatusCode::TOO_MANY_REQUESTS,
        Failure::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
        Failure::Unimplemented(_) => StatusCode::NOT_IMPLEMENTED,
        Failure::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The response to a rejected request.
pub fn refuse(refusal: Refusal) -> Response<Bytes> {
    let code = match refusal {
        Refusal::Overloaded => "unavailable",
        Refusal::TooLarge(_) => "resource_exhausted",
    };
    error_response(refusal.status(), code, &refusal.message())
}

fn not_found(message: &str) -> Response<Bytes> {
    error_response(StatusCode::NOT_FOUND, "unimplemented", message)
}

/// An error in Connect's format: always JSON, whatever the format of the request.
fn error_response(status: StatusCode, code: &str, message: &str) -> Response<Bytes> {
    let body = serde_json::json!({"code": code, "message": message}).to_string();
    page(status, body.into())
}

fn page(status: StatusCode, body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    if !response.body().is_empty() {
        response
            .headers_mut()
            .insert(CONTENT_TYPE, Form::Json.content_type());
    }
    response
}
