use crate::cookie::CookieJar;
use crate::request::{Request, RequestCookie};
use crate::url::Url;

/// The value of the `Cookie` field: first the request's own header field, then the request's
/// cookies, and then those of the jar. Empty if there are no cookies.
pub(crate) fn cookie_header(
    request: &Request,
    own_field: Option<&str>,
    jar: Option<&CookieJar>,
    url: &Url,
) -> String {
    if request.cookies.is_empty() && jar.is_none_or(CookieJar::is_empty) && own_field.is_none() {
        return String::new();
    }
    let mut out = own_field.unwrap_or_default().to_owned();
    for cookie in &request.cookies {
        push(&mut out, &cookie.name, &cookie.value);
    }
    let replaced = |name: &str| {
        let by = |cookie: &RequestCookie| cookie.replace && cookie.name == name;
        request.cookies.iter().any(by)
    };
    if let Some(jar) = jar.filter(|jar| !jar.is_empty()) {
        for (name, value) in jar.cookies_for_url(url) {
            if !replaced(&name) {
                push(&mut out, &name, &value);
            }
        }
    }
    out
}

fn push(out: &mut String, name: &str, value: &str) {
    if !out.is_empty() {
        out.push_str("; ");
    }
    out.extend(name.chars().filter(|&c| !matches!(c, '\r' | '\n')));
    out.push('=');
    // Follow RFC 6265, section 4.1.1, as Go implements it: omit forbidden bytes, and quote a value with
    // a space or a comma.
    let allowed = |c: char| (' '..='~').contains(&c) && !matches!(c, '"' | ';' | '\\');
    let quote = value.contains([' ', ',']);
    if quote {
        out.push('"');
    }
    out.extend(value.chars().filter(|&c| allowed(c)));
    if quote {
        out.push('"');
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::{Cookie, Method};

    #[test]
    fn request_cookies_come_first_and_may_replace_those_of_the_jar() {
        let url = Rc::new(Url::parse("http://h/").unwrap());
        let jar = CookieJar::new();
        for (name, value) in [("a", "jar"), ("b", "jar")] {
            jar.set(
                &url,
                &Cookie {
                    name: name.into(),
                    value: value.into(),
                    ..Cookie::default()
                },
            );
        }
        let mut request = Request::new(Method::Get, url.clone());
        let own = |name: &str, value: &str, replace| RequestCookie {
            name: name.into(),
            value: value.into(),
            replace,
        };
        request.cookies = vec![own("a", "v 1", true), own("b", "x;\ny", false)];
        assert_eq!(
            cookie_header(&request, Some("raw=1"), Some(&jar), &url),
            "raw=1; a=\"v 1\"; b=xy; b=jar"
        );
        request.cookies.clear();
        assert_eq!(cookie_header(&request, None, None, &url), "");
    }
}
