//! `k6/http`: requests, their answers, cookies and bodies.
//!
//! A call becomes a [`plan::Planned`] request, which [`exchange`] sends and
//! records; the answer is handed to the script as a [`response::Response`],
//! whose parts are made when they are asked for.

mod batch;
mod body;
mod cookies;
mod exchange;
mod expected;
mod file;
mod named_url;
mod params;
mod planned;
mod request_echo;
mod response;
mod state;
mod timings;

use crate::modules::{BuiltIn, Shape, link_constructor};
use crate::quickjs::{Call, Context, Entry, Returned, Thrown, Value};

pub use state::{HttpOptions, HttpState};

use exchange::{later, now};
use planned::Planned;

/// The module.
pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/http",
    shape: Shape::DefaultObject,
    entries: &[
        Entry::function(c"get", 2, get),
        Entry::function(c"head", 2, head),
        Entry::function(c"post", 3, post),
        Entry::function(c"put", 3, put),
        Entry::function(c"patch", 3, patch),
        Entry::function(c"del", 3, del),
        Entry::function(c"options", 3, options),
        Entry::function(c"request", 4, request),
        Entry::function(c"asyncRequest", 4, async_request),
        Entry::function(c"batch", 1, batch::batch),
        Entry::function(c"cookieJar", 0, cookies::current),
        Entry::function(c"file", 3, file::file),
        Entry::function(c"url", 1, named_url::url),
        Entry::function(c"expectedStatuses", 1, expected::expected_statuses),
        Entry::function(c"setResponseCallback", 1, expected::set_response_callback),
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
        Entry::string(c"OCSP_REASON_CESSATION_OF_OPERATION", c"cessation_of_operation"),
        Entry::string(c"OCSP_REASON_CERTIFICATE_HOLD", c"certificate_hold"),
        Entry::string(c"OCSP_REASON_REMOVE_FROM_CRL", c"remove_from_crl"),
        Entry::string(c"OCSP_REASON_PRIVILEGE_WITHDRAWN", c"privilege_withdrawn"),
        Entry::string(c"OCSP_REASON_AA_COMPROMISE", c"aa_compromise"),
    ],
    made: &["CookieJar"],
    make: Some(make),
};

fn make<'c>(context: &'c Context, exports: &Value<'c>) -> Result<(), Thrown> {
    let jar = context.constructor("CookieJar", 0, cookies::new)?;
    link_constructor::<cookies::Jar>(context, &jar)?;
    exports.define("CookieJar", jar)
}

/// What the methods do that take a URL and params, and no body.
fn without_body<'c>(context: &'c Context, call: &Call<'c>, method: &str) -> Returned<'c> {
    let planned = Planned::new(context, method, &call.argument(0), None, &call.argument(1))?;
    now(context, planned)
}

/// What the methods do that take a URL, a body and params.
fn with_body<'c>(context: &'c Context, call: &Call<'c>, method: &str) -> Returned<'c> {
    let (url, body, params) = (call.argument(0), call.argument(1), call.argument(2));
    let planned = Planned::new(context, method, &url, Some(&body), &params)?;
    now(context, planned)
}

fn get<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    without_body(context, call, "GET")
}

fn head<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    without_body(context, call, "HEAD")
}

fn post<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with_body(context, call, "POST")
}

fn put<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with_body(context, call, "PUT")
}

fn patch<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with_body(context, call, "PATCH")
}

fn del<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with_body(context, call, "DELETE")
}

fn options<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with_body(context, call, "OPTIONS")
}

fn by_method<'c>(context: &'c Context, call: &Call<'c>) -> Result<Planned, Thrown> {
    let method = call.argument(0).to_text()?.to_uppercase();
    let (url, body, params) = (call.argument(1), call.argument(2), call.argument(3));
    Planned::new(context, &method, &url, Some(&body), &params)
}

fn request<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let planned = by_method(context, call)?;
    now(context, planned)
}

/// Everything that goes wrong here rejects the promise.
fn async_request<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    match by_method(context, call).and_then(|planned| later(context, planned)) {
        Ok(promise) => Ok(promise),
        Err(thrown) => context.settled(Err(thrown)),
    }
}
