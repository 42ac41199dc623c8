//! gRPC calls over HTTP/2: unary and streaming, with messages described at run time.
//!
//! A [`Channel`] is a way to one server: it opens its connection when the first call needs it, and
//! again when it is lost. A [`Template`] is the head of a call, made once; [`Framed`] is a message,
//! encoded once. [`Channel::unary`] makes a call with one message each way; [`Channel::open`] gives
//! both ways of a streaming call. A [`Schema`] knows services and messages, from `.proto` files, a
//! set of descriptors or the server's own reflection, and turns messages into JSON and back.
//!
//! Nothing here is `Send`: users never leave their thread. Nothing knows metrics or scripts.

mod base64;
mod call;
mod channel;
mod code;
mod details;
mod endpoint;
mod frame;
mod health;
mod json;
mod json_known;
mod metadata;
mod reflection;
mod schema;
mod status;
mod template;
mod wire;

pub use call::{Call, Receiver, Sender};
pub use channel::{Answer, Channel, Limits, Opening};
pub use code::Code;
pub use endpoint::Endpoint;
pub use frame::{Compression, Deframer, Found, Framed};
pub use health::{Health, check_health};
pub use json::{Described, Unreadable};
pub use metadata::Metadata;
pub use reflection::reflect;
pub use schema::{Method, Schema, SchemaError, Source};
pub use status::Status;
pub use template::Template;
