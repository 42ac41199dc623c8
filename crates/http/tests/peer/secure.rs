//! TLS for the hand-written server, with certificates made on the spot.

use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// A certificate for `names` that vouches for itself, and its key, as PEM.
pub struct Identity {
    pub certificate_pem: String,
    pub key_pem: String,
    certificate: rcgen::Certificate,
    key: KeyPair,
}

pub fn identity(names: &[&str]) -> Identity {
    signed_by_itself(names, |_| {})
}

/// As `openssl req -x509` makes it: an authority's.
pub fn authority(names: &[&str]) -> Identity {
    signed_by_itself(names, |params| {
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    })
}

/// Out of date.
pub fn expired(names: &[&str]) -> Identity {
    signed_by_itself(names, |params| {
        params.not_before = rcgen::date_time_ymd(2020, 1, 1);
        params.not_after = rcgen::date_time_ymd(2020, 2, 1);
    })
}

fn signed_by_itself(names: &[&str], edit: impl FnOnce(&mut CertificateParams)) -> Identity {
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
    let key = PrivateKeyDer::try_from(identity.key.serialize_der()).unwrap();
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![identity.certificate.der().clone()], key)
        .unwrap();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    TlsAcceptor::from(Arc::new(config))
}
