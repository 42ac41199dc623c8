//! The client side of a case: channels, messages as JSON, and checks of a response.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use plimsoll_grpc::{
    Call, Channel, Code, Compression, Endpoint, Framed, Limits, Metadata, Method, Reply, Schema,
    Source, Status, Template,
};
use plimsoll_net::{Network, NetworkSettings, TlsSettings};
use serde_json::Value;

/// Reasons why a case did not end as expected.
#[derive(Debug)]
pub enum Fault {
    /// A fault, described in a sentence.
    Wrong(String),
    /// The server does not support the tested feature, and reports that.
    Lacking(&'static str),
}

pub type Ended = Result<(), Fault>;

pub fn wrong<T>(what: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Wrong(what.into()))
}

/// Returns a fault unless the condition holds.
pub fn holds(is_so: bool, what: impl FnOnce() -> String) -> Ended {
    if is_so { Ok(()) } else { wrong(what()) }
}

/// A server and its schema.
pub struct Peer {
    endpoint: Endpoint,
    network: Rc<Network>,
    schema: Schema,
    /// The channel that the cases share.
    shared: RefCell<Option<Rc<Channel>>>,
}

/// Options of a call.
#[derive(Clone, Default)]
pub struct How {
    pub metadata: Metadata,
    pub timeout: Option<Duration>,
    /// The compression that the headers announce.
    pub compression: Compression,
}

struct OneFile;

impl Source for OneFile {
    fn read(&self, name: &str) -> Option<String> {
        (name == "interop.proto").then(|| include_str!("interop.proto").to_owned())
    }
}

impl Peer {
    /// The server at `address`. With TLS, requires an authority's certificate (PEM) and the name in the
    /// server's certificate.
    pub fn new(address: &str, tls: Option<(&[u8], &str)>) -> Result<Peer, String> {
        let mut endpoint = Endpoint::parse(address, tls.is_some())?;
        let mut settings = NetworkSettings::default();
        if let Some((authority, name)) = tls {
            endpoint = endpoint.with_authority(name);
            settings.tls = TlsSettings {
                extra_roots: vec![authority.to_vec()],
                ..TlsSettings::default()
            };
        }
        let mut schema = Schema::new();
        schema
            .compile(&["interop.proto".to_owned()], OneFile)
            .map_err(|error| error.to_string())?;
        Ok(Peer {
            endpoint,
            network: Rc::new(Network::new(settings)),
            schema,
            shared: RefCell::default(),
        })
    }

    /// A separate channel.
    pub fn new_channel(&self) -> Rc<Channel> {
        Rc::new(Channel::new(
            self.endpoint.clone(),
            Rc::clone(&self.network),
            None,
            Rc::default(),
            Limits::default(),
        ))
    }

    /// The channel that most calls share.
    pub fn channel(&self) -> Rc<Channel> {
        let mut shared = self.shared.borrow_mut();
        Rc::clone(shared.get_or_insert_with(|| self.new_channel()))
    }

    pub fn method(&self, name: &str) -> Result<Method, Fault> {
        let path = match name.contains('/') {
            true => format!("grpc.testing.{name}"),
            false => format!("grpc.testing.TestService/{name}"),
        };
        let method = self.schema.method(&path);
        method.map_or_else(|| wrong(format!("{path} does not exist")), Ok)
    }

    fn template(&self, method: &Method, how: &How) -> Result<Template, Fault> {
        Template::new(
            &self.endpoint,
            &method.path(),
            &how.metadata,
            "plimsoll-interop",
            how.timeout,
            how.compression,
        )
        .map_err(Fault::Wrong)
    }

    /// Makes a call with one message in each direction, compressed according to `how`.
    pub async fn unary(
        &self,
        channel: &Channel,
        name: &str,
        json: &str,
        packing: Compression,
        how: &How,
    ) -> Result<Reply, Fault> {
        let method = self.method(name)?;
        let message = framed(&method, json, packing)?;
        let template = self.template(&method, how)?;
        Ok(channel
            .unary(&template, &message, plimsoll_clock::now())
            .await)
    }

    /// Opens a streaming call.
    pub async fn open(
        &self,
        name: &str,
        how: &How,
    ) -> Result<(Method, Result<Call, Status>), Fault> {
        let method = self.method(name)?;
        let template = self.template(&method, how)?;
        let call = self.channel().open(&template, plimsoll_clock::now()).await;
        Ok((method, call))
    }
}

/// Encodes a message that is given as JSON.
pub fn framed(method: &Method, json: &str, packing: Compression) -> Result<Framed, Fault> {
    let bytes = method.input().encode(json);
    let bytes = bytes.map_err(|error| Fault::Wrong(format!("{json}: {error}")))?;
    Framed::new(&bytes, packing, usize::MAX).map_err(|status| Fault::Wrong(status.to_string()))
}

/// A response message as JSON.
pub fn read(method: &Method, bytes: &[u8]) -> Result<Value, Fault> {
    let text = method.output().to_json(bytes);
    let text = text.map_err(|error| Fault::Wrong(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| Fault::Wrong(format!("{text}: {error}")))
}

/// `count` zeros, as JSON encodes bytes.
pub fn zeros(count: usize) -> String {
    let ending = ["", "AA==", "AAA="];
    "A".repeat(count / 3 * 4) + ending[count % 3]
}

/// Checks that the payload of a message is `count` zeros.
pub fn check_payload(message: &Value, count: usize) -> Ended {
    let body = message["payload"]["body"].as_str().unwrap_or_default();
    holds(body == zeros(count), || {
        format!(
            "the payload is {} characters of Base64, not {count} zeros",
            body.len()
        )
    })
}

pub fn check_code(status: &Status, code: Code) -> Ended {
    holds(status.code == code, || {
        format!("{status} instead of {code}")
    })
}
