//! HTTP exchanges for virtual users: connections per user, redirects, cookies, authentication and
//! content codings. Each exchange has a timeline. Its phases are never negative, and they sum to
//! the total.
//!
//! A [`Shared`] belongs to a worker thread, and a [`Client`] to one virtual user. Nothing is
//! `Send`, because users never leave their thread. [`Client::send`] (`client`) splits a request
//! into legs (`leg`). Each leg takes a connection from the pool (`pool`) or opens one (`connect`).
//! A codec (`h1`, `h2_connection` or `h3_connection`) transfers the bytes and records the
//! timestamps.

mod alarm;
mod auth;
mod body;
mod body_watch;
mod client;
mod coding;
mod connect;
mod cookie;
mod cookie_date;
mod cookie_header;
mod decoded;
mod decompressor;
mod digest;
mod encode;
mod encoding;
mod error;
mod escape;
mod exchange;
mod fault;
mod fields;
mod h1;
mod h2_connection;
#[cfg(feature = "http3")]
mod h3_connection;
mod head;
mod host_name;
#[doc(hidden)]
pub mod in_memory;
mod leg;
mod memory_budget;
mod message_log;
mod method;
mod multiplexed;
mod multiplexed_request;
mod odd_head;
mod outcome;
mod parse_head;
mod pool;
mod prepared;
mod progress;
mod proto;
mod protocol;
mod proxy;
mod rate;
mod redirect;
mod request;
mod request_head;
mod response;
mod scratch;
mod send;
mod send_prepared;
mod settings;
mod shared;
mod timeline;
mod upgrade;
mod url;

/// The error for HTTP/3 in a program that was built without it.
pub const NO_HTTP3: &str =
    "this program was built without HTTP/3; build it with --features http3, or use another version";

pub use alarm::Alarm;
pub use body_watch::{BodyWatch, SharedWatch};
pub use client::Client;
pub use coding::{DecodeError, DecodeLimits, Decoding};
pub use cookie::{Cookie, CookieJar, SameSite};
pub use cookie_date::parse_date as cookie_date;
pub use decoded::{Decoded, Full};
pub use encoding::Encoding;
pub use error::{ErrorInfo, code};
pub use exchange::Exchange;
pub use fields::Fields;
pub use head::{Head, canonical_name};
pub use memory_budget::{BudgetShare, BudgetedBytes, MemoryBudget, OverBudget};
pub use message_log::MessageLog;
pub use method::Method;
pub use plimsoll_net::{TlsFacts, Traffic};
pub use prepared::{Prepared, Stamp};
pub use proto::Proto;
pub use protocol::Protocol;
pub use proxy::Proxies;
pub use rate::RateLimit;
pub use request::{Auth, BodyUse, Request, RequestCookie};
pub use response::{Failure, Response, Sent};
pub use send_prepared::{BodyLimit, PreparedResponse};
pub use settings::Settings;
pub use shared::Shared;
pub use timeline::{Phases, Timeline};
pub use upgrade::{Upgrade, UpgradedStream};
pub use url::{Url, UrlError, UserInfo};
