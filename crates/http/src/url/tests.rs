use super::*;

fn parsed(text: &str) -> Url {
    Url::parse(text).unwrap()
}

#[test]
fn parts_are_found() {
    let url = parsed("HTTPS://user:p%40ss@Example.com:8443/a/b?x=1&y=2#top");
    assert_eq!(url.scheme(), "https");
    assert_eq!(url.host(), "Example.com");
    assert_eq!(url.port(), 8443);
    assert_eq!(url.authority(), "Example.com:8443");
    assert_eq!(url.target(), "/a/b?x=1&y=2");
    assert_eq!(url.path(), "/a/b");
    assert_eq!(url.query(), Some("x=1&y=2"));
    assert_eq!(url.fragment(), Some("top"));
    let info = url.userinfo().unwrap();
    assert_eq!(
        (info.name.as_str(), info.password.as_deref()),
        ("user", Some("p@ss"))
    );
    assert_eq!(
        url.to_string(),
        "https://****:****@Example.com:8443/a/b?x=1&y=2#top"
    );
}

#[test]
fn urls_that_are_too_long_are_refused() {
    let mut text = "http://h/".to_owned();
    text.push_str(&"a".repeat(MAX_LENGTH - text.len()));
    assert!(Url::parse(&text).is_ok());
    text.push('b');
    let error = Url::parse(&text).unwrap_err().to_string();
    assert!(
        error.contains("1048577 bytes, and the limit is 1048576"),
        "{error}"
    );
    assert!(error.len() < 300, "{error}");
}

#[test]
fn the_text_is_almost_as_given() {
    for (given, shown) in [
        ("HTTP://Host/Path?Q#F", "http://Host/Path?Q#F"),
        ("http://h/a b?c d", "http://h/a%20b?c d"),
        ("http://u:p@h/ü?ü#ü", "http://u:p@h/%C3%BC?ü#ü"),
        ("http://h/{x}?", "http://h/%7Bx%7D?"),
        ("http://h/%41#", "http://h/%41"),
        ("http://h?q", "http://h?q"),
        ("#", ""),
        ("/a b", "/a%20b"),
    ] {
        assert_eq!(parsed(given).as_str(), shown, "{given}");
    }
    assert_eq!(
        parsed("HTTP://u:p@h/ü").to_string(),
        "http://****:****@h/%C3%BC"
    );
}

#[test]
fn targets_are_valid_in_a_request_line() {
    assert_eq!(parsed("http://h").target(), "/");
    assert_eq!(parsed("http://h?q").target(), "/?q");
    assert_eq!(parsed("http://h/a b?c d").target(), "/a%20b?c d");
    assert_eq!(parsed("http://h/ü").target(), "/%C3%BC");
    assert_eq!(parsed("http://h/%41").target(), "/%41");
    assert_eq!(parsed("http://[::1]:80/").host(), "::1");
    assert_eq!(parsed("http://[::1]:80/").authority(), "[::1]:80");
    assert_eq!(parsed("http://h:/").authority(), "h");
    assert_eq!(
        parsed("http://bücher.example:81/").authority(),
        "xn--bcher-kva.example:81"
    );
}

#[test]
fn errors_contain_the_bad_url() {
    let reason = |text: &str| Url::parse(text).unwrap_err().reason;
    assert_eq!(
        reason("http://127.0.0.1:abc/"),
        "invalid port \":abc\" after host"
    );
    assert_eq!(
        reason("http://a b/"),
        "invalid character \" \" in host name"
    );
    assert_eq!(reason("http://[::1/"), "missing ']' in host");
    assert_eq!(reason("http://h/%zz"), "invalid URL escape \"%zz\"");
    assert_eq!(reason("http://exa%mple/"), "invalid URL escape \"%mp\"");
    assert_eq!(
        reason("http://h\n/"),
        "net/url: invalid control character in URL"
    );
    assert_eq!(reason(":x"), "missing protocol scheme");
    assert_eq!(
        reason("127.0.0.1:1/"),
        "first path segment in URL cannot contain colon"
    );
}

#[test]
fn unusable_urls_parse_but_fail_when_used() {
    let words = |text: &str| {
        let error = parsed(text).check_usable().unwrap_err();
        (error.code, error.message)
    };
    assert_eq!(words(""), (1000, "unsupported protocol scheme \"\"".into()));
    assert_eq!(
        words("localhost:1/x"),
        (1000, "unsupported protocol scheme \"localhost\"".into())
    );
    assert_eq!(
        words("http:///x"),
        (1000, "http: no Host in request URL".into())
    );
    assert_eq!(
        words("http://h:99999/"),
        (1210, "dial tcp: address 99999: invalid port".into())
    );
}

/// The examples of RFC 3986, sections 5.4.1 and 5.4.2.
#[test]
fn references_resolve_as_in_the_standard() {
    let base = parsed("http://a/b/c/d;p?q");
    for (reference, wanted) in [
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"),
        ("g#s", "http://a/b/c/g#s"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("g;x=1/../y", "http://a/b/c/y"),
        ("https://x/y", "https://x/y"),
    ] {
        assert_eq!(
            base.join(reference).unwrap().as_str(),
            wanted,
            "{reference}"
        );
    }
}

#[test]
fn origins_compare_with_default_ports() {
    assert!(parsed("http://h/a").same_origin(&parsed("http://H:80/b")));
    assert!(!parsed("http://h/").same_origin(&parsed("https://h:80/")));
}
