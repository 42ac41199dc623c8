//! `k6/x/udp`: datagrams. As in k6's extensions, calls block the script.

use std::cell::{Cell, RefCell};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;

use plimsoll_net::{Traffic, describe};
use plimsoll_quickjs::{Call, Class, Context, Entry, InImage, Instance, Returned, Thrown, Value};
use plimsoll_samples::{Contains, Kind};
use plimsoll_units::Moment;
use tokio::net::UdpSocket;

use super::grpc::network;
use super::scripted::{Metric, register};
use super::{BuiltIn, Shape};
use crate::user::{User, user};

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/x/udp",
    shape: Shape::Names,
    entries: &[
        Entry::function(c"connect", 1, |context, call| {
            connect(context, &call.argument(0), None)
        }),
        Entry::function(c"connectLocalAddress", 2, connect_from),
        Entry::function(c"write", 2, |context, call| write(context, call, b"")),
        Entry::function(c"writeLn", 2, |context, call| write(context, call, b"\n")),
        // The name in another extension.
        Entry::function(c"writeln", 2, |context, call| write(context, call, b"\n")),
        Entry::function(c"read", 3, read),
        Entry::function(c"close", 1, |context, call| {
            let target = call.argument(0);
            connection(context, &target)?.socket.take();
            Ok(context.undefined())
        }),
    ],
    made: &[],
    make: Some(|context, _| register(context, METRICS)),
};

/// k6's extensions have no metrics.
const METRICS: &[Metric] = &[
    (SENT, Kind::Counter, Contains::Default),
    (RECEIVED, Kind::Counter, Contains::Default),
    (RESPONSE, Kind::Trend, Contains::Time),
    (TIMEOUTS, Kind::Counter, Contains::Default),
    (ERRORS, Kind::Counter, Contains::Default),
];
const SENT: &str = "udp_datagrams_sent";
const RECEIVED: &str = "udp_datagrams_received";
/// The time from a datagram that was sent to the first one received after it.
const RESPONSE: &str = "udp_response_time";
const TIMEOUTS: &str = "udp_timeouts";
const ERRORS: &str = "udp_errors";

/// Why users do not share the init code.
const USES_UDP: &str = "the init code opens a UDP connection";

/// How long `read` waits without its own limit. A datagram may be lost, so there must be a limit.
const READ_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum number of bytes that `read` returns, unless the script sets another one.
const MAX_DATAGRAM: usize = 65_535;

/// A socket that exchanges datagrams with one address.
struct Connection {
    /// `None` once it is closed.
    socket: RefCell<Option<Rc<UdpSocket>>>,
    local: SocketAddr,
    remote: SocketAddr,
    /// The time at which the last unanswered datagram was sent.
    sent: Cell<Option<Moment>>,
}

impl Class for Connection {
    const IN_IMAGE: InImage<Self> = InImage::Refused("a UDP connection");

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::function(c"localAddr", 0, |context, call| {
                let this = call.this();
                context.string(&connection(context, &this)?.local.to_string())
            }),
            Entry::function(c"remoteAddr", 0, |context, call| {
                let this = call.this();
                context.string(&connection(context, &this)?.remote.to_string())
            }),
        ];
        ENTRIES
    }
}

fn connection<'a, 'c>(
    context: &'c Context,
    value: &'a Value<'c>,
) -> Result<Instance<'a, Connection>, Thrown> {
    value
        .instance::<Connection>()
        .ok_or_else(|| context.throw_type("not a connection: open one with udp.connect"))
}

/// `connectLocalAddress(remote, local)`
fn connect_from<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let text = call.argument(1).to_text()?;
    let local = text.parse().map_err(|_| {
        context.throw_plain(format!(
            "{:?} is not a local address, such as 127.0.0.1:0",
            &*text
        ))
    })?;
    connect(context, &call.argument(0), Some(local))
}

/// `connect(remote)`: the address is `host:port`.
fn connect<'c>(
    context: &'c Context,
    remote: &Value<'c>,
    local: Option<SocketAddr>,
) -> Returned<'c> {
    let text = remote.to_text()?.into_string();
    let (host, port) = place(&text).ok_or_else(|| {
        context.throw_plain(format!("{text:?} is not an address: write HOST:PORT"))
    })?;
    if context.makes_image() {
        // Each user runs this part of the init code, and has its own socket.
        context.differs_per_user(USES_UDP);
        return Err(context.throw_plain(USES_UDP));
    }
    let user = user(context);
    let network = network(user, None).map_err(|error| context.throw_plain(error))?;
    let of_user = network.local_ip(u64::from(user.id.0));
    let opened = context.wait(async {
        let remote = network.locate(host, port).await;
        let remote = remote.map_err(|error| error.to_string())?;
        let any: IpAddr = match remote {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let of_user = SocketAddr::new(of_user.unwrap_or(any), 0);
        let open = async {
            let socket = UdpSocket::bind(local.unwrap_or(of_user)).await?;
            socket.connect(remote).await?;
            Ok::<_, io::Error>((socket.local_addr()?, socket))
        };
        let (local, socket) = open.await.map_err(|error| describe(&error))?;
        Ok::<_, String>(Connection {
            socket: RefCell::new(Some(Rc::new(socket))),
            local,
            remote,
            sent: Cell::new(None),
        })
    });
    match opened.map_err(|cancelled| context.cancelled(cancelled))? {
        Ok(connection) => context.instance(connection),
        Err(error) => Err(context.throw_plain(format!("cannot send datagrams to {text}: {error}"))),
    }
}

/// Splits an address into host and port.
fn place(text: &str) -> Option<(&str, u16)> {
    let (host, port) = text.rsplit_once(':')?;
    let inner = host
        .strip_prefix('[')
        .map(|rest| rest.strip_suffix(']'))
        .unwrap_or(Some(host))?;
    let is_host = !inner.is_empty() && (inner.len() < host.len() || !inner.contains(':'));
    is_host.then_some((inner, port.parse().ok()?))
}

fn open_socket(context: &Context, connection: &Connection) -> Result<Rc<UdpSocket>, Thrown> {
    let socket = connection.socket.borrow().clone();
    socket.ok_or_else(|| context.throw_plain("the connection is closed"))
}

/// `write(connection, data)`: one datagram.
fn write<'c>(context: &'c Context, call: &Call<'c>, end: &[u8]) -> Returned<'c> {
    let target = call.argument(0);
    let connection = connection(context, &target)?;
    let socket = open_socket(context, &connection)?;
    let mut bytes = octets(&call.argument(1))?;
    bytes.extend_from_slice(end);
    let sent = context.wait(socket.send(&bytes));
    let sent = sent.map_err(|cancelled| context.cancelled(cancelled))?;
    let user = user(context);
    match sent {
        Ok(count) => {
            connection.sent.set(Some(plimsoll_clock::now()));
            count_traffic(user, count, 0);
            record(user, SENT, 1.0);
            Ok(context.undefined())
        }
        Err(error) => {
            record(user, ERRORS, 1.0);
            Err(context.throw_plain(describe(&error)))
        }
    }
}

/// The bytes of a string, of an ArrayBuffer or a view of one, or of an array of numbers.
fn octets(data: &Value<'_>) -> Result<Vec<u8>, Thrown> {
    if let Some(bytes) = data.to_bytes() {
        return Ok(bytes);
    }
    if data.is_array() {
        let length = u32::try_from(data.length()?).unwrap_or(u32::MAX);
        return (0..length)
            .map(|at| Ok(data.at(at)?.to_number()? as u8))
            .collect();
    }
    Ok(data.to_text()?.as_bytes().to_vec())
}

/// `read(connection, size?, timeout?)`: the bytes of the next datagram. Bytes after the first `size` are dropped.
fn read<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let target = call.argument(0);
    let connection = connection(context, &target)?;
    let socket = open_socket(context, &connection)?;
    let size = match call.argument(1) {
        size if size.is_nullish() => MAX_DATAGRAM,
        size => usize::try_from(size.to_integer()?)
            .unwrap_or(0)
            .clamp(1, MAX_DATAGRAM),
    };
    let limit = match call.argument(2) {
        limit if limit.is_nullish() => READ_TIMEOUT,
        limit => super::timeout(context, &limit)?,
    };
    let mut bytes = vec![0; size];
    let received = context.wait(tokio::time::timeout(limit, socket.recv(&mut bytes)));
    let received = received.map_err(|cancelled| context.cancelled(cancelled))?;
    let user = user(context);
    match received {
        Ok(Ok(count)) => {
            if let Some(sent) = connection.sent.take() {
                let took = plimsoll_clock::now().since(sent);
                record(user, RESPONSE, took.as_nanos() as f64 / 1e6);
            }
            count_traffic(user, 0, count);
            record(user, RECEIVED, 1.0);
            context.uint8_array(bytes.get(..count).unwrap_or_default())
        }
        Ok(Err(error)) => {
            record(user, ERRORS, 1.0);
            Err(context.throw_plain(describe(&error)))
        }
        Err(_) => {
            record(user, TIMEOUTS, 1.0);
            let limit = plimsoll_units::duration::format(limit);
            Err(context.throw_plain(format!("no datagram within {limit}")))
        }
    }
}

fn count_traffic(user: &User, sent: usize, received: usize) {
    if let Some(work) = user.work() {
        work.client.traffic_counter().add(Traffic {
            sent: sent as u64,
            received: received as u64,
        });
    }
}

fn record(user: &User, name: &str, value: f64) {
    let (Some(work), Some(base)) = (user.work(), user.base_tags()) else {
        return;
    };
    if let Some(metric) = user.common.registry.find(name) {
        // This cannot fail, because the value is a number.
        let _ = work
            .recorder
            .add(metric, value, &base, &[], plimsoll_clock::now());
    }
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn addresses_have_a_host_and_a_port() {
        for (text, expected) in [
            ("a.test:53", Some(("a.test", 53))),
            ("127.0.0.1:1", Some(("127.0.0.1", 1))),
            ("[::1]:7", Some(("::1", 7))),
            ("::1:7", None),
            ("[::1:7", None),
            ("a.test", None),
            (":7", None),
            ("a:70000", None),
        ] {
            assert_eq!(place(text), expected, "{text}");
        }
    }
}
