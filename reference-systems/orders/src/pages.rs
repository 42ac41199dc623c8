//! The responses, by path.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Either, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode};
use serde_json::{Value, json};

use crate::websocket;

/// Maximum wait that a client can request.
const MAX_WAIT: Duration = Duration::from_secs(60);

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const SERVER: HeaderName = HeaderName::from_static("x-server");

/// Our own body, or an echoed one that is streamed.
pub type ResponseBody = Either<Full<Bytes>, BoxBody<Bytes, hyper::Error>>;

pub struct Pages {
    order: Bytes,
    name: Option<HeaderValue>,
}

impl Pages {
    /// The pages of a server, with its name if it has one.
    pub fn new(name: Option<&str>) -> Result<Pages, String> {
        let name = name.map(HeaderValue::from_str).transpose();
        Ok(Pages {
            order: order().into(),
            name: name.map_err(|_| "--name: not allowed in a header".to_owned())?,
        })
    }

    async fn respond(&self, request: Request<Incoming>) -> Response<ResponseBody> {
        let (mut head, body) = request.into_parts();
        let mut response = match head.uri.path() {
            "/spot/orders" => {
                take(body).await;
                page(StatusCode::OK, self.order.clone())
            }
            "/echo" => echo(&head, body),
            "/websocket" => websocket::open(&mut head),
            "/request" => {
                take(body).await;
                page(StatusCode::OK, describe(&head))
            }
            "/long" => {
                take(body).await;
                long(&head).await
            }
            path => {
                let status = path.strip_prefix("/status/").and_then(|code| {
                    let code = StatusCode::from_bytes(code.as_bytes()).ok()?;
                    Some(code).filter(|code| code.as_u16() >= 200)
                });
                take(body).await;
                match status {
                    Some(status) => page(status, json!({"status": status.as_u16()})),
                    None => error(StatusCode::NOT_FOUND, "page not found; try /spot/orders"),
                }
            }
        };
        if let Some(name) = &self.name {
            response.headers_mut().insert(SERVER, name.clone());
        }
        response
    }
}

/// Reads a body to its end, so that the connection can be reused.
async fn take(mut body: Incoming) {
    while let Some(Ok(_)) = body.frame().await {}
}

fn echo(head: &Parts, body: Incoming) -> Response<ResponseBody> {
    let mut response = Response::new(Either::Right(BoxBody::new(body)));
    if let Some(kind) = head.headers.get(CONTENT_TYPE) {
        response.headers_mut().insert(CONTENT_TYPE, kind.clone());
    }
    response
}

fn describe(head: &Parts) -> Value {
    let headers: Vec<_> = head
        .headers
        .iter()
        .map(|(name, value)| json!([name.as_str(), String::from_utf8_lossy(value.as_bytes())]))
        .collect();
    json!({
        "method": head.method.as_str(),
        "target": head.uri.to_string(),
        "version": format!("{:?}", head.version),
        "headers": headers,
    })
}

async fn long(head: &Parts) -> Response<ResponseBody> {
    let wait_text = head
        .uri
        .query()
        .into_iter()
        .flat_map(|query| query.split('&'))
        .find_map(|pair| pair.strip_prefix("ms="));
    let wait = match wait_text.map(str::parse) {
        None => Ok(1000),
        Some(milliseconds) => milliseconds,
    };
    match wait.map(Duration::from_millis) {
        Ok(wait) if wait <= MAX_WAIT => {
            tokio::time::sleep(wait).await;
            page(
                StatusCode::OK,
                json!({"waited_ms": wait.as_millis() as u64}),
            )
        }
        _ => error(
            StatusCode::BAD_REQUEST,
            "ms is a number of milliseconds up to 60000",
        ),
    }
}

pub fn page(status: StatusCode, body: impl Into<JsonText>) -> Response<ResponseBody> {
    let mut response = Response::new(Either::Left(Full::new(body.into().0)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

pub fn error(status: StatusCode, message: &str) -> Response<ResponseBody> {
    page(status, json!({"error": message}))
}

pub struct JsonText(Bytes);

impl From<Bytes> for JsonText {
    fn from(text: Bytes) -> Self {
        JsonText(text)
    }
}

impl From<Value> for JsonText {
    fn from(value: Value) -> Self {
        JsonText(value.to_string().into())
    }
}

/// The constant order, with the fields of an order at an exchange.
fn order() -> String {
    json!({
        "id": "1852454420",
        "text": "t-現貨訂單",
        "amend_text": "-",
        "create_time": "1710488334",
        "update_time": "1710488334",
        "create_time_ms": 1_710_488_334_073_u64,
        "update_time_ms": 1_710_488_334_074_u64,
        "status": "closed",
        "currency_pair": "BTC_USDT",
        "type": "limit",
        "account": "unified",
        "side": "buy",
        "amount": "0.001",
        "price": "65000",
        "time_in_force": "gtc",
        "iceberg": "0",
        "left": "0",
        "filled_amount": "0.001",
        "fill_price": "63.4693",
        "filled_total": "63.4693",
        "avg_deal_price": "63469.3",
        "fee": "0.00000022",
        "fee_currency": "BTC",
        "point_fee": "0",
        "gt_fee": "0",
        "gt_maker_fee": "0",
        "gt_taker_fee": "0",
        "gt_discount": false,
        "rebated_fee": "0",
        "rebated_fee_currency": "USDT",
        "finish_as": "filled",
        "stp_act": "cn",
        "auto_borrow": false,
        "auto_repay": false,
        "action_mode": "FULL",
        "stop_loss_price": "60000",
        "take_profit_price": "70000",
        "stp_id": 10_240_u64
    })
    .to_string()
}

/// The service of one connection.
pub struct Service(pub Arc<Pages>);

impl hyper::service::Service<Request<Incoming>> for Service {
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<ResponseBody>, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let pages = self.0.clone();
        Box::pin(async move { Ok(pages.respond(request).await) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_about_as_large_as_it_should_be() {
        let order = order();
        assert!((750..850).contains(&order.len()), "{} bytes", order.len());
        assert!(!order.is_ascii());
    }

    #[test]
    fn a_name_must_fit_a_header() {
        assert!(Pages::new(Some("a\nb")).is_err());
        assert!(Pages::new(Some("one")).is_ok());
    }
}
