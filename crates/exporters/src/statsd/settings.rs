//! The settings of k6's former StatsD output.

use std::io;
use std::net::{ToSocketAddrs, UdpSocket};
use std::time::Duration;

use crate::settings::Variables;

/// Time limit for waiting for space in the send buffer.
const TIMEOUT: Duration = Duration::from_millis(100);

/// The parsed settings.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `HOST:PORT`.
    pub address: String,
    /// The prefix of metric names.
    pub namespace: String,
    /// The interval between datagrams with sums.
    pub interval: Duration,
    /// Whether to add tags, in DogStatsD's format.
    pub has_tags: bool,
    /// Tags to omit.
    pub blocked: Vec<String>,
}

impl Settings {
    /// Parses the argument, `HOST:PORT`, and the environment variables. The argument takes precedence.
    ///
    /// # Errors
    /// If a value is invalid.
    pub fn parse(argument: &str, variables: Variables<'_>) -> Result<Settings, String> {
        let address = match argument {
            "" => variables.text("K6_STATSD_ADDR").unwrap_or("localhost:8125"),
            address => address,
        };
        let port = address
            .rsplit_once(':')
            .filter(|(host, _)| !host.is_empty());
        if port.is_none_or(|(_, port)| port.parse::<u16>().is_err()) {
            return Err(format!(
                "{address}: use HOST:PORT, for example localhost:8125"
            ));
        }
        let blocked = variables
            .text("K6_STATSD_TAG_BLOCKLIST")
            .unwrap_or("vu,iter,url");
        Ok(Settings {
            address: address.to_owned(),
            namespace: variables
                .text("K6_STATSD_NAMESPACE")
                .unwrap_or("k6.")
                .to_owned(),
            interval: variables.duration("K6_STATSD_PUSH_INTERVAL", Duration::from_secs(1))?,
            has_tags: variables.boolean("K6_STATSD_ENABLE_TAGS", false)?,
            blocked: blocked
                .split(',')
                .map(|tag| tag.trim().to_owned())
                .collect(),
        })
    }

    /// Creates a UDP socket that is connected to the receiver.
    ///
    /// # Errors
    /// If the host name cannot be resolved, or if the system refuses a socket.
    pub fn connect(&self) -> io::Result<UdpSocket> {
        let mut last = io::Error::other(format!("{} has no address", self.address));
        for address in self.address.to_socket_addrs()? {
            let local = if address.is_ipv4() {
                "0.0.0.0:0"
            } else {
                "[::]:0"
            };
            let connected = UdpSocket::bind(local).and_then(|socket| {
                socket.connect(address)?;
                socket.set_write_timeout(Some(TIMEOUT))?;
                Ok(socket)
            });
            match connected {
                Ok(socket) => return Ok(socket),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_need_a_port() {
        let parse = |argument| Settings::parse(argument, Variables::new(&[]));
        assert_eq!(parse("").expect("the default").address, "localhost:8125");
        assert!(parse("[::1]:8125").is_ok());
        assert!(parse("localhost").is_err());
        assert!(parse(":8125").is_err());
        assert!(parse("localhost:x").is_err());
    }
}
