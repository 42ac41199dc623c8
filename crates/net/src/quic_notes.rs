//! TLS for QUIC, whose packets contain the handshake and are protected by its keys (RFC 9001). The
//! QUIC library reports neither the cipher suite nor why a certificate was rejected. So this module
//! records both when TLS determines them.

use std::cell::RefCell;
use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::crypto::cipher::{AeadKey, Iv};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::quic::{Algorithm, HeaderProtectionKey, PacketKey};
use rustls::{
    CipherSuiteCommon, DigitallySignedStruct, SignatureScheme, SupportedCipherSuite,
    Tls13CipherSuite,
};

use crate::error::TlsError;
use crate::tls_fault::{fault_of, go_name};

/// The notes that TLS recorded on this thread since the last call of [`QuicNotes::take`].
#[derive(Clone, Debug, Default)]
pub struct QuicNotes {
    /// The cipher suite for which keys were last derived.
    pub cipher_suite: Option<&'static str>,
    /// Why a certificate was rejected.
    pub refusal: Option<TlsError>,
}

thread_local! {
    static NOTES: RefCell<QuicNotes> = RefCell::default();
}

impl QuicNotes {
    /// Takes the notes. A step of a handshake runs completely on one thread, so the notes belong to
    /// that step.
    pub fn take() -> QuicNotes {
        NOTES.take()
    }
}

/// Wraps the provider's TLS 1.3 cipher suites so that they record when they are used.
pub(crate) fn recording(provider: &CryptoProvider) -> CryptoProvider {
    static SUITES: OnceLock<Vec<SupportedCipherSuite>> = OnceLock::new();
    let suites = SUITES.get_or_init(|| {
        provider
            .cipher_suites
            .iter()
            .filter_map(|suite| Some((go_name(*suite), suite.tls13()?)))
            .filter_map(|(name, suite)| recording_suite(name, suite))
            .collect()
    });
    CryptoProvider {
        cipher_suites: suites.clone(),
        ..provider.clone()
    }
}

/// The suites live as long as the process, because the library requires `'static` references. There
/// are only three.
fn recording_suite(
    name: &'static str,
    suite: &'static Tls13CipherSuite,
) -> Option<SupportedCipherSuite> {
    let quic = Box::leak(Box::new(RecordingSuite {
        name,
        suite: suite.quic?,
    }));
    let suite = Tls13CipherSuite {
        common: CipherSuiteCommon {
            suite: suite.common.suite,
            hash_provider: suite.common.hash_provider,
            confidentiality_limit: suite.common.confidentiality_limit,
        },
        hkdf_provider: suite.hkdf_provider,
        aead_alg: suite.aead_alg,
        quic: Some(quic),
    };
    Some(SupportedCipherSuite::Tls13(Box::leak(Box::new(suite))))
}

struct RecordingSuite {
    name: &'static str,
    suite: &'static dyn Algorithm,
}

impl Algorithm for RecordingSuite {
    fn packet_key(&self, key: AeadKey, iv: Iv) -> Box<dyn PacketKey> {
        NOTES.with_borrow_mut(|notes| notes.cipher_suite = Some(self.name));
        self.suite.packet_key(key, iv)
    }

    fn header_protection_key(&self, key: AeadKey) -> Box<dyn HeaderProtectionKey> {
        self.suite.header_protection_key(key)
    }

    fn aead_key_len(&self) -> usize {
        self.suite.aead_key_len()
    }

    fn fips(&self) -> bool {
        self.suite.fips()
    }
}

/// A certificate verifier that records why it rejects a certificate.
#[derive(Debug)]
pub(crate) struct RecordingVerifier(pub(crate) Arc<dyn ServerCertVerifier>);

impl ServerCertVerifier for RecordingVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.0
            .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
            .inspect_err(|error| {
                let refusal = fault_of(error, &server_name.to_str());
                NOTES.with_borrow_mut(|notes| notes.refusal = Some(refusal));
            })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
