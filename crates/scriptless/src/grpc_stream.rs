//! One streaming gRPC call, from its first message to its status.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use plimsoll_grpc::{Call, Channel, Framed, Receiver, Replay, Sender, Status, Template};
use plimsoll_units::Moment;

use crate::grpc_outcome::{Messages, Outcome};

/// When the client ends a streaming call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streaming {
    /// After sending this many messages or, if only the server streams, receiving this many.
    pub messages: Option<u64>,
    /// After this time.
    pub duration: Option<Duration>,
    /// The pause between two messages that are sent.
    pub interval: Duration,
}

pub(crate) struct StreamingCall<'a> {
    pub channel: &'a Channel,
    pub template: &'a Template,
    pub limits: Streaming,
    pub started: Moment,
    /// Whether only the server streams messages.
    pub is_server_only: bool,
    /// The number of messages to send if there is no limit on their number or time.
    pub data: u64,
}

/// The progress of both directions of a call.
#[derive(Default)]
struct Progress {
    /// The number of the next new message.
    next: u64,
    sent: Cell<Messages>,
    received: Cell<Messages>,
    /// The client has ended the call, as configured.
    is_enough: Cell<bool>,
    /// The server has ended the call.
    is_over: Cell<bool>,
    /// Why a message could not be created.
    failed: Option<Status>,
    replay: RefCell<Replay>,
}

impl StreamingCall<'_> {
    /// Makes the call. `message` creates each message from its number, starting at 0.
    pub async fn make(&self, mut message: impl FnMut(u64) -> Result<Framed, Status>) -> Outcome {
        let Call {
            mut sender,
            mut receiver,
        } = match self.channel.open(self.template, self.started).await {
            Ok(call) => call,
            Err(status) => return Outcome::unsent(status, self.started),
        };
        let mut progress = Progress::default();
        loop {
            self.exchange_messages(&mut sender, &mut receiver, &mut message, &mut progress)
                .await;
            if !receiver.is_unprocessed() || !progress.replay.get_mut().restart() {
                break;
            }
            match self.channel.open_again(self.template, &receiver).await {
                Ok(call) => (sender, receiver) = (call.sender, call.receiver),
                // Keep the first status: it is more specific.
                Err(_) => break,
            }
        }
        let mut timeline = receiver.timeline(sender.written());
        let status = match (progress.failed, receiver.status()) {
            (Some(status), _) => status,
            (None, None) if progress.is_enough.get() => {
                sender.cancel();
                timeline.finished(
                    timeline.sent(),
                    timeline.first_byte(),
                    plimsoll_clock::now(),
                );
                Status::ok()
            }
            (None, status) => status.cloned().unwrap_or_else(Status::ok),
        };
        Outcome {
            status,
            timeline,
            opened: receiver.opened(),
            resent: receiver.resent(),
            has_response: receiver.has_response(),
            tls: receiver.tls(),
            sent: progress.sent.get(),
            received: progress.received.get(),
        }
    }

    /// Sends and receives concurrently until the call ends.
    async fn exchange_messages(
        &self,
        sender: &mut Sender,
        receiver: &mut Receiver,
        message: &mut impl FnMut(u64) -> Result<Framed, Status>,
        progress: &mut Progress,
    ) {
        let Progress {
            next,
            sent,
            received,
            is_enough,
            is_over,
            failed,
            replay,
        } = progress;
        is_over.set(false);
        let sending = async {
            loop {
                let kept = replay.borrow_mut().next_kept();
                let framed = match kept {
                    Some(kept) => kept,
                    None => {
                        if *next >= self.sends() || is_over.get() || self.is_late() {
                            break;
                        }
                        if *next > 0 && !self.limits.interval.is_zero() {
                            plimsoll_engine::timer::sleep(self.limits.interval).await;
                        }
                        match message(*next) {
                            Ok(framed) => {
                                *next += 1;
                                replay.borrow_mut().keep(&framed);
                                framed
                            }
                            Err(status) => {
                                *failed = Some(status);
                                sender.cancel();
                                return;
                            }
                        }
                    }
                };
                if sender.send(&framed).await.is_err() {
                    return;
                }
                if replay.borrow_mut().finish_message() {
                    sent.set(sent.get().and(framed.message_length()));
                }
            }
            let _ = sender.finish().await;
        };
        let receiving = async {
            let mut stop = std::pin::pin!(self.time_to_stop());
            loop {
                tokio::select! {
                    message = receiver.message() => {
                        let Some(message) = message else {
                            break;
                        };
                        replay.borrow_mut().commit();
                        received.set(received.get().and(message.len()));
                        if received.get().count >= self.receives() {
                            is_enough.set(true);
                            break;
                        }
                    }
                    () = &mut stop => {
                        is_enough.set(true);
                        break;
                    }
                }
            }
            is_over.set(true);
        };
        tokio::join!(sending, receiving);
    }

    /// Maximum number of messages to send.
    fn sends(&self) -> u64 {
        if self.is_server_only {
            return 1;
        }
        let unlimited = self.limits.duration.map_or(self.data, |_| u64::MAX);
        self.limits.messages.unwrap_or(unlimited)
    }

    /// Maximum number of messages to receive.
    fn receives(&self) -> u64 {
        let limit = self.limits.messages.filter(|_| self.is_server_only);
        limit.unwrap_or(u64::MAX)
    }

    fn until(&self) -> Option<Moment> {
        self.limits.duration.map(|duration| self.started + duration)
    }

    fn is_late(&self) -> bool {
        self.until()
            .is_some_and(|until| plimsoll_clock::now() >= until)
    }

    /// Waits until the time limit for receiving, which applies only if just the server streams.
    async fn time_to_stop(&self) {
        match self.until().filter(|_| self.is_server_only) {
            Some(until) => plimsoll_engine::timer::sleep_until(until).await,
            None => std::future::pending().await,
        }
    }
}
