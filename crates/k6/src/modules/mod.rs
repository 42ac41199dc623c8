//! The modules that k6 scripts import by name, one file each.
//!
//! A module is a [`BuiltIn`]: a table of [`Entry`]s (functions and constants, which cost a user nothing until they are
//! used) and a function for the values that must be created at run time, if there are any.
//!
//! ```ignore
//! pub const MODULE: BuiltIn = BuiltIn {
//!     name: "k6/encoding",
//!     shape: Shape::Names,
//!     entries: &[Entry::function(c"b64encode", 2, b64encode)],
//!     made: &["Something"],
//!     make: Some(|context, exports| exports.define("Something", context.constructor("Something", 1, something)?)),
//! };
//!
//! fn b64encode<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
//!     let input = call.argument(0);            // undefined if it is missing
//!     let text = input.to_text()?;             // conversions may throw: pass that on with `?`
//!     if text.is_empty() {
//!         return Err(context.throw_type("nothing to encode"));
//!     }
//!     context.string(&encode(&text))
//! }
//! ```
//!
//! * Errors: `Err(context.throw_plain(..))`, `throw_type(..)`; never a panic.
//! * Per-user state and services: [`crate::user::user`]`(context)`.
//! * Objects with Rust state: implement [`plimsoll_quickjs::Class`], create them with `context.instance(value)`, and get
//!   the state with `call.this().instance::<T>()`. Such an object keeps JavaScript values in
//!   [`plimsoll_quickjs::Slot`]s that `Class::trace` visits. Other Rust code keeps a value in a
//!   [`plimsoll_quickjs::Persistent`].
//! * Live objects, whose properties are computed: `const EXOTIC: bool = true` and `get`/`set`/`keys`/`delete`.
//! * Constructors: `context.constructor(name, length, body)`. In the body, `call.this()` is `new.target` (undefined if
//!   called without `new`); return `context.instance(..)`. `instanceof` works once
//!   [`link_constructor`]`::<T>(constructor)` has been called.
//! * Binary data: `value.with_bytes(|bytes| ..)` reads ArrayBuffers, typed arrays and DataViews;
//!   `context.array_buffer(bytes)` creates one.
//! * Waiting: `context.wait(future)` suspends the script until `future` completes. Map its error with
//!   `.map_err(|c| context.cancelled(c))?`.

mod backlog;
mod browser;
mod byte_link;
mod connection;
mod crypto;
mod csv;
pub(crate) mod data;
mod dns;
mod encoding;
mod execution;
mod fault;
mod feeder;
mod fs;
mod go_value;
pub(crate) mod grpc;
mod handlers;
mod html;
pub mod http;
mod k6;
mod metrics;
mod mqtt;
mod octets;
#[cfg(feature = "redis")]
mod redis;
mod sample_tags;
mod scripted;
mod secrets;
#[cfg(feature = "sql")]
mod sql;
mod sse;
mod streams;
mod tcp;
pub mod text_codec;
pub mod timers;
mod udp;
pub mod webcrypto;
mod websocket;
mod x509;

use std::time::Duration;

use plimsoll_quickjs::{Class, Context, Entry, Thrown, Value};

/// A module that scripts import by name.
pub struct BuiltIn {
    pub name: &'static str,
    pub shape: Shape,
    /// Functions and constants.
    pub entries: &'static [Entry],
    /// The names that `make` defines.
    pub made: &'static [&'static str],
    /// Defines the exports that are not plain functions or constants.
    pub make: Option<Make>,
}

/// Adds the exports that must be created at run time to the object of all exports.
pub type Make = for<'c> fn(&'c Context, &Value<'c>) -> Result<(), Thrown>;

/// The form of a module's default export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// The default export is one object. Its keys can also be imported by name, and other names are undefined.
    DefaultObject,
    /// Named exports only; any other imported name is null. As in k6, the default export is an object of all names.
    Names,
}

/// All built-in modules.
pub const ALL: &[&BuiltIn] = &[
    &k6::MODULE,
    &http::MODULE,
    &html::MODULE,
    &execution::MODULE,
    &timers::MODULE,
    &crypto::MODULE,
    &x509::MODULE,
    &encoding::MODULE,
    &data::MODULE,
    &metrics::MODULE,
    &secrets::MODULE,
    &csv::MODULE,
    &fs::MODULE,
    &streams::MODULE,
    &grpc::MODULE,
    &websocket::blocking::MODULE,
    &websocket::evented::MODULE,
    &websocket::evented::EXPERIMENTAL,
    #[cfg(feature = "redis")]
    &redis::MODULE,
    #[cfg(feature = "redis")]
    &redis::EXPERIMENTAL,
    &browser::MODULE,
    &dns::MODULE,
    &feeder::MODULE,
    &mqtt::MODULE,
    #[cfg(feature = "sql")]
    &sql::MODULE,
    #[cfg(feature = "sql")]
    &sql::MYSQL,
    #[cfg(feature = "sql")]
    &sql::POSTGRES,
    #[cfg(feature = "sql")]
    &sql::SQLITE,
    &sse::MODULE,
    &tcp::MODULE,
    &udp::MODULE,
];

impl BuiltIn {
    /// The names that the module exports, except `default`.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.entries
            .iter()
            .map(Entry::name)
            .chain(self.made.iter().copied())
    }

    /// The object of all exports.
    pub fn exports<'c>(&self, context: &'c Context) -> Result<Value<'c>, Thrown> {
        let exports = context.object()?;
        context.add_entries(&exports, self.entries)?;
        if let Some(make) = self.make {
            make(context, &exports)?;
        }
        Ok(exports)
    }
}

/// Makes `instanceof constructor` true for objects of `T`, and gives `constructor` its `prototype`.
pub fn link_constructor<'c, T: Class>(
    context: &'c Context,
    constructor: &Value<'c>,
) -> Result<(), Thrown> {
    let prototype = context.prototype_of::<T>()?;
    prototype.define_hidden("constructor", constructor.clone())?;
    constructor.define_hidden("prototype", prototype)
}

/// Parses the timeout of a blocking call: milliseconds, or a duration such as `5s`.
pub fn timeout(context: &Context, value: &Value<'_>) -> Result<Duration, Thrown> {
    if let Some(milliseconds) = value.as_number() {
        return Duration::try_from_secs_f64(milliseconds / 1e3)
            .map_err(|_| context.throw_plain(format!("invalid timeout {milliseconds}")));
    }
    let text = value.to_text()?;
    plimsoll_units::duration::parse(&text)
        .map_err(|_| context.throw_plain(format!("invalid timeout {:?}: write 5s", &*text)))
}

/// The built-in module with this name.
pub fn find(name: &str) -> Option<&'static BuiltIn> {
    ALL.iter().copied().find(|module| module.name == name)
}
