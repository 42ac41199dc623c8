//! The URL to which requests are sent, with headers and TLS settings.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use plimsoll_http::Url;
use plimsoll_net::TlsSettings;

/// The destination of requests.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The URL, without user name and password.
    pub url: String,
    /// The headers of each request.
    pub headers: Vec<(String, String)>,
    pub tls: TlsSettings,
    /// How to make the system trust the receiver's certificate, for error messages.
    pub trust: &'static str,
    /// The protocol of requests.
    pub protocol: Protocol,
}

/// The protocol of requests, which determines the responses that mean success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// POST requests. A status from 200 to 299 means that the receiver accepted everything.
    Post,
    /// POST requests whose response may be an OTLP message about rejected values.
    OtlpPost,
    /// OTLP calls of this gRPC method.
    OtlpCall(&'static str),
}

impl Endpoint {
    /// Creates an endpoint without additional headers.
    ///
    /// # Errors
    /// If `url` is not a valid HTTP URL.
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

    /// Adds a header.
    pub fn add(&mut self, name: &str, value: &str) {
        self.headers.push((name.to_owned(), value.to_owned()));
    }

    /// The URL for messages, without its query, which may contain secrets.
    pub fn shown(&self) -> &str {
        self.url
            .split_once('?')
            .map_or(&self.url, |(shown, _)| shown)
    }

    /// Returns a warning if nothing accepts connections on the address.
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
