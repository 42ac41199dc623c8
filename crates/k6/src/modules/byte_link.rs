//! A connection that transfers bytes. The user's event loop drives it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Duration;

use plimsoll_net::{Alpn, Steps, Stream, describe};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::backlog::Backlog;
use crate::modules::grpc::network;
use crate::user::User;

/// Maximum number of pieces that wait for the script. While there are more, nothing is read.
const MAX_UNPROCESSED: usize = 64;
/// Maximum size of a piece in bytes.
const PIECE: usize = 16 << 10;

/// A connection, and how long each step of opening it took.
pub struct Opened {
    pub link: Rc<ByteLink>,
    pub remote: Option<SocketAddr>,
    pub local: Option<SocketAddr>,
    pub resolving: Duration,
    /// The time to connect, without the name lookup and including the TLS handshake.
    pub connecting: Duration,
}

/// Opens a connection with the settings of the run.
///
/// # Errors
/// Why the connection could not be opened.
pub async fn open(user: &User, host: &str, port: u16, is_tls: bool) -> Result<Opened, String> {
    let network = network(user, None)?;
    let work = user.work().ok_or("there is no network in the init code")?;
    let local = network.local_ip(u64::from(user.id.0));
    let counter = work.client.traffic_counter();
    let started = plimsoll_clock::now();
    let mut steps = Steps::default();
    let dialed = network.dial(host, port, local, &counter, is_tls, &mut steps);
    let dialed = dialed.await.map_err(|error| error.to_string())?;
    let mut stream = dialed.stream;
    if is_tls {
        let secured = network.secure(stream, host, Alpn::None, &mut steps);
        let (secured, _) = secured.await.map_err(|error| error.to_string())?;
        stream = secured;
    }
    let resolved = steps.looked_up.unwrap_or(started);
    let done = plimsoll_clock::now();
    work.recorder.connections_opened(1, started);
    Ok(Opened {
        remote: dialed.remote,
        local: stream.local_address(),
        link: Rc::new(ByteLink::new(stream)),
        resolving: resolved.since(started),
        connecting: done.since(resolved),
    })
}

/// One connection. The script queues bytes, and the event loop sends and receives them.
pub struct ByteLink {
    stream: RefCell<Option<Stream>>,
    out: RefCell<Out>,
    backlog: Backlog,
}

/// Bytes to send, in order.
#[derive(Default)]
struct Out {
    queue: VecDeque<Vec<u8>>,
    /// The number of bytes of the first piece that were sent.
    sent: usize,
    queued: u64,
    finished: u64,
    needs_flush: bool,
    /// Operations that wait until their bytes have been sent.
    waiting: Vec<Waker>,
    failed: Option<SendError>,
}

/// Why bytes could not be sent.
#[derive(Clone, Debug)]
pub struct SendError {
    pub text: String,
    /// Some of the bytes were sent.
    pub is_partial: bool,
}

/// An event of a connection.
#[derive(Debug)]
pub enum Step {
    Data(Vec<u8>),
    /// The peer closed the connection, or it broke.
    Ended(Option<String>),
    /// The script closed it.
    Closed,
}

impl ByteLink {
    fn new(stream: Stream) -> ByteLink {
        ByteLink {
            stream: RefCell::new(Some(stream)),
            out: RefCell::default(),
            backlog: Backlog::new(MAX_UNPROCESSED),
        }
    }

    // The methods for the script.

    /// Queues bytes. Pass the returned number to [`ByteLink::sent`] to wait until they are sent.
    pub fn send(&self, bytes: Vec<u8>) -> u64 {
        let mut out = self.out.borrow_mut();
        out.queue.push_back(bytes);
        out.queued += 1;
        let number = out.queued;
        drop(out);
        self.backlog.wake();
        number
    }

    /// Waits until the kernel has accepted the bytes with that number.
    ///
    /// # Errors
    /// If the connection ended before that.
    pub async fn sent(&self, number: u64) -> Result<(), SendError> {
        poll_fn(|cx| {
            let mut out = self.out.borrow_mut();
            if out.finished >= number {
                return Poll::Ready(Ok(()));
            }
            if let Some(error) = &out.failed {
                let is_first = out.finished + 1 == number;
                return Poll::Ready(Err(SendError {
                    text: error.text.clone(),
                    is_partial: error.is_partial && is_first,
                }));
            }
            out.waiting.push(cx.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// Closes the connection.
    pub fn close(&self) {
        drop(self.stream.take());
        self.out.borrow_mut().fail("the socket was closed");
        self.backlog.wake();
    }

    /// Called when the script has processed a piece.
    pub fn processed(&self) {
        self.backlog.processed();
    }

    // The methods for the event loop.

    /// The next event. The caller passes data on to the script, and calls [`ByteLink::processed`] for each piece.
    pub async fn step(&self) -> Step {
        let step = poll_fn(|cx| self.poll(cx)).await;
        match &step {
            Step::Data(..) => self.backlog.add(),
            Step::Ended(reason) => {
                drop(self.stream.take());
                let text = reason
                    .as_deref()
                    .unwrap_or("the peer closed the connection");
                self.out.borrow_mut().fail(text);
            }
            Step::Closed => {}
        }
        step
    }

    fn poll(&self, cx: &mut TaskContext<'_>) -> Poll<Step> {
        self.backlog.set_driver(cx);
        let mut stream = self.stream.borrow_mut();
        let Some(stream) = &mut *stream else {
            return Poll::Ready(Step::Closed);
        };
        self.out.borrow_mut().poll(stream, cx);
        if self.backlog.is_full() {
            return Poll::Pending;
        }
        let mut piece = [0; PIECE];
        let mut buf = ReadBuf::new(&mut piece);
        match Pin::new(&mut *stream).poll_read(cx, &mut buf) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Err(error)) => Poll::Ready(Step::Ended(Some(describe(&error)))),
            Poll::Ready(Ok(())) if buf.filled().is_empty() => Poll::Ready(Step::Ended(None)),
            Poll::Ready(Ok(())) => Poll::Ready(Step::Data(buf.filled().to_vec())),
        }
    }
}

impl Out {
    /// Sends as much as the kernel accepts. If the connection is broken, the next read reports that, too.
    fn poll(&mut self, stream: &mut Stream, cx: &mut TaskContext<'_>) {
        while let Some(first) = self.queue.front() {
            let rest = first.get(self.sent..).unwrap_or_default();
            if rest.is_empty() {
                self.queue.pop_front();
                self.sent = 0;
                self.finished += 1;
                self.needs_flush = true;
                self.waiting.drain(..).for_each(Waker::wake);
                continue;
            }
            match Pin::new(&mut *stream).poll_write(cx, rest) {
                Poll::Ready(Ok(0)) => return self.fail("the connection accepts no more bytes"),
                Poll::Ready(Ok(count)) => self.sent += count,
                Poll::Ready(Err(error)) => return self.fail(&describe(&error)),
                Poll::Pending => return,
            }
        }
        if self.needs_flush && Pin::new(stream).poll_flush(cx).is_ready() {
            self.needs_flush = false;
        }
    }

    fn fail(&mut self, text: &str) {
        if self.failed.is_none() {
            self.failed = Some(SendError {
                text: text.to_owned(),
                is_partial: self.sent > 0,
            });
        }
        self.queue.clear();
        self.waiting.drain(..).for_each(Waker::wake);
    }
}
