//! URLs from scripts, redirects, links of pages and the command line.

use plimsoll_http::Url;
use plimsoll_k6::pure::link::Link;

use super::{Target, halves, text};

pub const TARGET: Target = Target {
    name: "url",
    run,
    seeds: &[
        b"http://user:pass@example.com:8080/a/b;c?d=e&f#g",
        b"https://[::1%25en0]:443/%41%zz",
        b"http://a/b/c/d\0../../x?y",
        b"http://a/b\0//other:99/z",
        b"http://a/b?q\0?r#s",
        b"http://a\0https://b/c",
        b"//a.b:1",
        b"mailto:x@y",
    ],
    words: &[
        "http://", "https://", "//", "..", "./", "%2e", "%", "@", ":", "[::1]", "?", "#", "\0",
        "\u{fc}",
    ],
};

fn run(data: &[u8]) {
    let link = Link::parse(&text(data));
    assert!(link.host().contains(link.hostname()));
    link.origin();
    let (base, reference) = halves(data);
    let Ok(base) = Url::parse(&text(base)) else {
        return;
    };
    if base.userinfo().is_some() {
        let masked = Url::parse(&base.masked());
        let info = masked.as_ref().ok().and_then(Url::userinfo);
        assert!(
            info.is_some_and(|info| {
                info.name == "****"
                    && info
                        .password
                        .as_deref()
                        .is_none_or(|password| password == "****")
            }),
            "{}",
            base.masked()
        );
    }
    // The target of a redirect.
    let _ = base.join(&text(reference));
}
