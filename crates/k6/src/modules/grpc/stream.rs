//! `new Stream(client, method, parameters?)`

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use log::Level;
use plimsoll_grpc::{
    Call as GrpcCall, Channel, Code, Framed, Receiver, Replay, Sender, Status, Template,
};
use plimsoll_quickjs::{Call, Class, Context, Entry, InImage, Persistent, Returned, Thrown, Value};
use plimsoll_samples::{BaseTags, MetricId, builtin};

use super::client::{milliseconds, of_value};
use super::counts::{CallEnd, count_call, count_opened};
use super::known_method::KnownMethod;
use super::parameters::of_call;
use super::result;
use crate::metric_context;
use crate::modules::sample_tags::SampleTags;
use crate::user::{User, user};

/// A stream, as scripts see it.
pub struct Stream(Rc<Shared>);

/// State that the script shares with the operation that drives the stream.
pub struct Shared {
    owner: Rc<User>,
    known: Rc<KnownMethod>,
    pub channel: Rc<Channel>,
    template: Rc<Template>,
    tags: SampleTags,
    base: Option<BaseTags>,
    handlers: RefCell<Vec<(Event, Rc<Persistent>)>>,
    outgoing: RefCell<VecDeque<Framed>>,
    /// Whether the script has called `end`.
    ended: Cell<bool>,
    /// Set when the script wrote an invalid message. The stream then ends with this status.
    spoiled: RefCell<Option<Status>>,
    /// Whether the script has closed the client.
    canceled: Cell<bool>,
    driver: RefCell<Option<Waker>>,
    /// Bytes of uncompressed messages, sent and received.
    payload: Cell<(u64, u64)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Event {
    Data,
    Error,
    End,
    Status,
}

/// The stream that was opened last. If the server did not process it, the client may open it again.
struct Attempt {
    sender: Sender,
    receiver: Receiver,
    /// The rest of the message that is being sent.
    sending: Option<Framed>,
}

/// An event of a stream, for the script.
enum StreamEvent {
    Message(Bytes),
    Over(Status),
}

impl Class for Stream {
    const IN_IMAGE: InImage<Self> = InImage::Refused("a stream of gRPC");

    const EXOTIC: bool = true;
    const LISTS_METHODS: bool = true;

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::function(c"on", 2, on),
            Entry::function(c"write", 1, write),
            Entry::function(c"end", 0, end),
        ];
        ENTRIES
    }
}

pub fn construct<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    if call.this().is_undefined() {
        return Err(
            context.throw_type("Stream is a constructor: write `new grpc.Stream(client, method)`")
        );
    }
    let fail = |message: String| context.throw_plain(message);
    let state = of_value(context, &call.argument(0))?;
    let Some(channel) = state.channel() else {
        return Err(fail(
            "invalid GRPC Stream's client: no gRPC connection, you must call connect first"
                .to_owned(),
        ));
    };
    let owner = context.shared_host::<User>();
    let work = owner.working(context, "creating a gRPC stream")?;
    let method = call.argument(1).to_text()?.into_string();
    let known = state
        .known(&method)
        .map_err(|error| fail(format!("invalid GRPC Stream's method: {error}")))?;
    let parameters = of_call(&call.argument(2), true)?
        .map_err(|error| fail(format!("invalid GRPC Stream's parameters: {error}")))?;
    let template = known
        .template(&channel, &parameters, &owner)
        .map_err(fail)?;
    let shared = Rc::new(Shared {
        base: owner.base_tags(),
        owner: Rc::clone(&owner),
        known,
        channel,
        template,
        tags: parameters.tags,
        handlers: RefCell::default(),
        outgoing: RefCell::default(),
        ended: Cell::new(false),
        spoiled: RefCell::default(),
        canceled: Cell::new(false),
        driver: RefCell::default(),
        payload: Cell::default(),
    });
    if let Some(base) = &shared.base {
        shared.known.with_tags(work, &shared.tags, None, |tags| {
            let at = plimsoll_clock::now();
            // This cannot fail, because the metric is built in and the value is a number.
            let _ = work
                .recorder
                .add(builtin::GRPC_STREAMS, 1.0, base, tags, at);
        });
    }
    state.streams.add(&shared);
    owner.event_loop.run(drive(Rc::clone(&shared)));
    context.instance(Stream(shared))
}

fn shared<'c>(context: &'c Context, call: &Call<'c>) -> Result<Rc<Shared>, Thrown> {
    let this = call.this();
    this.instance::<Stream>()
        .map(|stream| Rc::clone(&stream.0))
        .ok_or_else(|| context.throw_type("a method of a gRPC stream was called on something else"))
}

/// `on(event, handler)`
fn on<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let shared = shared(context, call)?;
    let name = call.argument(0).to_text()?;
    let handler = call.argument(1);
    if !handler.is_function() {
        return Err(context.throw_type(format!("the handler of {:?} is not a function", &*name)));
    }
    let event = match &*name {
        "data" => Event::Data,
        "error" => Event::Error,
        "end" => Event::End,
        "status" => Event::Status,
        other => {
            user(context).log(
                Level::Warn,
                &format!(
                    "can't register {other} event handler: unknown GRPC stream's event type: {other}"
                ),
            );
            return Ok(context.undefined());
        }
    };
    let handler = metric_context::bind(context, &handler)?;
    let handler = Rc::new(Persistent::new(&handler));
    shared.handlers.borrow_mut().push((event, handler));
    Ok(context.undefined())
}

/// `write(message)`
fn write<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let shared = shared(context, call)?;
    let message = call.argument(0);
    if message.is_nullish() {
        let path = &shared.known.path;
        user(context).log_with(
            Level::Warn,
            "can't send empty message",
            &[("streamMethod", path)],
        );
        return Ok(context.undefined());
    }
    if shared.ended.get() {
        return Ok(context.undefined());
    }
    let json = message.to_json()?.unwrap_or_default();
    match shared.known.message(json) {
        Ok(message) => shared.outgoing.borrow_mut().push_back(message),
        Err(error) => {
            *shared.spoiled.borrow_mut() = Some(Status::new(
                Code::INTERNAL,
                format!("can't serialise request object to protocol buffer: {error}"),
            ));
        }
    }
    shared.wake();
    Ok(context.undefined())
}

/// `end()`
fn end<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let shared = shared(context, call)?;
    shared.ended.set(true);
    shared.wake();
    Ok(context.undefined())
}

/// Opens the stream and drives it to its end.
async fn drive(shared: Rc<Shared>) {
    let started = plimsoll_clock::now();
    // A single response message is counted together with the status that follows it.
    let mut single = 0.0;
    let opened = match shared.canceled.get() {
        // Otherwise the stream would open the client's connection again.
        true => Err(canceled()),
        false => shared.channel.open(&shared.template, started).await,
    };
    let mut has_response = false;
    let (mut tls, mut resent) = (None, 0);
    let (mut status, took) = match opened {
        Err(status) => (status, plimsoll_clock::now().since(started)),
        Ok(call) => {
            let mut attempt = Attempt::from(call);
            let mut replay = Replay::default();
            let status = loop {
                match poll_fn(|task| shared.poll(task, &mut attempt, &mut replay)).await {
                    StreamEvent::Message(message) => {
                        shared.count_bytes(0, message.len());
                        if shared.known.method.server_streams() {
                            shared.count(builtin::GRPC_STREAMS_MSGS_RECEIVED, None);
                        } else {
                            single += 1.0;
                        }
                        shared.tell(StreamEvent::Message(message));
                    }
                    StreamEvent::Over(status) => {
                        attempt.sender.cancel();
                        match shared.open_again(&attempt, &mut replay).await {
                            Some(again) => attempt = again,
                            None => break status,
                        }
                    }
                }
            };
            let receiver = attempt.receiver;
            has_response = receiver.has_response();
            tls = receiver.tls();
            resent = receiver.resent();
            (status, receiver.timeline(None).service_time())
        }
    };
    let is_canceled = shared.canceled.get() && status.code == Code::CANCELED;
    let payload = status.code.is_ok().then(|| shared.payload.get());
    shared.owner.count_call(payload);
    if let Some(work) = shared.owner.work() {
        let end = CallEnd {
            name: &shared.known.url,
            took,
            status: &status,
            has_response,
            tls,
            resent,
            is_canceled,
        };
        count_call(work, &end, started);
        count_opened(work, &shared.channel, started);
    }
    if let (Some(base), Some(work)) = (&shared.base, shared.owner.work()) {
        let number = Some(status.code.0);
        shared.known.with_tags(work, &shared.tags, number, |tags| {
            let metric = builtin::GRPC_REQ_DURATION;
            let at = plimsoll_clock::now();
            // This cannot fail, as above.
            let _ = work
                .recorder
                .add_started(metric, milliseconds(took), base, tags, started, at);
            if single > 0.0 {
                let metric = builtin::GRPC_STREAMS_MSGS_RECEIVED;
                let _ = work.recorder.add(metric, single, base, tags, at);
            }
        });
    }
    if is_canceled {
        // The status that k6 reports to scripts. The samples have the status of the call.
        status = Status::new(Code::UNKNOWN, CANCELED);
    }
    shared.tell(StreamEvent::Over(status));
}

const CANCELED: &str = "canceled by client (k6)";

/// The status of a stream whose client was closed.
fn canceled() -> Status {
    Status::new(Code::CANCELED, CANCELED)
}

impl From<GrpcCall> for Attempt {
    fn from(call: GrpcCall) -> Attempt {
        Attempt {
            sender: call.sender,
            receiver: call.receiver,
            sending: None,
        }
    }
}

impl Shared {
    /// Ends the stream, because its client is closed.
    pub fn cancel(&self) {
        self.canceled.set(true);
        *self.spoiled.borrow_mut() = Some(canceled());
        self.wake();
    }

    fn wake(&self) {
        let driver = self.driver.borrow().clone();
        if let Some(driver) = driver {
            driver.wake();
        }
    }

    /// Sends the messages that the script has written, and returns the received ones.
    fn poll(
        &self,
        task: &mut TaskContext<'_>,
        attempt: &mut Attempt,
        replay: &mut Replay,
    ) -> Poll<StreamEvent> {
        *self.driver.borrow_mut() = Some(task.waker().clone());
        let Attempt {
            sender,
            receiver,
            sending,
        } = attempt;
        if let Some(status) = self.spoiled.take() {
            receiver.end(status.clone());
            return Poll::Ready(StreamEvent::Over(status));
        }
        loop {
            if sending.is_none() {
                *sending = replay.next_kept();
            }
            if sending.is_none() {
                *sending = self.outgoing.borrow_mut().pop_front();
                if let Some(next) = sending {
                    replay.keep(next);
                }
                let limits = self.channel.limits();
                if let Some(Err(status)) = sending.as_ref().map(|next| limits.check_send(next)) {
                    receiver.end(status.clone());
                    return Poll::Ready(StreamEvent::Over(status));
                }
            }
            let Some(message) = sending else {
                if self.ended.get() {
                    // The receiver reports the error.
                    let _ = sender.poll_finish(task);
                }
                break;
            };
            match sender.poll_send(task, message) {
                Poll::Ready(Ok(())) => {
                    if replay.finish_message() {
                        self.count(builtin::GRPC_STREAMS_MSGS_SENT, None);
                        self.count_bytes(message.message_length(), 0);
                    }
                    *sending = None;
                }
                // The receiver reports the reason. The rest is kept, in case the stream is opened again.
                Poll::Ready(Err(_)) | Poll::Pending => break,
            }
        }
        let received = receiver.poll_message(task);
        if receiver.has_response() {
            replay.commit();
        }
        match received {
            Poll::Ready(Some(message)) => Poll::Ready(StreamEvent::Message(message)),
            Poll::Ready(None) => {
                let status = receiver.status().cloned().unwrap_or_else(Status::ok);
                Poll::Ready(StreamEvent::Over(status))
            }
            Poll::Pending => Poll::Pending,
        }
    }

    /// Opens the stream again if the server did not process it. Returns `None` if the server did process it, or if that
    /// failed.
    async fn open_again(&self, refused: &Attempt, replay: &mut Replay) -> Option<Attempt> {
        // A closed client must not open its connection again.
        if !refused.receiver.is_unprocessed() || self.canceled.get() || !replay.restart() {
            return None;
        }
        let again = self.channel.open_again(&self.template, &refused.receiver);
        again.await.ok().map(Attempt::from)
    }

    fn count_bytes(&self, sent: usize, received: usize) {
        let payload = self.payload.get();
        self.payload
            .set((payload.0 + sent as u64, payload.1 + received as u64));
    }

    fn count(&self, metric: MetricId, status: Option<u32>) {
        if let (Some(base), Some(work)) = (&self.base, self.owner.work()) {
            self.known.with_tags(work, &self.tags, status, |tags| {
                let _ = work
                    .recorder
                    .add(metric, 1.0, base, tags, plimsoll_clock::now());
            });
        }
    }

    /// Queues a call of the handlers.
    fn tell(self: &Rc<Self>, event: StreamEvent) {
        let shared = Rc::clone(self);
        self.owner
            .event_loop
            .tell(move |context| shared.handle(context, event));
    }

    fn handle(&self, context: &Context, event: StreamEvent) -> Result<(), Thrown> {
        let times = context.object()?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        times.define("ts", context.integer(now.unwrap_or_default().as_secs()))?;
        match event {
            StreamEvent::Message(bytes) => {
                let read = |text: &str| context.parse_json(text, "message");
                let message = self.known.with_json(&bytes, read);
                let message = message.map_err(|error| context.throw_plain(error.to_string()))??;
                self.call(context, Event::Data, &message, &times)
                    .map_err(|thrown| self.thrown(context, thrown, &times))
            }
            StreamEvent::Over(status) => {
                if !status.code.is_ok() {
                    if !self.has_handler(Event::Error) {
                        self.log_unhandled(&status.to_string());
                    }
                    let error = result::stream_error(context, &self.known.method, &status)?;
                    self.call(context, Event::Error, &error, &times)?;
                }
                self.call(context, Event::End, &context.object()?, &times)
            }
        }
    }

    /// Passes an exception of a handler to the error handlers. It then ends the iteration.
    fn thrown(&self, context: &Context, thrown: Thrown, times: &Value<'_>) -> Thrown {
        let exception = context.take_exception(thrown);
        if exception.is_uncatchable() {
            return exception.rethrow();
        }
        if !self.has_handler(Event::Error) {
            self.log_unhandled(&exception.text());
        } else if let Err(thrown) = self.call(context, Event::Error, &exception.0, times) {
            // Only the first exception counts.
            drop(context.take_exception(thrown));
        }
        exception.rethrow()
    }

    fn has_handler(&self, event: Event) -> bool {
        let handlers = self.handlers.borrow();
        handlers.iter().any(|(known, _)| *known == event)
    }

    /// Logs an error for which no handler is registered.
    fn log_unhandled(&self, what: &str) {
        let path = &self.known.path;
        self.owner.log_with(
            Level::Warn,
            &format!("no handlers for error registered, but an error happened: {what}"),
            &[("streamMethod", path)],
        );
    }

    fn call<'c>(
        &self,
        context: &'c Context,
        event: Event,
        value: &Value<'c>,
        times: &Value<'c>,
    ) -> Result<(), Thrown> {
        let handlers: Vec<Rc<Persistent>> = self
            .handlers
            .borrow()
            .iter()
            .filter(|(known, _)| *known == event)
            .map(|(_, handler)| Rc::clone(handler))
            .collect();
        for handler in handlers {
            handler
                .restore(context)
                .call(&context.undefined(), &[value, times])?;
        }
        Ok(())
    }
}
