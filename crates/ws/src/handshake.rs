//! The opening handshake (RFC 6455, section 4) and its extension (RFC 7692, section 7.1).

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use plimsoll_http::Head;
use sha1::{Digest, Sha1};

use crate::deflate::Agreed as AgreedDeflate;

/// The extensions and subprotocols that the client offers to the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// Subprotocols in the order of preference.
    pub protocols: Vec<String>,
    pub deflate: Option<OfferDeflate>,
    /// Accept a subprotocol that was not offered, as some clients do. Otherwise such a response fails
    /// the handshake (section 4.1).
    pub takes_any_protocol: bool,
}

/// permessage-deflate with the offered parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OfferDeflate {
    pub server_no_context_takeover: bool,
    pub client_no_context_takeover: bool,
}

/// The result of the negotiation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreed {
    /// Empty if the server chose no subprotocol.
    pub protocol: String,
    pub deflate: Option<AgreedDeflate>,
    /// `Sec-WebSocket-Extensions` as the server sent it.
    pub extensions: String,
}

/// Reasons why a response does not complete the handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A status other than 101.
    Status(u16),
    /// `Upgrade` or `Connection` do not have the required value.
    NotUpgraded(&'static str),
    /// `Sec-WebSocket-Accept` does not match the key.
    Accept,
    /// The server chose a subprotocol that was not offered.
    Protocol(String),
    /// The server responded with extensions or parameters that were not offered.
    Extension(String),
}

/// The key of one handshake (section 4.1): 16 random bytes.
#[derive(Clone, Debug)]
pub(crate) struct Key(String);

impl Key {
    pub(crate) fn random() -> Self {
        let chance = [(); 4].map(|()| crate::mask::random_key());
        Key(STANDARD.encode(chance.as_flattened()))
    }

    /// A key that is not random, for a handshake whose response has already been recorded.
    pub(crate) fn from_text(text: &str) -> Self {
        Key(text.to_owned())
    }

    /// The value that the server must return (section 4.2.2, item 5.4).
    fn accept(&self) -> String {
        let mut digest = Sha1::new();
        digest.update(self.0.as_bytes());
        digest.update(b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
        STANDARD.encode(digest.finalize())
    }
}

impl Offer {
    /// The header fields that request a WebSocket.
    pub(crate) fn fields(&self, key: &Key) -> Vec<(&'static str, String)> {
        let mut fields = vec![
            ("Upgrade", "websocket".to_owned()),
            ("Connection", "Upgrade".to_owned()),
            ("Sec-WebSocket-Key", key.0.clone()),
            ("Sec-WebSocket-Version", "13".to_owned()),
        ];
        if let Some(deflate) = self.deflate {
            let mut text = "permessage-deflate".to_owned();
            if deflate.server_no_context_takeover {
                text += "; server_no_context_takeover";
            }
            if deflate.client_no_context_takeover {
                text += "; client_no_context_takeover";
            }
            fields.push(("Sec-WebSocket-Extensions", text));
        }
        if !self.protocols.is_empty() {
            fields.push(("Sec-WebSocket-Protocol", self.protocols.join(", ")));
        }
        fields
    }

    /// The six checks of section 4.1, after the response headers have arrived.
    pub(crate) fn check(&self, head: &Head, key: &Key) -> Result<Agreed, Refusal> {
        if head.status() != 101 {
            return Err(Refusal::Status(head.status()));
        }
        if !has_token(head, "upgrade", "websocket") {
            return Err(Refusal::NotUpgraded("Upgrade"));
        }
        if !has_token(head, "connection", "upgrade") {
            return Err(Refusal::NotUpgraded("Connection"));
        }
        let accept = joined(head, "sec-websocket-accept");
        if accept.trim() != key.accept() {
            return Err(Refusal::Accept);
        }
        let protocol = joined(head, "sec-websocket-protocol").trim().to_owned();
        if !protocol.is_empty() && !self.takes_any_protocol && !self.protocols.contains(&protocol) {
            return Err(Refusal::Protocol(protocol));
        }
        let extensions = joined(head, "sec-websocket-extensions");
        Ok(Agreed {
            protocol,
            deflate: self.check_extensions(&extensions)?,
            extensions,
        })
    }

    fn check_extensions(&self, text: &str) -> Result<Option<AgreedDeflate>, Refusal> {
        let refused = || Refusal::Extension(text.to_owned());
        let mut agreed = None;
        for extension in text.split(',').map(str::trim).filter(|e| !e.is_empty()) {
            let mut parts = extension.split(';').map(str::trim);
            let is_offered = self.deflate.is_some() && agreed.is_none();
            if parts.next() != Some("permessage-deflate") || !is_offered {
                return Err(refused());
            }
            agreed = Some(self.check_deflate(parts).ok_or_else(refused)?);
        }
        Ok(agreed)
    }

    /// Checks the parameters in a response. Each may occur once (RFC 7692, section 7.1).
    fn check_deflate<'a>(&self, parts: impl Iterator<Item = &'a str>) -> Option<AgreedDeflate> {
        let offered = self.deflate?;
        let mut agreed = AgreedDeflate::default();
        let mut seen = Vec::new();
        for part in parts {
            let (name, value) = match part.split_once('=') {
                Some((name, value)) => (name.trim(), Some(value.trim().trim_matches('"'))),
                None => (part, None),
            };
            if seen.contains(&name) {
                return None;
            }
            seen.push(name);
            match (name, value) {
                ("server_no_context_takeover", None) => agreed.server_no_context_takeover = true,
                ("client_no_context_takeover", None) => agreed.client_no_context_takeover = true,
                // A window smaller than our 15 bits makes no difference to the decompressor.
                // `client_max_window_bits` would make a difference, but the server may not send it without an
                // offer (section 7.1.2.2).
                ("server_max_window_bits", Some(bits))
                    if matches!(bits.parse(), Ok(8..=15u8)) && !bits.starts_with('0') => {}
                _ => return None,
            }
        }
        // The client may compress messages separately even if the server did not request it (section
        // 7.1.1.2).
        agreed.client_no_context_takeover |= offered.client_no_context_takeover;
        // A server that received the offer and does not confirm it declines the extension (section
        // 7.1.1.1).
        (agreed.server_no_context_takeover || !offered.server_no_context_takeover).then_some(agreed)
    }
}

fn has_token(head: &Head, name: &str, token: &str) -> bool {
    head.all(name).any(|value| {
        value
            .split(|&byte| byte == b',')
            .any(|part| part.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
    })
}

fn joined(head: &Head, name: &str) -> String {
    let values: Vec<_> = head.all(name).map(String::from_utf8_lossy).collect();
    values.join(", ")
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Status(status) => {
                write!(
                    f,
                    "the server responded with {status} instead of 101 Switching Protocols"
                )
            }
            Refusal::NotUpgraded(name) => {
                write!(f, "the server's response has no valid {name} header")
            }
            Refusal::Accept => {
                f.write_str("the server's Sec-WebSocket-Accept does not match the key")
            }
            Refusal::Protocol(name) => {
                write!(
                    f,
                    "the server chose the subprotocol {name:?}, which was not offered"
                )
            }
            Refusal::Extension(text) => {
                write!(
                    f,
                    "the server responded with extensions that were not offered: {text}"
                )
            }
        }
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rfcs_example_key_gives_its_example_accept_value() {
        let key = Key("dGhlIHNhbXBsZSBub25jZQ==".to_owned());
        assert_eq!(key.accept(), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn keys_have_sixteen_bytes_and_are_never_reused() {
        let (one, other) = (Key::random(), Key::random());
        assert_eq!(one.0.len(), 24);
        assert!(one.0.ends_with("=="));
        assert_ne!(one.0, other.0);
    }

    fn response_to(offer: OfferDeflate, response: &str) -> Option<Option<AgreedDeflate>> {
        let offer = Offer {
            deflate: Some(offer),
            ..Offer::default()
        };
        offer.check_extensions(response).ok()
    }

    #[test]
    fn deflate_is_negotiated_according_to_rfc_7692() {
        let random = OfferDeflate {
            server_no_context_takeover: true,
            client_no_context_takeover: true,
        };
        let kept = OfferDeflate::default();
        let agreed = |server, client| {
            Some(Some(AgreedDeflate {
                server_no_context_takeover: server,
                client_no_context_takeover: client,
            }))
        };
        assert_eq!(response_to(random, ""), Some(None));
        let both = "permessage-deflate; server_no_context_takeover; client_no_context_takeover";
        assert_eq!(response_to(random, both), agreed(true, true));
        assert_eq!(
            response_to(random, "permessage-deflate;server_no_context_takeover"),
            agreed(true, true)
        );
        assert_eq!(
            response_to(kept, "permessage-deflate"),
            agreed(false, false)
        );
        let bits = "permessage-deflate; server_max_window_bits=\"10\"";
        assert_eq!(response_to(kept, bits), agreed(false, false));
        for wrong in [
            "permessage-deflate; client_max_window_bits=10",
            "permessage-deflate; server_max_window_bits",
            "permessage-deflate; server_max_window_bits=7",
            "permessage-deflate; server_max_window_bits=08",
            "permessage-deflate; server_no_context_takeover=1",
            "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
            "permessage-deflate, permessage-deflate",
            "permessage-bzip2",
        ] {
            assert_eq!(response_to(kept, wrong), None, "{wrong}");
        }
        assert_eq!(response_to(random, "permessage-deflate"), None);
        let none = Offer::default();
        assert!(none.check_extensions("permessage-deflate").is_err());
    }
}
