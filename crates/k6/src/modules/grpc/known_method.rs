//! What a client remembers of a method.

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
    /// The JSON sent last and its encoded message: users mostly send the same again.
    pub(super) last: RefCell<(String, Framed)>,
    pub(super) has_last: Cell<bool>,
    /// The message received last and its JSON: many servers send the same response again.
    pub(super) heard: RefCell<Option<(Bytes, String)>>,
}
