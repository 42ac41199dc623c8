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

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use ring::Ring;
pub use stream::UringTcp;

thread_local! {
    static CURRENT: RefCell<Option<Rc<Ring>>> = const { RefCell::new(None) };
}

/// Makes this thread's plain TCP streams go through a ring from now on. Call it
/// in the context of a tokio runtime that can spawn local tasks.
///
/// # Errors
/// When the kernel has no io_uring, or not enough of it, or refuses it: streams
/// then go through epoll as before.
pub fn enable() -> io::Result<()> {
    let ring = Rc::new(Ring::new()?);
    driver::start(&ring)?;
    CURRENT.with(|current| *current.borrow_mut() = Some(ring));
    Ok(())
}

/// Ends what [`enable`] began; open streams stay usable.
pub fn disable() {
    CURRENT.with(|current| current.borrow_mut().take());
}

/// Whether this thread's streams go through a ring.
pub fn is_enabled() -> bool {
    CURRENT.with(|current| current.borrow().is_some())
}

pub(crate) fn current() -> Option<Rc<Ring>> {
    CURRENT.with(|current| current.borrow().clone())
}
