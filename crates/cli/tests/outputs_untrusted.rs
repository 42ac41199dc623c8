//! Receivers with an untrusted certificate. The messages report this, and which setting to change.

mod plimsoll;

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::thread;

use plimsoll::plimsoll;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};

/// A server with a certificate that `plimsoll certs` created. It only completes handshakes.
fn server(folder: &Path) -> SocketAddr {
    let certs = plimsoll(&["certs"]).inside(folder).run();
    assert_eq!(certs.status, Some(0), "{}", certs.stderr);
    let folder = folder.join("certs");
    let chain = vec![CertificateDer::from_pem_file(folder.join("server.pem")).expect("PEM")];
    let key = PrivateKeyDer::from_pem_file(folder.join("server.key")).expect("PEM");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("the matching key");
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let config = Arc::clone(&config);
            thread::spawn(move || {
                let mut connection = ServerConnection::new(config).expect("a connection");
                // The client aborts the handshake, as this test expects.
                while connection.is_handshaking() {
                    if connection.complete_io(&mut stream).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

#[test]
fn the_error_about_an_untrusted_receiver_names_the_fix() {
    let folder = tempfile::tempdir().expect("a folder");
    let address = server(folder.path());
    let script = "export const options = { iterations: 3 }; export default function () {}";
    std::fs::write(folder.path().join("script.js"), script).expect("a script");
    for (output, variable) in [
        (
            format!("opentelemetry={address}"),
            "K6_OTEL_TLS_CERTIFICATE=FILE",
        ),
        (
            format!("opentelemetry=https://{address}/v1/metrics"),
            "K6_OTEL_TLS_CERTIFICATE=FILE",
        ),
        (
            format!("influxdb=https://{address}/k6"),
            "K6_INFLUXDB_INSECURE=true",
        ),
        (
            format!("experimental-prometheus-rw=https://{address}/write"),
            "K6_PROMETHEUS_RW_INSECURE_SKIP_TLS_VERIFY=true",
        ),
    ] {
        let ended = plimsoll(&["run", "--quiet", "--out", &output, "script.js"])
            .inside(folder.path())
            .run();
        assert_eq!(ended.status, Some(255), "{}", ended.stderr);
        for part in ["x509: ", "unknown authority", variable] {
            assert!(
                ended.stderr.contains(part),
                "{output}: {part}: {}",
                ended.stderr
            );
        }
        // There was no response.
        assert!(!ended.stderr.contains("it responded"), "{}", ended.stderr);
    }
}
