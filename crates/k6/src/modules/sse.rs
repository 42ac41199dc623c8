//! `k6/x/sse`: server-sent events. `open` calls the handlers while the response arrives, and returns at the end of the
//! response.
//!
//! A stream is an HTTP request like those of `k6/http`, with the same metrics and settings.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use plimsoll_http::{BodyWatch, Head, Method, SharedWatch};
use plimsoll_quickjs::{
    Call, Class, Context, Entry, InImage, Instance, Returned, Slot, Thrown, Value,
};
use plimsoll_samples::{BaseTags, Contains, Kind, SystemTag};
use plimsoll_units::Moment;

use super::handlers::{EventError, Handlers};
use super::http::{exchange, failed, method_of, prepare, refuse};
use super::websocket::blocking::handshake_result;
use super::{BuiltIn, Shape};
use crate::pure::event_stream::{Event, Events};
use crate::user::{User, Work, user};

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/x/sse",
    shape: Shape::Names,
    entries: &[Entry::function(c"open", 3, open)],
    made: &[],
    make: Some(register),
};

/// The metrics of the module. All but the first are additions to k6's extension.
const METRICS: [(&str, Kind, Contains); 3] = [
    (EVENTS, Kind::Counter, Contains::Default),
    (FIRST_EVENT, Kind::Trend, Contains::Time),
    (GAP, Kind::Trend, Contains::Time),
];
/// Events received.
const EVENTS: &str = "sse_event";
/// From the call to the first event.
const FIRST_EVENT: &str = "sse_time_to_first_event";
/// Between two events.
const GAP: &str = "sse_event_gap";

/// The timeout of a stream that sets none: a century.
const UNLIMITED: Duration = Duration::from_secs(100 * 365 * 86_400);

fn register(context: &Context, _: &Value<'_>) -> Result<(), Thrown> {
    super::scripted::register(context, &METRICS)
}

/// `open(url, params?, callback)`
fn open<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let user = user(context);
    let work = user.working(context, "using sse")?;
    let (params, callback) = match call.count() {
        2 => (context.undefined(), call.argument(1).clone()),
        3 => (call.argument(1).clone(), call.argument(2).clone()),
        _ => return Err(context.throw_plain("invalid number of arguments to sse.open")),
    };
    if !callback.is_function() {
        return Err(context.throw_plain("last argument to sse.open must be a function"));
    }
    let given = |name: &str| match params.is_object() {
        true => params.get(name),
        false => Ok(context.undefined()),
    };
    let method = given("method")?;
    let method = match method.is_nullish() {
        true => Method::Get,
        false => method_of(&method)?,
    };
    let (body, timeout) = (given("body")?, given("timeout")?);
    let mut prepared = match prepare(context, method, &call.argument(0), &body, &params) {
        Ok(prepared) => prepared,
        Err(refused) => return refuse(context, refused),
    };
    let request = &mut prepared.request;
    for (name, value) in [
        ("Accept", "text/event-stream"),
        ("Cache-Control", "no-cache"),
    ] {
        if request.headers.get(name).is_none() {
            // Both are valid, so setting them cannot fail.
            let _ = request.headers.set(name, value);
        }
    }
    if timeout.is_nullish() {
        request.timeout = UNLIMITED;
    }
    let stream = Rc::new(Stream::default());
    request.watch = Some(SharedWatch(Rc::clone(&stream) as Rc<dyn BodyWatch>));
    let shown = prepared.name.as_deref().unwrap_or(request.url.as_str());
    let figures = Figures::new(user, work, shown, &prepared.tags.borrowed());

    let object = context.instance(Client {
        handlers: Handlers::default(),
        stream: Rc::clone(&stream),
    })?;
    callback.call(&context.undefined(), &[&object])?;
    let client = this(context, &object)?;
    let mut running = Box::pin(exchange(user, work, &prepared, user.base_tags()));
    let outcome = loop {
        let step = context.wait(poll_fn(|cx| {
            if stream.has_unprocessed() {
                return Poll::Ready(None);
            }
            match running.as_mut().poll(cx) {
                Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
                Poll::Pending if stream.has_unprocessed() => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            }
        }));
        let step = step.map_err(|cancelled| context.cancelled(cancelled))?;
        client.deliver(context, &figures)?;
        if let Some(outcome) = step {
            break outcome;
        }
    };
    drop(running);
    let problem = stream.problem.take();
    match outcome {
        Ok(response) => {
            if let Some(problem) = &problem {
                client.emit_error(context, problem)?;
            } else if !stream.is_open.get() && is_success(response.status) {
                client.emit(context, "open", &[])?;
            }
            let url = response.url.masked();
            handshake_result(
                context,
                &url,
                &response,
                "",
                problem.as_deref().unwrap_or_default(),
            )
        }
        Err(failure) => {
            let text = failed(context, &prepared, &failure)?;
            client.emit_error(context, &text)?;
            let result = context.object()?;
            result.define("url", context.string(&failure.response.url.masked())?)?;
            result.define("status", context.number(0))?;
            result.define("headers", context.object()?)?;
            result.define("body", context.string("")?)?;
            result.define("error", context.string(&text)?)?;
            Ok(result)
        }
    }
}

fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

/// A response that is still arriving.
#[derive(Default)]
struct Stream {
    events: RefCell<Events>,
    pending: RefCell<VecDeque<StreamEvent>>,
    is_open: Cell<bool>,
    is_over: Cell<bool>,
    /// Why the stream was closed.
    problem: RefCell<Option<String>>,
}

enum StreamEvent {
    Open,
    Event(Event, Moment),
}

impl Stream {
    fn end(&self, problem: &str) {
        *self.problem.borrow_mut() = Some(problem.to_owned());
        self.is_over.set(true);
    }
}

impl BodyWatch for Stream {
    fn head(&self, head: &Rc<Head>) {
        if is_success(head.status()) && !self.is_open.replace(true) {
            self.pending.borrow_mut().push_back(StreamEvent::Open);
        }
    }

    fn data(&self, head: &Rc<Head>, bytes: &[u8], at: Moment) {
        if self.is_over.get() || !is_success(head.status()) {
            return;
        }
        self.head(head);
        if head.all("content-encoding").next().is_some() {
            return self.end("the server compressed the stream; send no Accept-Encoding");
        }
        let mut pending = self.pending.borrow_mut();
        let sink = &mut |event| pending.push_back(StreamEvent::Event(event, at));
        if self.events.borrow_mut().read(bytes, sink).is_err() {
            self.end("an event is longer than 16 MiB");
        }
    }

    fn has_unprocessed(&self) -> bool {
        !self.pending.borrow().is_empty()
    }

    fn is_over(&self) -> bool {
        self.is_over.get()
    }
}

/// The metrics of one stream.
struct Figures<'a> {
    user: &'a User,
    work: &'a Work,
    base: BaseTags,
    started: Moment,
    last: Cell<Option<Moment>>,
}

impl<'a> Figures<'a> {
    fn new(user: &'a User, work: &'a Work, url: &str, own: &[(&str, &str)]) -> Self {
        let mut tags = user.tags.snapshot();
        if work.recorder.sets(SystemTag::Url) {
            tags.set(SystemTag::Url.key(), url);
        }
        for (key, value) in own {
            tags.set(key, value);
        }
        Figures {
            user,
            work,
            base: tags.base(&work.recorder),
            started: plimsoll_clock::now(),
            last: Cell::new(None),
        }
    }

    fn event(&self, at: Moment) {
        self.work.recorder.messages(0, 1, at);
        self.add(EVENTS, 1.0, at);
        let (metric, since) = match self.last.replace(Some(at)) {
            None => (FIRST_EVENT, self.started),
            Some(last) => (GAP, last),
        };
        self.add(metric, at.since(since).as_nanos() as f64 / 1e6, at);
    }

    fn add(&self, name: &str, value: f64, at: Moment) {
        if let Some(metric) = self.user.common.registry.find(name) {
            // This cannot fail, because the value is a number.
            let _ = self.work.recorder.add(metric, value, &self.base, &[], at);
        }
    }
}

/// The object that is passed to the callback.
struct Client {
    handlers: Handlers,
    stream: Rc<Stream>,
}

impl Client {
    /// Calls the handlers for all events that have arrived.
    fn deliver(&self, context: &Context, figures: &Figures<'_>) -> Result<(), Thrown> {
        loop {
            let next = self.stream.pending.borrow_mut().pop_front();
            match next {
                None => return Ok(()),
                Some(StreamEvent::Open) => self.emit(context, "open", &[])?,
                // The script has closed the stream.
                Some(StreamEvent::Event(..)) if self.is_closed() => {}
                Some(StreamEvent::Event(event, at)) => {
                    figures.event(at);
                    let object = context.object()?;
                    object.define("id", context.string(&event.id)?)?;
                    object.define("name", context.string(&event.name)?)?;
                    object.define("data", context.string(&event.data)?)?;
                    object.define("comment", context.string(&event.comment)?)?;
                    self.emit(context, "event", &[&object])?;
                }
            }
        }
    }

    fn is_closed(&self) -> bool {
        self.stream.is_over.get() && self.stream.problem.borrow().is_none()
    }

    fn emit<'c>(
        &self,
        context: &'c Context,
        event: &str,
        arguments: &[&Value<'c>],
    ) -> Result<(), Thrown> {
        // Handlers that a handler adds are called from the next event on.
        let limit = self.handlers.count();
        self.handlers.emit(context, event, arguments, limit)
    }

    fn emit_error(&self, context: &Context, text: &str) -> Result<(), Thrown> {
        let error = context.instance(EventError(text.to_owned()))?;
        self.emit(context, "error", &[&error])
    }
}

impl Class for Client {
    const IN_IMAGE: InImage<Self> = InImage::Refused("an SSE client");

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::function(c"on", 2, on),
            Entry::function(c"close", 0, close),
        ];
        ENTRIES
    }

    fn trace(&self, see: &mut dyn FnMut(&Slot)) {
        self.handlers.trace(see);
    }
}

fn this<'a, 'c>(
    context: &'c Context,
    value: &'a Value<'c>,
) -> Result<Instance<'a, Client>, Thrown> {
    value
        .instance::<Client>()
        .ok_or_else(|| context.throw_type("a method of an sse client was called on something else"))
}

/// `on(event, handler)`
fn on<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let this_value = call.this();
    this(context, &this_value)?.handlers.add(call)?;
    Ok(context.undefined())
}

/// `close()`: ends the stream.
fn close<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let this_value = call.this();
    this(context, &this_value)?.stream.is_over.set(true);
    Ok(context.undefined())
}
