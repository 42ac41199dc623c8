//! Sends requests to one receiver, one at a time, with the generator's own clients.

use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use plimsoll_grpc::{Channel, Code, Compression, Framed, Limits, Metadata, Template};
use plimsoll_http::{Client, Exchange, Fields, Method, Request, Settings, Shared, Url};
use plimsoll_net::{Network, NetworkSettings};
use tokio::runtime::{Builder, Runtime};
use tokio::task::LocalSet;

use crate::endpoint::{Endpoint, Protocol};
use crate::otlp_response::rejection;

/// Time limit for one request.
pub const TIMEOUT: Duration = Duration::from_secs(5);
const USER_AGENT: &str = concat!("plimsoll/", env!("CARGO_PKG_VERSION"));

/// Why the receiver did not accept a request.
pub struct Refusal {
    pub reason: String,
    /// Whether the receiver would refuse the same request again.
    pub is_final: bool,
}

impl Refusal {
    /// The failure of a request without a response. Another attempt cannot help if the certificate is not trusted.
    fn without_response(reason: String, endpoint: &Endpoint) -> Refusal {
        let is_about_certificate = reason.contains("x509:");
        Refusal {
            reason: match endpoint.trust {
                trust if is_about_certificate && !trust.is_empty() => format!("{reason}; {trust}"),
                _ => reason,
            },
            is_final: is_about_certificate,
        }
    }

    fn last(reason: String) -> Refusal {
        Refusal {
            reason,
            is_final: true,
        }
    }
}

/// A connection to a receiver. It is opened again after it was lost.
pub struct Connection {
    runtime: Runtime,
    tasks: LocalSet,
    client: ClientKind,
}

enum ClientKind {
    Http(Box<Client>),
    /// A gRPC client, and the method to call.
    Grpc(Box<Channel>, &'static str),
}

impl Connection {
    /// Creates a connection, which is opened by the first request.
    ///
    /// # Errors
    /// If the address is invalid, or if the system refuses a resource.
    pub fn new(endpoint: &Endpoint) -> Result<Connection, String> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error: io::Error| error.to_string())?;
        let network = NetworkSettings {
            tls: endpoint.tls.clone(),
            ..NetworkSettings::default()
        };
        let entered = runtime.enter();
        let client = if let Protocol::OtlpCall(method) = endpoint.protocol {
            let server = plimsoll_grpc::Endpoint::parse(&endpoint.url, true)?;
            let network = Rc::new(Network::new(network));
            let limits = Limits {
                connect: TIMEOUT,
                ..Limits::default()
            };
            let channel = Channel::new(server, network, None, Rc::default(), limits);
            ClientKind::Grpc(Box::new(channel), method)
        } else {
            let settings = Settings {
                user_agent: USER_AGENT.to_owned(),
                max_redirects: 0,
                max_body: 1 << 20,
                network,
                ..Settings::default()
            };
            let shared = Shared::new(Arc::new(settings));
            ClientKind::Http(Box::new(Client::new(shared, 1)))
        };
        drop(entered);
        Ok(Connection {
            runtime,
            tasks: LocalSet::new(),
            client,
        })
    }

    /// Sends a request and waits for the response.
    ///
    /// # Errors
    /// Why the receiver did not accept it.
    pub fn send(&self, endpoint: &Endpoint, body: Bytes) -> Result<(), Refusal> {
        match &self.client {
            ClientKind::Http(client) => {
                let posted = post(client, endpoint, body);
                self.tasks.block_on(&self.runtime, posted)
            }
            ClientKind::Grpc(channel, method) => {
                let called = call(channel, method, endpoint, &body);
                self.tasks.block_on(&self.runtime, called)
            }
        }
    }
}

async fn post(client: &Client, endpoint: &Endpoint, body: Bytes) -> Result<(), Refusal> {
    let url = Url::parse(&endpoint.url).map_err(|error| Refusal::last(error.to_string()))?;
    let mut request = Request::new(Method::Post, Rc::new(url));
    let mut fields = Fields::new();
    for (name, value) in &endpoint.headers {
        fields.set(name, value).map_err(Refusal::last)?;
    }
    request.headers = fields;
    request.body = body;
    request.timeout = TIMEOUT;
    let mut uncounted = |_: &Exchange| {};
    let sent = client.send(&request, None, &mut uncounted).await;
    let response = sent.map_err(|failure| {
        Refusal::without_response(failure.error.message.to_string(), endpoint)
    })?;
    match response.status {
        200..=299 if endpoint.protocol == Protocol::OtlpPost => accepted(&response.body),
        200..=299 => Ok(()),
        status => {
            let text = String::from_utf8_lossy(&response.body);
            let text: String = text.trim().chars().take(300).collect();
            Err(Refusal {
                reason: format!("it responded {status} {text}")
                    .trim_end()
                    .to_owned(),
                // A request is sent again if the server may accept it later, but not if it never will.
                is_final: status < 500 && status != 429,
            })
        }
    }
}

async fn call(
    channel: &Channel,
    method: &str,
    endpoint: &Endpoint,
    body: &[u8],
) -> Result<(), Refusal> {
    let mut metadata = Metadata::new();
    for (name, value) in &endpoint.headers {
        let added = metadata.append(&name.to_ascii_lowercase(), value.as_bytes());
        added.map_err(Refusal::last)?;
    }
    let template = Template::new(
        channel.endpoint(),
        method,
        &metadata,
        USER_AGENT,
        Some(TIMEOUT),
        Compression::Identity,
    )
    .map_err(Refusal::last)?;
    let framed = Framed::new(body, Compression::Identity, usize::MAX)
        .map_err(|status| Refusal::last(status.message))?;
    let reply = channel
        .unary(&template, &framed, plimsoll_clock::now())
        .await;
    let status = &reply.status;
    if status.code.is_ok() {
        return accepted(reply.message.as_deref().unwrap_or_default());
    }
    if !reply.has_response() && status.code == Code::UNAVAILABLE {
        return Err(Refusal::without_response(status.message.clone(), endpoint));
    }
    // According to OTLP, requests with these codes may succeed later.
    let is_temporary = [
        Code::CANCELED,
        Code::DEADLINE_EXCEEDED,
        Code::RESOURCE_EXHAUSTED,
        Code::ABORTED,
        Code::OUT_OF_RANGE,
        Code::UNAVAILABLE,
        Code::DATA_LOSS,
    ]
    .contains(&status.code);
    let name = status.code.name().unwrap_or("an unknown code");
    Err(Refusal {
        reason: format!("it responded {name}: {}", status.message),
        is_final: !is_temporary,
    })
}

fn accepted(response: &[u8]) -> Result<(), Refusal> {
    rejection(response).map_or(Ok(()), |reason| Err(Refusal::last(reason)))
}
