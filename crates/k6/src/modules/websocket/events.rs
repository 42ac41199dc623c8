//! The events of `k6/websockets` and the event objects that handlers receive.

use std::time::{SystemTime, UNIX_EPOCH};

use plimsoll_quickjs::{Context, Returned, Value};

/// The events that handlers can be registered for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    Open,
    Message,
    Error,
    Close,
    Ping,
    Pong,
}

impl EventKind {
    pub const COUNT: usize = 6;

    pub fn parse(name: &str) -> Option<EventKind> {
        Some(match name {
            "open" => EventKind::Open,
            "message" => EventKind::Message,
            "error" => EventKind::Error,
            "close" => EventKind::Close,
            "ping" => EventKind::Ping,
            "pong" => EventKind::Pong,
            _ => return None,
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            EventKind::Open => "open",
            EventKind::Message => "message",
            EventKind::Error => "error",
            EventKind::Close => "close",
            EventKind::Ping => "ping",
            EventKind::Pong => "pong",
        }
    }
}

/// `{ type, target, timestamp }`. Each type of event adds its own properties. The timestamp is in milliseconds since
/// 1970.
pub fn event<'c>(context: &'c Context, kind: EventKind, target: &Value<'c>) -> Returned<'c> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = since.unwrap_or_default().as_secs_f64() * 1000.0;
    let event = context.object()?;
    event.define("type", context.string(kind.name())?)?;
    event.define("target", target.clone())?;
    event.define("timestamp", context.number(now))?;
    Ok(event)
}
