use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use h2::client::SendRequest;
use h2::{RecvStream, SendStream};
use http::{HeaderName, HeaderValue};
use plimsoll_net::{Stream, TlsFacts};
use plimsoll_units::Moment;

use crate::alarm::Alarm;
use crate::encode::HeadParts;
use crate::error::{ErrorInfo, code};
use crate::h1::Progress;
use crate::h2_wire::{AT_ONCE, Begun, Writes, begin};
use crate::head::Head;
use crate::response::Proto;

/// One HTTP/2 connection of a user. Requests share it.
#[derive(Debug)]
pub(crate) struct Connection {
    sender: SendRequest<Bytes>,
    writes: Rc<Writes>,
    closed: Rc<Cell<bool>>,
    served: Cell<u64>,
    /// Requests in flight.
    pub(crate) streams: Cell<usize>,
    /// The headers of the last response.
    known: RefCell<Option<Rc<Head>>>,
    /// Timers of finished requests, for reuse.
    alarms: RefCell<Vec<Alarm>>,
    /// `None` for a unix socket.
    pub(crate) remote: Option<SocketAddr>,
    pub(crate) tls: Option<TlsFacts>,
}

/// The parameters of one exchange.
pub(crate) struct Ask<'a> {
    pub(crate) request: http::Request<()>,
    pub(crate) body: &'a Bytes,
    /// The response to HEAD has no body, whatever its headers say.
    pub(crate) is_head: bool,
    pub(crate) keep_body: bool,
    pub(crate) max_body: u64,
    pub(crate) cut_body: bool,
    pub(crate) deadline: Moment,
}

/// Why an exchange failed.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) error: ErrorInfo,
    /// The server did not process the request, so it may be sent again.
    pub(crate) is_unprocessed: bool,
}

impl Connection {
    /// Performs the HTTP/2 handshake on an open stream. The connection's own task runs on this
    /// thread until the last request and the handle are gone.
    pub(crate) async fn start(
        stream: Stream,
        remote: Option<SocketAddr>,
        tls: Option<TlsFacts>,
    ) -> Result<Connection, ErrorInfo> {
        let begun = begin(stream).await;
        let Begun {
            sender,
            writes,
            closed,
        } = begun.map_err(|error| Fault::from(error).error)?;
        Ok(Connection {
            sender,
            writes,
            closed,
            served: Cell::new(0),
            streams: Cell::new(0),
            known: RefCell::default(),
            alarms: RefCell::default(),
            remote,
            tls,
        })
    }

    /// Whether it still accepts new requests.
    pub(crate) fn is_open(&self) -> bool {
        !self.closed.get()
    }

    /// Whether it can take one more request, by the caller's limit and the server's: a request
    /// above the server's limit would wait inside the codec.
    #[inline]
    pub(crate) fn has_room(&self, limit: Option<usize>) -> bool {
        let streams = self.streams.get();
        limit.is_none_or(|limit| streams < limit)
            && streams < self.sender.current_max_send_streams()
    }

    pub(crate) fn is_used(&self) -> bool {
        self.served.get() > 0
    }

    /// Sends the request and reads the response. Dropping the future resets the stream; the
    /// connection stays open.
    pub(crate) async fn exchange(
        &self,
        ask: Ask<'_>,
        progress: &mut Progress,
    ) -> Result<(), Fault> {
        let mut alarm = self.alarms.borrow_mut().pop().unwrap_or_default();
        let deadline = ask.deadline;
        let ended = {
            let mut work = pin!(self.converse(ask, progress));
            poll_fn(|cx| match work.as_mut().poll(cx) {
                Poll::Ready(ended) => Poll::Ready(Some(ended)),
                Poll::Pending => alarm.poll(cx, deadline).map(|()| None),
            })
            .await
        };
        self.alarms.borrow_mut().push(alarm);
        let ended = ended.unwrap_or_else(|| {
            Err(Fault {
                error: crate::fault::timeout(),
                is_unprocessed: false,
            })
        });
        if ended.is_ok() {
            self.served.set(self.served.get() + 1);
        } else {
            progress.done = Some(plimsoll_clock::now());
        }
        ended.map_err(|fault| match self.writes.not_http2() {
            Some(error) => error.into(),
            None => fault,
        })
    }

    async fn converse(&self, ask: Ask<'_>, progress: &mut Progress) -> Result<(), Fault> {
        let keep = ask.keep_body.then_some((ask.max_body, ask.cut_body));
        let mut sender = self.sender.clone().ready().await?;
        let bodyless = ask.body.is_empty();
        let (answer, upload) = sender.send_request(ask.request, bodyless)?;
        progress.is_begun = true;
        let mut answer = pin!(answer);
        let mut upload = Upload {
            stream: upload,
            rest: ask.body.clone(),
        };
        let mut written = bodyless.then(|| self.writes.next());
        // The response may arrive before the whole request is sent.
        let head = poll_fn(|cx| {
            if written.is_none() {
                match upload.poll(cx) {
                    Poll::Ready(Ok(())) => written = Some(self.writes.next()),
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Pending => {}
                }
            }
            answer.as_mut().poll(cx)
        })
        .await?;
        let now = plimsoll_clock::now();
        progress.first_byte = Some(now);
        progress.done = Some(now);
        progress.sent = written.and_then(|cell| cell.get());
        let (parts, mut body) = head.into_parts();
        let head = self.head_of(&parts)?;
        progress.received += head.raw().len() as u64;
        progress.head = Some(head);
        if ask.is_head {
            return Ok(());
        }
        receive(&mut body, keep, progress).await
    }
}

impl Connection {
    /// The response headers, shared with the last ones if they are equal.
    fn head_of(&self, parts: &http::response::Parts) -> Result<Rc<Head>, ErrorInfo> {
        let status = parts.status.as_u16();
        let fields = || {
            let all = parts.headers.iter();
            all.map(|(name, value)| (name.as_str(), value.as_bytes()))
        };
        let mut known = self.known.borrow_mut();
        match &*known {
            Some(head) if head.is_made_of(status, fields()) => Ok(head.clone()),
            _ => {
                let head = Rc::new(Head::from_parts(Proto::Http2, status, fields())?);
                *known = Some(head.clone());
                Ok(head)
            }
        }
    }
}

/// Reads the body. If the body is to be kept, `keep` says how many bytes of it, and whether more
/// bytes are dropped instead of being an error.
async fn receive(
    body: &mut RecvStream,
    keep: Option<(u64, bool)>,
    progress: &mut Progress,
) -> Result<(), Fault> {
    let mut kept = Vec::new();
    while !body.is_end_stream() {
        let Some(piece) = body.data().await else {
            break;
        };
        let piece = piece?;
        progress.done = Some(plimsoll_clock::now());
        progress.received += piece.len() as u64;
        progress.payload += piece.len() as u64;
        body.flow_control().release_capacity(piece.len())?;
        let Some((max, cut)) = keep else {
            continue;
        };
        let mut piece = piece;
        if cut {
            let room = max.saturating_sub(kept.len() as u64);
            piece.truncate(usize::try_from(room).unwrap_or(usize::MAX));
        }
        if kept.is_empty() && body.is_end_stream() {
            progress.body = piece;
            return Ok(());
        }
        if kept.len() as u64 + piece.len() as u64 > max {
            return Err(ErrorInfo::new(
                code::DEFAULT,
                format!("the body exceeds the {max} bytes that are kept; discard response bodies to read past them"),
            )
            .into());
        }
        kept.extend_from_slice(&piece);
    }
    progress.body = kept.into();
    Ok(())
}

/// A body that is being sent, as fast as the peer's window allows.
struct Upload {
    stream: SendStream<Bytes>,
    rest: Bytes,
}

impl Upload {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), h2::Error>> {
        if self.rest.len() <= AT_ONCE {
            let rest = std::mem::take(&mut self.rest);
            return Poll::Ready(self.stream.send_data(rest, true));
        }
        loop {
            self.stream.reserve_capacity(self.rest.len());
            match self.stream.poll_capacity(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(Ok(())),
                Poll::Ready(Some(room)) => {
                    let room = room?.min(self.rest.len());
                    let piece = self.rest.split_to(room);
                    let last = self.rest.is_empty();
                    self.stream.send_data(piece, last)?;
                    if last {
                        return Poll::Ready(Ok(()));
                    }
                }
            }
        }
    }
}

/// Converts the request to the form that the codec takes. Connection-specific fields are not
/// allowed in HTTP/2: RFC 9113, section 8.2.2.
pub(crate) fn request_of(parts: &HeadParts<'_>) -> Result<http::Request<()>, ErrorInfo> {
    let refuse = |error: http::Error| ErrorInfo::new(code::DEFAULT, error.to_string());
    let own_host = parts.fields.get("host");
    let uri = http::Uri::builder()
        .scheme(parts.url.scheme())
        .authority(own_host.unwrap_or(parts.url.authority()))
        .path_and_query(parts.url.target())
        .build()
        .map_err(refuse)?;
    let mut request = http::Request::builder()
        .method(parts.method.as_str())
        .uri(uri)
        .version(http::Version::HTTP_2)
        .body(())
        .map_err(refuse)?;
    let headers = request.headers_mut();
    let mut set = |name: &str, value: &str| -> Result<(), ErrorInfo> {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|e| refuse(e.into()))?;
        let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|e| refuse(e.into()))?;
        headers.append(name, value);
        Ok(())
    };
    let mut own_agent = false;
    let mut own_authorization = false;
    for (name, value) in parts.fields.iter() {
        match name {
            "Host" | "Connection" | "Keep-Alive" | "Proxy-Connection" | "Transfer-Encoding"
            | "Upgrade" | "Content-Length" | "Cookie" => continue,
            "User-Agent" => {
                own_agent = true;
                if value.is_empty() {
                    continue;
                }
            }
            "Authorization" => own_authorization = true,
            _ => {}
        }
        set(name, value)?;
    }
    if !own_agent && !parts.user_agent.is_empty() {
        set("user-agent", parts.user_agent)?;
    }
    if let Some(authorization) = parts.authorization.filter(|_| !own_authorization) {
        set("authorization", authorization)?;
    }
    if !parts.cookies.is_empty() {
        set("cookie", parts.cookies)?;
    }
    if parts.body_length > 0 || parts.method.announces_empty_body() {
        set("content-length", &parts.body_length.to_string())?;
    }
    Ok(request)
}

impl From<ErrorInfo> for Fault {
    fn from(error: ErrorInfo) -> Self {
        Fault {
            error,
            is_unprocessed: false,
        }
    }
}

impl From<h2::Error> for Fault {
    fn from(error: h2::Error) -> Self {
        let is_unprocessed = error.reason() == Some(h2::Reason::REFUSED_STREAM)
            || (error.is_go_away() && error.is_remote())
            || error.is_io();
        let info = if let Some(io) = error.get_io() {
            return Fault {
                error: crate::fault::broken("read", io),
                is_unprocessed,
            };
        } else if let Some(reason) = error.reason() {
            let (base, what) = if error.is_go_away() && error.is_remote() {
                (code::H2_GOAWAY, "received GoAway with http2 ErrCode")
            } else if error.is_reset() {
                (code::H2_STREAM, "stream error with http2 ErrCode")
            } else {
                (code::H2_CONNECTION, "connection error with http2 ErrCode")
            };
            let number = u32::from(reason);
            // RFC 9113, section 7, defines 14 codes; others have no number here.
            let code = if number <= 13 {
                base + 1 + number
            } else {
                base
            };
            ErrorInfo::new(
                code,
                format!(
                    "http2: {what} {}",
                    plimsoll_http2::error_name(reason.into())
                ),
            )
        } else {
            ErrorInfo::new(code::H2, format!("http2: {error}"))
        };
        Fault {
            error: info.with_detail(format!("http2: {error}")),
            is_unprocessed,
        }
    }
}
