use std::fmt;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use plimsoll_units::Moment;

use crate::head::Head;

/// Observes a response body while it arrives. The client neither keeps nor decodes the body.
///
/// The request's future stops reading while there is unprocessed data, so its caller must process
/// the data between two polls.
pub trait BodyWatch {
    /// Called when the headers have arrived, and again while the body arrives. Not called if the whole
    /// response arrives at the same time.
    fn head(&self, head: &Rc<Head>);

    /// Called when bytes of the body have arrived.
    fn data(&self, head: &Rc<Head>, bytes: &[u8], at: Moment);

    /// Whether there is unprocessed data.
    fn has_unprocessed(&self) -> bool;

    /// Whether the rest of the response is not needed. Then the exchange ends as if the response were
    /// complete.
    fn is_over(&self) -> bool;
}

/// A shared [`BodyWatch`].
#[derive(Clone)]
pub struct SharedWatch(pub Rc<dyn BodyWatch>);

impl SharedWatch {
    /// Waits until all data has been processed.
    pub(crate) async fn processed(&self) {
        poll_fn(|_| match self.0.has_unprocessed() {
            true => Poll::Pending,
            false => Poll::Ready(()),
        })
        .await;
    }
}

impl fmt::Debug for SharedWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedWatch")
    }
}
