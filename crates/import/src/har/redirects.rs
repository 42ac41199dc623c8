//! Redirects: a browser records each request, but in a script one request follows redirects itself.

use crate::journey::{Request, Response};
use crate::url;

/// The number of redirects that a request in a script follows.
const MAX_REDIRECTS: usize = 10;

/// Merges the requests of a redirect chain into one request with the last response.
pub(super) fn merge(requests: &mut Vec<Request>) {
    let mut merged: Vec<Request> = Vec::with_capacity(requests.len());
    let mut hops = 0;
    // The redirect target of the previous request, if its response is a redirect.
    let mut target: Option<String> = None;
    for request in requests.drain(..) {
        let next = redirect(&request);
        let is_followed = target.as_deref() == request.url.literal() && hops < MAX_REDIRECTS;
        match merged
            .last_mut()
            .filter(|_| target.is_some() && is_followed)
        {
            Some(previous) => {
                hops += 1;
                follow(previous, request);
            }
            None => {
                hops = 0;
                merged.push(request);
            }
        }
        target = next;
    }
    for request in &mut merged {
        request.keeps_redirect = redirect(request).is_some();
    }
    *requests = merged;
}

/// The target of a redirect.
fn redirect(request: &Request) -> Option<String> {
    let response = request.response.as_ref()?;
    let location = response.header("location")?;
    let target = url::join(&response.url, location);
    let is_redirect = matches!(response.status, 301 | 302 | 303 | 307 | 308);
    is_redirect.then(|| target.split('#').next().unwrap_or_default().to_owned())
}

fn follow(previous: &mut Request, request: Request) {
    previous.notes.push(format!(
        "The response redirects to {}.",
        request.shown().trim_start_matches("GET ")
    ));
    previous.status = request.status;
    let mut last: Response = request.response.unwrap_or_default();
    if let Some(first) = previous.response.take() {
        // The jar contains the cookies of all responses.
        let cookies = first
            .headers
            .into_iter()
            .filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
        last.headers.extend(cookies);
    }
    previous.response = Some(last);
}
