//! The routes, and the parsing of requests.

use std::borrow::Cow;
use std::sync::Arc;

use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use plimsoll_serving::secret::ApiKey;
use plimsoll_serving::trouble;
use serde_json::json;

use crate::Zones;
use crate::coordinate::Coordinate;

/// The state that all requests share.
pub struct App {
    pub zones: Zones,
    pub keys: Vec<ApiKey>,
}

pub fn routes(app: Arc<App>) -> Router {
    Router::new()
        .route("/time_zone", get(time_zone))
        .route("/status", get(async || "OK"))
        .fallback(async || error_response(StatusCode::NOT_FOUND, "page not found"))
        .method_not_allowed_fallback(async || {
            error_response(
                StatusCode::METHOD_NOT_ALLOWED,
                "that method is not for this place",
            )
        })
        .with_state(app)
}

type Pairs = Vec<(String, String)>;

async fn time_zone(
    State(app): State<Arc<App>>,
    query: Result<Query<Pairs>, QueryRejection>,
) -> Response {
    let pairs = query.map(|Query(pairs)| pairs).unwrap_or_default();
    let value = |name: &str| {
        let pair = pairs.iter().find(|(known, _)| known == name);
        pair.map(|(_, value)| value.as_str())
    };
    let known = |given: &str| app.keys.iter().any(|key| key.is(given.as_bytes()));
    if !value("api_key").is_some_and(known) {
        return error_response(
            StatusCode::UNAUTHORIZED,
            "api_key is missing, or is not known here",
        );
    }
    let place = match Coordinate::parse(value("lat"), value("lng")) {
        Ok(place) => place,
        Err(reason) => return error_response(StatusCode::BAD_REQUEST, reason),
    };
    match app.zones.at(place).await {
        Ok(Some(zone)) => in_json(StatusCode::OK, "time_zone_id", &zone),
        Ok(None) => error_response(StatusCode::NOT_FOUND, "there is no time zone at this place"),
        Err(reason) => {
            // The reason may name hosts and users; it is for the log.
            trouble::happened(&reason);
            let mut response = error_response(
                StatusCode::SERVICE_UNAVAILABLE,
                "the store is unavailable; try again later",
            );
            let headers = response.headers_mut();
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
            response
        }
    }
}

fn error_response(status: StatusCode, reason: impl Into<Cow<'static, str>>) -> Response {
    in_json(status, "error", &reason.into())
}

fn in_json(status: StatusCode, name: &str, value: &str) -> Response {
    let kind = HeaderValue::from_static("application/json");
    let body = json!({name: value}).to_string();
    (status, [(CONTENT_TYPE, kind)], body).into_response()
}
