//! The TLS options that all load commands share.

use std::path::{Path, PathBuf};

use plimsoll_net::{ClientCertificate, TlsSettings};

/// The files of certificates that TLS trusts and presents.
#[derive(Clone, Debug, Default)]
pub struct TlsFiles {
    /// Accept any certificate.
    pub insecure: bool,
    /// PEM files with authorities to trust in addition to the system's.
    pub ca: Vec<PathBuf>,
    /// A PEM file with a client certificate.
    pub cert: Option<PathBuf>,
    /// The key of that certificate, if it is in another file.
    pub key: Option<PathBuf>,
}

impl TlsFiles {
    /// Whether any option is set.
    pub fn is_given(&self) -> bool {
        self.insecure || !self.ca.is_empty() || self.cert.is_some()
    }

    /// Reads the authorities to trust in addition to the system's.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub(crate) fn authorities(&self) -> Result<Vec<Vec<u8>>, String> {
        let files = self.ca.iter();
        files.map(|path| read("CA certificate", path)).collect()
    }

    /// Reads the files.
    ///
    /// # Errors
    /// If a file cannot be read or contains no valid certificate.
    pub fn read(&self) -> Result<TlsSettings, String> {
        let mut tls = TlsSettings {
            insecure_skip_verify: self.insecure,
            ..TlsSettings::default()
        };
        tls.extra_roots = self.authorities()?;
        if let Some(cert) = &self.cert {
            tls.client_certificates.push(ClientCertificate {
                domains: Vec::new(),
                certificate_pem: read("client certificate", cert)?,
                key_pem: read(
                    "client certificate's key",
                    self.key.as_ref().unwrap_or(cert),
                )?,
            });
        }
        tls.check()?;
        Ok(tls)
    }
}

fn read(what: &str, path: &Path) -> Result<Vec<u8>, String> {
    plimsoll_machine::read_file(path)
        .map_err(|error| format!("cannot read the {what} {}: {error}", path.display()))
}
