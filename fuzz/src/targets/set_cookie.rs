//! `Set-Cookie` fields, and which cookies go where.

use plimsoll_http::{Cookie, CookieJar, Url};

use super::{Target, halves, text};

pub const TARGET: Target = Target {
    name: "set_cookie",
    run,
    seeds: &[
        b"a=b; Path=/; Domain=.example.com; Max-Age=10; Secure; HttpOnly; SameSite=Lax\0http://www.example.com/",
        b"a=\"b c\"; Expires=Wed, 21 Oct 2099 07:28:00 GMT\0https://a/b",
        b"__Host-a=1; Expires=Thu, 01-Jan-70 00:00:01 GMT\0http://127.0.0.1:8080/a/",
        b"a=b; max-age=-1\0http://[::1]/",
    ],
    words: &["; ", "Path=", "Domain=", "Max-Age=", "Expires=", "Secure", "SameSite=", "=", "\"", " GMT", "Jan", "00:00:00", "\0http://a/"],
};

fn run(data: &[u8]) {
    let (field, url) = halves(data);
    let Some(cookie) = Cookie::parse(field) else {
        return;
    };
    assert!(!cookie.name.is_empty());
    let Ok(url) = Url::parse(&text(url)) else {
        return;
    };
    let jar = CookieJar::new();
    jar.set(&url, &cookie);
    for (name, _) in jar.cookies_for_url(&url) {
        jar.delete(&url, &name);
    }
    assert!(jar.cookies_for_url(&url).is_empty());
}
