use crate::url::Url;

/// The `Authorization` value of a URL's user and password (RFC 7617).
pub(crate) fn basic_of(url: &Url) -> Option<String> {
    let info = url.userinfo()?;
    let password = info.password.as_deref().unwrap_or_default();
    Some(basic(&info.name, password))
}

pub(crate) fn basic(name: &str, password: &str) -> String {
    let mut out = String::from("Basic ");
    base64(&mut out, format!("{name}:{password}").as_bytes());
    out
}

/// RFC 4648, section 4, with padding.
fn base64(out: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for group in bytes.chunks(3) {
        let at = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4 {
            if place > group.len() {
                out.push('=');
                continue;
            }
            let digit = bits >> (18 - 6 * place) & 63;
            out.push(DIGITS.get(digit as usize).map_or('=', |&d| char::from(d)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7617, section 2, and the paddings of RFC 4648.
    #[test]
    fn basic_credentials_are_encoded() {
        assert_eq!(
            basic("Aladdin", "open sesame"),
            "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
        );
        for (plain, wanted) in [
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
        ] {
            let mut out = String::new();
            base64(&mut out, plain.as_bytes());
            assert_eq!(out, wanted);
        }
    }
}
