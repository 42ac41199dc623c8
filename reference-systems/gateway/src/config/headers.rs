//! Rules that change headers.

use hyper::http::{HeaderName, HeaderValue};
use serde::Deserialize;
use serde::de::{Deserializer, Error};

use super::values::{named, or_not, texts};

/// Changes to a message's headers: first removals, then replacements, then additions.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HeaderRules {
    #[serde(deserialize_with = "names")]
    pub remove: Vec<HeaderName>,
    #[serde(deserialize_with = "fields")]
    pub set: Vec<(HeaderName, HeaderValue)>,
    #[serde(deserialize_with = "fields")]
    pub add: Vec<(HeaderName, HeaderValue)>,
}

/// Headers that frame a message or belong to one connection; only the gateway itself sets them (RFC
/// 9110, section 7.6.1; RFC 9112, section 6).
const FRAMING: [&str; 7] = [
    "connection",
    "content-length",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The name of a header that rules may change.
pub fn header_name(text: &str) -> Result<HeaderName, String> {
    let name = or_not(text.parse::<HeaderName>().ok(), text, "a name of a header")?;
    if FRAMING.contains(&name.as_str()) {
        return Err(format!(
            "'{text}' frames messages, which is the gateway's own business"
        ));
    }
    Ok(name)
}

fn names<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<HeaderName>, D::Error> {
    texts(from, header_name)
}

fn fields<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(HeaderName, HeaderValue)>, D::Error> {
    let read = |(name, value): (String, String)| {
        let parsed = HeaderValue::from_str(&value).ok();
        Ok((
            header_name(&name)?,
            or_not(parsed, &value, "a header's value")?,
        ))
    };
    let fields = named(from)?.into_iter().map(read);
    fields
        .collect::<Result<_, String>>()
        .map_err(D::Error::custom)
}
