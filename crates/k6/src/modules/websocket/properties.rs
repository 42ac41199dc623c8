//! The properties of the sockets of `k6/websockets`, besides their methods.

use plimsoll_quickjs::Atom;

use super::events::EventKind;

/// A property of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    Url,
    ReadyState,
    BufferedAmount,
    Extensions,
    Protocol,
    BinaryType,
    /// `onopen` and so on.
    Handler(EventKind),
}

/// All properties, in k6's order.
const ALL: [(&str, Property); 12] = [
    ("url", Property::Url),
    ("readyState", Property::ReadyState),
    ("bufferedAmount", Property::BufferedAmount),
    ("extensions", Property::Extensions),
    ("protocol", Property::Protocol),
    ("binaryType", Property::BinaryType),
    ("onmessage", Property::Handler(EventKind::Message)),
    ("onerror", Property::Handler(EventKind::Error)),
    ("onopen", Property::Handler(EventKind::Open)),
    ("onclose", Property::Handler(EventKind::Close)),
    ("onping", Property::Handler(EventKind::Ping)),
    ("onpong", Property::Handler(EventKind::Pong)),
];

impl Property {
    /// The property that a script reads or writes. `None` for methods and for the script's own properties.
    pub fn of(key: &Atom<'_>) -> Option<Property> {
        let named = |name: &str| ALL.iter().find(|(known, _)| *known == name);
        let (_, property) = key.with_text(named)?;
        // The text of a symbol is its description.
        (!key.is_symbol()).then_some(*property)
    }

    pub fn names() -> impl Iterator<Item = &'static str> {
        ALL.iter().map(|(name, _)| *name)
    }
}
