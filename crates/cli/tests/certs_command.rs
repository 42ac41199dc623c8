//! Checks the files of `plimsoll certs` with openssl, if it is installed. The crate `certs` has tests with TLS
//! libraries.

mod plimsoll;

use std::process::Command;

use serde_json::Value;

#[test]
fn openssl_accepts_the_certificates() {
    let directory = tempfile::tempdir().expect("a directory");
    let folder = directory.path().join("certs");
    let folder = folder.to_str().expect("text");
    let arguments = [
        "certs",
        "--name",
        "api.test",
        "--name",
        "10.0.0.7",
        "--lifetime",
        "48h",
        folder,
    ];
    let ended = plimsoll::plimsoll(&arguments).run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let printed: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(printed["names"][3], "api.test");
    assert_eq!(printed["client"]["key"], format!("{folder}/client.key"));

    let again = plimsoll::plimsoll(&["certs", folder]).run();
    assert_eq!(again.status, Some(255));
    assert!(
        again.stderr.contains("overwrite them with --force"),
        "{}",
        again.stderr
    );
    assert_eq!(again.stdout, "");
    let forced = plimsoll::plimsoll(&["certs", "--force", "--name", "api.test", folder]).run();
    assert_eq!(forced.status, Some(0), "{}", forced.stderr);

    let openssl = |arguments: &[&str]| {
        let output = Command::new("openssl")
            .args(arguments)
            .current_dir(folder)
            .output();
        output.ok().map(|output| {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success(), "openssl {arguments:?}: {output:?}");
            text
        })
    };
    let Some(stdout) = openssl(&[
        "verify",
        "-x509_strict",
        "-CAfile",
        "ca.pem",
        "-purpose",
        "sslserver",
        "-verify_hostname",
        "api.test",
        "server.pem",
    ]) else {
        // The tests of the crate `certs` show that rustls accepts these keys.
        return;
    };
    assert_eq!(stdout.trim(), "server.pem: OK");
    let stdout = openssl(&[
        "verify",
        "-x509_strict",
        "-CAfile",
        "ca.pem",
        "-purpose",
        "sslclient",
        "client.pem",
    ]);
    assert_eq!(stdout.as_deref().map(str::trim), Some("client.pem: OK"));
    let text = openssl(&["x509", "-in", "server.pem", "-noout", "-text"]).expect("openssl");
    assert!(
        text.contains("DNS:localhost") && text.contains("IP Address:127.0.0.1"),
        "{text}"
    );
    assert!(text.contains("prime256v1"), "{text}");
}

#[test]
fn impossible_settings_are_reported() {
    for (flags, expected) in [
        (["--name", "https://a.test/"], "host names"),
        (["--key", "dsa"], "use ecdsa (P-256), rsa2048"),
        (["--lifetime", "0s"], "--lifetime must be longer than 0"),
        (["--lifetime", "1y"], "unknown unit"),
    ] {
        let ended = plimsoll::plimsoll(&["certs", flags[0], flags[1], "/nonexistent/certs"]).run();
        assert_ne!(ended.status, Some(0));
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
        assert_eq!(ended.stdout, "");
    }
}
