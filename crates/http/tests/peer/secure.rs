//! TLS for the hand-written server, with certificates generated in the test.

#![allow(dead_code)] // Each test program uses only a part of this module.

use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

/// A self-signed certificate for `names`, and its key, as PEM.
pub struct Identity {
    pub certificate_pem: String,
    pub key_pem: String,
    certificate: rcgen::Certificate,
    key: KeyPair,
}

pub fn identity(names: &[&str]) -> Identity {
    self_signed_identity(names, |_| {})
}

/// Like a certificate that `openssl req -x509` creates: the certificate of an authority.
pub fn authority(names: &[&str]) -> Identity {
    self_signed_identity(names, |params| {
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    })
}

/// An expired certificate.
pub fn expired(names: &[&str]) -> Identity {
    self_signed_identity(names, |params| {
        params.not_before = rcgen::date_time_ymd(2020, 1, 1);
        params.not_after = rcgen::date_time_ymd(2020, 2, 1);
    })
}

fn self_signed_identity(names: &[&str], edit: impl FnOnce(&mut CertificateParams)) -> Identity {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(names).unwrap();
    edit(&mut params);
    let certificate = params.self_signed(&key).unwrap();
    Identity {
        certificate_pem: certificate.pem(),
        key_pem: key.serialize_pem(),
        certificate,
        key,
    }
}

pub fn acceptor(identity: &Identity, alpn: &[&str]) -> TlsAcceptor {
    accepting(identity, alpn, None)
}

/// Accepts only connections from the owner of the certificate `client`.
pub fn acceptor_asking(identity: &Identity, client: &Identity, alpn: &[&str]) -> TlsAcceptor {
    accepting(identity, alpn, Some(client))
}

fn accepting(identity: &Identity, alpn: &[&str], client: Option<&Identity>) -> TlsAcceptor {
    let key = PrivateKeyDer::try_from(identity.key.serialize_der()).unwrap();
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = match client {
        None => builder.with_no_client_auth(),
        Some(client) => {
            let mut roots = RootCertStore::empty();
            roots.add(client.certificate.der().clone()).unwrap();
            let asking = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(asking.build().unwrap())
        }
    };
    let mut config = builder
        .with_single_cert(vec![identity.certificate.der().clone()], key)
        .unwrap();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    TlsAcceptor::from(Arc::new(config))
}
