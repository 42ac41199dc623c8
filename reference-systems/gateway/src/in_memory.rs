//! An entry point for fuzz targets: it reads the requests of a connection without a socket, and stops before an
//! upstream would be chosen. Nothing else may use it.

use std::cell::RefCell;
use std::convert::Infallible;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

use crate::config::{self, Forwarded};
use crate::forwarding::{self, Client};
use crate::plan::Plan;
use crate::refusal::Refusal;
use crate::{admission, path, rewriting};

/// A gateway of one configuration.
pub struct Routing {
    plan: Plan,
    client: Client,
}

/// A request as the gateway would send it to an upstream.
#[derive(Debug, PartialEq, Eq)]
pub struct Passed {
    /// The path by which the route was found.
    pub path: String,
    /// The path and the query that would be requested from the upstream.
    pub target: String,
    /// The names of the header fields that would be sent to the upstream.
    pub fields: Vec<String>,
}

impl Routing {
    /// # Errors
    /// If the configuration is invalid.
    pub fn new(configuration: &str) -> Result<Routing, String> {
        let config = config::check(configuration).map_err(|invalid| invalid.to_string())?;
        Ok(Routing {
            plan: Plan::new(config, None, 1),
            client: Client {
                address: HeaderValue::from_static("192.0.2.1"),
                encrypted: false,
                forwarded: Forwarded::Append,
            },
        })
    }

    /// Reads `bytes` as all that a client of HTTP/1.1 sends on one connection. Returns each request as an upstream
    /// would be sent it, or the status that the gateway would send.
    pub async fn read_connection(&self, bytes: &[u8]) -> Vec<Result<Passed, u16>> {
        let (ours, theirs) = duplex(1 << 14);
        let read = RefCell::new(Vec::new());
        let service = service_fn(async |request: Request<Incoming>| {
            let (head, body) = request.into_parts();
            let passed = self.read(head);
            read.borrow_mut()
                .push(passed.map_err(|refusal| refusal.status().as_u16()));
            // The next request begins where this one's body ends.
            let _ = body.collect().await;
            Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new()))
        });
        let server = http1::Builder::new()
            // The client has sent everything, and still waits for the responses.
            .half_close(true)
            .max_buf_size(self.plan.config.limits.head as usize)
            .serve_connection(TokioIo::new(ours), service);
        let client = async {
            let (mut answers, mut requests) = tokio::io::split(theirs);
            let sending = async {
                let _ = requests.write_all(bytes).await;
                let _ = requests.shutdown().await;
            };
            let mut responded = Vec::new();
            tokio::join!(sending, answers.read_to_end(&mut responded))
        };
        let _ = tokio::join!(server, client);
        read.into_inner()
    }

    fn read(&self, mut head: hyper::http::request::Parts) -> Result<Passed, Refusal> {
        let asked = admission::check(&head)?;
        let path = path::normalized(head.uri.path())?.into_owned();
        let route = self
            .plan
            .route("", asked.host.as_ref(), &head.method, &path)
            .ok_or(Refusal::NoRoute)?;
        admission::wants_upgrade(head.version, &head.headers);
        forwarding::rounds(&head.headers);
        let upstream = &route.service.upstream.settings;
        let host = asked.host.as_ref();
        forwarding::to_upstream(
            &mut head.headers,
            head.version,
            &self.client,
            host,
            upstream.wire,
        );
        forwarding::apply(&route.settings.request_headers, &mut head.headers);
        let authority = host.and_then(|host| host.to_str().ok()).unwrap_or("a");
        let (uri, _) =
            rewriting::target(head.uri, &route.settings, upstream.wire, false, authority)?;
        Ok(Passed {
            path,
            target: uri
                .path_and_query()
                .map_or_else(String::new, ToString::to_string),
            fields: head.headers.keys().map(ToString::to_string).collect(),
        })
    }
}
