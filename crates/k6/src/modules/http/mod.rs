//! `k6/http`.
//!
//! * `arguments`, `body`, `url`, `file`: build a request from a call.
//! * `send`, `batch`: send requests and record every exchange.
//! * `response`: the response object that scripts see.
//! * `cookies`, `expected`: cookie jars and expected statuses.

mod arguments;
mod batch;
mod body;
mod cookies;
mod debug;
mod expected;
mod file;
mod page;
mod response;
mod send;
mod url;

use log::Level;
use plimsoll_http::Method;
use plimsoll_quickjs::{Call, Context, Entry, Returned};

use super::{BuiltIn, Shape, link_constructor};
use crate::user::user;

pub use arguments::prepare;
pub use cookies::Jar;
pub use send::{exchange, failed, method_of, refuse};

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/http",
    shape: Shape::DefaultObject,
    entries: &[
        Entry::string(c"TLS_1_0", c"tls1.0"),
        Entry::string(c"TLS_1_1", c"tls1.1"),
        Entry::string(c"TLS_1_2", c"tls1.2"),
        Entry::string(c"TLS_1_3", c"tls1.3"),
        Entry::string(c"OCSP_STATUS_GOOD", c"good"),
        Entry::string(c"OCSP_STATUS_REVOKED", c"revoked"),
        Entry::string(c"OCSP_STATUS_SERVER_FAILED", c"server_failed"),
        Entry::string(c"OCSP_STATUS_UNKNOWN", c"unknown"),
        Entry::string(c"OCSP_REASON_UNSPECIFIED", c"unspecified"),
        Entry::string(c"OCSP_REASON_KEY_COMPROMISE", c"key_compromise"),
        Entry::string(c"OCSP_REASON_CA_COMPROMISE", c"ca_compromise"),
        Entry::string(c"OCSP_REASON_AFFILIATION_CHANGED", c"affiliation_changed"),
        Entry::string(c"OCSP_REASON_SUPERSEDED", c"superseded"),
        Entry::string(
            c"OCSP_REASON_CESSATION_OF_OPERATION",
            c"cessation_of_operation",
        ),
        Entry::string(c"OCSP_REASON_CERTIFICATE_HOLD", c"certificate_hold"),
        Entry::string(c"OCSP_REASON_REMOVE_FROM_CRL", c"remove_from_crl"),
        Entry::string(c"OCSP_REASON_PRIVILEGE_WITHDRAWN", c"privilege_withdrawn"),
        Entry::string(c"OCSP_REASON_AA_COMPROMISE", c"aa_compromise"),
        Entry::function(c"url", 1, url::url),
        Entry::function(c"cookieJar", 0, cookies::cookie_jar),
        Entry::function(c"file", 3, file::file),
        Entry::function(c"get", 2, get),
        Entry::function(c"head", 2, head),
        Entry::function(c"post", 3, post),
        Entry::function(c"put", 3, put),
        Entry::function(c"patch", 3, patch),
        Entry::function(c"del", 3, del),
        Entry::function(c"options", 3, options),
        Entry::function(c"request", 4, request),
        Entry::function(c"asyncRequest", 4, send::async_request),
        Entry::function(c"batch", 1, batch::batch),
        Entry::function(c"setResponseCallback", 1, expected::set_response_callback),
        Entry::function(c"expectedStatuses", 1, expected::expected_statuses),
    ],
    made: &["CookieJar"],
    make: Some(|context, exports| {
        let constructor = context.constructor("CookieJar", 0, cookies::new_jar)?;
        link_constructor::<cookies::Jar>(context, &constructor)?;
        exports.define("CookieJar", constructor)
    }),
};

fn get<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    without_body(context, call, Method::Get)
}

fn head<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    without_body(context, call, Method::Head)
}

/// `(url, params?)`.
#[inline]
fn without_body<'c>(context: &'c Context, call: &Call<'c>, method: Method) -> Returned<'c> {
    if call.count() > 2 {
        user(context).log(
            Level::Warn,
            &format!(
                "http.{} takes a URL and parameters, and was given {} arguments; those after the second are ignored",
                method.as_str().to_ascii_lowercase(),
                call.count()
            ),
        );
    }
    send::request(
        context,
        method,
        &call.argument(0),
        &context.undefined(),
        &call.argument(1),
    )
}

fn post<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with_body(context, call, Method::Post)
}

fn put<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with_body(context, call, Method::Put)
}

fn patch<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with_body(context, call, Method::Patch)
}

fn del<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with_body(context, call, Method::Delete)
}

fn options<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with_body(context, call, Method::Options)
}

/// `(url, body?, params?)`.
fn with_body<'c>(context: &'c Context, call: &Call<'c>, method: Method) -> Returned<'c> {
    send::request(
        context,
        method,
        &call.argument(0),
        &call.argument(1),
        &call.argument(2),
    )
}

/// `(method, url, body?, params?)`.
fn request<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let method = send::method_of(&call.argument(0))?;
    send::request(
        context,
        method,
        &call.argument(1),
        &call.argument(2),
        &call.argument(3),
    )
}
