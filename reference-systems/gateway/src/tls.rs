//! Certificates: the gateway's own, and the trusted authorities of upstreams.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};

use crate::config::{Protocol, Wire};

/// The server configuration, with its ALPN protocols. The error names the file.
pub fn server(certificate: &Path, key: &Path, protocol: Protocol) -> Result<ServerConfig, String> {
    let chain: Vec<CertificateDer> = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(|error| format!("{}: {error}", certificate.display()))?;
    let secret =
        PrivateKeyDer::from_pem_file(key).map_err(|error| format!("{}: {error}", key.display()))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS: {error}"))?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(|error| {
            let (certificate, key) = (certificate.display(), key.display());
            format!("{certificate} and {key} do not fit: {error}")
        })?;
    config.alpn_protocols = match protocol {
        Protocol::Auto => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
        Protocol::H1 => vec![b"http/1.1".to_vec()],
        Protocol::H2 => vec![b"h2".to_vec()],
    };
    // Tickets let a client resume without state in the server.
    config.ticketer = ring::Ticketer::new().map_err(|error| format!("TLS tickets: {error}"))?;
    Ok(config)
}

/// The client configuration, which only trusts the authorities in `ca`.
pub fn client(ca: &Path, wire: Wire) -> Result<ClientConfig, String> {
    let said = |error: &dyn std::fmt::Display| format!("{}: {error}", ca.display());
    let mut roots = RootCertStore::empty();
    let authorities = CertificateDer::pem_file_iter(ca).map_err(|error| said(&error))?;
    for authority in authorities {
        let authority = authority.map_err(|error| said(&error))?;
        roots.add(authority).map_err(|error| said(&error))?;
    }
    if roots.is_empty() {
        return Err(said(&"there is no certificate in it"));
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS: {error}"))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = match wire {
        Wire::H1 => vec![b"http/1.1".to_vec()],
        Wire::H2 => vec![b"h2".to_vec()],
    };
    Ok(config)
}
