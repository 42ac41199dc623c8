//! The settings of QUIC connections: TLS, address and timeout.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;

use crate::error::{Error, TlsError};
use crate::network::{Network, Steps};
use crate::tls::Alpn;

impl Network {
    /// The TLS configuration for HTTP/3 to `host`.
    ///
    /// # Errors
    /// If the settings do not allow QUIC.
    pub fn quic_tls(&self, host: &str) -> Result<Arc<ClientConfig>, Error> {
        self.tls()
            .config(host, Alpn::Http3)
            .map_err(|text| Error::Tls(TlsError::Settings(text)))
    }

    /// The address for datagrams to `host:port`. `steps` records when a name lookup ended.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn locate_for_quic(
        &self,
        host: &str,
        port: u16,
        steps: &mut Steps,
    ) -> Result<SocketAddr, Error> {
        if self.settings().unix_socket.is_some() {
            let text = "HTTP/3 uses UDP, and not a unix socket".to_owned();
            return Err(Error::Tls(TlsError::Settings(text)));
        }
        let remote = self.locate(host, port).await?;
        if host.parse::<std::net::IpAddr>().is_err() {
            steps.looked_up = Some(plimsoll_clock::now());
        }
        Ok(remote)
    }

    /// Limit for one connection attempt.
    pub fn connect_timeout(&self) -> Duration {
        self.settings().connect_timeout
    }
}
