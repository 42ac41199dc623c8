//! Exchanges on HTTP/2 connections.

use std::cell::RefCell;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use plimsoll_http2::{Headers, Incoming, Outgoing, StreamFault, Streams, error_name};
use plimsoll_net::{TlsFacts, Wire};

use crate::body_watch::SharedWatch;
use crate::error::{ErrorInfo, code};
use crate::head::Head;
use crate::multiplexed_request::{MultiplexedRequest, RequestFault, Usage};
use crate::progress::Progress;
use crate::proto::Proto;

/// One HTTP/2 connection of a user, which its requests share.
#[derive(Debug)]
pub(crate) struct Connection {
    streams: Streams,
    pub(crate) usage: Usage,
    /// The headers of the last response, as received and as returned.
    known: RefCell<Option<(Rc<Headers>, Rc<Head>)>>,
    /// `None` for a unix socket.
    pub(crate) remote: Option<SocketAddr>,
    pub(crate) tls: Option<TlsFacts>,
}

impl Connection {
    /// Starts HTTP/2 on an open stream. A separate task on this thread drives the connection until the
    /// last request and the handle are dropped.
    pub(crate) fn start<W: Wire + 'static>(
        stream: W,
        remote: Option<SocketAddr>,
        tls: Option<TlsFacts>,
    ) -> Connection {
        Connection {
            streams: Streams::start(stream),
            usage: Usage::default(),
            known: RefCell::default(),
            remote,
            tls,
        }
    }

    /// Whether the connection still accepts new requests.
    pub(crate) fn is_open(&self) -> bool {
        self.streams.is_open()
    }

    /// Whether it can accept one more request within the caller's limit and the server's limit. A
    /// request above the server's limit would wait inside the connection.
    #[inline]
    pub(crate) fn has_capacity(&self, limit: Option<usize>) -> bool {
        let in_flight = self.usage.in_flight.get();
        limit.is_none_or(|limit| in_flight < limit) && in_flight < self.streams.max_streams()
    }

    /// Sends the request and reads the response. Dropping the future resets the stream, but the
    /// connection stays open.
    pub(crate) async fn exchange(
        &self,
        request: MultiplexedRequest<'_>,
        progress: &mut Progress,
    ) -> Result<(), RequestFault> {
        let exchanging = self.exchange_in_time(&request, progress);
        let ended = self.usage.before(request.deadline, exchanging).await;
        if ended.is_err() {
            progress.done = Some(plimsoll_clock::now());
        }
        ended
    }

    async fn exchange_in_time(
        &self,
        request: &MultiplexedRequest<'_>,
        progress: &mut Progress,
    ) -> Result<(), RequestFault> {
        let of_fault = |fault: StreamFault| RequestFault {
            may_be_resent: fault.is_unprocessed() || request.is_safe && fault.is_of_connection(),
            error: error_of(&fault),
        };
        let is_bodyless = request.body.is_empty();
        let opened = self.streams.open(&request.head, is_bodyless).await;
        let (outgoing, mut incoming) = opened.map_err(of_fault)?;
        if !request.keep_body {
            incoming.discard_body();
        }
        progress.is_begun = true;
        let mut receiving = Receiving {
            upload: Upload {
                outgoing,
                rest: request.body.clone(),
                is_over: is_bodyless,
            },
            incoming,
            progress,
        };
        let heading = receiving.headers().await.map_err(of_fault)?;
        let head = self.head_of(heading)?;
        receiving.progress.received = head.raw().len() as u64;
        if let Some(watch) = request.watch {
            receiving.progress.head = Some(head.clone());
            let watched = receiving.watched(watch, &head).await;
            return watched.map_err(of_fault);
        }
        receiving.progress.head = Some(head);
        let mut body = request.body_buffer();
        while let Some(piece) = receiving.data().await.map_err(of_fault)? {
            let is_last = receiving.incoming.is_end();
            if let Some(whole) = body.add(piece, is_last)? {
                receiving.progress.body = whole;
            }
        }
        if let Some(kept) = body.finish() {
            receiving.progress.body = kept;
        }
        Ok(())
    }

    /// The response headers. They are shared with the previous ones if they are equal.
    fn head_of(&self, heading: Rc<Headers>) -> Result<Rc<Head>, ErrorInfo> {
        let mut known = self.known.borrow_mut();
        if let Some((last, head)) = &*known
            && Rc::ptr_eq(last, &heading)
        {
            return Ok(head.clone());
        }
        // The first headers of a response always contain a status.
        let status = heading.status.map_or(0, |status| status.as_u16());
        let fields = || {
            let all = heading.fields.iter();
            all.map(|(name, value)| (name.as_str(), value.as_bytes()))
        };
        let head = match &*known {
            Some((_, head)) if head.has_parts(status, fields()) => head.clone(),
            _ => Rc::new(Head::from_parts(Proto::Http2, status, fields())?),
        };
        *known = Some((heading, head.clone()));
        Ok(head)
    }
}

/// A response that is being read. When dropped, it records how much of the response arrived, even
/// if the deadline has passed.
struct Receiving<'a> {
    upload: Upload,
    incoming: Incoming,
    progress: &'a mut Progress,
}

impl Receiving<'_> {
    /// Waits for the response headers. They may arrive before the request is sent completely.
    async fn headers(&mut self) -> Result<Rc<Headers>, StreamFault> {
        let heading = poll_fn(|cx| {
            self.upload.poll(cx);
            self.incoming.poll_head(cx)
        })
        .await?;
        self.progress.sent = self.upload.outgoing.written();
        Ok(heading)
    }

    /// Passes the body to its watch until the watch needs no more of it.
    async fn watched(&mut self, watch: &SharedWatch, head: &Rc<Head>) -> Result<(), StreamFault> {
        watch.0.head(head);
        loop {
            watch.processed().await;
            let piece = poll_fn(|cx| {
                if watch.0.is_over() {
                    return Poll::Ready(Ok(None));
                }
                self.upload.poll(cx);
                self.incoming.poll_data(cx)
            });
            let Some(piece) = piece.await? else {
                return Ok(());
            };
            let arrived = self.incoming.arrived();
            let at = arrived.map_or_else(plimsoll_clock::now, |(_, last)| last);
            watch.0.data(head, &piece, at);
        }
    }

    /// The next piece of the body.
    async fn data(&mut self) -> Result<Option<Bytes>, StreamFault> {
        poll_fn(|cx| {
            self.upload.poll(cx);
            self.incoming.poll_data(cx)
        })
        .await
    }
}

impl Drop for Receiving<'_> {
    fn drop(&mut self) {
        let progress = &mut *self.progress;
        if let Some((first_byte, last_byte)) = self.incoming.arrived() {
            progress.first_byte = Some(first_byte);
            progress.done = Some(last_byte);
        }
        progress.payload = self.incoming.received();
        progress.received += progress.payload;
    }
}

/// A body that is being sent as fast as the peer's window allows.
struct Upload {
    outgoing: Outgoing,
    rest: Bytes,
    is_over: bool,
}

impl Upload {
    #[inline]
    fn poll(&mut self, cx: &mut Context<'_>) {
        if !self.is_over {
            // A failure also ends the response, unless the server does not need the rest of the request.
            let sent = self.outgoing.poll_send(cx, &mut self.rest, true);
            self.is_over = sent.is_ready();
        }
    }
}

/// Converts a fault to the error type that all HTTP versions share.
fn error_of(fault: &StreamFault) -> ErrorInfo {
    let (base, number, what) = match fault {
        StreamFault::Broken { is_write, error } => {
            return crate::fault::broken(if *is_write { "write" } else { "read" }, error);
        }
        StreamFault::Ended => {
            return ErrorInfo::new(code::DEFAULT, "unexpected EOF")
                .with_detail("http2: the server closed the connection before its response ended");
        }
        StreamFault::NotHttp2 { .. } | StreamFault::Other(_) => {
            return ErrorInfo::new(code::H2, format!("http2: {fault}"));
        }
        StreamFault::GoAway { code, .. } => {
            (code::H2_GOAWAY, *code, "received GoAway with http2 ErrCode")
        }
        StreamFault::Reset { code, .. } => {
            (code::H2_STREAM, *code, "stream error with http2 ErrCode")
        }
        StreamFault::Connection { code } => (
            code::H2_CONNECTION,
            *code,
            "connection error with http2 ErrCode",
        ),
    };
    // RFC 9113, section 7, defines 14 codes. All others get the base number.
    let code = if number <= 13 {
        base + 1 + number
    } else {
        base
    };
    ErrorInfo::new(code, format!("http2: {what} {}", error_name(number)))
        .with_detail(format!("http2: {fault}"))
}
