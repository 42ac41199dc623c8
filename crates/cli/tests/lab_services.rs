//! Services from the machine's packages. A lab starts a private instance of each and uses it.
#![cfg(target_os = "linux")]

mod tiny_lab;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use tiny_lab::Lab;

const SERVICES: &str = r#"
[lab]
title = "Every kind of service"
pause = "0ms"

[axes]
kind = ["postgres", "redis", "nginx", "haproxy", "caddy"]
fsync = [{ values = ["always", "everysec", "no"], when = { kind = "redis" } }]

[[variables]]
base = "{pages.url}"

[[variables]]
when = { kind = ["nginx", "haproxy", "caddy"] }
base = "{proxy.url}"

[[service]]
name = "pages"
command = "SYSTEM"
environment = { LAB_TEST_PORT = "{port}" }

[[service]]
name = "db"
when = { kind = "postgres" }
kind = "postgres"
extensions = ["postgis"]
settings = { max_connections = 7 }

[[service]]
name = "store"
when = { kind = "redis" }
kind = "redis"
fsync = "{fsync}"
settings = { maxmemory = "64mb" }

[[service]]
name = "proxy"
when = { kind = "nginx" }
kind = "nginx"
config = "nginx.conf"

[[service]]
name = "proxy"
when = { kind = "haproxy" }
kind = "haproxy"
config = "haproxy.cfg"

[[service]]
name = "proxy"
when = { kind = "caddy" }
kind = "caddy"
config = "Caddyfile"

[[sanity]]
when = { kind = "postgres" }
command = '''/usr/lib/postgresql/15/bin/psql {db.url} -c "SELECT PostGIS_Version(), 1 / (current_setting('max_connections') = '7')::int"'''

[[sanity]]
when = { kind = "redis" }
command = "sh -c 'redis-cli -p {store.port} config get appendfsync | grep -qx {fsync} && redis-cli -p {store.port} config get appendonly | grep -qx yes'"

[load]
http = { url = "{base}/" }
users = 1
warmup = "0s"
duration = "300ms"
restarts = 1
"#;

/// Three configurations, all of which are templates.
const PROXIES: [(&str, &str); 3] = [
    (
        "nginx.conf",
        "events {}\nhttp {\n  access_log off;\n  client_body_temp_path {directory};\n  proxy_temp_path {directory};\n  \
         server { listen 127.0.0.1:{port}; location / { proxy_pass http://{pages.address}; } }\n}\n",
    ),
    (
        "haproxy.cfg",
        "defaults\n  mode http\n  timeout connect 5s\n  timeout client 5s\n  timeout server 5s\n\
         frontend f\n  bind 127.0.0.1:{port}\n  default_backend b\nbackend b\n  server s {pages.address}\n",
    ),
    (
        "Caddyfile",
        "{\n  admin off\n  auto_https off\n}\nhttp://127.0.0.1:{port} {\n  reverse_proxy {pages.address}\n}\n",
    ),
];

#[test]
fn each_kind_of_service_is_started_and_used() {
    let lab = Lab::new(SERVICES);
    for (name, text) in PROXIES {
        fs::write(lab.directory.path().join(name), text).expect("a file");
    }
    // PostgreSQL runs as another user, so that user needs access to its part of the directory.
    fs::set_permissions(lab.directory.path(), fs::Permissions::from_mode(0o755)).expect("ours");
    let result = lab.run_well();
    let cells = result["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 7);
    for cell in cells {
        assert_eq!(cell["state"]["state"], "measured", "{cell:#}");
        let repeat = &cell["repeats"][0];
        assert!(repeat["requests"].as_u64() > Some(0), "{repeat:#}");
        assert_eq!(repeat["failed"], 0, "{repeat:#}");
        let used = repeat["used"].as_array().expect("processes");
        assert_eq!(used.len(), 3, "{used:#?}");
        let service = used[1]["peak_rss_bytes"].as_u64();
        assert!(service > Some(1 << 20), "{used:#?}");
    }
    // The report contains the versions in use.
    let versions = result["versions"].to_string();
    for name in ["db", "store", "proxy"] {
        assert!(versions.contains(&format!("[\"{name}\"")), "{versions}");
    }
    for version in ["\"postgis 3.", "\"pages, version unknown\""] {
        assert!(versions.contains(version), "{versions}");
    }
}
