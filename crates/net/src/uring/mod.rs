//! TCP through io_uring: many sends and receives a system call.
//!
//! One ring a worker thread. Sends are queued as they are made and go to the
//! kernel together when the tasks that were ready have run, and with them a
//! receive for every socket whose receive buffer is empty. A task of its own,
//! the *driver*, submits, reaps and wakes; when there is nothing to do it
//! sleeps on an eventfd in tokio's reactor. So nothing else in the program
//! needs to know.
//!
//! The moment of a send is taken just before the system call that submits it:
//! a server can look slower by the length of that call, never faster.

mod driver;
#[cfg(test)]
mod model;
mod ring;
mod socket;
mod stream;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::io;
use std::rc::{Rc, Weak};

use ring::Ring;
pub use stream::UringTcp;

thread_local! {
    static CURRENT: RefCell<Current> = const { RefCell::new(Current::Untried) };
}

enum Current {
    Untried,
    /// The kernel has no io_uring, or not enough of it, or refuses it with this error.
    Refused(i32),
    /// Owned by its driver, which ends with the event loop, and by the streams on it.
    Running(Weak<Ring>),
}

/// Checks that the kernel allows io_uring, with all that is used of it.
///
/// # Errors
/// What the kernel says against it.
pub fn check() -> io::Result<()> {
    Ring::new().map(drop)
}

/// This thread's ring, made when first asked for. Must be called where tokio can spawn local tasks.
///
/// # Errors
/// What the kernel says against it; it is asked once per thread.
pub(crate) fn current() -> io::Result<Rc<Ring>> {
    CURRENT.with(|current| {
        let mut current = current.borrow_mut();
        match &*current {
            Current::Refused(error) => return Err(io::Error::from_raw_os_error(*error)),
            Current::Running(ring) => {
                // One may be left from an event loop that has ended.
                if let Some(ring) = ring.upgrade()
                    && ring.is_usable()
                {
                    return Ok(ring);
                }
            }
            Current::Untried => {}
        }
        let made = Ring::new().map(Rc::new);
        let started = made.and_then(|ring| driver::start(&ring).map(|()| ring));
        *current = match &started {
            Ok(ring) => Current::Running(Rc::downgrade(ring)),
            Err(error) => Current::Refused(error.raw_os_error().unwrap_or(libc::ENOSYS)),
        };
        started
    })
}
