//! TCP through io_uring: many sends and receives a system call.
//!
//! One ring a worker thread. Sends are queued as they are made and go to the
//! kernel together when the tasks that were ready have run; every socket has
//! one standing receive that fills buffers from a common pool. A task of its
//! own, the *driver*, submits, reaps and wakes; when there is nothing to do it
//! sleeps on an eventfd in tokio's reactor. So nothing else in the program
//! needs to know.
//!
//! The moment of a send is taken just before the system call that submits it:
//! a server can look slower by the length of that call, never faster.

mod buffers;
mod driver;
mod ring;
mod stream;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use ring::Ring;
pub use stream::UringTcp;

thread_local! {
    static CURRENT: RefCell<Current> = const { RefCell::new(Current::Untried) };
}

enum Current {
    Untried,
    /// The kernel has no io_uring, or not enough of it, or refuses it.
    Refused,
    /// Ends with the last stream on it, and the driver with it.
    Running(Weak<Ring>),
}

/// This thread's ring, made when first asked for; `None` where there can be
/// none. Must be called where tokio can spawn local tasks.
pub(crate) fn current() -> Option<Rc<Ring>> {
    CURRENT.with(|current| {
        let mut current = current.borrow_mut();
        match &*current {
            Current::Refused => return None,
            Current::Running(ring) => {
                if let Some(ring) = ring.upgrade() {
                    return Some(ring);
                }
            }
            Current::Untried => {}
        }
        let made = Ring::new().map(Rc::new);
        match made.and_then(|ring| driver::start(&ring).map(|()| ring)) {
            Ok(ring) => {
                *current = Current::Running(Rc::downgrade(&ring));
                Some(ring)
            }
            Err(_) => {
                *current = Current::Refused;
                None
            }
        }
    })
}
