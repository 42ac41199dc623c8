//! Certificate verification: the rules of the TLS library, and two of Go's rules that scripts and
//! test servers rely on.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// Trusted certificates, both as trust anchors and in full.
#[derive(Clone, Debug)]
pub(crate) struct Roots {
    anchors: Arc<RootCertStore>,
    whole: Arc<HashSet<Vec<u8>>>,
}

impl Roots {
    /// The roots of the system and of `SSL_CERT_FILE`. Read once per process.
    pub(crate) fn of_system() -> Roots {
        static ROOTS: OnceLock<Roots> = OnceLock::new();
        ROOTS
            .get_or_init(|| Roots::new(rustls_native_certs::load_native_certs().certs))
            .clone()
    }

    fn new(certificates: Vec<CertificateDer<'static>>) -> Roots {
        let whole = certificates.iter().map(|c| c.to_vec()).collect();
        let mut anchors = RootCertStore::empty();
        anchors.add_parsable_certificates(certificates);
        Roots {
            anchors: Arc::new(anchors),
            whole: Arc::new(whole),
        }
    }

    /// The default roots and additional ones.
    ///
    /// # Errors
    /// If a certificate is not usable.
    pub(crate) fn with(&self, more: Vec<CertificateDer<'static>>) -> Result<Roots, Error> {
        let mut anchors = RootCertStore::clone(&self.anchors);
        let mut whole = HashSet::clone(&self.whole);
        for certificate in more {
            whole.insert(certificate.to_vec());
            anchors.add(certificate)?;
        }
        Ok(Roots {
            anchors: Arc::new(anchors),
            whole: Arc::new(whole),
        })
    }
}

/// Checks a server's certificate against [`Roots`].
#[derive(Debug)]
pub(crate) struct Verifier {
    chain: Option<Arc<WebPkiServerVerifier>>,
    roots: Roots,
    provider: Arc<CryptoProvider>,
}

impl Verifier {
    pub(crate) fn new(roots: Roots, provider: Arc<CryptoProvider>) -> Self {
        let chain =
            WebPkiServerVerifier::builder_with_provider(roots.anchors.clone(), provider.clone())
                .build()
                .ok();
        Verifier {
            // Without roots the library cannot build a verifier, and no certificate is trusted.
            chain,
            roots,
            provider,
        }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = match &self.chain {
            Some(chain) => {
                chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
            }
            None => Err(CertificateError::UnknownIssuer.into()),
        };
        let Err(Error::InvalidCertificate(why)) = &verified else {
            return verified;
        };
        // Self-signed certificates are often created as certificates of an authority (`openssl req -x509`),
        // which webpki rejects for servers. Go accepts such a certificate if it is itself trusted. At this
        // point its dates have already been checked.
        let is_authority = format!("{why:?}").contains("CaUsedAsEndEntity");
        if !is_authority && *why != CertificateError::UnknownIssuer {
            return verified;
        }
        // Check the name before the issuer, as Go does.
        verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
        if is_authority && self.roots.whole.contains(end_entity.as_ref()) {
            return Ok(ServerCertVerified::assertion());
        }
        Err(CertificateError::UnknownIssuer.into())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
