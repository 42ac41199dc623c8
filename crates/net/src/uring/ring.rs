#![allow(unsafe_code)]
//! The ring and its sockets: the only code that submits operations.

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use io_uring::{IoUring, cqueue, squeue, types};
use plimsoll_units::Moment;
use tokio::io::ReadBuf;

use super::socket::Socket;

/// Size of the submission queue. A full queue is submitted early.
const QUEUE: u32 = 1024;
/// `IORING_ENTER_GETEVENTS`: the same call also performs deferred work.
const GET_EVENTS: u32 = 1;
/// When a ring is dropped: how often, and how long each time, it waits for its operations.
const DROP_WAITS: (u32, Duration) = (40, Duration::from_millis(25));

const RECEIVE: u64 = 0;
const SEND: u64 = 1;

/// A worker's ring.
#[derive(Debug)]
pub(crate) struct Ring {
    state: RefCell<State>,
}

struct State {
    ring: IoUring,
    sockets: Vec<Option<Socket>>,
    free: Vec<usize>,
    /// Sockets that the next turn sends from or receives on.
    listed: Vec<usize>,
    /// Tasks to wake once the state is no longer borrowed.
    woken: Vec<Waker>,
    driver: Option<Waker>,
    /// The error with which all operations fail, because the kernel rejects the ring or its driver no
    /// longer exists.
    broken: Option<i32>,
}

impl Ring {
    pub(super) fn new() -> io::Result<Self> {
        Self::with_entries(QUEUE)
    }

    /// Creates a ring whose submission queue has this many entries.
    pub(super) fn with_entries(entries: u32) -> io::Result<Self> {
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_coop_taskrun()
            .setup_taskrun_flag()
            .setup_cqsize(entries * 4)
            .build(entries)?;
        Ok(Ring {
            state: RefCell::new(State {
                ring,
                sockets: Vec::new(),
                free: Vec::new(),
                listed: Vec::new(),
                woken: Vec::new(),
                driver: None,
                broken: None,
            }),
        })
    }

    /// Makes the kernel report completions through `event`.
    pub(super) fn notify(&self, event: &OwnedFd) -> io::Result<()> {
        let mut state = self.state.borrow_mut();
        state.ring.submitter().register_eventfd(event.as_raw_fd())?;
        state.ring.completion().disable_eventfd();
        Ok(())
    }

    /// Adds a connected socket and returns its number.
    ///
    /// # Errors
    /// If the ring is broken, or memory is short.
    pub(super) fn add(&self, fd: OwnedFd) -> io::Result<usize> {
        let mut state = self.state.borrow_mut();
        let state = &mut *state;
        if let Some(error) = state.broken {
            return Err(io::Error::from_raw_os_error(error));
        }
        let socket = Socket::new(fd).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let number = state.free.pop().unwrap_or_else(|| {
            state.sockets.push(None);
            state.sockets.len() - 1
        });
        if let Some(place) = state.sockets.get_mut(number) {
            *place = Some(socket);
        }
        state.list(number);
        Ok(number)
    }

    /// Closes a socket immediately, or when its operations have ended.
    pub(super) fn remove(&self, number: usize) {
        let mut state = self.state.borrow_mut();
        let waited = match state.sockets.get_mut(number) {
            Some(Some(socket)) => socket.close(),
            _ => return,
        };
        state.release_if_done(number);
        state.wake_driver();
        drop(state);
        // A task that is dropped with its waker may drop streams of this ring.
        drop(waited);
    }

    /// Reads bytes that have arrived.
    #[inline]
    pub(super) fn poll_read(
        &self,
        number: usize,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut state = self.state.borrow_mut();
        let Some(Some(socket)) = state.sockets.get_mut(number) else {
            return Poll::Ready(Ok(()));
        };
        let (read, is_empty) = socket.poll_read(cx, buf);
        if is_empty {
            state.list(number);
        }
        read
    }

    /// Whether an idle socket has received bytes or was closed.
    #[inline]
    pub(super) fn is_disturbed(&self, number: usize) -> bool {
        match self.state.borrow().sockets.get(number) {
            Some(Some(socket)) => socket.is_disturbed(),
            _ => true,
        }
    }

    /// Queues bytes, up to the size of one operation. All writes before the next turn are sent
    /// together.
    #[inline]
    pub(super) fn poll_write(
        &self,
        number: usize,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut state = self.state.borrow_mut();
        let Some(Some(socket)) = state.sockets.get_mut(number) else {
            return Poll::Ready(Err(io::ErrorKind::NotConnected.into()));
        };
        let written = socket.poll_write(cx, bytes);
        if matches!(written, Poll::Ready(Ok(_))) {
            state.list(number);
        }
        written
    }

    /// When the last bytes written were submitted to the kernel; `None` while they are queued.
    pub(super) fn sent_at(&self, number: usize) -> Option<Moment> {
        let state = self.state.borrow();
        state.sockets.get(number)?.as_ref()?.sent_at()
    }

    /// When the last bytes received were collected from the completion queue.
    pub(super) fn received_at(&self, number: usize) -> Option<Moment> {
        let state = self.state.borrow();
        state.sockets.get(number)?.as_ref()?.received_at()
    }

    /// Sets the driver's waker, which is woken when there is something to submit.
    pub(super) fn set_driver(&self, waker: &Waker) {
        self.state.borrow_mut().driver = Some(waker.clone());
    }

    /// Submits queued operations, collects completions, and wakes their tasks. Returns false if there
    /// was nothing to do.
    ///
    /// # Errors
    /// If the kernel rejects the ring completely. From then on, every stream on the ring fails.
    pub(super) fn turn(&self) -> io::Result<bool> {
        let mut state = self.state.borrow_mut();
        let result = state.submit_and_reap();
        drop(state);
        match &result {
            Ok(false) => {}
            Ok(true) => self.wake(),
            Err(error) => self.end(error.raw_os_error().unwrap_or(libc::EIO)),
        }
        result
    }

    /// Makes every stream fail with this error from now on.
    pub(super) fn end(&self, error: i32) {
        self.state.borrow_mut().fail(error);
        self.wake();
    }

    /// Whether streams on this ring still work.
    pub(super) fn is_usable(&self) -> bool {
        self.state.borrow().broken.is_none()
    }

    /// Wakes the tasks of collected completions.
    fn wake(&self) {
        let mut woken = std::mem::take(&mut self.state.borrow_mut().woken);
        for waker in woken.drain(..) {
            waker.wake();
        }
        // Keep the list's allocation.
        let mut state = self.state.borrow_mut();
        if state.woken.is_empty() {
            state.woken = woken;
        }
    }

    /// Requests a notification of the next completion. Returns false if a completion is already
    /// available, so that another turn is needed first.
    pub(super) fn sleep(&self) -> bool {
        let mut state = self.state.borrow_mut();
        state.ring.completion().enable_eventfd();
        if state.has_work() {
            state.ring.completion().disable_eventfd();
            return false;
        }
        true
    }

    /// Stops the notifications that [`Ring::sleep`] requested.
    pub(super) fn cancel_sleep(&self) {
        self.state.borrow_mut().ring.completion().disable_eventfd();
    }

    /// The number of sockets, including closed ones that the kernel still uses.
    #[cfg(test)]
    pub(super) fn sockets(&self) -> usize {
        self.state.borrow().sockets.iter().flatten().count()
    }
}

impl State {
    fn has_work(&mut self) -> bool {
        let submission = self.ring.submission();
        // Completions that overflowed their queue are delivered by the next call.
        let queued = !submission.is_empty() || submission.taskrun() || submission.cq_overflow();
        drop(submission);
        queued || !self.listed.is_empty() || !self.ring.completion().is_empty()
    }

    fn wake_driver(&mut self) {
        if let Some(driver) = self.driver.take() {
            driver.wake();
        }
    }

    /// Adds a socket to the list for the next turn.
    fn list(&mut self, number: usize) {
        if let Some(Some(socket)) = self.sockets.get_mut(number)
            && !std::mem::replace(&mut socket.listed, true)
        {
            self.listed.push(number);
            self.wake_driver();
        }
    }

    /// Adds the operations of listed sockets to the submission queue.
    fn submit_listed(&mut self, now: Moment) -> io::Result<()> {
        let mut numbers = std::mem::take(&mut self.listed);
        let mut outcome = Ok(());
        for number in numbers.drain(..) {
            // The socket may be closed, or its slot may belong to another socket.
            let Some(Some(socket)) = self.sockets.get_mut(number) else {
                continue;
            };
            socket.listed = false;
            let (send, receive) = (socket.next_send(now), socket.next_receive());
            for (entry, kind) in [(send, SEND), (receive, RECEIVE)] {
                if let Some(entry) = entry
                    && outcome.is_ok()
                {
                    outcome = self.push(&entry.user_data((number as u64) << 1 | kind));
                }
            }
        }
        // Submitting a full queue may have listed more sockets.
        numbers.append(&mut self.listed);
        self.listed = numbers;
        outcome
    }

    fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: the memory that the entry refers to belongs to a socket that exists until the operation
        // has ended. It is neither moved nor used before that.
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            // The queue is full: submit it to make space.
            self.enter()?;
            self.reap(plimsoll_clock::now());
        }
        Ok(())
    }

    /// Submits the queue and reads completions.
    fn enter(&mut self) -> io::Result<()> {
        let queued = self.ring.submission().len() as u32;
        // SAFETY: the call has no argument structure, and the memory that the entries refer to outlives
        // them, as explained at `push`.
        let entered = unsafe {
            self.ring
                .submitter()
                .enter::<()>(queued, 0, GET_EVENTS, None)
        };
        match entered {
            Ok(_) => Ok(()),
            // The call was interrupted, or completions must be read first: the next call continues.
            Err(error)
                if matches!(
                    error.raw_os_error(),
                    Some(libc::EINTR | libc::EAGAIN | libc::EBUSY)
                ) =>
            {
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Submits the queue and handles completions. Returns false if there was nothing to do.
    fn submit_and_reap(&mut self) -> io::Result<bool> {
        if !self.has_work() {
            return Ok(false);
        }
        if !self.listed.is_empty() {
            self.submit_listed(plimsoll_clock::now())?;
        }
        self.enter()?;
        self.reap(plimsoll_clock::now());
        Ok(true)
    }

    fn reap(&mut self, now: Moment) {
        // Take them one by one, because handling a completion changes the state.
        loop {
            let Some(entry) = self.ring.completion().next() else {
                return;
            };
            self.ended(&entry, now);
        }
    }

    /// Records that an operation has ended.
    fn ended(&mut self, entry: &cqueue::Entry, now: Moment) {
        let number = (entry.user_data() >> 1) as usize;
        let Some(Some(socket)) = self.sockets.get_mut(number) else {
            return;
        };
        let goes_on = if entry.user_data() & 1 == SEND {
            socket.sent(entry.result(), &mut self.woken)
        } else {
            socket.received(entry, now, &mut self.woken)
        };
        if goes_on {
            self.list(number);
        }
        self.release_if_done(number);
    }

    fn release_if_done(&mut self, number: usize) {
        let Some(place) = self.sockets.get_mut(number) else {
            return;
        };
        if place.take_if(|socket| socket.is_done()).is_some() {
            self.free.push(number);
        }
    }

    /// Makes all operations on the ring fail.
    fn fail(&mut self, error: i32) {
        self.broken.get_or_insert(error);
        for socket in self.sockets.iter_mut().flatten() {
            socket.fail(error, &mut self.woken);
        }
    }
}

impl Drop for State {
    /// Ends every operation, so the kernel does not write to freed memory.
    fn drop(&mut self) {
        for socket in self.sockets.iter_mut().flatten() {
            drop(socket.close());
        }
        let (attempts, length) = DROP_WAITS;
        let length = types::Timespec::from(length);
        let wait = types::SubmitArgs::new().timespec(&length);
        for _ in 0..attempts {
            self.reap(plimsoll_clock::now());
            if self.sockets.iter().flatten().all(Socket::is_idle) {
                return;
            }
            // The completions show whether the cancellation succeeded.
            let _ = self.ring.submitter().submit_with_args(1, &wait);
        }
        for socket in self.sockets.iter_mut().filter_map(Option::take) {
            if !socket.is_idle() {
                socket.leak();
            }
        }
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("sockets", &self.sockets.len())
            .finish_non_exhaustive()
    }
}
