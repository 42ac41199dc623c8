//! `k6/x/sql`, `k6/x/redis`, `k6/x/mqtt` and `k6/x/tcp` over TLS, with a trusted and an untrusted certificate.

#[path = "extension_scripts/run.rs"]
mod run;
#[path = "../../http/tests/peer/secure.rs"]
mod secure;

use std::fs;

use plimsoll_testground::{MariaDb, Mosquitto, Postgres, Redis, SecureEcho};
use plimsoll_testkit::program::Ended;
use run::lines;
use secure::{Identity, identity};
use tempfile::TempDir;

/// A certificate for 127.0.0.1, in a file that clients can trust.
struct Trusted {
    identity: Identity,
    folder: TempDir,
}

impl Trusted {
    fn new() -> Trusted {
        let identity = identity(&["127.0.0.1"]);
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("ca.pem"), &identity.certificate_pem).unwrap();
        fs::write(folder.path().join("tls.key"), &identity.key_pem).unwrap();
        Trusted { identity, folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Runs a script that trusts the certificate.
    fn run(&self, script: &str, url: &str) -> Ended {
        run::program(script, url, &[])
            .env("SSL_CERT_FILE", self.path("ca.pem"))
            .run()
    }
}

const QUERY: &str = r#"
import sql from 'k6/x/sql';
const [driver, url, query] = __ENV.URL.split('|');
const db = sql.open(driver, url);
export default function () {
  try { console.log(JSON.stringify(db.query(query))); } catch (e) { console.log(e.message); }
}
"#;

#[test]
fn databases_are_used_over_tls() {
    let trusted = Trusted::new();
    let (certificate, key) = (&trusted.identity.certificate_pem, &trusted.identity.key_pem);
    let maria = MariaDb::start_with_tls(certificate, key);
    let is_encrypted = "SHOW STATUS LIKE 'Ssl_version'";
    let ask = |tls: &str| format!("mysql|{}?tls={tls}|{is_encrypted}", maria.url());
    let version = r#""Value":"TLSv1.3""#;
    for (tls, is_trusted, expected) in [
        ("true", true, version),
        ("true", false, "certificate"),
        ("skip-verify", false, version),
        ("preferred", false, version),
        ("false", false, r#""Value":"""#),
    ] {
        let ended = match is_trusted {
            true => trusted.run(QUERY, &ask(tls)),
            false => run::run(QUERY, &ask(tls)),
        };
        let shown = lines(&ended);
        assert!(shown[0].contains(expected), "{tls}: {shown:?}");
    }
    let clear = MariaDb::start();
    let shown = lines(&run::run(
        QUERY,
        &format!("mysql|{}?tls=true|SELECT 1", clear.url()),
    ));
    assert!(shown[0].contains("does not accept TLS"), "{shown:?}");

    let postgres = Postgres::start_with_tls(certificate, key);
    let url = postgres.url("postgres");
    let is_encrypted = "SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let version = r#"[{"version":"TLSv1.3"}]"#;
    for (mode, is_trusted, expected) in [
        ("verify-full", true, version),
        ("verify-full", false, "certificate"),
        ("require", false, version),
        ("prefer", false, version),
        ("disable", false, r#"[{"version":null}]"#),
    ] {
        let ask = format!("postgres|{url}?sslmode={mode}|{is_encrypted}");
        let ended = match is_trusted {
            true => trusted.run(QUERY, &ask),
            false => run::run(QUERY, &ask),
        };
        let shown = lines(&ended);
        assert!(shown[0].contains(expected), "{mode}: {shown:?}");
    }
}

const COMMANDS: &str = r#"
import { Client } from 'k6/x/redis';
const [host, port] = __ENV.URL.split('/')[2].split(':');
const clients = [
  new Client(`rediss://${host}:${port}/0`),
  new Client({ socket: { host, port, tls: true } }),
  new Client({ socket: { host, port, tls: { ca: [open(__ENV.CA)] } } }),
];
export default async function () {
  for (const client of clients) {
    try { console.log(await client.set('a', 'b'.repeat(100000)), (await client.get('a')).length); } catch (e) { console.log(e.message); }
  }
}
"#;

#[test]
fn redis_is_used_over_tls() {
    let trusted = Trusted::new();
    let (certificate, key) = (&trusted.identity.certificate_pem, &trusted.identity.key_pem);
    let server = Redis::start_with_tls(certificate, key);
    let ca = format!("CA={}", trusted.path("ca.pem"));
    let program = || run::program(COMMANDS, &server.url(), &["-e", &ca]);
    let ended = program().env("SSL_CERT_FILE", trusted.path("ca.pem")).run();
    assert_eq!(lines(&ended), ["OK 100000"; 3], "{}", ended.stderr);
    // Only the last client has its own setting to trust the certificate.
    let shown = lines(&program().run());
    assert!(
        shown[0].contains("certificate") && shown[1].contains("certificate"),
        "{shown:?}"
    );
    assert_eq!(shown[2], "OK 100000");
}

const MESSAGE: &str = r#"
import { Client } from 'k6/x/mqtt';
export default function () {
  const client = new Client();
  client.on('connect', async () => {
    await client.subscribeAsync('a');
    await client.publishAsync('a', 'b'.repeat(50000), { qos: 1 });
  });
  client.on('message', (topic, payload) => { console.log(topic, payload.byteLength); client.end(); });
  client.on('error', (e) => console.log('error', e.message));
  client.connect(__ENV.URL);
}
"#;

#[test]
fn a_broker_is_used_over_tls() {
    let trusted = Trusted::new();
    let broker = Mosquitto::start(&format!(
        "user root\nallow_anonymous true\ncertfile {}\nkeyfile {}",
        trusted.path("ca.pem"),
        trusted.path("tls.key")
    ));
    for protocol in ["mqtts", "ssl", "tls"] {
        let url = broker.url().replace("mqtt", protocol);
        assert_eq!(
            lines(&trusted.run(MESSAGE, &url)),
            ["a 50000"],
            "{protocol}"
        );
    }
    let url = broker.url().replace("mqtt", "mqtts");
    let shown = lines(&run::run(MESSAGE, &url));
    assert!(
        shown[0].starts_with("error ") && shown[0].contains("certificate"),
        "{shown:?}"
    );
    // The broker closes a connection that does not begin with a handshake.
    let shown = lines(&run::run(MESSAGE, &broker.url()));
    assert!(shown[0].starts_with("error "), "{shown:?}");
}

const ECHO: &str = r#"
import { Socket } from 'k6/x/tcp';
const [host, port] = __ENV.URL.split(':');
export default async function () {
  const socket = new Socket();
  const closed = new Promise((resolve) => socket.on('close', resolve));
  let received = '';
  socket.on('error', (e) => console.log('error', e.message));
  socket.on('data', (bytes) => {
    received += String.fromCharCode(...new Uint8Array(bytes));
    if (received.endsWith('\n')) { console.log(received.trim()); socket.destroy(); }
  });
  try {
    await socket.connect({ host, port, tls: true });
    await socket.write('stressed\n');
  } catch (e) { console.log('rejected'); }
  await closed;
}
"#;

#[test]
fn a_socket_is_used_over_tls() {
    let trusted = Trusted::new();
    let (certificate, key) = (&trusted.identity.certificate_pem, &trusted.identity.key_pem);
    let server = SecureEcho::start(certificate, key);
    let address = server.address().to_string();
    assert_eq!(lines(&trusted.run(ECHO, &address)), ["desserts"]);
    let shown = lines(&run::run(ECHO, &address));
    assert!(
        shown[0].starts_with("error ") && shown[0].contains("certificate"),
        "{shown:?}"
    );
    assert_eq!(shown[1], "rejected");
}
