//! A path as servers understand it that decode it, by which routes are chosen: another way to write
//! a path must not lead past a route that is meant for it.

use std::borrow::Cow;

use crate::refusal::Refusal;

/// Decodes `%XX` once and merges slashes, as nginx does before it looks for a location. What nginx
/// refuses is refused, and `.` and `..` as segments, which it would resolve.
pub fn normalized(path: &str) -> Result<Cow<'_, str>, Refusal> {
    if !path.starts_with('/') {
        // `OPTIONS *` is for the gateway itself, which has nothing to say.
        return Err(Refusal::Bad("the target is not a path"));
    }
    if path.contains('\\') {
        return Err(Refusal::Bad("the path has '\\' in it"));
    }
    let normal = if path.contains('%') || path.contains("//") {
        Cow::Owned(decoded(path)?)
    } else {
        Cow::Borrowed(path)
    };
    let dots = |segment: &str| segment == "." || segment == "..";
    if (normal.contains("/.") || normal.contains('\\')) && normal.split(['/', '\\']).any(dots) {
        return Err(Refusal::Bad("the path has '.' or '..' in it"));
    }
    Ok(normal)
}

fn decoded(path: &str) -> Result<String, Refusal> {
    let mut bytes = path.bytes();
    let mut decoded = Vec::with_capacity(path.len());
    while let Some(byte) = bytes.next() {
        let byte = match byte {
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte.unwrap_or(b'x')).to_digit(16);
                let (high, low) = (digit(bytes.next()), digit(bytes.next()));
                match (high, low) {
                    // Two digits of base 16 fit a byte.
                    (Some(high), Some(low)) => (high * 16 + low) as u8,
                    _ => return Err(Refusal::Bad("the path has a broken % in it")),
                }
            }
            byte => byte,
        };
        match byte {
            0 => return Err(Refusal::Bad("the path has a zero byte in it")),
            b'/' if decoded.last() == Some(&b'/') => {}
            byte => decoded.push(byte),
        }
    }
    Ok(String::from_utf8_lossy(&decoded).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_path_in_many_spellings_is_the_same() {
        for path in [
            "/admin/x",
            "/%61dmin/x",
            "/admin%2fx",
            "/admin%2Fx",
            "//admin///x",
            "/%2Fadmin/x",
        ] {
            assert_eq!(normalized(path).unwrap(), "/admin/x", "{path}");
        }
        // Decoded once.
        assert_eq!(normalized("/a%252fb").unwrap(), "/a%2fb");
        assert_eq!(normalized("/%c3%a9").unwrap(), "/é");
        assert_eq!(
            normalized("/.well-known/a..b/...").unwrap(),
            "/.well-known/a..b/..."
        );
    }

    #[test]
    fn what_would_lead_elsewhere_is_refused() {
        for path in [
            "*",
            "/a/../b",
            "/a/%2e%2E/b",
            "/a/..%2fb",
            "/a%2f..%2fb",
            "/a%2F%2e%2e",
            "/a/..%5cb",
            "/a\\b",
            "/a/.",
            "/%",
            "/%4",
            "/%zz",
            "/a%00b",
        ] {
            assert!(normalized(path).is_err(), "{path}");
        }
    }
}
