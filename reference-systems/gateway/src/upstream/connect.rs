//! Connects to a target: TCP, with TLS if configured.

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_util::either::Either;

use super::Trouble;
use crate::config::Upstream;

/// A connection's bytes, plain or encrypted.
pub type Stream = Either<TcpStream, TlsStream<TcpStream>>;

/// Connects within the upstream's time.
pub async fn connect(address: &str, upstream: &Upstream) -> Result<Stream, Trouble> {
    let reach = async {
        let stream = TcpStream::connect(address)
            .await
            .map_err(|error| Trouble::unreachable(format!("cannot connect: {error}")))?;
        // Small requests must not wait for acknowledgements.
        let _ = stream.set_nodelay(true);
        let Some(tls) = &upstream.tls else {
            return Ok(Either::Left(stream));
        };
        let Some(config) = &tls.config else {
            return Err(Trouble::unreachable("its TLS is not set up".to_owned()));
        };
        let name = match &tls.name {
            Some(name) => name.clone(),
            None => name_of(address)?,
        };
        TlsConnector::from(config.clone())
            .connect(name, stream)
            .await
            .map(Either::Right)
            .map_err(|error| Trouble::unreachable(format!("TLS: {error}")))
    };
    tokio::time::timeout(upstream.connect_timeout, reach)
        .await
        .unwrap_or_else(|_| {
            let limit = upstream.connect_timeout;
            Err(Trouble::unreachable(format!(
                "no connection within {limit:?}"
            )))
        })
}

fn name_of(address: &str) -> Result<ServerName<'static>, Trouble> {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = host.trim_matches(['[', ']']).to_owned();
    ServerName::try_from(host).map_err(|_| {
        Trouble::unreachable("the target has no name to check its certificate for".to_owned())
    })
}
