//! Test certificates: an authority, a server's and a client's, as PEM files.

use std::fs;
use std::io::Write;
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType,
};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

/// The files of a directory of certificates.
const FILES: [&str; 5] = [
    "ca.pem",
    "server.pem",
    "server.key",
    "client.pem",
    "client.key",
];

/// Command line of `plimsoll-serve certs`.
#[derive(clap::Args)]
pub struct Settings {
    /// Directory for ca.pem, server.pem, server.key, client.pem and client.key
    #[arg(default_value = "certs")]
    directory: PathBuf,
    /// An additional name or address for the server's certificate
    #[arg(long = "name", value_name = "NAME")]
    names: Vec<String>,
}

/// Creates the certificates and prints their paths.
pub fn run(settings: &Settings) -> Result<(), String> {
    let present: Vec<_> = FILES
        .iter()
        .filter(|file| settings.directory.join(file).exists())
        .collect();
    if !present.is_empty() {
        return Err(format!(
            "{} has {present:?} already; name another directory, or remove them first",
            settings.directory.display()
        ));
    }
    generate(&settings.directory, &settings.names)?;
    let line = serde_json::json!({"certs": settings.directory}).to_string();
    writeln!(std::io::stdout(), "{line}").map_err(|error| format!("stdout: {error}"))
}

/// Prepares the directory: generates the files if there are none.
pub fn prepare(directory: &Path) -> Result<(), String> {
    let missing: Vec<_> = FILES
        .iter()
        .filter(|file| !directory.join(file).exists())
        .collect();
    match missing.len() {
        0 => Ok(()),
        count if count == FILES.len() => generate(directory, &[]),
        _ => Err(format!(
            "{} lacks {missing:?}; give a directory with all of {FILES:?}, or an empty one to create them",
            directory.display()
        )),
    }
}

/// The TLS configuration of a server with the files in `directory`, for h2 and HTTP/1.1. With
/// `mutual`, clients must have a certificate from the same authority.
pub fn server_config(directory: &Path, mutual: bool) -> Result<ServerConfig, String> {
    let path = |file: &str| directory.join(file);
    let authority = mutual.then(|| path("ca.pem"));
    with_files(
        &path("server.pem"),
        &path("server.key"),
        authority.as_deref(),
    )
}

/// The TLS configuration of a server. With `authority`, clients must have a certificate from it. An
/// error names the file.
pub fn with_files(
    certificate: &Path,
    key: &Path,
    authority: Option<&Path>,
) -> Result<ServerConfig, String> {
    let explain =
        |file: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let chain: Vec<CertificateDer> = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(|error| explain(certificate, &error))?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| explain(key, &error))?;
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS: {error}"))?;
    let builder = if let Some(file) = authority {
        let mut roots = RootCertStore::empty();
        let authority =
            CertificateDer::from_pem_file(file).map_err(|error| explain(file, &error))?;
        roots
            .add(authority)
            .map_err(|error| explain(file, &error))?;
        let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider)
            .build()
            .map_err(|error| explain(file, &error))?;
        builder.with_client_cert_verifier(verifier)
    } else {
        builder.with_no_client_auth()
    };
    let mut config = builder.with_single_cert(chain, secret).map_err(|error| {
        let what = format!("the certificate and its key do not match: {error}");
        explain(certificate, &what)
    })?;
    // Tickets let a client resume without state in the server.
    config.ticketer = ring::Ticketer::new().map_err(|error| format!("TLS tickets: {error}"))?;
    Ok(config)
}

fn generate(directory: &Path, names: &[String]) -> Result<(), String> {
    fs::create_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let made = |error: rcgen::Error| format!("cannot create certificates: {error}");

    let authority_key = KeyPair::generate().map_err(made)?;
    let mut authority = certificate_for("Plimsoll test authority");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let authority_certificate = authority.self_signed(&authority_key).map_err(made)?;
    let issuer = Issuer::new(authority, authority_key);

    let mut server = certificate_for("Plimsoll test server");
    let localhost = ["localhost", "127.0.0.1", "::1"].map(String::from);
    for name in localhost.iter().chain(names) {
        server.subject_alt_names.push(match name.parse::<IpAddr>() {
            Ok(address) => SanType::IpAddress(address),
            Err(_) => SanType::DnsName(
                name.as_str()
                    .try_into()
                    .map_err(|_| format!("'{name}' is not a host name"))?,
            ),
        });
    }
    server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let mut client = certificate_for("Plimsoll test client");
    client.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];

    write(
        &directory.join("ca.pem"),
        &authority_certificate.pem(),
        0o644,
    )?;
    for (name, parameters) in [("server", server), ("client", client)] {
        let key = KeyPair::generate().map_err(made)?;
        let certificate = parameters.signed_by(&key, &issuer).map_err(made)?;
        write(
            &directory.join(format!("{name}.pem")),
            &certificate.pem(),
            0o644,
        )?;
        write(
            &directory.join(format!("{name}.key")),
            &key.serialize_pem(),
            0o600,
        )?;
    }
    Ok(())
}

fn certificate_for(name: &str) -> CertificateParams {
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters.use_authority_key_identifier_extension = true;
    parameters
}

fn write(path: &Path, text: &str, mode: u32) -> Result<(), String> {
    fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_certificates_work() {
        let directory = tempfile::tempdir().unwrap();
        prepare(directory.path()).unwrap();
        server_config(directory.path(), false).unwrap();
        server_config(directory.path(), true).unwrap();
        // A second start uses the existing files.
        let before = fs::read(directory.path().join("ca.pem")).unwrap();
        prepare(directory.path()).unwrap();
        assert_eq!(fs::read(directory.path().join("ca.pem")).unwrap(), before);
    }

    #[test]
    fn a_gap_is_named() {
        let directory = tempfile::tempdir().unwrap();
        prepare(directory.path()).unwrap();
        fs::remove_file(directory.path().join("client.key")).unwrap();
        let error = prepare(directory.path()).unwrap_err();
        assert!(error.contains("lacks [\"client.key\"]"), "{error}");
    }

    #[test]
    fn a_key_that_does_not_fit_is_named() {
        let directory = tempfile::tempdir().unwrap();
        prepare(directory.path()).unwrap();
        fs::copy(
            directory.path().join("client.key"),
            directory.path().join("server.key"),
        )
        .unwrap();
        let error = server_config(directory.path(), false).unwrap_err();
        assert!(error.contains("do not match"), "{error}");
    }
}
