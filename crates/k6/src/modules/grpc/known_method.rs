//! The data that a client caches about a method.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use bytes::Bytes;
use plimsoll_grpc::{Framed, Template};

/// A method that was called before.
pub struct KnownMethod {
    pub method: plimsoll_grpc::Method,
    /// Values for tags: the path, the service, and the address with the path.
    pub path: String,
    pub(super) service: String,
    pub url: String,
    /// The prepared request headers of calls without parameters.
    pub(super) plain: RefCell<Option<Rc<Template>>>,
    /// The JSON that was sent last and its encoded message. Most users send the same message again.
    pub(super) last: RefCell<(String, Framed)>,
    pub(super) has_last: Cell<bool>,
    /// The message that was received last and its JSON. Many servers send the same response again.
    pub(super) received: RefCell<Option<(Bytes, String)>>,
}
