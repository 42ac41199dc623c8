//! TLS libraries accept the generated certificates: in-memory handshakes with both certificates,
//! verified on both sides.

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_certs::{Certificates, Folder, KeyKind, Name, Order, Role, make};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection};

fn order(key: KeyKind) -> Order {
    Order {
        names: ["localhost", "127.0.0.1", "*.example.test"]
            .map(|name| Name::parse(name).expect("a name"))
            .to_vec(),
        client: "somebody".to_owned(),
        key,
        lifetime: Duration::from_secs(3600),
    }
}

/// The first error of a mutual handshake in which the client expects the server `name`.
fn handshake(
    of: &Certificates,
    server_role: &plimsoll_certs::Pair,
    name: &str,
) -> Result<(), String> {
    let provider = Arc::new(ring::default_provider());
    let mut roots = RootCertStore::empty();
    let root = CertificateDer::from_pem_slice(of.authority.certificate.as_bytes()).expect("PEM");
    roots.add(root).expect("an authority");
    let roots = Arc::new(roots);
    let parts = |pair: &plimsoll_certs::Pair| {
        let chain = vec![CertificateDer::from_pem_slice(pair.certificate.as_bytes()).expect("PEM")];
        let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).expect("PEM");
        (chain, key)
    };
    let (chain, key) = parts(server_role);
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::clone(&roots), Arc::clone(&provider))
            .build()
            .expect("a verifier");
    let server = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_client_cert_verifier(verifier)
        .with_single_cert(chain, key)
        .map_err(|error| error.to_string())?;
    let (chain, key) = parts(&of.client);
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_client_auth_cert(chain, key)
        .map_err(|error| error.to_string())?;
    let name = ServerName::try_from(name.to_owned()).expect("a name");
    let mut client = ClientConnection::new(Arc::new(client), name).expect("a client");
    let mut server = ServerConnection::new(Arc::new(server)).expect("a server");
    while client.is_handshaking() || server.is_handshaking() {
        let mut bytes = Vec::new();
        while client.wants_write() {
            client.write_tls(&mut bytes).expect("memory");
        }
        let mut reading = bytes.as_slice();
        while !reading.is_empty() {
            server.read_tls(&mut reading).expect("memory");
            server
                .process_new_packets()
                .map_err(|error| error.to_string())?;
        }
        let mut bytes = Vec::new();
        while server.wants_write() {
            server.write_tls(&mut bytes).expect("memory");
        }
        let mut reading = bytes.as_slice();
        while !reading.is_empty() {
            client.read_tls(&mut reading).expect("memory");
            client
                .process_new_packets()
                .map_err(|error| error.to_string())?;
        }
    }
    let mut nothing = [0; 1];
    let _ = client.reader().read(&mut nothing);
    assert!(
        server
            .peer_certificates()
            .is_some_and(|chain| !chain.is_empty())
    );
    Ok(())
}

#[test]
fn both_sides_trust_ecdsa_certificates_for_their_names_alone() {
    let made = make(&order(KeyKind::EcdsaP256)).expect("certificates");
    for name in ["localhost", "127.0.0.1", "a.example.test"] {
        assert_eq!(handshake(&made, &made.server, name), Ok(()), "{name}");
    }
    for name in ["elsewhere.test", "127.0.0.2", "a.b.example.test"] {
        let error = handshake(&made, &made.server, name).expect_err(name);
        assert!(error.contains("not valid for name"), "{name}: {error}");
    }
    // A client certificate is not valid for a server.
    let error = handshake(&made, &made.client, "localhost").expect_err("another purpose");
    assert!(error.to_lowercase().contains("certificate"), "{error}");
    // A certificate from another authority is not trusted.
    let other = make(&order(KeyKind::EcdsaP256)).expect("certificates");
    assert!(handshake(&made, &other.server, "localhost").is_err());
}

#[test]
fn rsa_keys_of_the_requested_size_are_trusted_too() {
    let made = make(&order(KeyKind::Rsa(2048))).expect("certificates");
    assert_eq!(handshake(&made, &made.server, "localhost"), Ok(()));
    // A modulus of 2048 bits, a private exponent of the same length, and five values of half that
    // length: about 1200 octets in DER, 1700 in PEM.
    assert!(
        (1_600..1_800).contains(&made.server.key.len()),
        "{}",
        made.server.key.len()
    );
}

#[test]
fn files_are_not_overwritten_and_only_the_owner_reads_keys() {
    let directory = tempfile::tempdir().expect("a directory");
    let folder = Folder::new(directory.path().join("new/certs"));
    let first = make(&order(KeyKind::EcdsaP256)).expect("certificates");
    folder.write(&first, false).expect("written");
    let read = |path| std::fs::read_to_string(path).expect("a file");
    assert_eq!(
        read(folder.certificate(Role::Server)),
        first.server.certificate
    );
    assert_eq!(read(folder.key(Role::Client)), first.client.key);

    let second = make(&order(KeyKind::EcdsaP256)).expect("certificates");
    std::fs::remove_file(folder.key(Role::Client)).expect("removed");
    let error = folder
        .write(&second, false)
        .expect_err("something is there");
    assert!(
        error.contains("ca.pem") && error.contains("--force"),
        "{error}"
    );
    assert!(!error.contains("client.key"), "{error}");
    assert!(
        !folder.key(Role::Client).exists(),
        "nothing is written if there is an error"
    );
    assert_eq!(
        read(folder.certificate(Role::Authority)),
        first.authority.certificate
    );

    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The keys are private even if the existing file was readable by everyone.
        let open = std::fs::Permissions::from_mode(0o666);
        std::fs::set_permissions(folder.key(Role::Server), open).expect("set");
        folder.write(&second, true).expect("written over");
        for role in Role::ALL {
            let mode = |path| {
                std::fs::metadata(path)
                    .expect("a file")
                    .permissions()
                    .mode()
                    & 0o777
            };
            assert_eq!(mode(folder.key(role)), 0o600);
            assert_eq!(
                mode(folder.certificate(role)) & 0o077,
                0o044 & mode(folder.certificate(role))
            );
        }
    }
    assert_eq!(read(folder.key(Role::Server)), second.server.key);
    let left = std::fs::read_dir(folder.path())
        .expect("a directory")
        .count();
    assert_eq!(left, 6, "no other files are left");
}

#[test]
fn impossible_orders_are_rejected() {
    let short = Order {
        lifetime: Duration::ZERO,
        ..order(KeyKind::EcdsaP256)
    };
    assert!(make(&short).is_err_and(|error| error.contains("longer than 0")));
    let long = Order {
        lifetime: Duration::MAX,
        ..order(KeyKind::EcdsaP256)
    };
    assert!(make(&long).is_err_and(|error| error.contains("100 years")));
    let nameless = Order {
        client: " ".to_owned(),
        ..order(KeyKind::EcdsaP256)
    };
    assert!(make(&nameless).is_err_and(|error| error.contains("1 to 64")));
    let nowhere = Folder::new("/dev/null/certs");
    let made = make(&order(KeyKind::EcdsaP256)).expect("certificates");
    assert!(
        nowhere
            .write(&made, false)
            .is_err_and(|error| error.contains("/dev/null"))
    );
}
