use std::fmt;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use plimsoll_units::Moment;

use crate::head::Head;

/// Sees a response body while it arrives. The body is neither kept nor decoded.
///
/// The future of the request stops reading while there is news, so its caller must process the news between two
/// polls.
pub trait BodyWatch {
    /// The headers arrived. Called again while the body arrives, and not at all if the whole response arrived at once.
    fn head(&self, head: &Rc<Head>);

    /// Bytes of the body arrived.
    fn data(&self, head: &Rc<Head>, bytes: &[u8], at: Moment);

    /// Whether anything waits to be processed.
    fn has_news(&self) -> bool;

    /// Whether the rest of the response is not needed: the exchange ends as if the response were complete.
    fn is_over(&self) -> bool;
}

/// A shared [`BodyWatch`].
#[derive(Clone)]
pub struct SharedWatch(pub Rc<dyn BodyWatch>);

impl SharedWatch {
    /// Waits until everything was processed.
    pub(crate) async fn processed(&self) {
        poll_fn(|_| match self.0.has_news() {
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
