//! Connections for modules that are written in JavaScript.

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use plimsoll_quickjs::{Call, Class, Context, Entry, InImage, Persistent, Returned, Thrown, Value};

use super::byte_link::{ByteLink, Opened, Step, open};
use crate::pure::base64::{self, Dialect};
use crate::user::User;

/// `now()`: milliseconds of a monotonic clock.
pub fn now<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    context.differs_per_user("the init code asks for the time");
    Ok(context.number(plimsoll_clock::now().as_nanos() as f64 / 1e6))
}

/// `connect(host, port, isTls, onData, onEnd)`: a promise of a connection.
pub fn connect<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let owner = context.shared_host::<User>();
    owner.working(context, "opening connections")?;
    let host = call.argument(0).to_text()?.into_string();
    let port = call.argument(1).to_number()?;
    if !(1.0..=65535.0).contains(&port) || port.fract() != 0.0 {
        return Err(context.throw_plain(format!("the port {port} is not between 1 and 65535")));
    }
    let is_tls = call.argument(2).is_truthy();
    let handlers = Rc::new(Handlers {
        data: Persistent::new(&call.argument(3)),
        end: Persistent::new(&call.argument(4)),
    });
    let user = Rc::clone(&owner);
    let operation = async move {
        let opened = open(&user, &host, port as u16, is_tls).await;
        (user, opened)
    };
    owner
        .event_loop
        .promise(context, operation, move |context, (user, opened)| {
            let opened = opened.map_err(|error| context.throw_plain(error))?;
            let link = Rc::clone(&opened.link);
            let connection = connection(context, &opened)?;
            let telling = Rc::clone(&user);
            user.event_loop.run(drive(link, telling, handlers));
            Ok(connection)
        })
}

/// The functions of a socket that handle the events of its connection.
struct Handlers {
    data: Persistent,
    end: Persistent,
}

/// Closes a connection at the end of the iteration, even if the iteration is interrupted.
struct OpenLink(Rc<ByteLink>);

impl Drop for OpenLink {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Passes data to the script until the connection ends.
async fn drive(link: Rc<ByteLink>, user: Rc<User>, handlers: Rc<Handlers>) {
    let _open = OpenLink(Rc::clone(&link));
    loop {
        let step = link.step().await;
        let is_over = !matches!(step, Step::Data(..));
        let (link, handlers) = (Rc::clone(&link), Rc::clone(&handlers));
        user.event_loop
            .tell(move |context| tell(context, &link, &handlers, step));
        if is_over {
            return;
        }
    }
}

fn tell(context: &Context, link: &ByteLink, handlers: &Handlers, step: Step) -> Result<(), Thrown> {
    let (handler, value) = match step {
        Step::Data(bytes) => {
            link.processed();
            (&handlers.data, context.uint8_array(&bytes)?)
        }
        Step::Ended(Some(reason)) => (&handlers.end, context.string(&reason)?),
        Step::Ended(None) | Step::Closed => (&handlers.end, context.undefined()),
    };
    let handler = handler.restore(context);
    handler.call(&context.undefined(), &[&value]).map(drop)
}

/// The object that represents an open connection.
struct Connection(Rc<ByteLink>);

fn connection<'c>(context: &'c Context, opened: &Opened) -> Returned<'c> {
    let object = context.instance(Connection(Rc::clone(&opened.link)))?;
    let place = |address: Option<SocketAddr>, ip: &str, port: &str| -> Result<(), Thrown> {
        if let Some(address) = address {
            object.define(ip, context.string(&address.ip().to_string())?)?;
            object.define(port, context.number(address.port()))?;
        }
        Ok(())
    };
    place(opened.local, "local_ip", "local_port")?;
    place(opened.remote, "remote_ip", "remote_port")?;
    let milliseconds = |span: Duration| span.as_nanos() as f64 / 1e6;
    object.define("resolving", context.number(milliseconds(opened.resolving)))?;
    object.define(
        "connecting",
        context.number(milliseconds(opened.connecting)),
    )?;
    object.define("has_partial_write", context.bool(false))?;
    Ok(object)
}

impl Class for Connection {
    const IN_IMAGE: InImage<Self> = InImage::Refused("a TCP connection");

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::function(c"write", 2, write),
            Entry::function(c"close", 0, |context, call| {
                if let Some(connection) = call.this().instance::<Connection>() {
                    connection.0.close();
                }
                Ok(context.undefined())
            }),
        ];
        ENTRIES
    }
}

/// `write(data, encoding)`: a promise of the number of bytes.
fn write<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let this = call.this();
    let Some(connection) = this.instance::<Connection>() else {
        return Err(context.throw_type("write was called on something else"));
    };
    let bytes = bytes_of(context, &call.argument(0), &call.argument(1).to_text()?)?;
    let (link, length) = (Rc::clone(&connection.0), bytes.len());
    let number = link.send(bytes);
    let object = Persistent::new(&this);
    let owner = context.shared_host::<User>();
    let operation = async move { link.sent(number).await };
    owner
        .event_loop
        .promise(context, operation, move |context, sent| match sent {
            Ok(()) => Ok(context.integer(length as u64)),
            Err(error) => {
                let object = object.restore(context);
                object.define("has_partial_write", context.bool(error.is_partial))?;
                Err(context.throw_plain(error.text))
            }
        })
}

/// The bytes of an ArrayBuffer or a view of one, or of a string in an encoding.
fn bytes_of<'c>(context: &'c Context, data: &Value<'c>, encoding: &str) -> Result<Vec<u8>, Thrown> {
    if let Some(bytes) = data.to_bytes() {
        return Ok(bytes);
    }
    let text = data.to_text()?;
    let wrong = || context.throw_plain(format!("the data is not {encoding}"));
    match encoding {
        "utf8" | "utf-8" => Ok(text.as_bytes().to_vec()),
        "ascii" => match text.is_ascii() {
            true => Ok(text.as_bytes().to_vec()),
            false => Err(wrong()),
        },
        "base64" => base64::decode(text.as_bytes(), Dialect::STD).map_err(|_| wrong()),
        "base64url" => {
            let text = text.trim_end_matches('=');
            base64::decode(text.as_bytes(), Dialect::RAW_URL).map_err(|_| wrong())
        }
        "hex" => hex(&text).ok_or_else(wrong),
        other => Err(context.throw_plain(format!(
            "unknown encoding {other}: use utf8, ascii, base64, base64url or hex"
        ))),
    }
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    let bytes = digits.map(|pair| {
        let pair = std::str::from_utf8(pair)
            .ok()
            .filter(|pair| pair.len() == 2)?;
        let all_digits = pair.bytes().all(|digit| digit.is_ascii_hexdigit());
        all_digits
            .then(|| u8::from_str_radix(pair, 16).ok())
            .flatten()
    });
    bytes.collect()
}
