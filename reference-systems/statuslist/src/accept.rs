//! Parses the formats that a client accepts and the version that it has cached.

use axum::http::HeaderMap;
use axum::http::header::ACCEPT;

use crate::token::Form;

/// The format that a client prefers (RFC 9110, section 12.5.1); the signed JSON one if several are
/// equal. `None` if it accepts none.
pub fn form(headers: &HeaderMap) -> Option<Form> {
    let mut qualities = [None; Form::ALL.len()];
    for header in headers.get_all(ACCEPT) {
        // A value that is not text names no format.
        for range in header.to_str().unwrap_or_default().split(',') {
            consider(range, &mut qualities);
        }
    }
    let mut best: Option<(Form, f32)> = None;
    for (form, quality) in Form::ALL.into_iter().zip(qualities) {
        let quality = quality.map_or(0.0, |(_, quality)| quality);
        if quality > best.map_or(0.0, |(_, quality)| quality) {
            best = Some((form, quality));
        }
    }
    best.map(|(form, _)| form)
}

/// How specific a range is, and its quality value.
type Quality = Option<(u8, f32)>;

fn consider(range: &str, qualities: &mut [Quality; 3]) {
    let mut parts = range.split(';').map(str::trim);
    let kind = parts.next().unwrap_or_default();
    let quality = parts
        .find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            name.trim()
                .eq_ignore_ascii_case("q")
                .then_some(value.trim())
        })
        .map_or(1.0, |value| value.parse().unwrap_or(0.0));
    for (form, known) in Form::ALL.into_iter().zip(qualities) {
        let exactness = if kind.eq_ignore_ascii_case(form.media_type()) {
            3
        } else if kind.eq_ignore_ascii_case("application/*") {
            2
        } else if kind == "*/*" {
            1
        } else {
            continue;
        };
        // The most specific range decides.
        if known.is_none_or(|(before, _)| exactness > before) {
            *known = Some((exactness, quality));
        }
    }
}

/// Whether a list of tags contains this one, by weak comparison (RFC 9110, section 13.1.2).
pub fn names(tags: &[u8], tag: &[u8]) -> bool {
    tags.split(|&byte| byte == b',').any(|known| {
        let known = known.trim_ascii();
        known == b"*" || known.strip_prefix(b"W/").unwrap_or(known) == tag
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn liked(accept: &str) -> Option<Form> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, accept.parse().unwrap());
        form(&headers)
    }

    #[test]
    fn the_form_follows_from_the_header() {
        assert_eq!(liked("*/*"), Some(Form::Jwt));
        assert_eq!(liked("application/*"), Some(Form::Jwt));
        assert_eq!(liked("application/statuslist+cwt"), Some(Form::Cwt));
        assert_eq!(liked("Application/StatusList+JSON"), Some(Form::Json));
        assert_eq!(
            liked("application/statuslist+jwt;q=0.5, application/statuslist+cwt"),
            Some(Form::Cwt)
        );
        assert_eq!(
            liked("*/*;q=0.9, application/statuslist+jwt;q=0"),
            Some(Form::Cwt)
        );
        assert_eq!(liked("text/html"), None);
        assert_eq!(liked("application/statuslist+jwt;q=0"), None);
        assert_eq!(liked("text/html, */*;q=0.1"), Some(Form::Jwt));
        assert_eq!(liked(""), None);
    }

    #[test]
    fn tags_are_compared_weakly() {
        assert!(names(b"\"a\"", b"\"a\""));
        assert!(names(b"\"b\", W/\"a\"", b"\"a\""));
        assert!(names(b"*", b"\"a\""));
        assert!(!names(b"\"b\"", b"\"a\""));
        assert!(!names(b"a", b"\"a\""));
    }
}
