//! Sends requests that might bypass a route both to the gateway and to nginx with its defaults. The
//! gateway must reject every request that nginx rejects. It must send any other request to the server
//! that nginx chooses, or reject it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use plimsoll_testground::{Kind, Proxy};

use crate::running::{Gateway, Orders};

/// Methods, targets and header fields after Host.
const REQUESTS: &[(&str, &str, &str)] = &[
    ("GET", "/open/x", ""),
    ("GET", "/admin/x", ""),
    ("GET", "/%61dmin/x", ""),
    ("GET", "/admin%2fx", ""),
    ("GET", "/admin%2Fx", ""),
    ("GET", "//admin/x", ""),
    ("GET", "/%2fadmin/x", ""),
    ("GET", "/open%2f..%2fadmin/x", ""),
    ("GET", "/open/..%2fadmin/x", ""),
    ("GET", "/open/%2e%2e/admin/x", ""),
    ("GET", "/open/../admin/x", ""),
    ("GET", "/open/%2e%2e%2fadmin/x", ""),
    ("GET", "/%2e%2e%2fx", ""),
    ("GET", "/open/%00x", ""),
    ("GET", "/open/%zz", ""),
    ("GET", "/open/%4", ""),
    ("GET", "/open/a%252fb", ""),
    ("POST", "/open/x", "transfer-encoding: chunked\r\n"),
    ("POST", "/open/x", "transfer-encoding: gzip, chunked\r\n"),
    ("POST", "/open/x", "transfer-encoding: gzip\r\n"),
    ("POST", "/open/x", "transfer-encoding: identity\r\n"),
    (
        "POST",
        "/open/x",
        "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n",
    ),
    (
        "GET",
        "/open/x",
        "connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n",
    ),
];

/// The status, and the server that responded.
fn send_request(address: SocketAddr, request: &(&str, &str, &str)) -> (u16, Option<String>) {
    let (method, target, fields) = request;
    let body = if *method == "POST" { "0\r\n\r\n" } else { "" };
    let close = if fields.contains("connection") {
        ""
    } else {
        "connection: close\r\n"
    };
    let bytes = format!("{method} {target} HTTP/1.1\r\nhost: a\r\n{fields}{close}\r\n{body}");
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    stream.write_all(bytes.as_bytes()).unwrap();
    let mut response = Vec::new();
    let mut piece = [0; 4096];
    // The headers are enough: an upgraded connection stays open.
    while !response.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(count @ 1..) => response.extend_from_slice(&piece[..count]),
            _ => break,
        }
    }
    let response = String::from_utf8_lossy(&response).to_ascii_lowercase();
    let status = response.get(9..12).and_then(|status| status.parse().ok());
    let server = response
        .lines()
        .find_map(|line| line.strip_prefix("x-server: "));
    (
        status.unwrap_or_else(|| panic!("{request:?}: {response:?}")),
        server.map(str::to_owned),
    )
}

#[test]
fn requests_that_nginx_rejects_are_rejected() {
    let (open, admin) = (Orders::start("open"), Orders::start("admin"));
    let gateway = Gateway::start(&format!(
        "entries:\n  web: {{bind: 127.0.0.1:0}}\nroutes:\n\
         \x20 admin: {{prefix: /admin, service: admin}}\n\
         \x20 open: {{prefix: /, service: open}}\n\
         services:\n  admin: {{upstream: admin}}\n  open: {{upstream: open}}\n\
         upstreams:\n  admin: {{targets: {}}}\n  open: {{targets: {}}}\n",
        admin.address(),
        open.address()
    ));
    let (to_open, to_admin) = (open.url().to_owned(), admin.url().to_owned());
    let nginx = Proxy::start(Kind::Nginx, move |_, port| {
        format!(
            "worker_processes 1;\n\
             events {{ worker_connections 64; }}\n\
             http {{ access_log off; client_body_temp_path body; proxy_temp_path proxy;\n\
             fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;\n\
             server {{ listen 127.0.0.1:{port};\n\
             location / {{ proxy_pass {to_open}; }}\n\
             location /admin {{ proxy_pass {to_admin}; }} }} }}\n"
        )
    });
    let refused = |status: u16| (400..600).contains(&status);
    let mut taken = 0;
    for request in REQUESTS {
        let (theirs, their_server) = send_request(nginx.address(), request);
        let (ours, our_server) = send_request(gateway.address(), request);
        taken += usize::from(!refused(theirs) || their_server.is_some());
        if their_server.is_none() && refused(theirs) {
            assert!(
                our_server.is_none() && refused(ours),
                "{request:?}: nginx rejects it with {theirs}, the gateway responds {ours} from {our_server:?}"
            );
        } else if our_server.is_some() {
            assert_eq!(our_server, their_server, "{request:?}: {theirs}, {ours}");
        } else {
            assert!(refused(ours), "{request:?}: {ours}");
        }
        assert_ne!(ours, 101, "{request:?}");
    }
    // The comparison is meaningful only if nginx accepts some and rejects others.
    assert!(taken > 5 && taken < REQUESTS.len() - 5, "{taken}");
}
