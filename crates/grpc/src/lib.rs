//! gRPC calls over HTTP/2: unary and streaming, with messages described at run time.
//!
//! A [`Channel`] leads to one server: it connects when the first call needs it, and reconnects
//! after the connection was lost. A [`Template`] holds the headers of a call, built once;
//! [`Framed`] is a message, encoded once. [`Channel::unary`] makes a call with one message in each
//! direction; [`Channel::open`] returns both directions of a streaming call. A [`Schema`] knows
//! services and messages, from `.proto` files, a descriptor set or the server's reflection, and
//! converts messages to and from JSON.
//!
//! Nothing here is `Send`: users never leave their thread. This crate does not know about metrics
//! or scripts.

mod base64;
mod call;
mod channel;
mod code;
mod details;
mod endpoint;
mod frame;
mod health;
#[doc(hidden)]
pub mod in_memory;
mod json;
mod limits;
mod link;
mod metadata;
mod reflection;
mod replay;
mod reply;
mod schema;
mod status;
mod template;
mod wire;

pub use call::{Call, Receiver, Sender};
pub use channel::{Channel, Opening};
pub use code::Code;
pub use endpoint::Endpoint;
pub use frame::{Compression, Deframer, Found, Framed};
pub use health::{Health, check_health};
pub use json::{Described, Unreadable};
pub use limits::Limits;
pub use metadata::Metadata;
pub use reflection::reflect;
pub use replay::Replay;
pub use reply::Reply;
pub use schema::{Method, Schema, SchemaError, Source};
pub use status::Status;
pub use template::Template;
