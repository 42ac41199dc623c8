//! The routes, and the parsing of requests.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderName, IF_NONE_MATCH, VARY,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, patch, post};
use serde::Serialize;
use serde_json::json;

use crate::accept;
use crate::app::{App, Update};
use crate::problem::Problem;
use crate::ready::Reference;
use crate::token::Form;

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

pub fn routes(app: Arc<App>) -> Router {
    Router::new()
        .route("/pools/{pool}/new-references", post(new_references))
        .route("/status-lists/update", patch(update))
        .route("/aggregation/{pool}", get(aggregation))
        .route("/.well-known/jwks.json", get(keys))
        // The older paths.
        .route("/api/{pool}/new-reference", post(one_reference))
        .route("/api/{pool}/new-references/{amount}", post(some_references))
        .route("/api/update-status", post(update))
        .route("/{list}", get(list))
        .fallback(async || Problem::Missing("page not found".to_owned()))
        .method_not_allowed_fallback(async || Problem::WrongMethod)
        .with_state(app)
}

fn key(headers: &HeaderMap) -> Option<&[u8]> {
    headers.get(API_KEY).map(HeaderValue::as_bytes)
}

async fn new_references(
    State(app): State<Arc<App>>,
    Path(pool): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let query = query.unwrap_or_default();
    let amount = query
        .split('&')
        .find_map(|pair| pair.strip_prefix("amount="));
    let references = app.references(&pool, key(&headers), amount).await?;
    in_json(&References { references })
}

async fn some_references(
    State(app): State<Arc<App>>,
    Path((pool, amount)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let references = app.references(&pool, key(&headers), Some(&amount)).await?;
    in_json(&References { references })
}

async fn one_reference(
    State(app): State<Arc<App>>,
    Path(pool): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let references = app.references(&pool, key(&headers), None).await?;
    in_json(&references.first())
}

#[derive(Serialize)]
struct References {
    references: Vec<Reference>,
}

async fn update(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<StatusCode, Problem> {
    let body = body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Problem::TooLarge(app.max_body),
        _ => Problem::Wrong("the body ended early".to_owned()),
    })?;
    // Without a key, a client learns nothing about the expected format.
    let key = key(&headers).ok_or(Problem::Unauthorized)?;
    let update: Update = serde_json::from_slice(&body)
        .map_err(|error| Problem::Wrong(format!("the body is not understood: {error}")))?;
    app.update(Some(key), &update).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn aggregation(
    State(app): State<Arc<App>>,
    Path(pool): Path<String>,
) -> Result<Response, Problem> {
    let lists = app.aggregation(&pool).await?;
    in_json(&json!({"status_lists": lists}))
}

async fn keys(State(app): State<Arc<App>>) -> Response {
    let keys = app.published.signer().key_set();
    ([(CONTENT_TYPE, JSON)], keys).into_response()
}

async fn list(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let form = match headers.get(ACCEPT) {
        None => Form::Jwt,
        Some(_) => accept::form(&headers).ok_or(Problem::NotAcceptable)?,
    };
    let page = app.list(&name, form).await?;
    let known = headers
        .get_all(IF_NONE_MATCH)
        .iter()
        .any(|tags| accept::names(tags.as_bytes(), page.tag.as_bytes()));
    let mut response = if known {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        let mut response = Response::new(Body::from(page.body));
        let kind = HeaderValue::from_static(form.media_type());
        response.headers_mut().insert(CONTENT_TYPE, kind);
        response
    };
    // A 304 repeats the headers of a 200 (RFC 9110, section 15.4.5).
    let headers = response.headers_mut();
    headers.insert(ETAG, page.tag);
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, no-cache"));
    Ok(response)
}

fn in_json(value: &impl Serialize) -> Result<Response, Problem> {
    let text = serde_json::to_string(value).map_err(|error| Problem::Broken(error.to_string()))?;
    Ok(([(CONTENT_TYPE, JSON)], text).into_response())
}
