//! `k6/websockets`: the class `WebSocket` as in browsers, with pings, and `Blob`.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use log::Level;
use plimsoll_http::Url;
use plimsoll_quickjs::{
    Assignment, Atom, Call, Class, Context, Entry, InImage, Instance, Persistent, Returned, Slot,
    Thrown, Value,
};
use plimsoll_ws::Kind;

use super::blob::{self, Blob};
use super::dial::{Dial, ModuleDifferences};
use super::events::{EventKind, event};
use super::link::{CloseRequest, Link, ReadyState, SocketEvent};
use super::properties::Property;
use super::session::Session;
use crate::metric_context;
use crate::modules::{BuiltIn, Shape, link_constructor};
use crate::user::{User, user};

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/websockets",
    shape: Shape::Names,
    entries: &[],
    made: &["Blob", "WebSocket"],
    make: Some(make),
};

/// The module under its old name.
pub const EXPERIMENTAL: BuiltIn = BuiltIn {
    name: "k6/experimental/websockets",
    shape: Shape::Names,
    entries: &[],
    made: &["Blob", "WebSocket"],
    make: Some(|context, exports| {
        let user = user(context);
        if user.id.0 == 0 && user.run.is_none() {
            user.log(
                Level::Warn,
                "k6/experimental/websockets is the old name of k6/websockets; import that instead",
            );
        }
        make(context, exports)
    }),
};

const DIFFERENCES: ModuleDifferences = ModuleDifferences {
    bad_tags: "invalid WebSocket tags option",
    is_strict: true,
};

fn make(context: &Context, exports: &Value<'_>) -> Result<(), Thrown> {
    let constructor = context.constructor("WebSocket", 1, construct)?;
    link_constructor::<WebSocket>(context, &constructor)?;
    let prototype = context.prototype_of::<WebSocket>()?;
    for (name, state) in READY_STATES {
        constructor.define_fixed(name, context.number(state as u8))?;
        prototype.define_fixed(name, context.number(state as u8))?;
    }
    exports.define("WebSocket", constructor)?;
    exports.define("Blob", blob::constructor(context)?)
}

/// Read-only constants of the class and its objects, which k6 has from version 2.3 on.
const READY_STATES: [(&str, ReadyState); 4] = [
    ("CONNECTING", ReadyState::Connecting),
    ("OPEN", ReadyState::Open),
    ("CLOSING", ReadyState::Closing),
    ("CLOSED", ReadyState::Closed),
];

/// The values of `binaryType`.
const BLOB: &str = "blob";
const ARRAY_BUFFER: &str = "arraybuffer";

/// The object that scripts hold. As in k6, its properties and methods are its own, so that they are printed, copied and
/// serialized.
struct WebSocket {
    url: String,
    link: Rc<Link>,
    is_binary_blob: Cell<bool>,
    /// The values of `onopen`, `onmessage` and so on, in the order of [`EventKind`].
    own: [Slot; EventKind::COUNT],
    listeners: RefCell<Vec<(EventKind, Slot)>>,
}

/// `new WebSocket(url, protocols?, params?)`.
fn construct<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let owner = context.shared_host::<User>();
    let work = owner.working(context, "using websockets")?;
    let url = call.argument(0);
    if url.is_nullish() {
        return Err(context.throw_plain("WebSocket requires a url"));
    }
    let url = url.to_text()?.into_string();
    check(&url).map_err(|reason| context.throw_plain(reason))?;
    let parsed = Url::parse(&url).map_err(|error| context.throw_plain(error.to_string()))?;
    let url = parsed.as_str().to_owned();
    let protocols = read_protocols(&call.argument(1))?;
    let dial = Dial::new(
        context,
        url.clone(),
        protocols,
        &call.argument(2),
        &DIFFERENCES,
    )?;
    let name = dial.tags.get("name").unwrap_or(&url);
    let link = Rc::new(Link::new(Session::new(&owner, work, &dial, Some(name))));
    let object = context.instance(WebSocket {
        url,
        link: Rc::clone(&link),
        is_binary_blob: Cell::new(true),
        own: Default::default(),
        listeners: RefCell::default(),
    })?;
    let held = Rc::new(Held {
        object: Persistent::new(&object),
        link: Rc::clone(&link),
    });
    let driven = Rc::clone(&owner);
    let telling = Rc::clone(&owner);
    owner.event_loop.run(async move {
        let tell = |event| {
            let held = Rc::clone(&held);
            telling.event_loop.tell(move |context| {
                let object = held.object.restore(context);
                receive(context, &object, event)
            });
        };
        link.drive(driven, dial, tell).await;
    });
    Ok(object)
}

/// Keeps a socket alive while events may still arrive. If the last event is missing when this is dropped, the iteration
/// was interrupted. The socket is then closed, because it must not continue in the next iteration.
struct Held {
    object: Persistent,
    link: Rc<Link>,
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.link.state.get() != ReadyState::Closed {
            self.link.break_off();
        }
    }
}

/// The URL checks of the HTML standard, without those for relative URLs: a script has no base URL.
fn check(url: &str) -> Result<(), String> {
    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
    if !["ws", "wss"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known))
    {
        return Err(format!(
            "WebSocket requires url with scheme ws or wss, but got {scheme:?}"
        ));
    }
    match url.split_once('#') {
        Some((_, fragment)) if !fragment.is_empty() => Err(format!(
            "WebSocket requires no url fragment, but got {fragment:?}"
        )),
        _ => Ok(()),
    }
}

/// One name or an array of names. Any other value means no names.
fn read_protocols(value: &Value<'_>) -> Result<Vec<String>, Thrown> {
    if value.is_string() {
        return Ok(vec![value.to_text()?.into_string()]);
    }
    if !value.is_array() {
        return Ok(Vec::new());
    }
    (0..value.length()? as u32)
        .map(|at| Ok(value.at(at)?.to_text()?.into_string()))
        .collect()
}

/// Calls the handlers for an event.
fn receive(context: &Context, object: &Value<'_>, event: SocketEvent) -> Result<(), Thrown> {
    let object = object.clone();
    let Some(socket) = object.instance::<WebSocket>() else {
        return Ok(());
    };
    socket.link.processed();
    if socket.link.state.get() == ReadyState::Closed {
        // A handler that threw has ended this connection.
        return Ok(());
    }
    let outcome = socket.call_handlers(context, &object, event);
    outcome.map_err(|thrown| socket.end_by_exception(context, &object, thrown))
}

impl WebSocket {
    fn call_handlers<'c>(
        &self,
        context: &'c Context,
        object: &Value<'c>,
        event: SocketEvent,
    ) -> Result<(), Thrown> {
        let link = &self.link;
        match event {
            SocketEvent::Open => {
                if link.state.get() == ReadyState::Connecting {
                    link.state.set(ReadyState::Open);
                    self.dispatch(context, object, EventKind::Open, |_| Ok(()))?;
                }
                Ok(())
            }
            // As in browsers (HTML, "when a WebSocket message has been received"), and as in k6.
            SocketEvent::Text(..) | SocketEvent::Binary(..)
                if link.state.get() != ReadyState::Open =>
            {
                Ok(())
            }
            SocketEvent::Text(text, _share) => {
                link.session.received(text.len());
                self.dispatch(context, object, EventKind::Message, |event| {
                    event.define("data", context.string(&text)?)?;
                    event.define("origin", context.string(&self.url)?)
                })
            }
            SocketEvent::Binary(bytes, _share) => {
                link.session.received(bytes.len());
                self.dispatch(context, object, EventKind::Message, |event| {
                    let data = match self.is_binary_blob.get() {
                        true => Blob::of(&bytes).instance(context)?,
                        false => context.array_buffer(&bytes)?,
                    };
                    event.define("data", data)?;
                    event.define("origin", context.string(&self.url)?)
                })
            }
            SocketEvent::Ping => self.dispatch(context, object, EventKind::Ping, |_| Ok(())),
            SocketEvent::Pong => self.dispatch(context, object, EventKind::Pong, |_| Ok(())),
            SocketEvent::Over { error, close } => {
                link.state.set(ReadyState::Closed);
                let was_open = close.is_some();
                if let Some(error) = error {
                    self.dispatch_error(context, object, &error)?;
                }
                self.dispatch_close(context, object, close)?;
                if was_open {
                    link.session.ended();
                }
                Ok(())
            }
        }
    }

    fn dispatch_error<'c>(
        &self,
        context: &'c Context,
        object: &Value<'c>,
        text: &str,
    ) -> Result<(), Thrown> {
        self.dispatch(context, object, EventKind::Error, |event| {
            event.define("error", context.string(text)?)
        })
    }

    fn dispatch_close<'c>(
        &self,
        context: &'c Context,
        object: &Value<'c>,
        close: Option<(u16, String)>,
    ) -> Result<(), Thrown> {
        self.dispatch(context, object, EventKind::Close, |event| {
            let (code, reason) = match &close {
                Some((code, reason)) => (Some(*code), reason.as_str()),
                None => (None, ""),
            };
            if let Some(code) = code {
                event.define("code", context.number(code))?;
            }
            event.define("reason", context.string(reason)?)
        })
    }

    /// Ends the socket after a handler threw an exception: closes the connection, calls the error and close handlers,
    /// and ends the iteration with the exception.
    fn end_by_exception<'c>(
        &self,
        context: &'c Context,
        object: &Value<'c>,
        thrown: Thrown,
    ) -> Thrown {
        let exception = context.take_exception(thrown);
        let was_open = self.link.state.get() != ReadyState::Closed;
        self.link.break_off();
        if !exception.is_uncatchable() && was_open {
            let text = exception.text();
            let output = self
                .dispatch_error(context, object, &text)
                .and_then(|()| self.dispatch_close(context, object, None));
            if let Err(second) = output {
                // Report the first exception.
                drop(context.take_exception(second));
            }
            self.link.session.ended();
        }
        exception.rethrow()
    }

    fn read<'c>(&self, context: &'c Context, property: Property) -> Returned<'c> {
        match property {
            Property::Url => context.string(&self.url),
            Property::ReadyState => Ok(context.number(self.link.state.get() as u8)),
            Property::BufferedAmount => Ok(context.integer(self.link.buffered() as u64)),
            Property::Extensions => {
                let extensions = self.link.extensions.borrow();
                let names = extensions.split(',').map(str::trim);
                context.strings(names.filter(|name| !name.is_empty()))
            }
            Property::Protocol => context.string(&self.link.protocol.borrow()),
            Property::BinaryType => context.string(match self.is_binary_blob.get() {
                true => BLOB,
                false => ARRAY_BUFFER,
            }),
            Property::Handler(kind) => {
                let slot = self.own.get(kind as usize);
                let own = slot.and_then(|slot| slot.get(context));
                Ok(own.unwrap_or_else(|| context.null()))
            }
        }
    }

    fn set_binary_type<'c>(&self, context: &'c Context, value: &Value<'c>) -> Result<(), Thrown> {
        let name = value.to_text()?;
        self.is_binary_blob.set(match &*name {
            BLOB => true,
            ARRAY_BUFFER => false,
            other => {
                return Err(context.throw_plain(format!(
                    "unknown binaryType {other}, the supported ones are \"blob\" and \"arraybuffer\""
                )));
            }
        });
        Ok(())
    }

    fn set_handler<'c>(
        &self,
        context: &'c Context,
        kind: EventKind,
        handler: &Value<'c>,
    ) -> Result<(), Thrown> {
        if !handler.is_function() && !handler.is_nullish() {
            let name = kind.name();
            return Err(context.throw_plain(format!("a value for 'on{name}' should be callable")));
        }
        if let Some(slot) = self.own.get(kind as usize) {
            match handler.is_function() {
                true => slot.set(metric_context::bind(context, handler)?),
                false => slot.set(context.null()),
            }
        }
        Ok(())
    }

    /// Calls the handlers of an event. `fill` adds the event's own properties, and is only called if there is a
    /// handler.
    fn dispatch<'c>(
        &self,
        context: &'c Context,
        object: &Value<'c>,
        kind: EventKind,
        fill: impl FnOnce(&Value<'c>) -> Result<(), Thrown>,
    ) -> Result<(), Thrown> {
        let own = self
            .own
            .get(kind as usize)
            .and_then(|slot| slot.get(context));
        let own = own.filter(Value::is_function);
        // Listeners that a handler adds are called from the next event on.
        let listeners: Vec<Value<'c>> = self
            .listeners
            .borrow()
            .iter()
            .filter(|(of, _)| *of == kind)
            .filter_map(|(_, slot)| slot.get(context))
            .collect();
        if own.is_none() && listeners.is_empty() {
            return Ok(());
        }
        let event = event(context, kind, object)?;
        fill(&event)?;
        for handler in own.iter().chain(&listeners) {
            handler.call(object, &[&event])?;
        }
        Ok(())
    }
}

impl Class for WebSocket {
    const IN_IMAGE: InImage<Self> = InImage::Refused("a WebSocket");

    const EXOTIC: bool = true;
    const LISTS_METHODS: bool = true;

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::function(c"addEventListener", 2, add_event_listener),
            Entry::function(c"send", 1, send),
            Entry::function(c"ping", 0, ping),
            Entry::function(c"close", 2, close),
        ];
        ENTRIES
    }

    fn get<'c>(
        &self,
        context: &'c Context,
        _: &Value<'c>,
        key: &Atom<'c>,
    ) -> Result<Option<Value<'c>>, Thrown> {
        let property = Property::of(key);
        property
            .map(|property| self.read(context, property))
            .transpose()
    }

    fn set<'c>(
        &self,
        context: &'c Context,
        key: &Atom<'c>,
        value: &Value<'c>,
    ) -> Result<Assignment, Thrown> {
        match Property::of(key) {
            Some(Property::BinaryType) => self.set_binary_type(context, value)?,
            Some(Property::Handler(kind)) => self.set_handler(context, kind, value)?,
            Some(_) => return Ok(Assignment::Refused),
            None if is_method(key) => return Ok(Assignment::Refused),
            None => return Ok(Assignment::Ordinary),
        }
        Ok(Assignment::Done)
    }

    fn delete<'c>(&self, _: &'c Context, key: &Atom<'c>) -> Result<bool, Thrown> {
        Ok(Property::of(key).is_none() && !is_method(key))
    }

    fn keys<'c>(&self, context: &'c Context) -> Result<Vec<Atom<'c>>, Thrown> {
        let methods = Self::prototype().iter().map(Entry::name);
        Ok(context.keys(methods.chain(Property::names())))
    }

    fn trace(&self, see: &mut dyn FnMut(&Slot)) {
        self.own.iter().for_each(&mut *see);
        self.listeners
            .borrow()
            .iter()
            .for_each(|(_, slot)| see(slot));
    }
}

/// Whether this is the name of a method.
fn is_method(key: &Atom<'_>) -> bool {
    let is_method = |name: &str| {
        let mut methods = WebSocket::prototype().iter();
        methods.any(|method| method.name() == name)
    };
    !key.is_symbol() && key.with_text(is_method)
}

fn socket<'a, 'c>(
    context: &'c Context,
    this: &'a Value<'c>,
) -> Result<Instance<'a, WebSocket>, Thrown> {
    this.instance::<WebSocket>()
        .ok_or_else(|| context.throw_type("a method of a WebSocket was called on something else"))
}

/// `addEventListener(type, listener)`.
fn add_event_listener<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let this = call.this();
    let socket = socket(context, &this)?;
    let name = call.argument(0).to_text()?;
    let listener = call.argument(1);
    if !listener.is_function() {
        let text = "addEventListener's listener is not a function";
        return Err(match listener.is_nullish() {
            true => context.throw_plain(text),
            false => context.throw_type(text),
        });
    }
    match EventKind::parse(&name) {
        Some(kind) => {
            let slot = Slot::empty();
            slot.set(metric_context::bind(context, &listener)?);
            socket.listeners.borrow_mut().push((kind, slot));
        }
        None => {
            let text = format!("can't add event handler: unknown event type: {}", &*name);
            user(context).log(Level::Warn, &text);
        }
    }
    Ok(context.undefined())
}

/// `send(string | ArrayBuffer | view | Blob)`.
fn send<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let this = call.this();
    let socket = socket(context, &this)?;
    if socket.link.state.get() != ReadyState::Open {
        return Err(context.throw_plain("InvalidStateError"));
    }
    let message = call.argument(0);
    let sent = if message.is_string() {
        Some(socket.link.send(Kind::Text, message.to_text()?.as_bytes()))
    } else if let Some(blob) = message.instance::<Blob>() {
        Some(socket.link.send(Kind::Binary, blob.bytes()))
    } else {
        message.with_bytes(|bytes| socket.link.send(Kind::Binary, bytes))
    };
    match sent {
        Some(Ok(())) => Ok(context.undefined()),
        Some(Err(_)) => Err(context.throw_plain("InvalidStateError")),
        None => Err(context.throw_plain(
            "unsupported send type: give a string, an ArrayBuffer or a view of one, or a Blob",
        )),
    }
}

/// `ping()`.
fn ping<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let this = call.this();
    match socket(context, &this)?.link.ping() {
        Ok(()) => Ok(context.undefined()),
        Err(_) => Err(context.throw_plain("InvalidStateError")),
    }
}

/// `close(code = 1000, reason = "")`.
fn close<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let this = call.this();
    let socket = socket(context, &this)?;
    let mut close_request = CloseRequest::default();
    let code = call.argument(0);
    // A value that is not a number counts as a missing code.
    let code = if code.is_nullish() {
        0
    } else {
        code.to_integer()?
    };
    match code {
        0 => {}
        1000 | 3000..=4999 => close_request.code = code as u16,
        _ => {
            return Err(context.throw_plain(format!(
                "InvalidAccessError: Failed to execute 'close' on 'WebSocket': The close code must be either 1000, \
                 or between 3000 and 4999. {code} is neither"
            )));
        }
    }
    if !matches!(
        socket.link.state.get(),
        ReadyState::Connecting | ReadyState::Open
    ) {
        return Ok(context.undefined());
    }
    let reason = call.argument(1);
    if !reason.is_nullish() {
        close_request.reason = reason.to_text()?.into_string();
    }
    // A control frame has at most 125 bytes. The code takes two of them (RFC 6455, section 5.5).
    if close_request.reason.len() > 123 {
        return Err(context.throw_plain(
            "SyntaxError: Failed to execute 'close' on 'WebSocket': The message must not be greater than 123 bytes",
        ));
    }
    socket.link.close(close_request);
    Ok(context.undefined())
}
