//! Creates test certificates: an authority, and a server and a client certificate signed by it.
//!
//! [`Order`] specifies the certificates, [`make`] generates them, and [`Folder`] stores them for
//! servers and clients: `ca.pem`, `ca.key`, `server.pem`, `server.key`, `client.pem`, `client.key`.
//! Keys are in PKCS #8 format, and all files are PEM.

mod folder;
mod key;
mod name;

use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyUsagePurpose,
};
use time::OffsetDateTime;

pub use folder::{Folder, Role};
pub use key::KeyKind;
pub use name::Name;

/// The specification of the certificates.
#[derive(Clone, Debug)]
pub struct Order {
    /// The names in the server certificate.
    pub names: Vec<Name>,
    /// The common name of the client certificate.
    pub client: String,
    pub key: KeyKind,
    /// The lifetime, counted from now. Certificates are valid from an hour ago, because clocks differ.
    pub lifetime: Duration,
}

/// The names in every server certificate.
pub const USUAL_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Maximum lifetime. RFC 5280 writes years with four digits, and no test needs more.
pub const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// A certificate and its private key, both in PEM format.
#[derive(Clone)]
pub struct Pair {
    pub certificate: String,
    pub key: String,
}

/// The generated certificates.
#[derive(Clone)]
pub struct Certificates {
    pub authority: Pair,
    pub server: Pair,
    pub client: Pair,
    /// The end of the validity period.
    pub valid_until: SystemTime,
}

/// Generates new keys and certificates. RSA keys take up to a few seconds.
///
/// # Errors
/// Returns a message if the order is invalid or a certificate cannot be generated.
pub fn make(order: &Order) -> Result<Certificates, String> {
    if order.lifetime.is_zero() {
        return Err("--lifetime must be longer than 0".to_owned());
    }
    if order.lifetime > LONGEST {
        return Err("a lifetime is at most 100 years (36500d)".to_owned());
    }
    if order.names.is_empty() {
        return Err("a server's certificate needs at least one name".to_owned());
    }
    if order.client.trim().is_empty() || order.client.len() > COMMON_NAME {
        return Err(format!(
            "the client's name must have 1 to {COMMON_NAME} characters"
        ));
    }
    let now = SystemTime::now();
    let validity = Validity {
        from: now - Duration::from_secs(3600),
        until: now + order.lifetime,
    };
    let failed = |error: rcgen::Error| format!("cannot create certificates: {error}");

    let mut authority = validity.of("Plimsoll test authority");
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let authority_key = order.key.generate()?;
    let certificate = authority.self_signed(&authority_key).map_err(failed)?;
    let authority_pair = Pair {
        certificate: certificate.pem(),
        key: authority_key.serialize_pem(),
    };
    let issuer = Issuer::new(authority, authority_key);

    let mut server = validity.of("Plimsoll test server");
    server.subject_alt_names = order.names.iter().map(Name::subject).collect();
    server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let mut client = validity.of(&order.client);
    client.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    let signed = |mut parameters: CertificateParams| -> Result<Pair, String> {
        parameters.use_authority_key_identifier_extension = true;
        parameters.is_ca = IsCa::ExplicitNoCa;
        parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        if matches!(order.key, KeyKind::Rsa(_)) {
            // TLS 1.2 suites without Diffie-Hellman encrypt with the RSA key.
            parameters.key_usages.push(KeyUsagePurpose::KeyEncipherment);
        }
        let key = order.key.generate()?;
        let certificate = parameters.signed_by(&key, &issuer).map_err(failed)?;
        Ok(Pair {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        })
    };
    Ok(Certificates {
        authority: authority_pair,
        server: signed(server)?,
        client: signed(client)?,
        valid_until: validity.until,
    })
}

/// Maximum length of a common name: RFC 5280 appendix A.1 (`ub-common-name-length`).
const COMMON_NAME: usize = 64;

#[derive(Clone, Copy)]
struct Validity {
    from: SystemTime,
    until: SystemTime,
}

impl Validity {
    fn of(self, common_name: &str) -> CertificateParams {
        let mut parameters = CertificateParams::default();
        parameters
            .distinguished_name
            .push(DnType::CommonName, common_name);
        parameters.not_before = OffsetDateTime::from(self.from);
        parameters.not_after = OffsetDateTime::from(self.until);
        parameters
    }
}
