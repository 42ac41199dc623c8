use std::collections::BTreeMap;

use super::response::Answer;
use crate::quickjs::{Context, Returned};

/// `response.request`: the request as it was sent.
pub(super) fn show<'c>(context: &'c Context, answer: &Answer) -> Returned<'c> {
    let object = context.object()?;
    let (head, body): (&[u8], &[u8]) = match &answer.response {
        Some(response) => (&response.sent.head, &response.sent.body),
        None => (&[], &[]),
    };
    object.define("method", context.string(answer.method())?)?;
    object.define("url", context.string(&answer.requested_url())?)?;
    let headers = context.object()?;
    for (name, values) in fields(head) {
        headers.define(&*http::canonical_name(name), context.strings(values)?)?;
    }
    object.define("headers", headers)?;
    object.define("body", context.string_lossy(body)?)?;
    let cookies = context.object()?;
    for cookie in &answer.cookies {
        let shown = context.object()?;
        shown.define("name", context.string(&cookie.name)?)?;
        shown.define("value", context.string(&cookie.value)?)?;
        shown.define("replace", context.bool(cookie.replace))?;
        cookies.define(cookie.name.as_str(), context.array(vec![shown])?)?;
    }
    object.define("cookies", cookies)?;
    Ok(object)
}

/// The fields of a head that we wrote ourselves, but for those that Go keeps
/// out of a request's header map.
fn fields(head: &[u8]) -> BTreeMap<&str, Vec<&str>> {
    let mut fields: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let text = std::str::from_utf8(head).unwrap_or_default();
    for line in text.split("\r\n").skip(1) {
        let Some((name, value)) = line.split_once(": ") else { continue };
        if ["host", "content-length", "connection"].iter().any(|own| name.eq_ignore_ascii_case(own)) {
            continue;
        }
        fields.entry(name).or_default().push(value);
    }
    fields
}
