//! A normalized path for selecting routes, as servers that decode it see it: another spelling of a
//! path must not bypass its route.

use std::borrow::Cow;

use crate::refusal::Refusal;

/// Decodes `%XX` once and merges slashes, as nginx does before it selects a location. It rejects
/// what nginx rejects, and also the segments `.` and `..`, which nginx would resolve.
pub fn normalized(path: &str) -> Result<Cow<'_, str>, Refusal> {
    if !path.starts_with('/') {
        // `OPTIONS *` is for the gateway itself, which does not support it.
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
                    // Two hexadecimal digits fit into a byte.
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
    fn paths_that_leave_their_prefix_are_refused() {
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
