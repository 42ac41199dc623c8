use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::url::Url;

/// The `Authorization` value for the user name and password in a URL (RFC 7617).
pub(crate) fn basic_of(url: &Url) -> Option<String> {
    let info = url.userinfo()?;
    let password = info.password.as_deref().unwrap_or_default();
    Some(basic(&info.name, password))
}

pub(crate) fn basic(name: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{name}:{password}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7617, section 2.
    #[test]
    fn basic_credentials_are_encoded() {
        assert_eq!(
            basic("Aladdin", "open sesame"),
            "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
        );
    }
}
