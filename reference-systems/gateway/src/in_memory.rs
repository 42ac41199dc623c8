//! An entry point for fuzz targets: it returns what the gateway would send to an upstream for a request. Only
//! fuzz targets may use it.

use std::path::Path;

use hyper::header::HeaderValue;
use hyper::http::request::Parts;

use crate::config::{self, Forwarded};
use crate::forwarding::Client;
use crate::plan::Plan;
use crate::refusal::Refusal;
use crate::{admission, path, proxy};

/// A gateway with one configuration.
pub struct Routing(Plan);

impl Routing {
    /// Reads a configuration.
    ///
    /// # Errors
    /// If the configuration is invalid.
    pub fn new(configuration: &str) -> Result<Routing, String> {
        let config = config::read(configuration, Path::new("text"))?;
        Ok(Routing(Plan::new(config, None, 1)))
    }

    /// The path that selects the route, and the request that the gateway would send to the upstream.
    ///
    /// # Errors
    /// The status that the gateway would send.
    pub fn forward(&self, request: Parts) -> Result<(String, Parts), u16> {
        self.read(request)
            .map_err(|refusal| refusal.status.as_u16())
    }

    fn read(&self, mut head: Parts) -> Result<(String, Parts), Refusal> {
        let client = Client {
            address: HeaderValue::from_static("192.0.2.1"),
            encrypted: false,
            forwarded: Forwarded::Append,
        };
        let host = admission::check(&head)?.host;
        let path = path::normalized(head.uri.path())?.into_owned();
        let route = proxy::find(&self.0, "", &head, host.as_ref())?;
        admission::wants_upgrade(head.version, &head.headers);
        proxy::change(&mut head, route, &client, host.as_ref())?;
        Ok((path, head))
    }
}
