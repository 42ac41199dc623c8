//! The path of the upstream request, after a route's rewrite.

use hyper::http::uri::{Authority, Parts, PathAndQuery, Scheme};
use hyper::{Uri, Version};

use crate::config::{Rewrite, Route, Wire};
use crate::path::normalized;
use crate::refusal::Refusal;

/// The target and the version of the request to the upstream.
pub fn target(
    uri: Uri,
    route: &Route,
    wire: Wire,
    encrypted: bool,
    authority: &str,
) -> Result<(Uri, Version), Refusal> {
    let mut parts: Parts = uri.into_parts();
    if route.rewrite != Rewrite::Keep {
        parts.path_and_query = parts
            .path_and_query
            .map(|path| rewrite(path, route))
            .transpose()?;
    }
    parts.scheme = None;
    parts.authority = None;
    let version = match wire {
        Wire::H1 => Version::HTTP_11,
        Wire::H2 => {
            parts.scheme = Some(if encrypted {
                Scheme::HTTPS
            } else {
                Scheme::HTTP
            });
            let authority = authority.parse::<Authority>();
            parts.authority = Some(authority.map_err(|_| Refusal::Bad("Host is not a host"))?);
            Version::HTTP_2
        }
    };
    let uri = Uri::from_parts(parts).map_err(|_| Refusal::Bad("the target is not a path"))?;
    Ok((uri, version))
}

/// Without its rewrite, a path would not match its route.
const ELSEWHERE: Refusal = Refusal::Bad("the path is written in a way that cannot be rewritten");

fn rewrite(asked: PathAndQuery, route: &Route) -> Result<PathAndQuery, Refusal> {
    let path = asked.path();
    let new = match &route.rewrite {
        Rewrite::Keep => return Ok(asked),
        Rewrite::Prefix(to) => {
            let prefix = route.prefix.as_deref().unwrap_or_default();
            // The route was selected by the decoded path.
            let rest = path.strip_prefix(prefix).ok_or(ELSEWHERE)?;
            let to = if rest.starts_with('/') {
                to.trim_end_matches('/')
            } else {
                to
            };
            format!("{to}{rest}")
        }
        Rewrite::Regex(pattern, to) => {
            let found = |path: &str| pattern.0.is_match(path);
            if !found(path) && found(&normalized(path)?) {
                return Err(ELSEWHERE);
            }
            pattern.0.replace(path, to.as_str()).into_owned()
        }
    };
    let new = match asked.query() {
        Some(query) => format!("{new}?{query}"),
        None => new,
    };
    // A replacement may give an invalid path, such as one without a slash.
    new.parse()
        .map_err(|_| Refusal::Bad("the rewritten path is none"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{HeaderRules, Pattern};

    fn route(prefix: &str, rewrite: Rewrite) -> Route {
        Route {
            name: "r".into(),
            entries: vec![],
            hosts: vec![],
            methods: vec![],
            prefix: Some(prefix.into()),
            regex: None,
            service: "s".into(),
            rewrite,
            request_headers: HeaderRules::default(),
            response_headers: HeaderRules::default(),
            rate_limit: None,
        }
    }

    fn rewritten(prefix: &str, rewrite: Rewrite, asked: &str) -> String {
        let route = route(prefix, rewrite);
        let (uri, _) = target(asked.parse().unwrap(), &route, Wire::H1, false, "").unwrap();
        uri.to_string()
    }

    #[test]
    fn prefixes_are_replaced_and_queries_kept() {
        let prefix = |to: &str| Rewrite::Prefix(to.into());
        assert_eq!(rewritten("/v1", prefix("/v2"), "/v1/x?q=1"), "/v2/x?q=1");
        assert_eq!(rewritten("/v1", prefix("/"), "/v1/x"), "/x");
        assert_eq!(rewritten("/v1", prefix("/"), "/v1"), "/");
        assert_eq!(rewritten("/v1", prefix("/v2"), "/v1?a"), "/v2?a");
        assert_eq!(rewritten("/v1/", prefix("/v2/"), "/v1/x"), "/v2/x");
        assert_eq!(rewritten("/", Rewrite::Keep, "/a%20b?c"), "/a%20b?c");
    }

    #[test]
    fn groups_are_put_in() {
        let pattern = Pattern(regex::Regex::new(r"^/u/(\d+)$").unwrap());
        let rewrite = Rewrite::Regex(pattern, "/users/$1/page".into());
        assert_eq!(
            rewritten("/", rewrite.clone(), "/u/12?x"),
            "/users/12/page?x"
        );
        assert_eq!(rewritten("/", rewrite, "/other"), "/other");
    }

    #[test]
    fn http2_requests_name_scheme_and_authority() {
        let asked: Uri = "/x?y".parse().unwrap();
        let (uri, version) = target(
            asked,
            &route("/", Rewrite::Keep),
            Wire::H2,
            true,
            "a.test:1",
        )
        .unwrap();
        assert_eq!(uri.to_string(), "https://a.test:1/x?y");
        assert_eq!(version, Version::HTTP_2);
    }
}
