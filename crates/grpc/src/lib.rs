//! gRPC calls over HTTP/2: unary and streaming, with messages described at run time.
//!
//! A [`Channel`] connects to one server when the first call needs it, and reconnects if the
//! connection was lost. A [`Template`] contains the headers of a call and is built once. [`Framed`]
//! is a message that is encoded once. [`Channel::unary`] makes a call with one message in each
//! direction, and [`Channel::open`] returns both directions of a streaming call. A [`Schema`]
//! describes services and messages. It is read from `.proto` files, a descriptor set or the
//! server's reflection service, and it converts messages to and from JSON.
//!
//! Nothing here is `Send`, because users never leave their thread. This crate does not know about
//! metrics or scripts.

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
