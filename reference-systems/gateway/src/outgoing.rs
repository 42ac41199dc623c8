//! The body of a request to an upstream: either complete in memory, so that it can be sent again,
//! or streamed.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};

use crate::patience::Patience;

/// Why a client's body was not received completely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyTrouble {
    /// It is larger than the limit.
    TooLarge,
    /// Nothing arrived for too long.
    TooSlow,
    /// The client disconnected.
    Broken,
}

impl fmt::Display for BodyTrouble {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            BodyTrouble::TooLarge => "the body is too large",
            BodyTrouble::TooSlow => "the body comes too slowly",
            BodyTrouble::Broken => "the client broke off",
        })
    }
}

impl Error for BodyTrouble {}

pub enum Outgoing {
    Whole(Option<Bytes>),
    /// Boxed, because it is rare and larger.
    Passing(Box<Passing>),
}

/// A streamed body.
pub struct Passing {
    body: Incoming,
    /// Bytes that may still arrive.
    left: u64,
    patience: Patience,
}

impl fmt::Debug for Outgoing {
    /// The content is private and not shown.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Outgoing")
    }
}

impl Outgoing {
    pub fn whole(bytes: Bytes) -> Outgoing {
        Outgoing::Whole(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }

    /// Streams at most `most` bytes, with at most `pause` between two pieces.
    pub fn passing(body: Incoming, most: u64, pause: Duration) -> Outgoing {
        Outgoing::Passing(Box::new(Passing {
            body,
            left: most,
            patience: Patience::of(pause),
        }))
    }

    /// A copy, if it is complete in memory.
    pub fn again(&self) -> Option<Outgoing> {
        match self {
            Outgoing::Whole(bytes) => Some(Outgoing::Whole(bytes.clone())),
            Outgoing::Passing(_) => None,
        }
    }
}

/// Reads a body with an announced length, which must be within the limits.
pub async fn read_whole(
    mut body: Incoming,
    length: usize,
    pause: Duration,
) -> Result<Bytes, BodyTrouble> {
    let mut patience = Patience::of(pause);
    let mut gathered = Vec::new();
    loop {
        let frame = std::future::poll_fn(|context| {
            let frame = Pin::new(&mut body).poll_frame(context);
            patience.limit(frame, context)
        });
        let data = match frame.await {
            None => return Err(BodyTrouble::TooSlow),
            Some(None) => return Ok(gathered.into()),
            Some(Some(Err(_))) => return Err(BodyTrouble::Broken),
            Some(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
        };
        // A body is usually a single chunk, which need not be copied.
        if gathered.is_empty() && data.len() == length {
            return Ok(data);
        }
        gathered.reserve_exact(length.saturating_sub(gathered.len()));
        gathered.extend_from_slice(&data);
        if body.is_end_stream() {
            return Ok(gathered.into());
        }
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = BodyTrouble;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyTrouble>>> {
        match self.get_mut() {
            Outgoing::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Outgoing::Passing(passing) => passing.poll(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Outgoing::Whole(bytes) => bytes.is_none(),
            Outgoing::Passing(passing) => passing.body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Outgoing::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Outgoing::Passing(passing) => passing.body.size_hint(),
        }
    }
}

impl Passing {
    fn poll(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyTrouble>>> {
        let frame = self.body.frame();
        let frame = std::pin::pin!(frame).poll(context);
        self.patience
            .limit(frame, context)
            .map(|outcome| match outcome {
                None => Some(Err(BodyTrouble::TooSlow)),
                Some(None) => None,
                Some(Some(Err(_))) => Some(Err(BodyTrouble::Broken)),
                Some(Some(Ok(frame))) => {
                    let length = frame.data_ref().map_or(0, |data| data.len() as u64);
                    match self.left.checked_sub(length) {
                        None => Some(Err(BodyTrouble::TooLarge)),
                        Some(left) => {
                            self.left = left;
                            Some(Ok(frame))
                        }
                    }
                }
            })
    }
}
