//! The configurations of other products for comparison: each starts, responds, and uses the
//! intended protocols on both sides.

use std::path::{Path, PathBuf};
use std::{fs, thread};

use plimsoll_testground::{Kind, Proxy};
use plimsoll_testkit::ports;

use crate::curl::{Response, trusting};
use crate::load;
use crate::running::{Gateway, Orders, certificates, program};

/// A template, by its file name, with all placeholders filled in.
fn fill(file: &str, ports: &[u16; 4], orders: &str, certs: &Path, directory: &Path) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../gateway/configs");
    let text = fs::read_to_string(folder.join(file)).unwrap();
    let mut text = text
        .replace("{orders.address.plain}", orders)
        .replace("{certificates.directory}", certs.to_str().unwrap())
        .replace("{directory}", directory.to_str().unwrap());
    for (place, port) in ["h1", "h1-tls", "h2-tls", "h2-h2"].iter().zip(ports) {
        text = text.replace(&format!("{{port.{place}}}"), &port.to_string());
    }
    for left in ["{port", "{orders", "{certificates", "{directory"] {
        assert!(!text.contains(left), "{text}");
    }
    text
}

fn certificates_for_all() -> (tempfile::TempDir, PathBuf) {
    let (folder, certs) = certificates();
    let [chain, key] = ["server.pem", "server.key"].map(|file| fs::read(certs.join(file)).unwrap());
    fs::write(certs.join("both.pem"), [chain, key].concat()).unwrap();
    // Users other than root must be able to read it.
    let readable = |path: &Path, mode| {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    readable(folder.path(), 0o755);
    readable(&certs, 0o755);
    for file in fs::read_dir(&certs).unwrap() {
        readable(&file.unwrap().path(), 0o644);
    }
    (folder, certs)
}

fn free() -> u16 {
    ports::closed().port()
}

/// Sends requests to each of the four ports, and checks the protocols on both sides.
fn check(ports: &[u16; 4], certs: &Path, h2_to_upstream: bool) {
    let body = "{\"text\":\"你好\"}";
    let assert = |response: Response, version: &str, wire: &str, proto: &str| {
        assert_eq!(
            (response.status, response.version.as_str()),
            (200, version),
            "{response:?}"
        );
        let request = response.json();
        assert_eq!(request["version"], wire, "{request}");
        let text = request.to_string();
        assert!(
            text.contains(r#"["x-forwarded-for","127.0.0.1"]"#),
            "{text}"
        );
        assert!(
            text.contains(&format!(r#"["x-forwarded-proto","{proto}"]"#)),
            "{text}"
        );
    };
    let url = |place: usize, scheme: &str| format!("{scheme}://localhost:{}/request", ports[place]);
    let post = ["-d", body, "-H", "Content-Type: application/json", "-4"];
    let ask = |flag: &str, url: &str| trusting(certs, &[&[flag, url], &post[..]].concat());
    assert(ask("--http1.1", &url(0, "http")), "1.1", "HTTP/1.1", "http");
    assert(
        ask("--http1.1", &url(1, "https")),
        "1.1",
        "HTTP/1.1",
        "https",
    );
    assert(ask("--http2", &url(2, "https")), "2", "HTTP/1.1", "https");
    // A client that offers HTTP/2 gets HTTP/1.1 if nothing else is supported.
    assert(ask("--http2", &url(1, "https")), "1.1", "HTTP/1.1", "https");
    if h2_to_upstream {
        assert(ask("--http2", &url(3, "https")), "2", "HTTP/2.0", "https");
    }
    for (place, flags) in [(0, &["--h1"][..]), (1, &["--h1"]), (2, &["-m4"])] {
        let url = format!(
            "{}://127.0.0.1:{}/spot/orders",
            if place == 0 { "http" } else { "https" },
            ports[place]
        );
        let arguments = [flags, &["-c10", "-n500", url.as_str()]].concat();
        load::start(&arguments).join().unwrap().assert_flawless();
    }
}

fn rival(kind: Kind, file: &'static str, h2_to_upstream: bool) {
    let orders = Orders::start("A");
    let (_folder, certs) = certificates_for_all();
    let others = [free(), free(), free()];
    let (address, directory) = (orders.address(), certs.clone());
    let proxy = Proxy::start(kind, move |folder, port| {
        let ports = [port, others[0], others[1], others[2]];
        fill(file, &ports, &address, &directory, folder)
    });
    let ports = [proxy.address().port(), others[0], others[1], others[2]];
    // The ports are opened one after another, and only the first was waited for.
    for port in &ports[..if h2_to_upstream { 4 } else { 3 }] {
        while std::net::TcpStream::connect(("127.0.0.1", *port)).is_err() {
            thread::sleep(std::time::Duration::from_millis(10));
        }
    }
    check(&ports, &certs, h2_to_upstream);
}

#[test]
fn nginx_with_lua() {
    Proxy::require_lua();
    rival(Kind::Nginx, "nginx.conf", false);
}

#[test]
fn nginx_without_lua() {
    rival(Kind::Nginx, "nginx-plain.conf", false);
}

#[test]
fn haproxy() {
    rival(Kind::Haproxy, "haproxy.cfg", true);
}

#[test]
fn caddy() {
    rival(Kind::Caddy, "Caddyfile", true);
}

#[test]
fn ours() {
    let orders = Orders::start("A");
    let (_folder, certs) = certificates_for_all();
    let ports = [free(), free(), free(), free()];
    let config = fill(
        "gateway.yaml",
        &ports,
        &orders.address(),
        &certs,
        Path::new("/"),
    );
    let gateway = Gateway::start(&config);
    check(&ports, &certs, true);
    drop(gateway);
    assert_eq!(program().arg("--version").run().status, Some(0));
}
