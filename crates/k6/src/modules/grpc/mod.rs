//! `k6/net/grpc`: gRPC clients, calls and streams.

mod client;
mod connect;
mod counts;
mod described;
mod known_method;
mod open_streams;
mod parameters;
mod result;
mod stream;

use plimsoll_quickjs::{Context, Thrown, Value};

use super::{BuiltIn, Shape, link_constructor};

pub use connect::network;
#[cfg(any(feature = "redis", feature = "sql"))]
pub use parameters::Tls;

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/net/grpc",
    shape: Shape::Names,
    entries: &[],
    made: &[
        "Client",
        "Stream",
        "StatusOK",
        "StatusCanceled",
        "StatusUnknown",
        "StatusInvalidArgument",
        "StatusDeadlineExceeded",
        "StatusNotFound",
        "StatusAlreadyExists",
        "StatusPermissionDenied",
        "StatusResourceExhausted",
        "StatusFailedPrecondition",
        "StatusAborted",
        "StatusOutOfRange",
        "StatusUnimplemented",
        "StatusInternal",
        "StatusUnavailable",
        "StatusDataLoss",
        "StatusUnauthenticated",
        "HealthCheckUnknown",
        "HealthCheckServing",
        "HealthCheckNotServing",
        "HealthCheckServiceUnkown",
    ],
    make: Some(make),
};

fn make(context: &Context, exports: &Value<'_>) -> Result<(), Thrown> {
    let constructor = context.constructor("Client", 0, client::construct)?;
    link_constructor::<client::Client>(context, &constructor)?;
    exports.define("Client", constructor)?;
    let constructor = context.constructor("Stream", 2, stream::construct)?;
    link_constructor::<stream::Stream>(context, &constructor)?;
    exports.define("Stream", constructor)?;
    for (number, name) in (0..).zip(plimsoll_units::GRPC_CODES) {
        let value = result::status(context, plimsoll_grpc::Code(number))?;
        exports.define(format!("Status{name}").as_str(), value)?;
    }
    // The last name is the one that scripts use.
    let health = [
        ("HealthCheckUnknown", 0),
        ("HealthCheckServing", 1),
        ("HealthCheckNotServing", 2),
        ("HealthCheckServiceUnkown", 3),
    ];
    for (name, number) in health {
        exports.define(name, result::health(context, number)?)?;
    }
    Ok(())
}
