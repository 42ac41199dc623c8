//! PEM certificates and keys of clients, and PEM certificates of authorities.

use plimsoll_address::TlsVersion;
use plimsoll_net::{ClientCertificate, TlsSettings};

use super::{Target, halves, text};

pub const TARGET: Target = Target {
    name: "certificate",
    run,
    seeds: &[
        b"-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n\0-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n",
        include_bytes!("../../seeds/certificate.pem"),
        b"tls1.2",
    ],
    words: &[
        "-----BEGIN CERTIFICATE-----\n", "-----END CERTIFICATE-----\n", "-----BEGIN PRIVATE KEY-----\n",
        "-----END PRIVATE KEY-----\n", "-----BEGIN RSA PRIVATE KEY-----\n", "-----BEGIN EC PRIVATE KEY-----\n",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\n", "-----", "MII", "=", "\0",
    ],
};

fn run(data: &[u8]) {
    let (certificate, key) = halves(data);
    let settings = TlsSettings {
        client_certificates: vec![ClientCertificate {
            domains: Vec::new(),
            certificate_pem: certificate.to_vec(),
            key_pem: key.to_vec(),
        }],
        insecure_skip_verify: true,
        ..TlsSettings::default()
    };
    // The message is for people. This test only checks that it exists.
    let _ = settings.check();
    let roots = TlsSettings {
        extra_roots: vec![data.to_vec()],
        insecure_skip_verify: true,
        ..TlsSettings::default()
    };
    let _ = roots.check();
    if let Ok(version) = TlsVersion::parse(&text(data)) {
        assert_eq!(TlsVersion::parse(version.name()), Ok(version));
    }
}
