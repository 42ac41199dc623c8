//! A certificate authority, and the certificates that it signs for each listener.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{
    RootCertStore, ServerConfig, SupportedProtocolVersion, crypto::ring, pki_types,
};

/// The TLS settings of each listener, by its environment variable.
pub struct Certificates {
    pub listeners: Vec<(&'static str, ServerConfig)>,
}

type Issuer = CertifiedIssuer<'static, KeyPair>;

/// Creates the authority and its certificates, and writes the files for scripts to `folder`.
pub fn make(folder: &Path) -> io::Result<Certificates> {
    let mut parameters = CertificateParams::new(Vec::<String>::new()).map_err(io::Error::other)?;
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let name = &mut parameters.distinguished_name;
    name.push(DnType::CommonName, "Cases Authority");
    let key = KeyPair::generate().map_err(io::Error::other)?;
    let authority = CertifiedIssuer::self_signed(parameters, key).map_err(io::Error::other)?;
    let (client, client_key) = sign(&authority, &["client.example"])?;
    std::fs::write(folder.join("ca.pem"), authority.pem())?;
    std::fs::write(folder.join("client.pem"), client.pem())?;
    std::fs::write(folder.join("client-key.pem"), client_key.serialize_pem())?;

    let own = ["localhost", "127.0.0.1"];
    let both: &[&SupportedProtocolVersion] = &[&TLS12, &TLS13];
    Ok(Certificates {
        listeners: vec![
            (
                "TLS",
                listener(&authority, &own, both, &["h2", "http/1.1"], false)?,
            ),
            (
                "TLS12",
                listener(&authority, &own, &[&TLS12], &["http/1.1"], false)?,
            ),
            (
                "TLS_OTHER",
                listener(&authority, &["other.example"], both, &["http/1.1"], false)?,
            ),
            (
                "TLS_CLIENT",
                listener(&authority, &own, both, &["http/1.1"], true)?,
            ),
            (
                "TLS_MUTUAL",
                listener(&authority, &own, both, &["h2", "http/1.1"], true)?,
            ),
        ],
    })
}

fn sign(authority: &Issuer, names: &[&str]) -> io::Result<(rcgen::Certificate, KeyPair)> {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let mut parameters = CertificateParams::new(names).map_err(io::Error::other)?;
    let name = &mut parameters.distinguished_name;
    name.push(DnType::CommonName, "Cases");
    let key = KeyPair::generate().map_err(io::Error::other)?;
    let signed = parameters.signed_by(&key, authority);
    Ok((signed.map_err(io::Error::other)?, key))
}

fn listener(
    authority: &Issuer,
    names: &[&str],
    versions: &[&'static SupportedProtocolVersion],
    protocols: &[&str],
    ask_client: bool,
) -> io::Result<ServerConfig> {
    let (certificate, key) = sign(authority, names)?;
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(versions)
        .map_err(io::Error::other)?;
    let builder = if ask_client {
        let mut roots = RootCertStore::empty();
        let root = authority.der().clone();
        roots.add(root).map_err(io::Error::other)?;
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        builder.with_client_cert_verifier(verifier.build().map_err(io::Error::other)?)
    } else {
        builder.with_no_client_auth()
    };
    let key = pki_types::PrivateKeyDer::try_from(key.serialize_der()).map_err(io::Error::other)?;
    let mut config = builder
        .with_single_cert(vec![certificate.der().clone()], key)
        .map_err(io::Error::other)?;
    config.alpn_protocols = protocols
        .iter()
        .map(|name| name.as_bytes().to_vec())
        .collect();
    Ok(config)
}
