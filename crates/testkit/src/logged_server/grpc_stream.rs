//! A streaming gRPC call that returns each of its messages.

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::{Body, Frame, Incoming};
use tokio::sync::mpsc;

use super::log::{Ledger, Outcome};

/// Length of the prefix of a message: a flag and four bytes for the length.
const PREFIX: usize = 5;

/// Length of the string in an unsolicited message.
const FLOOD: usize = 1000;

/// Number of response messages that may wait for the client.
const WAITING: usize = 16;

type Fault = Box<dyn Error + Send + Sync>;
type Frames = mpsc::Sender<Frame<Bytes>>;

/// The messages in a request.
pub(super) struct Messages {
    body: Incoming,
    pending: BytesMut,
}

impl Messages {
    pub fn of(body: Incoming) -> Messages {
        Messages {
            body,
            pending: BytesMut::new(),
        }
    }

    /// The next message with its prefix, or `None` at the end of the request.
    ///
    /// # Errors
    /// If the client ended the call abnormally.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Fault> {
        loop {
            let length = self.pending.get(1..PREFIX).and_then(|bytes| {
                let length = u32::from_be_bytes(bytes.try_into().ok()?);
                usize::try_from(length).ok()
            });
            if let Some(length) = length
                && self.pending.len() - PREFIX >= length
            {
                return Ok(Some(self.pending.split_to(PREFIX + length).freeze()));
            }
            match self.body.frame().await {
                None => return Ok(None),
                Some(frame) => {
                    if let Ok(data) = frame?.into_data() {
                        self.pending.extend_from_slice(&data);
                    }
                }
            }
        }
    }
}

/// One call: its number in the log, and its first message.
pub(super) struct Call {
    pub ledger: Arc<Ledger>,
    pub number: usize,
    pub first: Bytes,
    /// Number of bytes to send before the first message is returned.
    pub flood: usize,
}

impl Call {
    /// Returns the first message and all further ones, each as soon as it arrives, until the client
    /// closes its direction.
    pub fn echo(self, messages: Messages) -> impl Body<Data = Bytes, Error = Infallible> {
        let (frames, mut queued) = mpsc::channel(WAITING);
        tokio::spawn(async move {
            // An error means that the client ended the call.
            let _ = self.respond(messages, &frames).await;
        });
        StreamBody::new(futures_util::stream::poll_fn(move |cx| {
            queued.poll_recv(cx).map(|frame| frame.map(Ok))
        }))
    }

    async fn respond(self, mut messages: Messages, frames: &Frames) -> Result<(), Fault> {
        let (mut received, mut sent) = (0, 0);
        for _ in 0..self.flood / FLOOD {
            let message = unsolicited();
            sent += message.len() - PREFIX;
            self.ledger.sent_unsolicited();
            self.send(message, frames).await?;
        }
        let mut next = Some(self.first.clone());
        while let Some(message) = next {
            received += message.len() - PREFIX;
            sent += message.len() - PREFIX;
            self.send(message, frames).await?;
            next = messages.next().await?;
            if next.is_some() {
                self.ledger.message_received();
            }
        }
        self.ledger.received(self.number, received);
        self.ledger.ended(self.number, Outcome::Responded(0), sent);
        let mut trailers = hyper::HeaderMap::new();
        trailers.insert("grpc-status", hyper::header::HeaderValue::from_static("0"));
        frames.send(Frame::trailers(trailers)).await?;
        Ok(())
    }

    async fn send(&self, message: Bytes, frames: &Frames) -> Result<(), Fault> {
        self.ledger.message_sent();
        frames.send(Frame::data(message)).await?;
        Ok(())
    }
}

/// A message whose field 1 is a string of `x`.
fn unsolicited() -> Bytes {
    let mut body = BytesMut::new();
    // Field 1 is length-delimited. Its length follows, seven bits at a time.
    body.put_u8(0x0a);
    body.put_u8((FLOOD & 0x7f) as u8 | 0x80);
    body.put_u8((FLOOD >> 7) as u8);
    body.put_bytes(b'x', FLOOD);
    let mut message = BytesMut::new();
    message.put_u8(0);
    message.put_u32(body.len() as u32);
    message.extend_from_slice(&body);
    message.freeze()
}
