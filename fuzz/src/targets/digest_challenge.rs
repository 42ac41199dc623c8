//! A Digest challenge of a server (`WWW-Authenticate`), and the credentials derived from it.

use plimsoll_http::Url;
use plimsoll_http::in_memory::respond_to_digest;

use super::{Target, text};

pub const TARGET: Target = Target {
    name: "digest_challenge",
    run,
    seeds: &[
        b"Digest realm=\"a@b\", qop=\"auth, auth-int\", algorithm=SHA-256, nonce=\"7ypf/x\", opaque=\"FQ\"",
        b"digest nonce=n, algorithm=MD5-sess, qop=auth-int",
        b"Digest realm=\"a \\\"b\\\\\", nonce=\"n\", stale=FALSE",
        b"Basic realm=\"x\"",
    ],
    words: &[
        "Digest ", "realm=", "nonce=", "opaque=", "algorithm=", "qop=", "auth", "auth-int", "MD5", "SHA-256",
        "SHA-512-256", "-sess", "\"", "\\\"", ", ", "=",
    ],
};

fn run(data: &[u8]) {
    let Ok(url) = Url::parse("http://user:pass@host/path?query") else {
        return;
    };
    let challenge = text(data);
    if let Some(credentials) = respond_to_digest(&challenge, &url, b"body") {
        assert!(
            credentials.starts_with("Digest username=\"user\""),
            "{credentials}"
        );
        // Headers cannot contain line breaks, and this code does not add any.
        let breaks = |text: &str| text.matches(['\r', '\n']).count();
        assert!(breaks(&credentials) <= breaks(&challenge), "{credentials}");
    }
}
