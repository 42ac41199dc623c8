use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;

use crate::encode::{HeadParts, write_head};
use crate::error::ErrorInfo;
use crate::h2_connection::request_of;
use crate::method::Method;
use crate::proxy::plain_proxy;
use crate::request::Request;
use crate::settings::{Protocol, Settings};
use crate::url::Url;

/// A request encoded once, to be sent many times as it is: no redirects, no
/// cookies, the body of the answer counted and not kept.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(crate) method: Method,
    pub(crate) url: Rc<Url>,
    /// Head, and body where it is small enough to go in the same buffer.
    pub(crate) head: Bytes,
    pub(crate) body: Bytes,
    pub(crate) timeout: Duration,
    pub(crate) protocol: Protocol,
    /// The same in the form of HTTP/2.
    pub(crate) request: http_types::Request<()>,
    pub(crate) whole_body: Bytes,
    pub(crate) head_length: usize,
}

/// Bodies up to this size are joined to their head and written in one piece.
pub(crate) const JOINED_BODY: usize = 8 * 1024;

impl Prepared {
    /// Encodes a request.
    ///
    /// # Errors
    /// When the URL cannot be used.
    pub fn new(request: &Request, settings: &Settings) -> Result<Self, ErrorInfo> {
        request.url.check_usable()?;
        let mut head = Vec::new();
        let authorization = crate::auth::basic_of(&request.url);
        let parts = HeadParts {
            method: &request.method,
            url: &request.url,
            fields: &request.headers,
            user_agent: &settings.user_agent,
            body_length: request.body.len(),
            cookies: request.headers.get("cookie").unwrap_or_default(),
            authorization: authorization.as_deref(),
            close: settings.no_connection_reuse,
            proxy: plain_proxy(&settings.proxies, &request.url),
        };
        write_head(&mut head, &parts);
        let head_length = head.len();
        let mut body = request.body.clone();
        if body.len() <= JOINED_BODY {
            head.extend_from_slice(&body);
            body.clear();
        }
        Ok(Prepared {
            method: request.method.clone(),
            url: request.url.clone(),
            head: head.into(),
            body,
            timeout: request.timeout,
            protocol: request.protocol.unwrap_or(settings.protocol),
            request: request_of(&parts)?,
            whole_body: request.body.clone(),
            head_length,
        })
    }

    pub fn url(&self) -> &Rc<Url> {
        &self.url
    }

    pub fn method(&self) -> &Method {
        &self.method
    }
}
