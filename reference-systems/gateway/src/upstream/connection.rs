//! One HTTP/1.1 connection to a target.
//!
//! hyper's connection is a future that must be driven. There is no separate task for that: the task
//! that waits for the response drives it, so a request and its response never leave the task of the
//! client's connection. That saves two task switches per request.

use std::error::Error;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::time::{Instant, Sleep, sleep};

use super::Stream;
use crate::outgoing::{BodyTrouble, Outgoing};

/// The initial deadline of a new connection's timer.
const FIRST_DEADLINE: Duration = Duration::from_secs(3600);

/// Maximum length of response headers, in bytes.
const LARGEST_HEAD: usize = 64 << 10;

pub struct Connection {
    sender: SendRequest<Outgoing>,
    driver: http1::Connection<TokioIo<Stream>, Outgoing>,
    /// The driver has ended and must not be polled again.
    over: bool,
    /// Number of sweeps of the pool since its last use.
    age: u32,
    /// Fires at or before the deadline of the expected response. It is reset only when it fires or
    /// is too late, so it costs a request almost nothing.
    timer: Pin<Box<Sleep>>,
}

/// Why there was no response.
#[derive(Debug)]
pub struct Trouble {
    pub kind: TroubleKind,
    /// For the log; contains nothing from the request.
    pub reason: String,
    /// The request, if it was returned.
    pub request: Option<Box<Request<Outgoing>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TroubleKind {
    /// There was no connection.
    Unreachable,
    /// The target cannot have processed the request: no part of it was sent, or the target said so.
    Unsent,
    /// The connection broke after at least a part of the request was sent.
    Broken,
    /// There was no response in time.
    Late,
    /// The client's body was not received completely.
    Client(BodyTrouble),
}

impl Trouble {
    pub fn unreachable(reason: String) -> Trouble {
        Trouble {
            kind: TroubleKind::Unreachable,
            reason,
            request: None,
        }
    }

    pub fn late() -> Trouble {
        Trouble {
            kind: TroubleKind::Late,
            reason: "no response in time".to_owned(),
            request: None,
        }
    }

    /// The same, with a request that was not sent.
    pub fn with(mut self, request: Request<Outgoing>) -> Trouble {
        self.request = Some(Box::new(request));
        self
    }

    /// Converts hyper's error for a request.
    pub fn of(error: &hyper::Error, request: Option<Request<Outgoing>>) -> Trouble {
        let mut causes = Vec::new();
        let mut cause: Option<&(dyn Error + 'static)> = Some(error);
        let (mut refused, mut body) = (false, None);
        while let Some(error) = cause {
            causes.push(error.to_string());
            refused |= error
                .downcast_ref::<h2::Error>()
                .is_some_and(|error| error.reason() == Some(h2::Reason::REFUSED_STREAM));
            body = body.or(error.downcast_ref::<BodyTrouble>().copied());
            cause = error.source();
        }
        let kind = match body {
            Some(body) => TroubleKind::Client(body),
            None if request.is_some() || refused => TroubleKind::Unsent,
            None => TroubleKind::Broken,
        };
        Trouble {
            kind,
            reason: causes.join(": "),
            request: request.map(Box::new),
        }
    }
}

/// Starts HTTP/1.1 on a new stream.
pub async fn start(stream: Stream) -> Result<Box<Connection>, Trouble> {
    let (sender, driver) = http1::Builder::new()
        .max_buf_size(LARGEST_HEAD)
        // Most requests are small: writing one buffer is faster than two.
        .writev(false)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|error| Trouble::unreachable(error.to_string()))?;
    Ok(Box::new(Connection {
        sender,
        driver,
        over: false,
        age: 0,
        timer: Box::pin(sleep(FIRST_DEADLINE)),
    }))
}

impl Connection {
    /// Reads and writes as far as possible.
    pub fn drive(&mut self, context: &mut Context<'_>) {
        if !self.over {
            self.over = Pin::new(&mut self.driver).poll(context).is_ready();
        }
    }

    /// Whether the target has left it open. Received data is processed. The event loop keeps its
    /// readiness, so an idle connection costs no system call.
    pub fn is_open(&mut self) -> bool {
        self.drive(&mut Context::from_waker(Waker::noop()));
        !self.over && self.sender.is_ready()
    }

    /// Records that it is returned to a pool.
    pub fn rest(&mut self) {
        self.age = 0;
    }

    /// Records a sweep of the pool; returns the number of sweeps since it was returned.
    pub fn grow_older(&mut self) -> u32 {
        self.age = self.age.saturating_add(1);
        self.age
    }
}

/// Sends a request and waits for the response headers until `deadline`. The body arrives only while
/// the connection is driven.
pub async fn exchange(
    connection: &mut Connection,
    request: Request<Outgoing>,
    deadline: Instant,
) -> Result<Response<Incoming>, Trouble> {
    let mut answer = pin!(connection.sender.try_send_request(request));
    let (driver, over) = (&mut connection.driver, &mut connection.over);
    let timer = &mut connection.timer;
    if timer.deadline() > deadline {
        timer.as_mut().reset(deadline);
    }
    let responded = poll_fn(|context| {
        if !*over {
            *over = Pin::new(&mut *driver).poll(context).is_ready();
        }
        if let Poll::Ready(responded) = answer.as_mut().poll(context) {
            return Poll::Ready(Some(responded));
        }
        while timer.as_mut().poll(context).is_ready() {
            if Instant::now() >= deadline {
                return Poll::Ready(None);
            }
            timer.as_mut().reset(deadline);
        }
        Poll::Pending
    })
    .await;
    let responded = responded.ok_or_else(Trouble::late)?;
    responded.map_err(|mut error| {
        let request = error.take_message();
        Trouble::of(error.error(), request)
    })
}

/// Sends a request to switch protocols, on a separate connection that drives itself from then on.
pub async fn exchange_to_upgrade(
    connection: Box<Connection>,
    request: Request<Outgoing>,
) -> Result<Response<Incoming>, Trouble> {
    let Connection {
        mut sender, driver, ..
    } = *connection;
    let answer = sender.try_send_request(request);
    tokio::spawn(driver.with_upgrades());
    answer.await.map_err(|mut error| {
        let request = error.take_message();
        Trouble::of(error.error(), request)
    })
}
