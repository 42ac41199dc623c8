//! TLS settings, and handshakes with rustls.

use std::cell::RefCell;
use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use plimsoll_address::{CipherSuite, TlsVersion};
use rustls::ClientConfig;
use rustls::client::Resumption;
use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::error::TlsError;
use crate::insecure::AcceptAny;
use crate::plain::Plain;
use crate::quic_notes::{RecordingVerifier, recording};
use crate::tls_fault::{go_name, tls_fault};
use crate::verify::{Roots, Verifier};

/// Limit for one handshake, also for callers without a timeout of their own. Not shorter than the default timeout of a
/// request, which therefore ends first.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(60);

/// TLS settings. Plain data; [`TlsSettings::check`] reports errors before the first connection.
#[derive(Clone, Debug, Default)]
pub struct TlsSettings {
    /// Lowest and highest version; `None` for all.
    pub versions: Option<(TlsVersion, TlsVersion)>,
    /// Cipher suites of TLS 1.2; empty for all. Those of TLS 1.3 are always
    /// enabled, as in Go.
    pub cipher_suites: Vec<CipherSuite>,
    /// Accept any certificate.
    pub insecure_skip_verify: bool,
    pub client_certificates: Vec<ClientCertificate>,
    /// PEM certificates trusted in addition to the system's.
    pub extra_roots: Vec<Vec<u8>>,
    /// Resume sessions if the server offers it. If false, every connection performs a full handshake,
    /// as in k6.
    pub resume_sessions: bool,
}

/// A certificate for servers that request one.
#[derive(Clone)]
pub struct ClientCertificate {
    /// Host names, or `*.` followed by the end of a name; empty for all hosts.
    pub domains: Vec<String>,
    pub certificate_pem: Vec<u8>,
    pub key_pem: Vec<u8>,
}

impl fmt::Debug for ClientCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientCertificate")
            .field("domains", &self.domains)
            .finish_non_exhaustive()
    }
}

/// The application protocols to offer in a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alpn {
    /// Offer nothing, for protocols without negotiation.
    None,
    /// `h2`, then `http/1.1`.
    Http2OrHttp1,
    /// `http/1.1`.
    Http1,
    /// `h2`.
    Http2,
    /// `h3`, within QUIC.
    Http3,
}

/// The result of a handshake's negotiation, with Go's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlsFacts {
    /// `tls1.2` or `tls1.3`.
    pub version: &'static str,
    /// For example `TLS_AES_128_GCM_SHA256`.
    pub cipher_suite: &'static str,
    /// Whether HTTP/2 was negotiated.
    pub http2: bool,
    /// Whether an earlier session was resumed.
    pub resumed: bool,
}

impl TlsFacts {
    /// The parameters of a QUIC handshake: always TLS 1.3, and never resumed by this client.
    pub fn of_quic(cipher_suite: &'static str) -> TlsFacts {
        TlsFacts {
            version: "tls1.3",
            cipher_suite,
            http2: false,
            resumed: false,
        }
    }
}

impl TlsSettings {
    /// Checks the settings before the first connection.
    ///
    /// # Errors
    /// If a setting cannot work. The error states the reason in one sentence.
    pub fn check(&self) -> Result<(), String> {
        // Do not load the system's roots here: reading them takes most of the startup time, and many runs
        // never need them.
        let mut checked = self.clone();
        checked.insecure_skip_verify |= self.extra_roots.is_empty();
        Tls::new(checked).config("", Alpn::Http1)?;
        for certificate in &self.client_certificates {
            certificate.read()?;
        }
        Ok(())
    }

    fn provider(&self) -> Result<rustls::crypto::CryptoProvider, String> {
        let mut provider = rustls::crypto::ring::default_provider();
        if self.cipher_suites.is_empty() {
            return Ok(provider);
        }
        provider.cipher_suites.retain(|suite| {
            suite.tls13().is_some()
                || self
                    .cipher_suites
                    .iter()
                    .any(|wanted| wanted.id == u16::from(suite.suite()))
        });
        let only_13 = provider
            .cipher_suites
            .iter()
            .all(|suite| suite.tls13().is_some());
        if only_13
            && self
                .versions
                .is_some_and(|(_, max)| max < TlsVersion::Tls13)
        {
            let names: Vec<_> = self
                .cipher_suites
                .iter()
                .map(|suite| suite.name())
                .collect();
            return Err(format!(
                "tlsCipherSuites: none of {} is supported; TLS 1.2 has TLS_ECDHE_{{RSA,ECDSA}}_WITH_AES_128_GCM_SHA256, _AES_256_GCM_SHA384 and _CHACHA20_POLY1305_SHA256 here",
                names.join(", ")
            ));
        }
        Ok(provider)
    }

    fn protocol_versions(&self) -> Result<Vec<&'static rustls::SupportedProtocolVersion>, String> {
        let (min, max) = self
            .versions
            .unwrap_or((TlsVersion::Tls12, TlsVersion::Tls13));
        let both = [
            (TlsVersion::Tls13, &rustls::version::TLS13),
            (TlsVersion::Tls12, &rustls::version::TLS12),
        ];
        let chosen: Vec<_> = both
            .into_iter()
            .filter(|(version, _)| (min..=max).contains(version))
            .map(|(_, known)| known)
            .collect();
        if chosen.is_empty() {
            return Err(format!(
                "tlsVersion: {} to {} is not supported; TLS 1.2 and 1.3 are",
                min.name(),
                max.name()
            ));
        }
        Ok(chosen)
    }

    fn roots(&self) -> Result<Roots, String> {
        let system = Roots::of_system();
        if self.extra_roots.is_empty() {
            return Ok(system);
        }
        let mut more = Vec::new();
        for pem in &self.extra_roots {
            more.extend(certificates(pem, "the CA file")?);
        }
        system
            .with(more)
            .map_err(|error| format!("the CA file has no usable certificate: {error}"))
    }
}

impl ClientCertificate {
    fn is_for(&self, host: &str) -> bool {
        self.domains.is_empty()
            || self
                .domains
                .iter()
                .any(|domain| match domain.strip_prefix("*.") {
                    // A wildcard matches exactly one label (RFC 6125, section 6.4.3).
                    Some(rest) => host
                        .split_once('.')
                        .is_some_and(|(_, tail)| tail.eq_ignore_ascii_case(rest)),
                    None => host.eq_ignore_ascii_case(domain),
                })
    }

    fn read(&self) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), String> {
        let whose = match self.domains.first() {
            Some(domain) => format!("the client certificate for {domain}"),
            None => "the client certificate".to_owned(),
        };
        let chain = certificates(&self.certificate_pem, &whose)?;
        let text = String::from_utf8_lossy(&self.key_pem);
        if text.contains("ENCRYPTED") {
            return Err(format!(
                "the key of {whose} is encrypted, which is not supported: decrypt it first, with `openssl pkey -in KEY -out PLAIN`"
            ));
        }
        let key = PrivateKeyDer::from_pem_slice(&self.key_pem)
            .map_err(|error| format!("the key of {whose} is not a PEM private key: {error}"))?;
        let signing = rustls::crypto::ring::sign::any_supported_type(&key)
            .map_err(|error| format!("the key of {whose} cannot be used: {error}"))?;
        rustls::sign::CertifiedKey::new(chain.clone(), signing)
            .keys_match()
            .map_err(|_| format!("{whose} does not match its key"))?;
        Ok((chain, key))
    }
}

fn certificates(pem: &[u8], whose: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(chain) if !chain.is_empty() => Ok(chain),
        Ok(_) => Err(format!("{whose} has no PEM certificate")),
        Err(error) => Err(format!("{whose} is not a PEM certificate: {error}")),
    }
}

/// `SSLKEYLOGFILE`, opened once per process.
fn key_log() -> Arc<dyn rustls::KeyLog> {
    static LOG: OnceLock<Arc<rustls::KeyLogFile>> = OnceLock::new();
    LOG.get_or_init(|| Arc::new(rustls::KeyLogFile::new()))
        .clone()
}

/// A worker's TLS configurations, created on first use.
#[derive(Debug)]
pub(crate) struct Tls {
    settings: TlsSettings,
    made: RefCell<Vec<CachedConfig>>,
}

#[derive(Debug)]
struct CachedConfig {
    certificate: Option<usize>,
    alpn: Alpn,
    config: Arc<ClientConfig>,
}

impl Tls {
    pub(crate) fn new(settings: TlsSettings) -> Self {
        Tls {
            settings,
            made: RefCell::default(),
        }
    }

    pub(crate) fn config(&self, host: &str, alpn: Alpn) -> Result<Arc<ClientConfig>, String> {
        let certificate = self
            .settings
            .client_certificates
            .iter()
            .position(|certificate| certificate.is_for(host));
        let made = self.made.borrow();
        let known = made
            .iter()
            .find(|made| made.certificate == certificate && made.alpn == alpn);
        if let Some(known) = known {
            return Ok(known.config.clone());
        }
        drop(made);
        let config = Arc::new(self.make(certificate, alpn)?);
        self.made.borrow_mut().push(CachedConfig {
            certificate,
            alpn,
            config: config.clone(),
        });
        Ok(config)
    }

    fn make(&self, certificate: Option<usize>, alpn: Alpn) -> Result<ClientConfig, String> {
        let settings = &self.settings;
        let mut provider = settings.provider()?;
        let mut versions = settings.protocol_versions()?;
        if alpn == Alpn::Http3 {
            if !versions.contains(&&rustls::version::TLS13) {
                return Err("tlsVersion: HTTP/3 needs TLS 1.3, which is excluded".to_owned());
            }
            versions = vec![&rustls::version::TLS13];
            provider = recording(&provider);
        }
        let provider = Arc::new(provider);
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&versions)
            .map_err(|error| {
                format!("tlsVersion and tlsCipherSuites leave no cipher suite: {error}")
            })?;
        let verifier: Arc<dyn ServerCertVerifier> = if settings.insecure_skip_verify {
            Arc::new(AcceptAny::new(provider))
        } else {
            Arc::new(Verifier::new(settings.roots()?, provider))
        };
        let verifier: Arc<dyn ServerCertVerifier> = match alpn {
            Alpn::Http3 => Arc::new(RecordingVerifier(verifier)),
            _ => verifier,
        };
        let builder = builder
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let certificate = certificate.and_then(|at| settings.client_certificates.get(at));
        let mut config = match certificate {
            None => builder.with_no_client_auth(),
            Some(certificate) => {
                let (chain, key) = certificate.read()?;
                builder
                    .with_client_auth_cert(chain, key)
                    .map_err(|error| format!("the client certificate cannot be used: {error}"))?
            }
        };
        config.alpn_protocols = match alpn {
            Alpn::None => Vec::new(),
            Alpn::Http2OrHttp1 => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
            Alpn::Http1 => vec![b"http/1.1".to_vec()],
            Alpn::Http2 => vec![b"h2".to_vec()],
            Alpn::Http3 => vec![b"h3".to_vec()],
        };
        config.resumption = if settings.resume_sessions && alpn != Alpn::Http3 {
            Resumption::in_memory_sessions(1024)
        } else {
            Resumption::disabled()
        };
        config.key_log = key_log();
        Ok(config)
    }

    /// Performs the TLS handshake on a connected stream.
    pub(crate) async fn secure(
        &self,
        plain: Plain,
        host: &str,
        alpn: Alpn,
    ) -> Result<(TlsStream<Plain>, TlsFacts), TlsError> {
        let config = self.config(host, alpn).map_err(TlsError::Settings)?;
        let name = ServerName::try_from(host.to_owned()).map_err(|_| {
            TlsError::Settings(format!(
                "{host:?} is not a name that a certificate can have"
            ))
        })?;
        let handshake = TlsConnector::from(config).connect(name, plain);
        let stream = match tokio::time::timeout(HANDSHAKE_TIMEOUT, handshake).await {
            Err(_elapsed) => return Err(TlsError::Timeout),
            Ok(Err(error)) => return Err(translate(error, host)),
            Ok(Ok(stream)) => stream,
        };
        let (_, session) = stream.get_ref();
        let facts = TlsFacts {
            version: match session.protocol_version() {
                Some(rustls::ProtocolVersion::TLSv1_2) => "tls1.2",
                Some(rustls::ProtocolVersion::TLSv1_3) => "tls1.3",
                _ => "",
            },
            cipher_suite: session.negotiated_cipher_suite().map_or("", go_name),
            http2: session.alpn_protocol() == Some(b"h2"),
            resumed: session.handshake_kind() == Some(rustls::HandshakeKind::Resumed),
        };
        Ok((stream, facts))
    }
}

fn translate(error: io::Error, host: &str) -> TlsError {
    tls_fault(&error, host).unwrap_or_else(|| match error.kind() {
        io::ErrorKind::UnexpectedEof => TlsError::Closed,
        kind => TlsError::Broken(kind, format!("read: {}", crate::error::describe(&error))),
    })
}
