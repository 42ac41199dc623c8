//! The class `Client` of `k6/net/grpc`: loads descriptions of services, connects, and makes unary calls.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use plimsoll_grpc::{Channel, Compression, Framed, Limits, Metadata, Reply, Schema, Template};
use plimsoll_quickjs::{Call, Class, Context, Entry, InImage, Returned, Thrown, Value};
use plimsoll_samples::{BaseTags, SystemTag};

use super::connect::{agent, endpoint, network};
use super::counts::{count_failed_connect, count_opened, count_reply, record_call};
use super::described::{Files, compile, take_set};
use super::known_method::KnownMethod;
use super::open_streams::OpenStreams;
use super::parameters::{CallParameters, of_call, of_connect};
use super::result;
use crate::modules::sample_tags::SampleTags;
use crate::trace::TraceContext;
use crate::user::{Phase, User, Work, user};

/// A client: its service descriptions and its connection to a server.
#[derive(Default)]
pub struct Client(pub Rc<State>);

/// State that a client's calls and streams share.
#[derive(Default)]
pub struct State {
    schema: RefCell<Schema>,
    channel: RefCell<Option<Rc<Channel>>>,
    address: RefCell<String>,
    /// The time that `connect()` took to open the connection, until the first call on it records it.
    opening: Cell<Duration>,
    known: RefCell<HashMap<String, Rc<KnownMethod>>>,
    pub streams: OpenStreams,
}

/// The longest message that is kept to compare it with the next one.
const MAX_CACHED_MESSAGE: usize = 4 << 10;
const NOT_CONNECTED: &str = "no gRPC connection, you must call connect first";
const INVOKING: &str = "invoking RPC methods";

impl Class for Client {
    const IN_IMAGE: InImage<Self> = InImage::Copied(|_, client| {
        // The init code cannot connect.
        let schema = client.0.schema.clone();
        Client(Rc::new(State {
            schema,
            ..State::default()
        }))
    });

    const EXOTIC: bool = true;
    const LISTS_METHODS: bool = true;

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::function(c"asyncInvoke", 3, async_invoke),
            Entry::function(c"close", 0, close),
            Entry::function(c"connect", 2, connect),
            Entry::function(c"healthCheck", 1, health_check),
            Entry::function(c"invoke", 3, invoke),
            Entry::function(c"load", 1, load),
            Entry::function(c"loadProtoset", 1, load_protoset),
        ];
        ENTRIES
    }
}

pub fn construct<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    if call.this().is_undefined() {
        return Err(context.throw_type("Client is a constructor: write `new grpc.Client()`"));
    }
    context.instance(Client::default())
}

fn state<'c>(context: &'c Context, call: &Call<'c>) -> Result<Rc<State>, Thrown> {
    let this = call.this();
    this.instance::<Client>()
        .map(|client| Rc::clone(&client.0))
        .ok_or_else(|| context.throw_type("a method of a gRPC client was called on something else"))
}

/// `load(importPaths, ...files)`: the methods that the files describe.
fn load<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let state = state(context, call)?;
    let user = user(context);
    if user.phase() != Phase::Init {
        return Err(context.throw_plain("load must be called in the init context"));
    }
    let mut folders = Vec::new();
    let given = call.argument(0);
    if !given.is_nullish() && !given.is_array() {
        return Err(context.throw_type("load() takes an array of folders as its first argument"));
    }
    for (_, folder) in given.entries()? {
        folders.push(folder.to_text()?.into_string());
    }
    if folders.is_empty() {
        folders.push(String::new());
    }
    let mut names = Vec::new();
    for file in call.arguments().skip(1) {
        names.push(file.to_text()?.into_string());
    }
    let base = user.common.files.base(context);
    let files = Files {
        common: Arc::clone(&user.common),
        base: base.clone(),
        folders: folders.clone(),
        unreadable: Default::default(),
    };
    for name in &names {
        if plimsoll_grpc::Source::read(&files, name).is_none() {
            if let Some(reason) = files.unreadable.get() {
                return Err(context.throw_plain(reason));
            }
            let folder = folders.first().map_or("", String::as_str);
            let path = if folder.is_empty() {
                name.clone()
            } else {
                format!("{}/{name}", folder.trim_end_matches('/'))
            };
            let whole = user.common.files.path(base.as_deref(), &path);
            let shown = whole.map_or(path, |path| path.display().to_string());
            return Err(context.throw_plain(format!("stat {shown}: no such file or directory")));
        }
    }
    let key = format!("{base:?} {folders:?} {names:?}");
    let read = user.common.described.once(&key, || compile(files, &names));
    add(context, &state, read)
}

/// `loadProtoset(path)`: the methods that the set describes.
fn load_protoset<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let state = state(context, call)?;
    let user = user(context);
    if user.phase() != Phase::Init {
        return Err(context.throw_plain("load must be called in the init context"));
    }
    let path = call.argument(0).to_text()?.into_string();
    let files = &user.common.files;
    let base = files.base(context);
    let whole = files.path(base.as_deref(), &path);
    let shown = whole
        .as_ref()
        .map_or_else(|_| path.clone(), |path| path.display().to_string());
    let exists = whole.is_ok_and(|path| files.exists(&path));
    let bytes = files.open(base.as_deref(), &path).map_err(|reason| {
        if exists {
            return context.throw_plain(format!("couldn't open protoset: {reason}"));
        }
        context.throw_plain(format!(
            "couldn't open protoset: stat {shown}: no such file or directory"
        ))
    })?;
    let read = user
        .common
        .described
        .once(&format!("set {shown}"), || take_set(&bytes))
        .map_err(|error| format!("couldn't unmarshal protoset file {shown}: {error}"));
    add(context, &state, read)
}

fn add<'c>(
    context: &'c Context,
    state: &State,
    read: Result<(Schema, Vec<plimsoll_grpc::Method>), String>,
) -> Returned<'c> {
    let (schema, methods) = read.map_err(|error| context.throw_plain(error))?;
    let added = state.schema.borrow_mut().merge(&schema);
    added.map_err(|error| context.throw_plain(error.to_string()))?;
    state.known.borrow_mut().clear();
    result::methods(context, &methods)
}

/// `connect(address, parameters?)`: opens the connection and returns true.
fn connect<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let state = state(context, call)?;
    let user = user(context);
    let work = user.working(context, "connecting to a gRPC server")?;
    let parameters = of_connect(&call.argument(1))?.map_err(|error| {
        context.throw_plain(format!("invalid grpc.connect() parameters: {error}"))
    })?;
    let address = call.argument(0);
    let address = if address.is_nullish() {
        String::new()
    } else {
        address.to_text()?.into_string()
    };
    let endpoint = endpoint(&address, &parameters).map_err(|error| context.throw_plain(error))?;
    let network =
        network(user, parameters.tls.as_ref()).map_err(|error| context.throw_plain(error))?;
    let defaults = Limits::default();
    let limits = Limits {
        max_receive: parameters.max_receive.unwrap_or(defaults.max_receive),
        max_send: parameters.max_send.unwrap_or(defaults.max_send),
        connect: parameters.timeout,
    };
    let local = network.local_ip(u64::from(user.id.0));
    let counter = work.client.traffic_counter();
    let channel = Rc::new(Channel::new(endpoint, network, local, counter, limits));
    let connecting = async {
        let opening = channel.connect().await?;
        state.opening.set(opening.until_ready());
        if !parameters.reflect {
            return Ok(None);
        }
        let mut schema = Schema::new();
        let metadata = &parameters.reflect_metadata;
        let agent = agent(user);
        let timeout = parameters.timeout;
        plimsoll_grpc::reflect(&channel, &mut schema, None, metadata, &agent, timeout)
            .await
            .map(|_| Some(schema))
            .map_err(|status| plimsoll_grpc::Status {
                message: format!("can't list services: {status}"),
                ..status
            })
    };
    let started = plimsoll_clock::now();
    let connected = context.wait(connecting);
    count_opened(work, &channel, started);
    let connected = connected.map_err(|cancelled| context.cancelled(cancelled))?;
    let described = connected.map_err(|status| {
        count_failed_connect(work, &status, started);
        context.throw_plain(status.message)
    })?;
    if let Some(schema) = described {
        let added = state.schema.borrow_mut().merge(&schema);
        added.map_err(|error| context.throw_plain(error.to_string()))?;
    }
    *state.address.borrow_mut() = address;
    *state.channel.borrow_mut() = Some(channel);
    state.known.borrow_mut().clear();
    Ok(context.bool(true))
}

impl State {
    pub fn channel(&self) -> Option<Rc<Channel>> {
        self.channel.borrow().clone()
    }

    /// The method with this name: `package.Service/Method`, with or without a leading slash.
    ///
    /// # Errors
    /// If the method does not exist.
    pub fn known(&self, name: &str) -> Result<Rc<KnownMethod>, String> {
        if let Some(known) = self.known.borrow().get(name) {
            return Ok(Rc::clone(known));
        }
        let path = if name.starts_with('/') {
            name.to_owned()
        } else {
            format!("/{name}")
        };
        // A path has two slashes: `/package.Service/Method`.
        let is_path = path.matches('/').count() == 2;
        let method = self.schema.borrow().method(&path).filter(|_| is_path);
        let method =
            method.ok_or_else(|| format!("method {path:?} not found in file descriptors"))?;
        let known = Rc::new(KnownMethod {
            url: format!("{}{path}", self.address.borrow()),
            path: method.path(),
            service: method.service(),
            received: RefCell::default(),
            method,
            plain: RefCell::default(),
            last: RefCell::default(),
            has_last: Cell::new(false),
        });
        self.known
            .borrow_mut()
            .insert(name.to_owned(), Rc::clone(&known));
        Ok(known)
    }
}

impl KnownMethod {
    /// The prepared request headers for calls with these parameters.
    ///
    /// # Errors
    /// If the parameters are invalid.
    pub fn template(
        &self,
        channel: &Channel,
        parameters: &CallParameters,
        user: &User,
    ) -> Result<Rc<Template>, String> {
        let make = || {
            Template::new(
                channel.endpoint(),
                &self.path,
                &parameters.metadata,
                &agent(user),
                parameters.timeout,
                Compression::Identity,
            )
            .map(Rc::new)
        };
        if !parameters.metadata.is_empty() {
            return make();
        }
        let mut plain = self.plain.borrow_mut();
        match &*plain {
            Some(template) if template.timeout() == parameters.timeout => Ok(Rc::clone(template)),
            _ => {
                let template = make()?;
                *plain = Some(Rc::clone(&template));
                Ok(template)
            }
        }
    }

    /// Encodes `json` as a message.
    ///
    /// # Errors
    /// If the JSON does not fit the message type.
    pub fn message(&self, json: String) -> Result<Framed, String> {
        if self.has_last.get() && self.last.borrow().0 == json {
            return Ok(self.last.borrow().1.clone());
        }
        let bytes = self
            .method
            .input()
            .encode(&json)
            .map_err(|error| format!("proto: {error}"))?;
        let framed = Framed::new(&bytes, Compression::Identity, usize::MAX)
            .map_err(|status| status.message)?;
        *self.last.borrow_mut() = (json, framed.clone());
        self.has_last.set(true);
        Ok(framed)
    }

    /// Calls `body` with a message from the server as JSON.
    ///
    /// # Errors
    /// If the bytes are not a valid message of the method's type.
    pub fn with_json<R>(
        &self,
        bytes: &Bytes,
        body: impl FnOnce(&str) -> R,
    ) -> Result<R, plimsoll_grpc::Unreadable> {
        let mut received = self.received.borrow_mut();
        if let Some((known, text)) = &*received
            && known == bytes
        {
            return Ok(body(text));
        }
        let text = self.method.output().to_json(bytes)?;
        let framed = body(&text);
        // Copied, because `bytes` may be a slice of everything that was read from the socket, and would keep all of it
        // in memory.
        *received =
            (bytes.len() <= MAX_CACHED_MESSAGE).then(|| (Bytes::copy_from_slice(bytes), text));
        Ok(framed)
    }

    /// Calls `body` with the tags of a call's samples.
    pub fn with_tags(
        &self,
        work: &Work,
        own: &SampleTags,
        status: Option<u32>,
        body: impl FnOnce(&[(&str, &str)]),
    ) {
        let mut tags = own.borrowed();
        let number = status.map(|status| status.to_string());
        let mut put = |tag: SystemTag, key: &'static str, value| {
            if !work.recorder.sets(tag) {
                return;
            }
            match tags.iter_mut().find(|(known, _)| *known == key) {
                // Of these tags, a script may set only the name.
                Some(given) if key != "name" => given.1 = value,
                Some(_) => {}
                None => tags.push((key, value)),
            }
        };
        put(SystemTag::Url, "url", self.url.as_str());
        put(SystemTag::Name, "name", self.path.as_str());
        put(SystemTag::Service, "service", self.service.as_str());
        put(SystemTag::Method, "method", self.method.name());
        if let Some(number) = &number {
            put(SystemTag::Status, "status", number.as_str());
        }
        body(&tags);
    }
}

/// A call that is ready to be sent.
struct Prepared {
    known: Rc<KnownMethod>,
    channel: Rc<Channel>,
    template: Rc<Template>,
    message: Framed,
    tags: SampleTags,
    discard: bool,
    opening: Duration,
    trace: Option<TraceContext>,
}

fn prepare<'c>(context: &'c Context, state: &State, call: &Call<'c>) -> Result<Prepared, Thrown> {
    let fail = |message: String| context.throw_plain(message);
    let Some(channel) = state.channel() else {
        return Err(fail(NOT_CONNECTED.to_owned()));
    };
    let name = call.argument(0);
    let name = if name.is_nullish() {
        String::new()
    } else {
        name.to_text()?.into_string()
    };
    if name.is_empty() {
        return Err(fail("method to invoke cannot be empty".to_owned()));
    }
    let known = state.known(&name).map_err(fail)?;
    let mut parameters = of_call(&call.argument(2), false)?.map_err(|error| {
        fail(format!(
            "invalid GRPC's client.invoke() parameters: {error}"
        ))
    })?;
    let request = call.argument(1);
    if request.is_undefined() {
        return Err(fail("request cannot be nil".to_owned()));
    }
    if request.is_null() {
        return Err(context.throw_type("Cannot convert undefined or null to object"));
    }
    let json = request.to_json()?.unwrap_or_default();
    let message = known.message(json).map_err(|error| {
        fail(format!(
            "unable to serialise request object to protocol buffer: {error}"
        ))
    })?;
    let trace = TraceContext::of_call(&mut parameters.metadata, user(context).traced_share());
    let template = known
        .template(&channel, &parameters, user(context))
        .map_err(fail)?;
    Ok(Prepared {
        trace,
        known,
        channel,
        template,
        message,
        tags: parameters.tags,
        discard: parameters.discard,
        opening: state.opening.take(),
    })
}

impl Prepared {
    async fn make(&self, user: &User, work: &Work, base: Option<BaseTags>) -> Reply {
        let reply = self
            .channel
            .unary(&self.template, &self.message, plimsoll_clock::now())
            .await;
        user.count_call(reply.payload());
        count_reply(work, &self.channel, &self.known.url, &reply);
        if let Some(base) = base {
            let base = TraceContext::add_to(self.trace, base);
            let status = Some(reply.status.code.0);
            self.known.with_tags(work, &self.tags, status, |tags| {
                record_call(work, &reply, self.opening, &base, tags);
            });
        }
        reply
    }
}

pub fn milliseconds(span: Duration) -> f64 {
    span.as_secs_f64() * 1e3
}

/// `invoke(method, request, parameters?)`
fn invoke<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let state = state(context, call)?;
    let user = user(context);
    let work = user.working(context, INVOKING)?;
    let prepared = prepare(context, &state, call)?;
    let reply = context
        .wait(prepared.make(user, work, user.base_tags()))
        .map_err(|cancelled| context.cancelled(cancelled))?;
    result::response(context, &prepared.known, &reply, prepared.discard)
}

/// `asyncInvoke(method, request, parameters?)`: like `invoke`, but returns a promise.
fn async_invoke<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let state = state(context, call)?;
    let owner = context.shared_host::<User>();
    owner.working(context, INVOKING)?;
    let prepared = match prepare(context, &state, call) {
        Ok(prepared) => prepared,
        Err(thrown) => return context.settled(Err(thrown)),
    };
    let running = Rc::clone(&owner);
    let base = owner.base_tags();
    let operation = async move {
        let reply = match running.work() {
            Some(work) => Some(prepared.make(&running, work, base).await),
            None => None,
        };
        (prepared, reply)
    };
    owner.event_loop.promise(
        context,
        operation,
        |context, (prepared, reply)| match reply {
            Some(reply) => result::response(context, &prepared.known, &reply, prepared.discard),
            None => Err(context.throw_plain("the call was started in the init context")),
        },
    )
}

/// `healthCheck(service?)`: `{ status }`
fn health_check<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let state = state(context, call)?;
    let user = user(context);
    let work = user.working(context, INVOKING)?;
    let Some(channel) = state.channel() else {
        return Err(context.throw_plain(NOT_CONNECTED));
    };
    let service = call.argument(0);
    let service = if service.is_nullish() {
        String::new()
    } else {
        service.to_text()?.into_string()
    };
    let agent = agent(user);
    let metadata = Metadata::new();
    let timeout = Some(Duration::from_secs(120));
    let asking = plimsoll_grpc::check_health(&channel, &service, &metadata, &agent, timeout);
    let (reply, health) = context
        .wait(asking)
        .map_err(|cancelled| context.cancelled(cancelled))?;
    user.count_call(reply.payload());
    count_reply(work, &channel, "grpc.health.v1.Health/Check", &reply);
    if let Some(base) = user.base_tags() {
        let number = reply.status.code.0.to_string();
        let mut tags = Vec::new();
        if work.recorder.sets(SystemTag::Status) {
            tags.push(("status", number.as_str()));
        }
        record_call(work, &reply, state.opening.take(), &base, &tags);
    }
    match health.filter(|_| reply.status.code.is_ok()) {
        Some(health) => {
            let object = context.object()?;
            object.define("status", result::health(context, health.number())?)?;
            Ok(object)
        }
        None => Err(context.throw_plain(reply.status.to_string())),
    }
}

/// `close()`
fn close<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let state = state(context, call)?;
    if let Some(channel) = state.channel.take() {
        channel.close();
        state.streams.cancel(&channel);
    }
    Ok(context.undefined())
}

/// The client that a stream belongs to.
///
/// # Errors
/// If the value is not a client.
pub fn of_value<'c>(context: &'c Context, value: &Value<'c>) -> Result<Rc<State>, Thrown> {
    let fail = |what: &str| context.throw_plain(format!("invalid GRPC Stream's client: {what}"));
    if value.is_nullish() {
        return Err(fail("empty gRPC client"));
    }
    match value.instance::<Client>() {
        Some(client) => Ok(Rc::clone(&client.0)),
        None => Err(fail("not a gRPC client")),
    }
}
