//! HTTP/3 on the command line with an independent server: Caddy.

mod plimsoll;

use std::path::Path;

use plimsoll::plimsoll;
use plimsoll_testground::{Kind, Proxy};
use plimsoll_testkit::program::Ended;
use serde_json::Value;

/// Repetitions of a word, so that compression reduces the size.
const LONG: usize = 1000;

/// Runs a command that trusts the certificate authority in `folder`.
fn trusting(folder: &Path, arguments: &[&str], input: &str) -> Ended {
    plimsoll(arguments)
        .env("SSL_CERT_FILE", folder.join("ca.pem"))
        .input(input)
        .run()
}

#[test]
fn every_load_command_uses_http3_with_caddy() {
    let directory = tempfile::tempdir().unwrap();
    let certs = directory.path().to_path_buf();
    let made = plimsoll(&["certs", certs.to_str().unwrap()]).run();
    assert_eq!(made.status, Some(0), "{}", made.stderr);
    let folder = certs.clone();
    let caddy = Proxy::start(Kind::Caddy, move |_, port| {
        let at = folder.display();
        format!(
            "{{\n admin off\n auto_https off\n servers {{\n  protocols h1 h2 h3\n }}\n}}\n\
             https://localhost:{port} {{\n bind 127.0.0.1\n tls {at}/server.pem {at}/server.key\n \
             redir /old /new\n encode gzip zstd\n respond /long \"{long}\"\n \
             respond \"hello from caddy\"\n}}\n",
            long = "hello ".repeat(LONG)
        )
    });
    // Use a host name, because the server cannot choose a certificate without one.
    let url = format!("https://localhost:{}/", caddy.address().port());

    let ended = trusting(
        &certs,
        &["http", "--json", "--h3", "-c", "2", "-n", "300", &url],
        "",
    );
    let result: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"));
    assert_eq!(
        (&result["failed"], &result["requests"], &result["protocol"]),
        (&Value::from(0), &Value::from(300), &Value::from("HTTP/3.0")),
        "{result}"
    );

    // Users who share connections open no more than the requested number.
    let shared = ["-c", "2", "--streams", "10", "-n", "400", &url];
    let ended = trusting(
        &certs,
        &[&["http", "--json", "--h3"], &shared[..]].concat(),
        "",
    );
    let result: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"));
    assert_eq!(
        (&result["failed"], &result["requests"], &result["protocol"]),
        (&Value::from(0), &Value::from(400), &Value::from("HTTP/3.0")),
        "{result}"
    );
    // On a busy machine, the run may end before every user has started.
    let opened = result["connections_opened"].as_u64();
    assert!(matches!(opened, Some(1 | 2)), "{result}");

    let script = "import http from 'k6/http';
        export default function () {
          for (const accepted of ['gzip', 'zstd']) {
            const params = { headers: { 'Accept-Encoding': accepted }, plimsoll: { protocol: 'http3' } };
            const long = http.get(__ENV.URL + 'long', params);
            console.log(long.proto, long.headers['Content-Encoding'], long.body.length);
          }
          for (const params of [{}, { plimsoll: { protocol: 'http3' } }]) {
            const r = http.get(__ENV.URL + 'old', params);
            console.log(r.proto, r.url.endsWith('/new'), r.body, r.tls_version, r.tls_cipher_suite.startsWith('TLS_'), r.timings.tls_handshaking > 0);
          }
        }";
    let run = |flags: &[&str]| {
        let mut arguments = vec!["run", "--quiet", "--log-format", "raw", "-e"];
        let address = format!("URL={url}");
        arguments.push(&address);
        arguments.extend(flags);
        arguments.push("-");
        let ended = trusting(&certs, &arguments, script);
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
        ended.stderr
    };
    let log = run(&[]);
    assert!(
        log.contains("HTTP/2.0 true hello from caddy tls1.3 true"),
        "{log}"
    );
    assert!(
        log.contains("HTTP/3.0 true hello from caddy tls1.3 true"),
        "{log}"
    );
    for coding in ["gzip", "zstd"] {
        let unpacked = format!("HTTP/3.0 {coding} {}", 6 * LONG);
        assert!(log.contains(&unpacked), "{log}");
    }
    let log = run(&["--protocol", "http3"]);
    assert!(!log.contains("HTTP/2.0"), "{log}");
    assert!(
        log.contains("HTTP/3.0 true hello from caddy tls1.3 true"),
        "{log}"
    );

    let ended = trusting(
        &certs,
        &[
            "attack",
            "-http3",
            "-rate=100",
            "-duration=500ms",
            "-output=-",
        ],
        &format!("GET {url}\n"),
    );
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);

    // There is no fallback. On a port without HTTP/3, the error suggests a fix.
    let plain = Proxy::start(Kind::Caddy, |_, port| {
        format!(
            "{{\n admin off\n auto_https off\n}}\nhttp://127.0.0.1:{port} {{\n respond \"plain\"\n}}\n"
        )
    });
    let url = format!("https://{}/", plain.address());
    let ended = plimsoll(&["http", "--json", "--h3", "-c", "1", "-n", "1", &url]).run();
    let result: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"));
    assert_eq!(result["failed"], 1);
    assert!(
        result["errors"].to_string().contains("UDP port"),
        "{result}"
    );
}
