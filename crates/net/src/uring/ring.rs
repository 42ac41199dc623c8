#![allow(unsafe_code)]
//! The ring and the sockets on it: the one place that submits.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, OwnedFd};
use std::task::{Context, Poll, Waker};

use io_uring::{IoUring, cqueue, opcode, squeue, types};
use tokio::io::ReadBuf;
use units::Moment;

use super::buffers::{Buffers, Filled, GROUP};

/// Entries of the submission queue; a full one is submitted early.
const QUEUE: u32 = 1024;
/// Most bytes of one send operation.
const MAX_SEND: usize = 64 * 1024;
/// `IORING_ENTER_GETEVENTS`: deferred work is done in the same call.
const GET_EVENTS: u32 = 1;

const RECEIVE: u64 = 0;
const SEND: u64 = 1;

/// A worker's ring.
#[derive(Debug)]
pub(crate) struct Ring {
    state: RefCell<State>,
}

struct State {
    // Dropped in this order: the ring closes before the memory it knows goes.
    ring: ManuallyDrop<IoUring>,
    buffers: ManuallyDrop<Buffers>,
    sockets: Vec<Option<Socket>>,
    free: Vec<usize>,
    /// Sockets with bytes that go out with the next turn.
    unsubmitted: Vec<usize>,
    /// Tasks to be woken when the state is no longer borrowed.
    woken: Vec<Waker>,
    driver: Option<Waker>,
}

struct Socket {
    fd: OwnedFd,
    /// Received and not read yet.
    inbox: VecDeque<Filled>,
    /// How the receiving side ended: 0 for a close, else an error number.
    ended: Option<i32>,
    /// The standing receive is with the kernel.
    receiving: bool,
    reader: Option<Waker>,
    /// What is being sent, and whether the kernel may still read it.
    out: Vec<u8>,
    out_from: usize,
    sending: bool,
    /// It waits for the next turn, and more may be added to it.
    queued: bool,
    writer: Option<Waker>,
    write_error: Option<i32>,
    sent_at: Option<Moment>,
    received_at: Option<Moment>,
    /// Its stream is gone; it goes too when the kernel has let go of it.
    closing: bool,
}

/// What a turn of the driver did.
pub(super) struct Turn {
    pub(super) was_busy: bool,
}

impl Ring {
    pub(super) fn new() -> io::Result<Self> {
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_coop_taskrun()
            .setup_taskrun_flag()
            .setup_cqsize(QUEUE * 4)
            .build(QUEUE)?;
        let buffers = Buffers::new(&ring)?;
        Ok(Ring {
            state: RefCell::new(State {
                ring: ManuallyDrop::new(ring),
                buffers: ManuallyDrop::new(buffers),
                sockets: Vec::new(),
                free: Vec::new(),
                unsubmitted: Vec::new(),
                woken: Vec::new(),
                driver: None,
            }),
        })
    }

    /// Lets the kernel tell completions through `event`.
    pub(super) fn notify(&self, event: &OwnedFd) -> io::Result<()> {
        let mut state = self.state.borrow_mut();
        state.ring.submitter().register_eventfd(event.as_raw_fd())?;
        state.ring.completion().disable_eventfd();
        Ok(())
    }

    /// Takes a connected socket in; gives its number.
    pub(super) fn add(&self, fd: OwnedFd) -> usize {
        let mut state = self.state.borrow_mut();
        let number = state.free.pop().unwrap_or_else(|| {
            state.sockets.push(None);
            state.sockets.len() - 1
        });
        let socket = Socket {
            fd,
            inbox: VecDeque::new(),
            ended: None,
            receiving: false,
            reader: None,
            out: Vec::new(),
            out_from: 0,
            sending: false,
            queued: false,
            writer: None,
            write_error: None,
            sent_at: None,
            received_at: None,
            closing: false,
        };
        if let Some(place) = state.sockets.get_mut(number) {
            *place = Some(socket);
        }
        number
    }

    /// Closes a socket, at once or when its operations have ended.
    pub(super) fn remove(&self, number: usize) {
        let mut state = self.state.borrow_mut();
        let state = &mut *state;
        let Some(Some(socket)) = state.sockets.get_mut(number) else {
            return;
        };
        socket.closing = true;
        socket.queued = false;
        socket.reader = None;
        socket.writer = None;
        for filled in socket.inbox.drain(..) {
            state.buffers.discard(filled);
        }
        if socket.receiving || socket.sending {
            // SAFETY: the descriptor is open; shutting it down ends the
            // operations on it.
            unsafe { libc::shutdown(socket.fd.as_raw_fd(), libc::SHUT_RDWR) };
        }
        state.release_if_idle(number);
        state.wake_driver();
    }

    /// Reads what has arrived.
    #[inline]
    pub(super) fn poll_read(
        &self,
        number: usize,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut state = self.state.borrow_mut();
        let state = &mut *state;
        let Some(Some(socket)) = state.sockets.get_mut(number) else {
            return Poll::Ready(Ok(()));
        };
        if !socket.inbox.is_empty() {
            while let Some(filled) = socket.inbox.front_mut() {
                let room = buf.initialize_unfilled();
                if room.is_empty() {
                    break;
                }
                let (length, empty) = state.buffers.read(filled, room);
                buf.advance(length);
                if empty {
                    socket.inbox.pop_front();
                }
            }
            return Poll::Ready(Ok(()));
        }
        match socket.ended {
            Some(0) => return Poll::Ready(Ok(())),
            Some(error) => return Poll::Ready(Err(io::Error::from_raw_os_error(error))),
            None => {}
        }
        match &mut socket.reader {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        if !socket.receiving {
            socket.receiving = true;
            let receive = opcode::RecvMulti::new(types::Fd(socket.fd.as_raw_fd()), GROUP)
                .build()
                .user_data((number as u64) << 1 | RECEIVE);
            state.push(&receive);
            state.wake_driver();
        }
        Poll::Pending
    }

    /// Whether an idle socket has received something, or ended.
    #[inline]
    pub(super) fn is_disturbed(&self, number: usize) -> bool {
        let state = self.state.borrow();
        match state.sockets.get(number) {
            Some(Some(socket)) => {
                !socket.inbox.is_empty() || socket.ended.is_some() || socket.write_error.is_some()
            }
            _ => true,
        }
    }

    /// Queues bytes to be sent, as many as one operation takes. What is written before the next
    /// turn goes out in one piece.
    #[inline]
    pub(super) fn poll_write(
        &self,
        number: usize,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut state = self.state.borrow_mut();
        let state = &mut *state;
        let Some(Some(socket)) = state.sockets.get_mut(number) else {
            return Poll::Ready(Err(io::ErrorKind::NotConnected.into()));
        };
        if let Some(error) = socket.write_error {
            return Poll::Ready(Err(io::Error::from_raw_os_error(error)));
        }
        if !socket.queued && !socket.sending {
            socket.out.clear();
            socket.out_from = 0;
        }
        let room = MAX_SEND.saturating_sub(socket.out.len());
        if socket.sending || room == 0 {
            socket.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let taken = bytes.get(..bytes.len().min(room)).unwrap_or_default();
        socket.out.extend_from_slice(taken);
        socket.sent_at = None;
        state.queue(number);
        state.wake_driver();
        Poll::Ready(Ok(taken.len()))
    }

    /// When the last bytes written went to the kernel; `None` while they wait.
    pub(super) fn sent_at(&self, number: usize) -> Option<Moment> {
        self.state.borrow().sockets.get(number)?.as_ref()?.sent_at
    }

    /// When the last bytes received were reaped.
    pub(super) fn received_at(&self, number: usize) -> Option<Moment> {
        self.state
            .borrow()
            .sockets
            .get(number)?
            .as_ref()?
            .received_at
    }

    /// Who submits and reaps: woken when there is something to submit.
    pub(super) fn set_driver(&self, waker: &Waker) {
        self.state.borrow_mut().driver = Some(waker.clone());
    }

    /// Submits what is queued, reaps what is done, wakes who waits for it.
    pub(super) fn turn(&self) -> io::Result<Turn> {
        let mut woken = {
            let mut state = self.state.borrow_mut();
            let was_busy = state.submit_and_reap()?;
            if !was_busy {
                return Ok(Turn { was_busy });
            }
            std::mem::take(&mut state.woken)
        };
        for waker in woken.drain(..) {
            waker.wake();
        }
        // The list's memory is used again.
        let mut state = self.state.borrow_mut();
        if state.woken.is_empty() {
            state.woken = woken;
        }
        Ok(Turn { was_busy: true })
    }

    /// Asks for a notification of the next completion. False if one is there
    /// already, and a turn is needed first.
    pub(super) fn sleep(&self) -> bool {
        let mut state = self.state.borrow_mut();
        state.ring.completion().enable_eventfd();
        if state.has_work() {
            state.ring.completion().disable_eventfd();
            return false;
        }
        true
    }

    /// Ends the notifications that [`Ring::sleep`] asked for.
    pub(super) fn awake(&self) {
        self.state.borrow_mut().ring.completion().disable_eventfd();
    }
}

impl State {
    fn has_work(&mut self) -> bool {
        let submission = self.ring.submission();
        let queued = !submission.is_empty() || submission.taskrun();
        drop(submission);
        queued || !self.unsubmitted.is_empty() || !self.ring.completion().is_empty()
    }

    fn wake_driver(&mut self) {
        if let Some(driver) = self.driver.take() {
            driver.wake();
        }
    }

    /// Has the next turn send what a socket's `out` still holds.
    fn queue(&mut self, number: usize) {
        if let Some(Some(socket)) = self.sockets.get_mut(number)
            && !socket.queued
        {
            socket.queued = true;
            self.unsubmitted.push(number);
        }
    }

    /// Puts the queued sends into the submission queue.
    fn send_queued(&mut self, now: Moment) {
        let mut numbers = std::mem::take(&mut self.unsubmitted);
        for number in numbers.drain(..) {
            self.send(number, now);
        }
        // Making room in a full queue may have found a send that was cut short.
        numbers.append(&mut self.unsubmitted);
        self.unsubmitted = numbers;
    }

    fn send(&mut self, number: usize, now: Moment) {
        let Some(Some(socket)) = self.sockets.get_mut(number) else {
            return;
        };
        // One that was closed meanwhile, or is another's place by now.
        if !socket.queued {
            return;
        }
        socket.queued = false;
        let rest = socket.out.get(socket.out_from..).unwrap_or_default();
        let send = opcode::Send::new(
            types::Fd(socket.fd.as_raw_fd()),
            rest.as_ptr(),
            rest.len() as u32,
        )
        .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL)
        .build()
        .user_data((number as u64) << 1 | SEND);
        socket.sending = true;
        socket.sent_at = Some(now);
        self.push(&send);
    }

    fn push(&mut self, entry: &squeue::Entry) {
        // SAFETY: a receive writes into registered buffers only; a send reads
        // from `out`, which is neither changed nor dropped while `sending`.
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            // The queue is full: this makes room. If the kernel cannot take
            // more until completions are reaped, reap them.
            if self.ring.submit().is_err() {
                let now = clock::now();
                self.reap(now);
            }
        }
    }

    /// True if anything was submitted or reaped.
    fn submit_and_reap(&mut self) -> io::Result<bool> {
        if !self.has_work() {
            return Ok(false);
        }
        if !self.unsubmitted.is_empty() {
            self.send_queued(clock::now());
        }
        let queued = self.ring.submission().len() as u32;
        // SAFETY: no argument is passed; what the entries point to outlives
        // them, as said at `push`.
        let entered = unsafe {
            self.ring
                .submitter()
                .enter::<()>(queued, 0, GET_EVENTS, None)
        };
        match entered {
            Ok(_) => {}
            // Interrupted, or completions must be reaped first: the next turn.
            Err(error)
                if matches!(
                    error.raw_os_error(),
                    Some(libc::EINTR | libc::EAGAIN | libc::EBUSY)
                ) => {}
            Err(error) => return Err(error),
        }
        self.reap(clock::now());
        Ok(true)
    }

    fn reap(&mut self, now: Moment) {
        // Taken out one by one, because handling one may submit another.
        loop {
            let Some(entry) = self.ring.completion().next() else {
                return;
            };
            let number = (entry.user_data() >> 1) as usize;
            if entry.user_data() & 1 == SEND {
                self.sent(number, entry.result());
            } else {
                self.received(number, &entry, now);
            }
        }
    }

    fn sent(&mut self, number: usize, result: i32) {
        let Some(Some(socket)) = self.sockets.get_mut(number) else {
            return;
        };
        socket.sending = false;
        match usize::try_from(result) {
            Ok(length) => {
                socket.out_from += length;
                if socket.out_from < socket.out.len() && length > 0 && !socket.closing {
                    return self.queue(number);
                }
            }
            Err(_) => {
                socket.write_error = Some(-result);
                self.woken.extend(socket.reader.take());
            }
        }
        self.woken.extend(socket.writer.take());
        if socket.closing {
            self.release_if_idle(number);
        }
    }

    fn received(&mut self, number: usize, entry: &cqueue::Entry, now: Moment) {
        let buffer = cqueue::buffer_select(entry.flags());
        let Some(Some(socket)) = self.sockets.get_mut(number) else {
            return;
        };
        if !cqueue::more(entry.flags()) {
            socket.receiving = false;
        }
        match (usize::try_from(entry.result()), buffer) {
            (Ok(length), Some(id)) => {
                let filled = self.buffers.filled(id, length);
                if socket.closing || length == 0 {
                    self.buffers.discard(filled);
                } else {
                    socket.inbox.push_back(filled);
                }
                if length == 0 {
                    socket.ended = Some(0);
                }
            }
            (Ok(_), None) => socket.ended = Some(0),
            // All buffers are held. The reader takes up receiving again.
            (Err(_), _) if -entry.result() == libc::ENOBUFS => {}
            (Err(_), _) => socket.ended = Some(-entry.result()),
        }
        socket.received_at = Some(now);
        self.woken.extend(socket.reader.take());
        if socket.closing {
            self.release_if_idle(number);
        }
    }

    fn release_if_idle(&mut self, number: usize) {
        let Some(place) = self.sockets.get_mut(number) else {
            return;
        };
        let idle = |socket: &mut Socket| socket.closing && !socket.receiving && !socket.sending;
        if place.take_if(idle).is_some() {
            self.free.push(number);
        }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        let busy = self
            .sockets
            .iter()
            .flatten()
            .any(|s| s.receiving || s.sending);
        // SAFETY: neither is used again. The ring goes first. The kernel ends
        // its operations some time after that, so the memory they use is
        // given up only if there are none.
        unsafe {
            ManuallyDrop::drop(&mut self.ring);
            if !busy {
                ManuallyDrop::drop(&mut self.buffers);
            }
        }
        for socket in self.sockets.iter_mut().flatten().filter(|s| s.sending) {
            std::mem::forget(std::mem::take(&mut socket.out));
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
