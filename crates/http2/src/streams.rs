//! The caller's side of a connection: opens streams, and reads and writes them.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use plimsoll_net::Wire;
use plimsoll_units::Moment;

use crate::connection::{Connection, Mark};
use crate::driver::drive;
use crate::fault::{StreamFault, code};
use crate::head::Headers;
use crate::request_head::RequestHead;
use crate::stream::Stream;
use crate::waiting::Registration;

/// One HTTP/2 connection on which the caller opens streams.
#[derive(Debug)]
pub struct Streams(Rc<RefCell<Connection>>);

impl Streams {
    /// Performs the handshake on an open byte stream. A separate task on this thread drives the
    /// connection until the last stream and the handle are dropped. Call this within a `LocalSet`.
    pub fn start<W: Wire + 'static>(wire: W) -> Streams {
        let connection = Rc::new(RefCell::new(Connection::new()));
        tokio::task::spawn_local(drive(Rc::clone(&connection), wire));
        Streams(connection)
    }

    /// Whether the connection still accepts new streams.
    pub fn is_open(&self) -> bool {
        self.0.borrow().is_open()
    }

    /// Number of concurrent streams that the peer allows: 100 until its settings arrive.
    pub fn max_streams(&self) -> usize {
        self.0.borrow().max_streams()
    }

    /// Waits for the peer's settings, which prove that it uses HTTP/2.
    ///
    /// # Errors
    /// If the connection ended before the settings arrived; see [`StreamFault`].
    pub async fn ready(&self) -> Result<(), StreamFault> {
        let mut registration = Registration::default();
        poll_fn(|cx| self.0.borrow_mut().poll_ready(cx, &mut registration)).await
    }

    /// Opens a stream. With `last`, the request has only headers. Waits while the peer allows no more
    /// streams.
    ///
    /// # Errors
    /// See [`StreamFault`].
    pub async fn open(
        &self,
        head: &Rc<RequestHead>,
        last: bool,
    ) -> Result<(Outgoing, Incoming), StreamFault> {
        let mut registration = Registration::default();
        let opening = poll_fn(|cx| {
            let connection = &mut *self.0.borrow_mut();
            connection.poll_open(cx, &mut registration, head, last)
        });
        let stream = opening.await?;
        let written = last.then(|| self.0.borrow_mut().mark());
        let held = HalfStream {
            connection: Rc::clone(&self.0),
            stream,
        };
        let incoming = Incoming(HalfStream {
            connection: Rc::clone(&held.connection),
            stream: Rc::clone(&held.stream),
        });
        Ok((Outgoing { held, written }, incoming))
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        self.0.borrow_mut().abandon();
    }
}

/// One direction of a stream.
#[derive(Debug)]
struct HalfStream {
    connection: Rc<RefCell<Connection>>,
    stream: Rc<RefCell<Stream>>,
}

impl Drop for HalfStream {
    /// If a caller drops both halves before their end, it does not need the rest of the response.
    fn drop(&mut self) {
        let stream = &mut *self.stream.borrow_mut();
        stream.held = stream.held.saturating_sub(1);
        if stream.held == 0 {
            self.connection.borrow_mut().reset(stream, code::CANCEL);
        }
    }
}

/// The direction to the peer. Dropping both directions before their end resets the stream.
#[derive(Debug)]
pub struct Outgoing {
    held: HalfStream,
    written: Option<Mark>,
}

impl Outgoing {
    /// Sends bytes as fast as the peer's window allows. `last` ends the body.
    ///
    /// # Errors
    /// See [`StreamFault`].
    pub async fn send(&mut self, mut bytes: Bytes, last: bool) -> Result<(), StreamFault> {
        poll_fn(|cx| self.poll_send(cx, &mut bytes, last)).await
    }

    /// Sends the rest of `bytes` and removes what was sent. Ready when everything is sent.
    ///
    /// # Errors
    /// See [`StreamFault`].
    pub fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &mut Bytes,
        last: bool,
    ) -> Poll<Result<(), StreamFault>> {
        let connection = &mut *self.held.connection.borrow_mut();
        let stream = &mut *self.held.stream.borrow_mut();
        let sent = connection.poll_send(cx, stream, bytes, last);
        if let Poll::Ready(Ok(())) = sent {
            self.written = Some(connection.mark());
        }
        sent
    }

    /// Resets the stream with this error code.
    pub fn reset(&mut self, code: u32) {
        let stream = &mut *self.held.stream.borrow_mut();
        self.held.connection.borrow_mut().reset(stream, code);
    }

    /// When the kernel accepted the last bytes sent; `None` if it has not accepted them yet.
    pub fn written(&self) -> Option<Moment> {
        self.written.as_ref().and_then(|mark| mark.get())
    }
}

/// The direction from the peer.
#[derive(Debug)]
pub struct Incoming(HalfStream);

impl Incoming {
    /// Counts the rest of the body instead of keeping it, and drops the pieces that were not read yet.
    pub fn discard_body(&mut self) {
        let stream = &mut *self.0.stream.borrow_mut();
        while stream.take_piece().is_some() {}
        stream.discards = true;
        self.0.connection.borrow_mut().give_back(stream);
    }

    /// Number of bytes of the body that have arrived.
    pub fn received(&self) -> u64 {
        self.0.stream.borrow().received
    }

    /// When the headers of the response arrived, and when its latest part arrived.
    pub fn arrived(&self) -> Option<(Moment, Moment)> {
        self.0.stream.borrow().arrived
    }

    /// The headers of the response. Await this once, before anything else.
    ///
    /// # Errors
    /// See [`StreamFault`].
    pub async fn head(&mut self) -> Result<Rc<Headers>, StreamFault> {
        poll_fn(|cx| self.poll_head(cx)).await
    }

    /// [`Incoming::head`] as a poll function.
    ///
    /// # Errors
    /// See [`StreamFault`].
    pub fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<Rc<Headers>, StreamFault>> {
        let stream = &mut *self.0.stream.borrow_mut();
        match (stream.take_head(), &stream.fault) {
            (Some(head), _) => Poll::Ready(Ok(head)),
            (None, Some(fault)) => Poll::Ready(Err(fault.clone())),
            (None, None) if stream.has_received_all => {
                let text = "the response headers were already read".to_owned();
                Poll::Ready(Err(StreamFault::Other(text)))
            }
            (None, None) => {
                stream.wake_on_progress(cx);
                Poll::Pending
            }
        }
    }

    /// The next piece of the body, or `None` at its end.
    ///
    /// # Errors
    /// See [`StreamFault`].
    pub async fn data(&mut self) -> Result<Option<Bytes>, StreamFault> {
        poll_fn(|cx| self.poll_data(cx)).await
    }

    /// [`Incoming::data`] as a poll function.
    ///
    /// # Errors
    /// See [`StreamFault`].
    pub fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, StreamFault>> {
        let stream = &mut *self.0.stream.borrow_mut();
        if let Some(piece) = stream.take_piece() {
            self.0.connection.borrow_mut().give_back(stream);
            return Poll::Ready(Ok(Some(piece)));
        }
        if stream.has_received_all {
            return Poll::Ready(Ok(None));
        }
        if let Some(fault) = &stream.fault {
            return Poll::Ready(Err(fault.clone()));
        }
        stream.wake_on_progress(cx);
        Poll::Pending
    }

    /// The trailers, if any, after the end of the body.
    ///
    /// # Errors
    /// See [`StreamFault`].
    pub async fn trailers(&mut self) -> Result<Option<Rc<Headers>>, StreamFault> {
        poll_fn(|cx| self.poll_trailers(cx)).await
    }

    /// [`Incoming::trailers`] as a poll function.
    ///
    /// # Errors
    /// See [`StreamFault`].
    pub fn poll_trailers(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Rc<Headers>>, StreamFault>> {
        let stream = &mut *self.0.stream.borrow_mut();
        if stream.has_received_all {
            return Poll::Ready(Ok(stream.take_trailers()));
        }
        if let Some(fault) = &stream.fault {
            return Poll::Ready(Err(fault.clone()));
        }
        stream.wake_on_progress(cx);
        Poll::Pending
    }

    /// Whether the peer has ended the stream and there is nothing left to read.
    pub fn is_end(&self) -> bool {
        self.0.stream.borrow().is_read()
    }
}
