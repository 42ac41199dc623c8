//! Calls the API of a run in another process.

use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::web_address::WebAddress;

/// A client of a run's API.
pub struct Client {
    address: WebAddress,
    token: Option<String>,
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientError(String);

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ClientError {}

/// Time limit of each read and write.
const IO_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum length of a response in bytes.
const MAX_RESPONSE_LENGTH: u64 = 64 << 20;

impl Client {
    /// Creates a client of the API at that address.
    pub fn new(address: WebAddress, token: Option<String>) -> Client {
        Client {
            address,
            token: token.filter(|token| !token.is_empty()),
        }
    }

    /// Returns the `data` of the response to a `GET`.
    ///
    /// # Errors
    /// If there is no run at the address, or it refuses the request.
    pub fn get(&self, path: &str) -> Result<Value, ClientError> {
        self.call("GET", path, None)
    }

    /// Changes attributes of the run's status, and returns the new status.
    ///
    /// # Errors
    /// If there is no run at the address, or it refuses the change.
    pub fn change(&self, attributes: Value) -> Result<Value, ClientError> {
        let body = json!({ "data": {
            "type": "status",
            "id": "default",
            "attributes": attributes,
        }});
        self.call("PATCH", "/v1/status", Some(&body))
    }

    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, ClientError> {
        let (host, port) = self.address.host_and_port();
        let text = self.exchange(method, path, body).map_err(|error| {
            let hint = match error.kind() {
                ErrorKind::ConnectionRefused => {
                    ". Is a run with --address in progress? --address names another address"
                }
                _ => "",
            };
            ClientError(format!("could not reach {host}:{port}: {error}{hint}"))
        })?;
        let strange = || ClientError(format!("{host}:{port} is not the API of a run"));
        let (headers, content) = text.split_once("\r\n\r\n").ok_or_else(strange)?;
        let status = headers.split(' ').nth(1).unwrap_or_default();
        let mut content: Value = match serde_json::from_str(content) {
            Ok(content) => content,
            Err(_) if status == "401" => {
                return Err(ClientError(format!(
                    "{host}:{port} requires a token: set PLIMSOLL_WEB_TOKEN"
                )));
            }
            Err(_) => return Err(strange()),
        };
        if let Some(detail) = content.pointer("/errors/0/detail").and_then(Value::as_str) {
            return Err(ClientError(detail.to_owned()));
        }
        match content.get_mut("data") {
            Some(data) if status == "200" => Ok(data.take()),
            _ => Err(strange()),
        }
    }

    fn exchange(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<String, std::io::Error> {
        let (host, port) = self.address.host_and_port();
        let mut stream = TcpStream::connect((host, port))?;
        stream.set_read_timeout(Some(IO_TIMEOUT))?;
        stream.set_write_timeout(Some(IO_TIMEOUT))?;
        let authorization = self.token.as_ref();
        let authorization = authorization.map(|token| format!("Authorization: Bearer {token}\r\n"));
        let body = body.map(Value::to_string).unwrap_or_default();
        let bracketed = if host.contains(':') {
            format!("[{host}]")
        } else {
            host.to_owned()
        };
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {bracketed}:{port}\r\n{}\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            authorization.unwrap_or_default(),
            body.len()
        )?;
        let mut text = Vec::new();
        stream.take(MAX_RESPONSE_LENGTH).read_to_end(&mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}
