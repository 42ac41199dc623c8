//! The result of a gRPC call for scripts.

use bytes::Bytes;
use plimsoll_grpc::{Code, Metadata, Method, Reply};
use plimsoll_quickjs::{Class, Context, Entry, InImage, Persistent, Returned, Value};

use super::known_method::KnownMethod;
use crate::user::user;

/// A status as k6 shows it to scripts: an object that compares as a number and prints its name.
struct Status {
    number: u32,
    name: String,
}

impl Class for Status {
    const IN_IMAGE: InImage<Self> = InImage::Shared;

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::function(c"valueOf", 0, |context, call| {
                Ok(context.number(number(&call.this())))
            }),
            Entry::function(c"toJSON", 0, |context, call| {
                Ok(context.number(number(&call.this())))
            }),
            Entry::function(c"toString", 0, |context, call| {
                let this = call.this();
                let name = this.instance::<Status>().map(|status| status.name.clone());
                context.string(&name.unwrap_or_default())
            }),
        ];
        ENTRIES
    }
}

fn number(value: &Value<'_>) -> u32 {
    value.instance::<Status>().map_or(0, |status| status.number)
}

/// The object for that code. There is only one, because scripts compare statuses with `===`.
pub fn status(context: &Context, code: Code) -> Returned<'_> {
    interned(context, "status", code.0, || code.to_string())
}

/// The object for that health state. There is only one.
pub fn health(context: &Context, number: u32) -> Returned<'_> {
    interned(context, "health", number, || {
        let names = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];
        let name = names.get(number as usize);
        name.map_or_else(|| number.to_string(), |name| (*name).to_owned())
    })
}

fn interned<'c>(
    context: &'c Context,
    kind: &str,
    number: u32,
    name: impl FnOnce() -> String,
) -> Returned<'c> {
    let key = format!("k6/net/grpc {kind} {number}");
    let made = &user(context).modules;
    if let Some(kept) = made.get(&key) {
        return Ok(kept.restore(context));
    }
    let name = name();
    let value = context.instance(Status { number, name })?;
    // The server chooses numbers without a name, so there may be any number of them. They are not cached.
    if number <= 16 {
        made.insert(key, Persistent::new(&value));
    }
    Ok(value)
}

/// `{ message, error, headers, trailers, status }`
pub fn response<'c>(
    context: &'c Context,
    known: &KnownMethod,
    reply: &Reply,
    discard: bool,
) -> Returned<'c> {
    let object = context.object()?;
    let failed = !reply.status.code.is_ok();
    let message = if discard || (reply.message.is_none() && !failed) {
        context.null()
    } else {
        let none = Bytes::new();
        let bytes = reply.message.as_ref().unwrap_or(&none);
        match known.with_json(bytes, |text| context.parse_json(text, "message")) {
            Ok(message) => message?,
            Err(error) => {
                return Err(
                    context.throw_plain(format!("unable to unmarshal the response: {error}"))
                );
            }
        }
    };
    object.define("message", message)?;
    let failure = if failed {
        failure(context, &known.method, &reply.status)?
    } else {
        context.null()
    };
    object.define("error", failure)?;
    object.define("headers", pairs(context, &reply.headers())?)?;
    object.define("trailers", pairs(context, &reply.trailers())?)?;
    object.define("status", status(context, reply.status.code)?)?;
    Ok(object)
}

/// `{ code, message, details }`
fn failure<'c>(
    context: &'c Context,
    method: &Method,
    status: &plimsoll_grpc::Status,
) -> Returned<'c> {
    let object = context.object()?;
    object.define("code", context.number(status.code.0))?;
    object.define("message", context.string(&status.message)?)?;
    object.define("details", details(context, method, status)?)?;
    Ok(object)
}

fn details<'c>(
    context: &'c Context,
    method: &Method,
    status: &plimsoll_grpc::Status,
) -> Returned<'c> {
    if status.details.is_empty() {
        return context.array(Vec::new());
    }
    context.parse_json(&method.details(status), "details")
}

/// The argument of a stream's error handlers.
pub fn stream_error<'c>(
    context: &'c Context,
    method: &Method,
    failed: &plimsoll_grpc::Status,
) -> Returned<'c> {
    let object = context.object()?;
    object.define("code", status(context, failed.code)?)?;
    object.define("message", context.string(&failed.message)?)?;
    object.define("details", details(context, method, failed)?)?;
    Ok(object)
}

/// Maps metadata names to lists of their values.
fn pairs<'c>(context: &'c Context, metadata: &Metadata) -> Returned<'c> {
    let object = context.object()?;
    let mut names: Vec<&str> = metadata.iter().map(|(name, _)| name).collect();
    names.dedup();
    for name in names {
        if object.has(name)? {
            continue;
        }
        let values = metadata.iter().filter(|(known, _)| *known == name);
        let values = values
            .map(|(_, value)| context.string_lossy(value))
            .collect::<Result<Vec<_>, _>>()?;
        object.define(name, context.array(values)?)?;
    }
    Ok(object)
}

/// `[{ package, service, full_method, name, is_client_stream, is_server_stream }]`
pub fn methods<'c>(context: &'c Context, methods: &[Method]) -> Returned<'c> {
    let mut output = Vec::with_capacity(methods.len());
    for method in methods {
        let object = context.object()?;
        object.define("package", context.string(&method.package())?)?;
        object.define("service", context.string(&method.service_name())?)?;
        object.define("full_method", context.string(&method.path())?)?;
        object.define("name", context.string(method.name())?)?;
        object.define("is_client_stream", context.bool(method.client_streams()))?;
        object.define("is_server_stream", context.bool(method.server_streams()))?;
        output.push(object);
    }
    context.array(output)
}
