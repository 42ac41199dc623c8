//! The socket of `k6/ws`: its handlers, its timers, and the loop that calls them.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use plimsoll_engine::timer::sleep_until;
use plimsoll_http::BudgetShare;
use plimsoll_net::Stream;
use plimsoll_quickjs::{
    Call, Class, Context, Entry, InImage, Instance, Returned, Slot, Thrown, Value,
};
use plimsoll_units::Moment;
use plimsoll_ws::{Connection, Ended, Error, Event, Kind, code};

use super::closing::{linger, part};
use super::messages;
use super::session::Session;
use crate::modules::handlers::{EventError, Handlers};

/// Events that were read while a write was blocked. Reading meanwhile prevents a deadlock when both peers write.
const MAX_READ_AHEAD: usize = 1024;

/// The socket object that callbacks receive.
pub struct Socket {
    /// `None` once the session has ended.
    connection: RefCell<Option<Connection<Stream>>>,
    session: Session,
    handlers: Handlers,
    timers: RefCell<BTreeMap<(Moment, u32), Timer>>,
    last_timer: Cell<u32>,
    /// Events that arrived while the script waited for something else.
    arrived: RefCell<VecDeque<Arrived>>,
    is_over: Cell<bool>,
}

/// An event, and its share of the budget for decompressed data.
type Arrived = (Result<Event, Error>, Option<BudgetShare>);

struct Timer {
    callback: Slot,
    every: Option<Duration>,
}

/// The next step of the session's loop.
enum Next {
    Event(Result<Event, Error>),
    Timer(Moment, u32),
}

impl Socket {
    /// Calls `callback` with a new socket, and then its handlers until the session ends.
    ///
    /// # Errors
    /// The first exception of the callback or a handler, which ends the session.
    pub fn live<'c>(
        context: &'c Context,
        connection: Connection<Stream>,
        session: Session,
        callback: &Value<'c>,
    ) -> Result<(), Thrown> {
        let object = context.instance(Socket {
            connection: RefCell::new(Some(connection)),
            session,
            handlers: Handlers::default(),
            timers: RefCell::default(),
            last_timer: Cell::new(0),
            arrived: RefCell::default(),
            is_over: Cell::new(false),
        })?;
        let socket = this(context, &object)?;
        let lived = socket.call_back(context, &object, callback);
        let lived = lived.map_err(|thrown| socket.end_by_exception(context, thrown));
        socket.leave(context);
        lived
    }

    fn call_back<'c>(
        &self,
        context: &'c Context,
        object: &Value<'c>,
        callback: &Value<'c>,
    ) -> Result<(), Thrown> {
        callback.call(&context.undefined(), &[object])?;
        self.emit(context, "open", &[])?;
        while !self.is_over.get() {
            let next = context
                .wait(self.next())
                .map_err(|cancelled| context.cancelled(cancelled))?;
            match next {
                Next::Timer(due, id) => self.fire(context, due, id)?,
                Next::Event(Ok(event)) => self.take(context, event)?,
                Next::Event(Err(error)) => {
                    let (text, code, _) = messages::broken(&error);
                    self.emit_error(context, &text)?;
                    self.finish(context, code)?;
                }
            }
        }
        Ok(())
    }

    /// Resolves with the next timer that is due, or the next event. Timers come first: a server that never stops
    /// sending must not keep the script from closing.
    async fn next(&self) -> Next {
        let timer = self.timers.borrow().first_key_value().map(|(key, _)| *key);
        let mut alarm = pin!(async {
            match timer {
                Some((due, id)) => {
                    sleep_until(due).await;
                    Next::Timer(due, id)
                }
                None => std::future::pending().await,
            }
        });
        poll_fn(|cx| {
            if let Poll::Ready(timer) = alarm.as_mut().poll(cx) {
                return Poll::Ready(timer);
            }
            let arrived = self.arrived.borrow_mut().pop_front();
            if let Some((event, _)) = arrived {
                return Poll::Ready(Next::Event(event));
            }
            match &mut *self.connection.borrow_mut() {
                Some(connection) => {
                    let event = connection.poll_event(cx);
                    // The handler receives the message at once.
                    drop(connection.take_share());
                    event.map(Next::Event)
                }
                None => Poll::Ready(Next::Event(Err(Error::Closed { inside: false }))),
            }
        })
        .await
    }

    fn take(&self, context: &Context, event: Event) -> Result<(), Thrown> {
        match event {
            Event::Text(text) => {
                self.session.received(text.len());
                self.emit_with(context, "message", || context.string(&text))
            }
            Event::Binary(bytes) => {
                self.session.received(bytes.len());
                self.emit_with(context, "binaryMessage", || context.array_buffer(&bytes))
            }
            Event::Ping(_) => self.emit(context, "ping", &[]),
            Event::Pong(payload) => {
                self.session.pong(&payload);
                self.emit(context, "pong", &[])
            }
            Event::Close(frame) => {
                if !messages::is_expected(frame.code) {
                    self.emit_error(context, &messages::closed(frame.code, &frame.reason))?;
                }
                self.finish(context, frame.code)
            }
        }
    }

    fn fire(&self, context: &Context, due: Moment, id: u32) -> Result<(), Thrown> {
        let Some(timer) = self.timers.borrow_mut().remove(&(due, id)) else {
            return Ok(());
        };
        let Some(callback) = timer.callback.get(context) else {
            return Ok(());
        };
        match timer.every {
            // Intervals that were missed are skipped.
            Some(every) => {
                let next = (due + every).max(plimsoll_clock::now());
                self.timers.borrow_mut().insert((next, id), timer);
            }
            None => timer.callback.clear(context),
        }
        callback.call(&context.undefined(), &[]).map(drop)
    }

    /// Sends a message.
    fn send(&self, context: &Context, kind: Kind, payload: &[u8]) -> Result<(), Thrown> {
        self.put(context, |connection, session| {
            let sent = connection.send(kind, payload);
            if sent.is_ok() {
                session.sent(payload.len());
            }
            sent
        })
    }

    /// Lets `queue` write to the connection and waits until the kernel has accepted it, reading events meanwhile. All
    /// of this runs on the event loop's stack, because the script's own is too small for compression.
    fn put(
        &self,
        context: &Context,
        queue: impl FnOnce(&mut Connection<Stream>, &Session) -> Result<(), Ended>,
    ) -> Result<(), Thrown> {
        let mut queue = Some(queue);
        let flushed = context.wait(poll_fn(|cx| {
            let mut connection = self.connection.borrow_mut();
            let Some(connection) = &mut *connection else {
                return Poll::Ready(Err(None));
            };
            if let Some(queue) = queue.take()
                && queue(connection, &self.session).is_err()
            {
                return Poll::Ready(Err(None));
            }
            if let Poll::Ready(flushed) = connection.poll_flush(cx) {
                return Poll::Ready(flushed.map_err(Some));
            }
            let mut arrived = self.arrived.borrow_mut();
            while arrived.len() < MAX_READ_AHEAD && !matches!(arrived.back(), Some((Err(_), _))) {
                match connection.poll_event(cx) {
                    Poll::Ready(event) => arrived.push_back((event, connection.take_share())),
                    Poll::Pending => return Poll::Pending,
                }
            }
            Poll::Pending
        }));
        match flushed.map_err(|cancelled| context.cancelled(cancelled))? {
            Ok(()) => Ok(()),
            Err(None) => self.emit_error(context, "websocket: close sent"),
            Err(Some(error)) => {
                let text = format!("write: {}", plimsoll_net::describe(&error));
                self.emit_error(context, &text)
            }
        }
    }

    /// Closes the connection from this side, which ends the session.
    fn close(&self, context: &Context, code: i64) -> Result<(), Thrown> {
        if self.is_over.get() {
            return Ok(());
        }
        self.hang_up(
            u16::try_from(code)
                .ok()
                .filter(|&code| plimsoll_ws::is_sendable(code)),
        );
        self.finish_with(context, context.number(code as f64))
    }

    fn finish(&self, context: &Context, code: u16) -> Result<(), Thrown> {
        self.finish_with(context, context.number(code))
    }

    fn finish_with<'c>(&self, context: &'c Context, code: Value<'c>) -> Result<(), Thrown> {
        if self.is_over.replace(true) {
            return Ok(());
        }
        self.emit(context, "close", &[&code])
    }

    /// Closes the connection because the script threw, and returns the exception.
    fn end_by_exception(&self, context: &Context, thrown: Thrown) -> Thrown {
        let exception = context.take_exception(thrown);
        if exception.is_uncatchable() {
            // The script is being stopped: no more of its code may run.
            self.hang_up(Some(code::GOING_AWAY));
        } else if let Err(second) = self.close(context, code::GOING_AWAY.into()) {
            // Report the first exception.
            drop(context.take_exception(second));
        }
        exception.rethrow()
    }

    fn hang_up(&self, code: Option<u16>) {
        if let Some(connection) = &mut *self.connection.borrow_mut() {
            connection.close(code, "");
        }
    }

    /// Detaches the connection and closes it in the background.
    fn leave(&self, context: &Context) {
        self.is_over.set(true);
        let connection = self.connection.take();
        if context.is_cancelled() {
            // No handler waits. A session that was interrupted has no duration.
            part(connection);
            return;
        }
        if let Some(connection) = connection {
            tokio::task::spawn_local(linger(connection));
        }
        self.session.ended();
    }

    fn emit<'c>(
        &self,
        context: &'c Context,
        event: &str,
        arguments: &[&Value<'c>],
    ) -> Result<(), Thrown> {
        // Handlers that a handler adds are called, too.
        self.handlers.emit(context, event, arguments, usize::MAX)
    }

    /// Emits an event whose argument is only created if there is a handler.
    #[inline]
    fn emit_with<'c>(
        &self,
        context: &'c Context,
        event: &str,
        make: impl FnOnce() -> Returned<'c>,
    ) -> Result<(), Thrown> {
        if !self.handlers.has(event) {
            return Ok(());
        }
        self.emit(context, event, &[&make()?])
    }

    fn emit_error(&self, context: &Context, text: &str) -> Result<(), Thrown> {
        self.emit_with(context, "error", || {
            context.instance(EventError(text.to_owned()))
        })
    }

    fn add_timer(&self, callback: &Value<'_>, delay: Duration, repeat: bool) {
        let id = self.last_timer.get() + 1;
        self.last_timer.set(id);
        let slot = Slot::empty();
        slot.set(callback.clone());
        let timer = Timer {
            callback: slot,
            every: repeat.then_some(delay),
        };
        let due = plimsoll_clock::now() + delay;
        self.timers.borrow_mut().insert((due, id), timer);
    }
}

impl Class for Socket {
    const IN_IMAGE: InImage<Self> = InImage::Refused("a WebSocket");

    const EXOTIC: bool = true;
    const LISTS_METHODS: bool = true;

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::function(c"close", 1, close),
            Entry::function(c"on", 2, on),
            Entry::function(c"ping", 0, ping),
            Entry::function(c"send", 1, send),
            Entry::function(c"sendBinary", 1, send_binary),
            Entry::function(c"setInterval", 2, |context, call| {
                set_timer(context, call, true)
            }),
            Entry::function(c"setTimeout", 2, |context, call| {
                set_timer(context, call, false)
            }),
        ];
        ENTRIES
    }

    fn trace(&self, see: &mut dyn FnMut(&Slot)) {
        self.handlers.trace(see);
        self.timers
            .borrow()
            .values()
            .for_each(|timer| see(&timer.callback));
    }
}

fn this<'a, 'c>(
    context: &'c Context,
    value: &'a Value<'c>,
) -> Result<Instance<'a, Socket>, Thrown> {
    value
        .instance::<Socket>()
        .ok_or_else(|| context.throw_type("a method of a socket was called on something else"))
}

/// `on(event, handler)`.
fn on<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let this_value = call.this();
    this(context, &this_value)?.handlers.add(call)?;
    Ok(context.undefined())
}

/// `send(text)`.
fn send<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let this_value = call.this();
    let socket = this(context, &this_value)?;
    let message = call.argument(0);
    if message.is_nullish() {
        socket.send(context, Kind::Text, b"")?;
    } else {
        socket.send(context, Kind::Text, message.to_text()?.as_bytes())?;
    }
    Ok(context.undefined())
}

/// `sendBinary(arrayBuffer)`.
fn send_binary<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let this_value = call.this();
    let socket = this(context, &this_value)?;
    let message = call.argument(0);
    let bytes = match message.is_array_buffer() {
        true => message.to_bytes(),
        false => None,
    };
    let Some(bytes) = bytes else {
        let kind = received_kind(&message)?;
        return Err(context.throw_plain(format!(
            "expected ArrayBuffer as argument, received: {kind}"
        )));
    };
    socket.send(context, Kind::Binary, &bytes)?;
    Ok(context.undefined())
}

fn received_kind(value: &Value<'_>) -> Result<String, Thrown> {
    if value.is_undefined() {
        return Ok("undefined".to_owned());
    }
    if value.is_null() {
        return Ok("null".to_owned());
    }
    Ok(value
        .get("constructor")?
        .get("name")?
        .to_text()?
        .into_string())
}

/// `ping()`.
fn ping<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let this_value = call.this();
    let socket = this(context, &this_value)?;
    socket.put(context, |connection, session| {
        match connection.is_closing() {
            true => Err(Ended),
            false => connection.ping(session.ping().as_bytes()),
        }
    })?;
    Ok(context.undefined())
}

/// `setTimeout(callback, ms)` and `setInterval(callback, ms)`: timers of the session.
fn set_timer<'c>(context: &'c Context, call: &Call<'c>, repeat: bool) -> Returned<'c> {
    let this_value = call.this();
    let socket = this(context, &this_value)?;
    let name = if repeat { "setInterval" } else { "setTimeout" };
    let callback = call.argument(0);
    if !callback.is_function() {
        return Err(context.throw_type(format!("{name}'s callback is not a function")));
    }
    let delay = call.argument(1);
    let milliseconds = if delay.is_nullish() {
        0.0
    } else {
        delay.to_number()?
    };
    if milliseconds.is_nan() || milliseconds <= 0.0 {
        return Err(context.throw_plain(format!(
            "{name} requires a >0 timeout parameter, received {milliseconds:.2}"
        )));
    }
    // A century stands for "never".
    let delay = Duration::from_secs_f64(milliseconds.min(3.2e12) / 1000.0);
    socket.add_timer(&callback, delay.max(Duration::from_micros(1)), repeat);
    Ok(context.undefined())
}

/// `close(code = 1001)`.
fn close<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let this_value = call.this();
    let socket = this(context, &this_value)?;
    let code = match call.argument(0) {
        code if code.is_undefined() => i64::from(code::GOING_AWAY),
        code => code.to_integer()?,
    };
    socket.close(context, code)?;
    Ok(context.undefined())
}
