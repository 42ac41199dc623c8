use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::expected::Expected;

/// What of `k6/http` a user keeps from call to call.
#[derive(Default)]
pub struct HttpState {
    /// The run's options on requests.
    pub options: Cell<HttpOptions>,
    /// Which answers are the expected ones where a request does not say.
    pub(super) expected: RefCell<Rc<Expected>>,
}

/// The run's options on requests.
#[derive(Clone, Copy, Debug)]
pub struct HttpOptions {
    /// Failed requests throw.
    pub throw: bool,
    /// Bodies are dropped unless a request asks for its own.
    pub discard_bodies: bool,
    /// Requests of a batch at once.
    pub batch: usize,
    /// The same, to one host.
    pub batch_per_host: usize,
}

impl Default for HttpOptions {
    fn default() -> Self {
        HttpOptions { throw: false, discard_bodies: false, batch: 20, batch_per_host: 6 }
    }
}
