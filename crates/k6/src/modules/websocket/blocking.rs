//! `k6/ws`: `connect` calls the handlers during the session, and returns when the session has ended.

use plimsoll_quickjs::{Call, Context, Entry, Returned};
use plimsoll_ws::{Opened, Rejected};

use super::dial::{Dial, ModuleDifferences};
use super::messages;
use super::session::Session;
use super::socket::Socket;
use crate::modules::{BuiltIn, Shape};
use crate::user::user;

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/ws",
    shape: Shape::DefaultObject,
    entries: &[Entry::function(c"connect", 3, connect)],
    made: &[],
    make: None,
};

const DIFFERENCES: ModuleDifferences = ModuleDifferences {
    bad_tags: "invalid ws.connect() metric tags",
    is_strict: false,
};

/// `connect(url, params?, callback)`.
fn connect<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let user = user(context);
    let work = user.working(context, "using websockets")?;
    let (params, callback) = match call.count() {
        2 => (context.undefined(), call.argument(1).clone()),
        3 => (call.argument(1).clone(), call.argument(2).clone()),
        _ => return Err(context.throw_plain("invalid number of arguments to ws.connect")),
    };
    if !callback.is_function() {
        return Err(context.throw_plain("last argument to ws.connect must be a function"));
    }
    let url = match call.argument(0) {
        url if url.is_nullish() => String::new(),
        url => url.to_text()?.into_string(),
    };
    let dial = Dial::new(context, url, Vec::new(), &params, &DIFFERENCES)?;
    let session = Session::new(user, work, &dial, None);
    let opened = context
        .wait(dial.open(work))
        .map_err(|cancelled| context.cancelled(cancelled))?;
    session.opened(&opened);
    let opened = match opened {
        Ok(Opened { outcome, .. }) => outcome,
        Err(malformed) => return fail(context, &session, &malformed, None),
    };
    let opened = match opened {
        Ok(opened) => *opened,
        Err(rejected) => {
            let text = messages::rejected(&rejected);
            let result = match rejected {
                Rejected::Refused(_, response) => Some(*response),
                Rejected::Failed(_) => None,
            };
            return fail(context, &session, &text, result);
        }
    };
    Socket::live(context, opened.connection, session, &callback)?;
    handshake_result(context, &dial.url, &opened.response, "", "")
}

/// The result of a failed handshake, or an exception if the options request one.
fn fail<'c>(
    context: &'c Context,
    session: &Session,
    text: &str,
    rejection: Option<plimsoll_http::Response>,
) -> Returned<'c> {
    session.ended();
    if user(context).http_options().throw {
        return Err(context.throw_plain(text));
    }
    match rejection {
        Some(response) => {
            let body = String::from_utf8_lossy(&response.body);
            handshake_result(context, "", &response, &body, "")
        }
        None => {
            let result = context.object()?;
            result.define("url", context.string("")?)?;
            result.define("status", context.number(0))?;
            result.define("headers", context.object()?)?;
            result.define("body", context.string("")?)?;
            result.define("error", context.string(text)?)?;
            Ok(result)
        }
    }
}

/// `{ url, status, headers, body, error }`.
pub fn handshake_result<'c>(
    context: &'c Context,
    url: &str,
    response: &plimsoll_http::Response,
    body: &str,
    error: &str,
) -> Returned<'c> {
    let result = context.object()?;
    result.define("url", context.string(url)?)?;
    result.define("status", context.number(response.status))?;
    let headers = context.object()?;
    for (name, value) in response.fields() {
        let name = plimsoll_http::canonical_name(name);
        let known = headers.get(&*name)?;
        let mut text = String::from_utf8_lossy(value).into_owned();
        if known.is_string() {
            text = format!("{}, {text}", &*known.to_text()?);
        }
        headers.define(&*name, context.string(&text)?)?;
    }
    result.define("headers", headers)?;
    result.define("body", context.string(body)?)?;
    result.define("error", context.string(error)?)?;
    Ok(result)
}
