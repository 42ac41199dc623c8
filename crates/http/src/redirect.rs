//! Redirects, and the `Referer` header of the request that follows one.

use std::rc::Rc;

use crate::error::{ErrorInfo, code};
use crate::head::Head;
use crate::method::Method;
use crate::url::Url;

/// The target and the method of a redirect.
#[derive(Debug)]
pub(crate) struct Redirect {
    pub(crate) url: Rc<Url>,
    pub(crate) method: Method,
    pub(crate) keeps_body: bool,
    /// Whether the target is another host, which must not receive credentials.
    pub(crate) leaves_host: bool,
    /// Whether the target is relative. Then the request keeps its overridden `Host`.
    pub(crate) keeps_host_field: bool,
}

/// The redirect that a response requests (RFC 9110, section 15.4), with the method changes that Go
/// makes. `None` if the response is not a redirect or names no target.
pub(crate) fn redirect_of(
    head: &Head,
    method: &Method,
    url: &Url,
) -> Result<Option<Redirect>, ErrorInfo> {
    let keeps_method = match head.status() {
        301..=303 => false,
        307 | 308 => true,
        _ => return Ok(None),
    };
    let Some(location) = head.get("location").filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let location = String::from_utf8_lossy(location);
    let target = url.join(&location).map_err(|error| {
        let reason = error.reason();
        let mut error = ErrorInfo::new(
            code::DEFAULT,
            format!("failed to parse Location header {location:?}: parse {location:?}: {reason}"),
        );
        error.of_redirect = true;
        error
    })?;
    let new_method = match method {
        Method::Get | Method::Head => method.clone(),
        _ if keeps_method => method.clone(),
        _ => Method::Get,
    };
    Ok(Some(Redirect {
        leaves_host: !same_or_below(url.host(), target.host()),
        keeps_host_field: location.starts_with('/') && !location.starts_with("//"),
        url: Rc::new(target),
        method: new_method,
        keeps_body: keeps_method,
    }))
}

/// The `Referer` of a request that was redirected from `from`. It is not sent from https to http,
/// and it contains no credentials (RFC 9110, section 10.1.3).
pub(crate) fn referer(from: &Url, to: &Url) -> Option<String> {
    if from.is_https() && !to.is_https() {
        return None;
    }
    Some(format!(
        "{}://{}{}",
        from.scheme(),
        from.authority(),
        from.target()
    ))
}

/// Whether `to` is `from` or a subdomain of it.
fn same_or_below(from: &str, to: &str) -> bool {
    let (from, to) = (from.to_ascii_lowercase(), to.to_ascii_lowercase());
    to == from
        || to
            .strip_suffix(&from)
            .is_some_and(|rest| rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::Proto;

    fn follow(status: u16, method: Method, location: &str) -> Option<Redirect> {
        let fields = [("Location", location.as_bytes())];
        let head = Head::from_parts(Proto::Http11, status, fields.into_iter()).unwrap();
        let url = Url::parse("http://u:p@example.com/a?b").unwrap();
        redirect_of(&head, &method, &url).unwrap()
    }

    #[test]
    fn methods_change_as_in_go() {
        let method =
            |status, method| follow(status, method, "/x").map(|r| (r.method, r.keeps_body));
        for status in [301, 302, 303] {
            assert_eq!(method(status, Method::Post), Some((Method::Get, false)));
            assert_eq!(method(status, Method::Delete), Some((Method::Get, false)));
            assert_eq!(method(status, Method::Head), Some((Method::Head, false)));
        }
        for status in [307, 308] {
            assert_eq!(method(status, Method::Post), Some((Method::Post, true)));
        }
        assert_eq!(method(304, Method::Get), None);
        assert_eq!(method(200, Method::Get), None);
        assert!(follow(302, Method::Get, "").is_none());
    }

    #[test]
    fn other_hosts_receive_no_credentials() {
        let leaves = |location| follow(302, Method::Get, location).unwrap().leaves_host;
        assert!(!leaves("/x"));
        assert!(!leaves("https://EXAMPLE.com:9/"));
        assert!(!leaves("http://a.example.com/"));
        assert!(leaves("http://badexample.com/"));
        assert!(leaves("http://com/"));
    }

    #[test]
    fn referers_omit_credentials_and_secure_origins() {
        let url = |text| Url::parse(text).unwrap();
        let (plain, secure) = (url("http://u:p@h/x?y#z"), url("https://h/"));
        assert_eq!(referer(&plain, &secure).unwrap(), "http://h/x?y");
        assert_eq!(referer(&secure, &plain), None);
    }

    #[test]
    fn a_bad_target_is_an_error() {
        let fields = [("Location", &b"http://%zz/"[..])];
        let head = Head::from_parts(Proto::Http11, 302, fields.into_iter()).unwrap();
        let url = Url::parse("http://h/").unwrap();
        let error = redirect_of(&head, &Method::Get, &url).unwrap_err();
        assert!(
            error
                .message
                .starts_with("failed to parse Location header \"http://%zz/\": parse")
        );
    }
}
