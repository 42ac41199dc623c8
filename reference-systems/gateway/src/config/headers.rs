//! Rules that change headers.

use hyper::http::{HeaderName, HeaderValue};

use super::fields::{Field, Fields, Problems};

/// Changes to a message's headers: first removals, then replacements, then additions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HeaderRules {
    pub remove: Vec<HeaderName>,
    pub set: Vec<(HeaderName, HeaderValue)>,
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

/// The rules under `name`, if any.
pub fn read(name: &str, fields: &Fields<'_>, problems: &mut Problems) -> HeaderRules {
    let mut rules = HeaderRules::default();
    let Some(field) = fields.get(name) else {
        return rules;
    };
    let fields = field.fields(&["remove", "set", "add"], problems);
    for field in fields.get("remove").iter().flat_map(|field| field.items()) {
        if let Some(text) = field.text(problems) {
            rules.remove.extend(header_name(text, &field, problems));
        }
    }
    for (key, list) in [("set", &mut rules.set), ("add", &mut rules.add)] {
        let Some(field) = fields.get(key) else {
            continue;
        };
        for (key, field) in field.named(problems) {
            let name = header_name(&key.name, &field, problems);
            let value = field.read("a header's value", problems, |text| {
                HeaderValue::from_str(text).ok()
            });
            list.extend(name.zip(value));
        }
    }
    rules
}

/// The name of a header that rules may change.
pub fn header_name(text: &str, field: &Field<'_>, problems: &mut Problems) -> Option<HeaderName> {
    let Ok(name) = text.parse::<HeaderName>() else {
        problems.add(field, format!("'{text}' is not a name of a header"));
        return None;
    };
    if FRAMING.contains(&name.as_str()) {
        problems.add(
            field,
            format!("'{text}' frames messages, which is the gateway's own business"),
        );
        return None;
    }
    Some(name)
}
