//! The URL to which requests are sent.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use plimsoll_http::Url;
use plimsoll_net::TlsSettings;

/// The URL to which requests are sent.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The URL, without user and password.
    pub url: String,
    /// Header fields of each request.
    pub headers: Vec<(String, String)>,
    /// How connections are secured.
    pub tls: TlsSettings,
    /// How to make a receiver trusted whose certificate is not.
    pub trust: &'static str,
    /// How requests are sent.
    pub protocol: Protocol,
}

/// The protocol for sending requests, and the responses that mean success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// POST requests. A status from 200 to 299 means that everything was accepted.
    Post,
    /// The same, but the response may be an OTLP message about values that were rejected.
    OtlpPost,
    /// OTLP calls of this method over gRPC.
    OtlpCall(&'static str),
}

impl Endpoint {
    /// An endpoint without additional header fields.
    ///
    /// # Errors
    /// When `url` is not an HTTP URL.
    pub fn new(url: &str) -> Result<Endpoint, String> {
        let parsed = Url::parse(url).map_err(|error| format!("{url}: {error}"))?;
        parsed
            .check_usable()
            .map_err(|error| format!("{url}: {}", error.message))?;
        let mut endpoint = Endpoint {
            url: parsed.without_userinfo().into_owned(),
            headers: Vec::new(),
            tls: TlsSettings::default(),
            trust: "",
            protocol: Protocol::Post,
        };
        if let Some(user) = parsed.userinfo() {
            endpoint.log_in(&user.name, user.password.as_deref().unwrap_or_default());
        }
        Ok(endpoint)
    }

    /// Adds HTTP basic authentication (RFC 7617).
    pub fn log_in(&mut self, user: &str, password: &str) {
        let credentials = STANDARD.encode(format!("{user}:{password}"));
        self.add("Authorization", &format!("Basic {credentials}"));
    }

    /// Adds a header field.
    pub fn add(&mut self, name: &str, value: &str) {
        self.headers.push((name.to_owned(), value.to_owned()));
    }

    /// The URL as shown: without its query, which may hold secrets.
    pub fn shown(&self) -> &str {
        self.url
            .split_once('?')
            .map_or(&self.url, |(shown, _)| shown)
    }

    /// A warning if nothing accepts connections there.
    pub fn warning(&self, patience: Duration) -> Option<String> {
        let error = self.connect(patience).err()?;
        Some(format!(
            "output {}: cannot connect: {error}; the run continues, and samples are sent once the connection works",
            self.shown()
        ))
    }

    fn connect(&self, patience: Duration) -> io::Result<()> {
        let url = Url::parse(&self.url).map_err(|error| io::Error::other(error.to_string()))?;
        let mut last = io::Error::other(format!("{} has no address", url.host()));
        for address in (url.host(), url.port()).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, patience) {
                Ok(_) => return Ok(()),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}
