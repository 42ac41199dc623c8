//! `k6/x/redis`: a Redis client whose methods return promises.
//!
//! A client connects when it is first used, and keeps its connection between iterations. Its commands and replies go
//! through a stream of the run's network.

use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;
use std::time::Duration;

use log::Level;
use plimsoll_net::{Alpn, Steps, Stream};
use plimsoll_quickjs::{Call, Class, Context, Entry, InImage, Returned, Thrown, Value};
use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Cmd, ConnectionAddr, ConnectionInfo, ErrorKind, IntoConnectionInfo,
    RedisError,
};

use super::grpc::{Tls, network};
use super::{BuiltIn, Shape, link_constructor};
use crate::user::{User, user};

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/x/redis",
    shape: Shape::Names,
    entries: &[],
    made: &["Client"],
    make: Some(make),
};

/// The module under its old name.
pub const EXPERIMENTAL: BuiltIn = BuiltIn {
    name: "k6/experimental/redis",
    make: Some(|context, exports| {
        let user = user(context);
        if user.id.0 == 0 && user.run.is_none() {
            user.log(
                Level::Warn,
                "k6/experimental/redis is the old name of k6/x/redis; import that instead",
            );
        }
        make(context, exports)
    }),
    ..MODULE
};

/// The timeout for connecting, as in k6.
const CONNECTING: Duration = Duration::from_secs(5);
/// The timeout for a response. Blocking commands wait on the server.
const RESPONSE: Duration = Duration::from_secs(60);
/// The number of bytes that may be buffered between the client and its stream, in each direction.
const WAITING: usize = 64 << 10;

fn make(context: &Context, exports: &Value<'_>) -> Result<(), Thrown> {
    let client = context.constructor("Client", 1, construct)?;
    link_constructor::<Client>(context, &client)?;
    exports.define("Client", client)
}

/// A client: its server, and the connection once it exists.
struct Client(Rc<State>);

struct State {
    server: ConnectionInfo,
    /// The TLS configuration, if the connection is encrypted.
    tls: Option<Tls>,
    connection: RefCell<Option<MultiplexedConnection>>,
    /// The operation that is connecting holds this. Others wait for its outcome.
    connecting: tokio::sync::Semaphore,
}

/// How to convert a reply to a value.
#[derive(Clone, Copy)]
enum Reply {
    Value,
    /// True for any number other than 0.
    Truth,
    /// Alternating fields and values.
    Fields,
}

/// A method that passes its arguments to the command with that name.
macro_rules! command {
    ($name:literal, $length:literal, $command:literal, $reply:expr) => {
        Entry::function($name, $length, |context, call| {
            let mut command = redis::cmd($command);
            for argument in call.arguments() {
                add(context, &mut command, &argument)?;
            }
            send(context, call, command, $reply)
        })
    };
}

impl Client {
    fn new(server: ConnectionInfo, tls: Option<Tls>) -> Self {
        Client(Rc::new(State {
            server,
            tls,
            connection: RefCell::default(),
            connecting: tokio::sync::Semaphore::new(1),
        }))
    }
}

impl Class for Client {
    // The init code has no network, so it leaves no connection.
    const IN_IMAGE: InImage<Self> =
        InImage::Copied(|_, client| Client::new(client.0.server.clone(), client.0.tls.clone()));

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::function(c"set", 3, set),
            command!(c"get", 1, "GET", Reply::Value),
            command!(c"getSet", 2, "GETSET", Reply::Value),
            command!(c"del", 1, "DEL", Reply::Value),
            command!(c"getDel", 1, "GETDEL", Reply::Value),
            command!(c"exists", 1, "EXISTS", Reply::Value),
            command!(c"incr", 1, "INCR", Reply::Value),
            command!(c"incrBy", 2, "INCRBY", Reply::Value),
            command!(c"decr", 1, "DECR", Reply::Value),
            command!(c"decrBy", 2, "DECRBY", Reply::Value),
            command!(c"randomKey", 0, "RANDOMKEY", Reply::Value),
            command!(c"mget", 1, "MGET", Reply::Value),
            command!(c"expire", 2, "EXPIRE", Reply::Truth),
            command!(c"ttl", 1, "TTL", Reply::Value),
            command!(c"persist", 1, "PERSIST", Reply::Truth),
            command!(c"lpush", 2, "LPUSH", Reply::Value),
            command!(c"rpush", 2, "RPUSH", Reply::Value),
            command!(c"lpop", 1, "LPOP", Reply::Value),
            command!(c"rpop", 1, "RPOP", Reply::Value),
            command!(c"lrange", 3, "LRANGE", Reply::Value),
            command!(c"lindex", 2, "LINDEX", Reply::Value),
            command!(c"lset", 3, "LSET", Reply::Value),
            command!(c"lrem", 3, "LREM", Reply::Value),
            command!(c"llen", 1, "LLEN", Reply::Value),
            command!(c"hset", 3, "HSET", Reply::Value),
            command!(c"hsetnx", 3, "HSETNX", Reply::Truth),
            command!(c"hget", 2, "HGET", Reply::Value),
            command!(c"hdel", 2, "HDEL", Reply::Value),
            command!(c"hgetall", 1, "HGETALL", Reply::Fields),
            command!(c"hkeys", 1, "HKEYS", Reply::Value),
            command!(c"hvals", 1, "HVALS", Reply::Value),
            command!(c"hlen", 1, "HLEN", Reply::Value),
            command!(c"hincrby", 3, "HINCRBY", Reply::Value),
            command!(c"sadd", 2, "SADD", Reply::Value),
            command!(c"srem", 2, "SREM", Reply::Value),
            command!(c"sismember", 2, "SISMEMBER", Reply::Truth),
            command!(c"smembers", 1, "SMEMBERS", Reply::Value),
            command!(c"srandmember", 1, "SRANDMEMBER", Reply::Value),
            command!(c"spop", 1, "SPOP", Reply::Value),
            Entry::function(c"sendCommand", 1, send_command),
        ];
        ENTRIES
    }
}

/// `new Client(url)`, or `new Client({ socket: { host, port, tls }, username, password, database })`. The scheme of a
/// URL is `redis`, or `rediss` with TLS.
fn construct<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    if call.this().is_undefined() {
        return Err(context.throw_type("Client is a constructor: write `new redis.Client(url)`"));
    }
    let options = call.argument(0);
    let (address, tls) = match options.is_object() {
        true => (address(context, &options)?, encryption(&options)?),
        false => {
            let text = options.to_text()?;
            match text.strip_prefix("rediss://") {
                Some(rest) => (format!("redis://{rest}"), Some(Tls::default())),
                None => (text.into_string(), None),
            }
        }
    };
    let server = address.as_str().into_connection_info().map_err(|error| {
        let hint = "write redis://USER:PASSWORD@HOST:PORT/DATABASE";
        context.throw_plain(format!(
            "invalid address of a Redis server: {error}; {hint}"
        ))
    })?;
    context.instance(Client::new(server, tls))
}

/// The URL for an object of options.
fn address(context: &Context, options: &Value<'_>) -> Result<String, Thrown> {
    for unsupported in ["cluster", "masterName"] {
        if !options.get(unsupported)?.is_undefined() {
            let message = format!("the option {unsupported} of Redis is not supported");
            return Err(context.throw_plain(message));
        }
    }
    let text = |from: &Value<'_>, name: &str| -> Result<Option<String>, Thrown> {
        let value = from.get(name)?;
        match value.is_nullish() {
            true => Ok(None),
            false => Ok(Some(value.to_text()?.into_string())),
        }
    };
    let socket = options.get("socket")?;
    let (mut host, mut port) = (None, None);
    if socket.is_object() {
        (host, port) = (text(&socket, "host")?, text(&socket, "port")?);
    }
    let credentials = match (text(options, "username")?, text(options, "password")?) {
        (None, None) => String::new(),
        (user, password) => {
            let escaped = |text: Option<String>| escape(&text.unwrap_or_default());
            format!("{}:{}@", escaped(user), escaped(password))
        }
    };
    Ok(format!(
        "redis://{credentials}{}:{}/{}",
        host.as_deref().unwrap_or("localhost"),
        port.as_deref().unwrap_or("6379"),
        text(options, "database")?.as_deref().unwrap_or("0")
    ))
}

/// The option `socket.tls`: `true`, or `{ ca, cert, key }` with PEM strings.
fn encryption(options: &Value<'_>) -> Result<Option<Tls>, Thrown> {
    let socket = options.get("socket")?;
    let given = match socket.is_object() {
        true => socket.get("tls")?,
        false => return Ok(None),
    };
    if !given.is_truthy() {
        return Ok(None);
    }
    let mut tls = Tls::default();
    if given.is_object() {
        let authorities = given.get("ca")?;
        if authorities.is_array() {
            for (_, one) in authorities.entries()? {
                tls.cacerts.push(pem(&one)?);
            }
        } else if !authorities.is_nullish() {
            tls.cacerts.push(pem(&authorities)?);
        }
        tls.cert = pem(&given.get("cert")?)?;
        tls.key = pem(&given.get("key")?)?;
    }
    Ok(Some(tls))
}

/// A string, or the bytes of one.
fn pem(value: &Value<'_>) -> Result<String, Thrown> {
    if value.is_nullish() {
        return Ok(String::new());
    }
    match value.to_bytes() {
        Some(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        None => Ok(value.to_text()?.into_string()),
    }
}

/// Escapes characters that have a meaning in a URL.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() {
            escaped.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

/// Adds an argument to a command. Redis accepts only strings.
fn add(context: &Context, command: &mut Cmd, argument: &Value<'_>) -> Result<(), Thrown> {
    if let Some(truth) = argument.as_bool() {
        command.arg(u8::from(truth));
    } else if argument.is_string() || argument.is_number() {
        command.arg(argument.to_text()?.as_bytes());
    } else if let Some(bytes) = argument.to_bytes() {
        command.arg(bytes);
    } else {
        let message = "an argument of a Redis command must be text, a number, a boolean or bytes";
        return Err(context.throw_type(message));
    }
    Ok(())
}

/// `set(key, value, expiration?)`: the key expires after that many seconds, if an expiration is set.
fn set<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let mut command = redis::cmd("SET");
    add(context, &mut command, &call.argument(0))?;
    add(context, &mut command, &call.argument(1))?;
    let expiration = call.argument(2);
    if !expiration.is_nullish() {
        let seconds = expiration.to_integer()?;
        if seconds > 0 {
            command.arg("EX").arg(seconds);
        }
    }
    send(context, call, command, Reply::Value)
}

/// `sendCommand(command, ...arguments)`
fn send_command<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let mut command = Cmd::new();
    for argument in call.arguments() {
        add(context, &mut command, &argument)?;
    }
    send(context, call, command, Reply::Value)
}

/// Sends the command. Returns a promise of its reply.
fn send<'c>(context: &'c Context, call: &Call<'c>, command: Cmd, reply: Reply) -> Returned<'c> {
    let this = call.this();
    let Some(client) = this.instance::<Client>() else {
        return Err(context.throw_type("a method of a Redis client was called on something else"));
    };
    let user = context.shared_host::<User>();
    user.working(context, "using a Redis client")?;
    let state = Rc::clone(&client.0);
    let owner = Rc::clone(&user);
    let operation = async move {
        let mut connection = state.connected(&owner).await?;
        let reply = command.query_async::<redis::Value>(&mut connection).await;
        if reply
            .as_ref()
            .is_err_and(RedisError::is_unrecoverable_error)
        {
            // The next command reconnects.
            state.connection.take();
        }
        reply
    };
    user.event_loop
        .promise(context, operation, move |context, outcome| match outcome {
            Ok(value) => result(context, value, reply),
            Err(error) => Err(context.throw_plain(words(&error))),
        })
}

/// An error from the server, unchanged. For other errors, only the reason, as in k6.
fn words(error: &RedisError) -> String {
    match (error.code(), error.detail()) {
        (Some(code), Some(detail)) => format!("{code} {detail}"),
        (None, Some(detail)) => detail.to_owned(),
        (_, None) => error.to_string(),
    }
}

impl State {
    async fn connected(&self, user: &User) -> Result<MultiplexedConnection, RedisError> {
        // The semaphore is never closed.
        let _held = self.connecting.acquire().await.ok();
        if let Some(connection) = self.connection.borrow().clone() {
            return Ok(connection);
        }
        let unreachable =
            |reason: String| RedisError::from((ErrorKind::Io, "cannot connect to Redis", reason));
        let opened = tokio::time::timeout(CONNECTING, async {
            let mut stream = self.stream(user).await.map_err(unreachable)?;
            let (near, mut far) = tokio::io::duplex(WAITING);
            // This ends when either side closes.
            tokio::task::spawn_local(async move {
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut far).await;
            });
            let settings = AsyncConnectionConfig::new().set_response_timeout(Some(RESPONSE));
            let server = self.server.redis_settings();
            MultiplexedConnection::new_with_config(server, near, settings).await
        });
        let (connection, driver) = opened
            .await
            .map_err(|_| unreachable(format!("no response within {} s", CONNECTING.as_secs())))??;
        tokio::task::spawn_local(driver);
        *self.connection.borrow_mut() = Some(connection.clone());
        Ok(connection)
    }

    /// Opens a stream to the server.
    async fn stream(&self, user: &User) -> Result<Stream, String> {
        let (host, port) = match self.server.addr() {
            ConnectionAddr::Tcp(host, port) => (host, *port),
            other => return Err(format!("{other} is not supported")),
        };
        let network = network(user, self.tls.as_ref())?;
        let work = user.work().ok_or("there is no network in the init code")?;
        let local = network.local_ip(u64::from(user.id.0));
        let counter = work.client.traffic_counter();
        let is_secured = self.tls.is_some();
        let mut steps = Steps::default();
        let dialed = network.dial(host, port, local, &counter, is_secured, &mut steps);
        let stream = dialed.await.map_err(|error| error.to_string())?.stream;
        if !is_secured {
            return Ok(stream);
        }
        let secured = network.secure(stream, host, Alpn::None, &mut steps);
        let (stream, _) = secured.await.map_err(|error| error.to_string())?;
        Ok(stream)
    }
}

/// Converts a reply to a value.
fn result(context: &Context, reply: redis::Value, form: Reply) -> Returned<'_> {
    match (form, reply) {
        (_, redis::Value::Nil) => Err(context.throw_plain("redis: nil")),
        (Reply::Truth, redis::Value::Int(number)) => Ok(context.bool(number != 0)),
        (Reply::Fields, redis::Value::Array(flat)) => {
            let object = context.object()?;
            let mut flat = flat.into_iter();
            while let (Some(name), Some(value)) = (flat.next(), flat.next()) {
                let name = value_of(context, name)?.to_text()?;
                object.define(&*name, value_of(context, value)?)?;
            }
            Ok(object)
        }
        (_, value) => value_of(context, value),
    }
}

fn value_of(context: &Context, value: redis::Value) -> Returned<'_> {
    match value {
        redis::Value::Nil => Ok(context.null()),
        redis::Value::Int(number) => Ok(context.number(number as f64)),
        redis::Value::Double(number) => Ok(context.number(number)),
        redis::Value::Boolean(truth) => Ok(context.bool(truth)),
        redis::Value::BulkString(bytes) => context.string_lossy(&bytes),
        redis::Value::SimpleString(text) => context.string(&text),
        redis::Value::VerbatimString { text, .. } => context.string(&text),
        redis::Value::Okay => context.string("OK"),
        redis::Value::Array(items) | redis::Value::Set(items) => {
            let items: Result<Vec<_>, Thrown> = items
                .into_iter()
                .map(|item| value_of(context, item))
                .collect();
            context.array(items?)
        }
        redis::Value::Map(fields) => {
            let object = context.object()?;
            for (name, value) in fields {
                let name = value_of(context, name)?.to_text()?;
                object.define(&*name, value_of(context, value)?)?;
            }
            Ok(object)
        }
        other => Err(context.throw_plain(format!("unexpected reply of Redis: {other:?}"))),
    }
}
