//! Unix sockets, and connections with several streams, with independent servers: Python's HTTP server and nginx.
//! nginx's log shows the connection of each request.
#![cfg(unix)]

mod plimsoll;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use plimsoll::plimsoll;
use plimsoll_testkit::program::{Ended, Program, Running};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A server in its own folder, with its sockets and logs. It is stopped when this is dropped.
struct Server {
    folder: TempDir,
    _running: Running,
}

impl Server {
    fn start(folder: TempDir, program: Program, socket: &str) -> Server {
        let running = program.limit(Duration::from_secs(120)).start();
        let path = folder.path().join(socket);
        let patience = Instant::now() + Duration::from_secs(60);
        while !path.exists() {
            assert!(Instant::now() < patience, "no server at {}", path.display());
            std::thread::sleep(Duration::from_millis(5));
        }
        Server {
            folder,
            _running: running,
        }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }
}

/// Listens before the socket appears under its name, so that anyone who sees it can connect.
const PYTHON: &str = "
import http.server, os, socketserver, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        body = self.headers['Host'].encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
    def address_string(self): return 'unix'
class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    # Shorter than there are users: some have to ask again.
    request_queue_size = 1
server = Server(sys.argv[1] + '.new', Handler)
os.rename(sys.argv[1] + '.new', sys.argv[1])
server.serve_forever()
";

fn python() -> Server {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("python.sock");
    let program = Program::at("python3").args(["-c", PYTHON]).arg(&socket);
    Server::start(folder, program, "python.sock")
}

/// nginx on three sockets: HTTP/1.1, HTTP/2 without TLS, and both over TLS.
fn nginx() -> Server {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    let made = plimsoll(&["certs", &format!("{place}/certs")]).run();
    assert_eq!(made.status, Some(0), "{}", made.stderr);
    let configuration = format!(
        "daemon off; master_process off; pid {place}/pid; error_log {place}/error.log;
        events {{ worker_connections 256; }}
        http {{
            log_format connections '$connection $server_protocol';
            access_log {place}/access.log connections;
            client_body_temp_path {place}/body; proxy_temp_path {place}/proxy;
            fastcgi_temp_path {place}/fastcgi; uwsgi_temp_path {place}/uwsgi; scgi_temp_path {place}/scgi;
            ssl_certificate {place}/certs/server.pem; ssl_certificate_key {place}/certs/server.key;
            ssl_protocols TLSv1.2 TLSv1.3;
            server {{ listen unix:{place}/h1.sock; location / {{ return 200 hello; }} }}
            server {{ listen unix:{place}/h2c.sock http2; location / {{ return 200 hello; }} }}
            server {{ listen unix:{place}/tls.sock ssl http2; location / {{ return 200 hello; }} }}
        }}"
    );
    let file = folder.path().join("nginx.conf");
    fs::write(&file, configuration).unwrap();
    let program = Program::at("/usr/sbin/nginx")
        .args(["-e", &format!("{place}/error.log"), "-p", place, "-c"])
        .arg(&file);
    // nginx binds its sockets and listens before it writes this file.
    Server::start(folder, program, "pid")
}

impl Server {
    /// The number of connections with requests since the previous call, and the number of requests.
    fn seen(&self, requests: usize) -> (usize, usize) {
        let log = self.folder.path().join("access.log");
        let patience = Instant::now() + Duration::from_secs(60);
        loop {
            let text = fs::read_to_string(&log).unwrap_or_default();
            // A log line may be written after the client has read the response.
            if text.lines().count() >= requests || Instant::now() > patience {
                fs::write(&log, "").unwrap();
                let of = text.lines().filter_map(|line| line.split(' ').next());
                return (of.collect::<BTreeSet<_>>().len(), text.lines().count());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn load(arguments: &[&str]) -> (Value, Ended) {
    let ended = plimsoll(&["http", "--json"])
        .args(arguments)
        // Unix sockets bypass the proxies in the machine's settings.
        .run();
    let result = serde_json::from_str(&ended.stdout).unwrap_or_default();
    (result, ended)
}

#[test]
fn requests_go_through_a_socket_whatever_their_host() {
    let server = python();
    let socket = server.path("python.sock");
    let url = "http://nowhere.invalid/";
    let (result, ended) = load(&["--unix-socket", &socket, "-c", "8", "-n", "160", url]);
    assert_eq!(ended.status, Some(0), "{ended:?}");
    assert_eq!(result["requests"], 160);
    assert_eq!(result["protocols"], json!({"HTTP/1.1": 160}));
    assert_eq!(result["tls_versions"], json!({}));
    assert!(
        result["connections_opened"]
            .as_u64()
            .is_some_and(|opened| opened <= 8)
    );

    let script = "
        import http from 'k6/http';
        export default function () {
            const r = http.get('http://nowhere.invalid:81/');
            console.log(JSON.stringify([r.status, r.body, r.remote_ip, r.remote_port, r.error]));
        }";
    let ended = plimsoll(&[
        "run",
        "--quiet",
        "--log-format",
        "raw",
        "--summary-mode",
        "full",
    ])
    .args(["--unix-socket", &socket, "-"])
    .input(script)
    .run();
    let printed = r#"[200,"nowhere.invalid:81","",0,""]"#;
    assert!(ended.stderr.contains(printed), "{ended:?}");
    assert!(
        ended
            .stdout
            .contains("responses: HTTP/1.1 × 1; connections opened: 1"),
        "{}",
        ended.stdout
    );

    let ended = plimsoll(&["attack", "-rate=200", "-duration=500ms", "--json"])
        .args(["-unix-socket", &socket, "-output"])
        .arg(server.path("hits"))
        .input("GET http://nowhere.invalid/\n")
        .run();
    let result: Value = serde_json::from_str(&ended.stdout).unwrap_or_default();
    assert_eq!(
        (ended.status, &result["failed"]),
        (Some(0), &json!(0)),
        "{ended:?}"
    );
    assert_eq!(result["requests"], 100);
}

#[test]
fn streams_share_the_requested_number_of_connections() {
    let server = nginx();
    let h2c = server.path("h2c.sock");
    let unix = |socket: &str, flags: &[&str], url: &str| {
        load(&[&["--unix-socket", socket], flags, &[url]].concat())
    };
    for (connections, streams) in [("3", "7"), ("1", "10"), ("4", "1")] {
        let flags = [
            "--h2c",
            "-c",
            connections,
            "--streams",
            streams,
            "-n",
            "420",
        ];
        let (result, ended) = unix(&h2c, &flags, "http://a/");
        assert_eq!(ended.status, Some(0), "{ended:?}");
        assert_eq!(result["protocols"], json!({"HTTP/2.0": 420}));
        let wanted: usize = connections.parse().unwrap();
        // On a busy machine, the run may end before every user has started.
        let (seen, requests) = server.seen(420);
        assert_eq!(
            (result["connections_opened"].as_u64(), requests),
            (Some(seen as u64), 420)
        );
        assert!((1..=wanted).contains(&seen), "{seen} of {wanted}");
    }

    let tls = server.path("tls.sock");
    let flags = ["-k", "-c", "2", "--streams", "5", "-n", "100"];
    let (result, ended) = unix(&tls, &flags, "https://localhost/");
    assert_eq!(ended.status, Some(0), "{ended:?}");
    let (seen, requests) = server.seen(100);
    assert!(
        (1..=2).contains(&seen) && requests == 100,
        "{seen} {requests}"
    );
    assert_eq!(result["tls_versions"], json!({"tls1.3": 100}));
    let suites = result["tls_cipher_suites"].as_object().unwrap();
    assert!(
        suites.keys().all(|name| name.starts_with("TLS_")),
        "{suites:?}"
    );
    assert_eq!(
        suites
            .values()
            .map(|count| count.as_u64().unwrap())
            .sum::<u64>(),
        100
    );

    // A forced protocol is either used or an error.
    let (result, ended) = unix(
        &tls,
        &["-k", "--h1", "-c", "1", "-n", "5"],
        "https://localhost/",
    );
    assert_eq!(result["protocols"], json!({"HTTP/1.1": 5}), "{ended:?}");
    let h1 = server.path("h1.sock");
    let (result, ended) = unix(&h1, &["--h2c", "-c", "1", "-n", "2"], "http://a/");
    assert_eq!(
        (ended.status, &result["failed"]),
        (Some(1), &json!(2)),
        "{ended:?}"
    );
    assert!(ended.stdout.contains("does not speak HTTP/2"), "{ended:?}");
    let ended = plimsoll(&["attack", "-rate=10", "-duration=200ms", "--json", "-h2c"])
        .args(["-unix-socket", &h1, "-output"])
        .arg(server.path("hits"))
        .input("GET http://a/\n")
        .run();
    assert!(ended.stdout.contains("does not speak HTTP/2"), "{ended:?}");
}

#[test]
fn the_connections_and_streams_of_a_user_are_limited() {
    let server = nginx();
    let script = "
        import http from 'k6/http';
        import { check } from 'k6';
        export const options = {
            vus: 2, iterations: 4, batch: 12, batchPerHost: 12,
            insecureSkipTLSVerify: true,
            thresholds: { 'http_reqs{tls_cipher_suite:TLS_AES_128_GCM_SHA256}': ['count >= 0'], checks: ['rate == 1'] },
        };
        export default function () {
            for (const r of http.batch(Array(12).fill(__ENV.URL))) {
                check(r, { good: (r) => r.status === 200 && r.proto === 'HTTP/2.0' });
            }
        }";
    let run = |socket: &str, url: &str, flags: &[&str]| {
        let ended = plimsoll(&["run", "--quiet", "--unix-socket", socket])
            .args(["-e", &format!("URL={url}")])
            .args(flags)
            .arg("-")
            .input(script)
            .run();
        assert_eq!(ended.status, Some(0), "{ended:?}");
        ended
    };
    let h2c = server.path("h2c.sock");
    let flags = [
        "--protocol",
        "h2c",
        "--connections-per-user",
        "2",
        "--streams-per-connection",
        "3",
    ];
    run(&h2c, "http://a/", &flags);
    // An early response frees a stream for a late request.
    let (seen, requests) = server.seen(48);
    assert!(
        (2..=4).contains(&seen) && requests == 48,
        "{seen} {requests}"
    );
    run(
        &h2c,
        "http://a/",
        &["--protocol", "h2c", "--streams-per-connection", "4"],
    );
    let (seen, requests) = server.seen(48);
    assert!(
        (2..=12).contains(&seen) && requests == 48,
        "{seen} {requests}"
    );
    // One connection opens as many streams as the server allows.
    run(&h2c, "http://a/", &["--protocol", "h2c"]);
    assert_eq!(server.seen(48), (2, 48));

    let samples = server.path("samples.json");
    let tls = server.path("tls.sock");
    let tags = "proto,tls_version,tls_cipher_suite";
    let ended = run(
        &tls,
        "https://localhost/",
        &[
            "--protocol",
            "http2",
            "--system-tags",
            tags,
            "--out",
            &format!("json={samples}"),
        ],
    );
    let text = fs::read_to_string(&samples).unwrap();
    let tagged = text
        .lines()
        .filter(|line| line.contains(r#""tls_cipher_suite":"TLS_"#));
    assert!(tagged.count() >= 48, "{text}");
    assert!(
        ended.stdout.contains("tls1.3 × 48, TLS_"),
        "{}",
        ended.stdout
    );
}

#[test]
fn paths_that_are_not_sockets_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!("/tmp/{}", "x".repeat(120));
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let refused = |arguments: &[&str], words: &str| {
        let ended = plimsoll(arguments).input("export default () => {}").run();
        assert!(matches!(ended.status, Some(104 | 255)), "{ended:?}");
        assert!(
            ended.stderr.contains(words),
            "{arguments:?}: {}",
            ended.stderr
        );
        assert!(!ended.stderr.contains("panic"), "{}", ended.stderr);
    };
    let file = file.to_str().unwrap();
    refused(&["http", "--unix-socket", &long, "http://a/"], "at most");
    refused(
        &["http", "--unix-socket", file, "http://a/"],
        "it is not a socket",
    );
    refused(&["attack", "-unix-socket", &long], "-unix-socket");
    refused(&["run", "--unix-socket", &long, "-"], "unixSocket");
    refused(&["http", "--streams", "4", "http://a/"], "--h2c");
    refused(
        &["http", "--streams", "0", "--h2c", "http://a/"],
        "at least one",
    );
    refused(&["run", "--streams-per-connection", "0", "-"], "at least 1");

    let nobody = path_of_nobody(folder.path());
    let (result, ended) = load(&["--unix-socket", &nobody, "-c", "1", "-n", "2", "http://a/"]);
    assert_eq!(
        (ended.status, &result["failed"]),
        (Some(1), &json!(2)),
        "{ended:?}"
    );
    let errors = result["errors"].to_string();
    assert!(errors.contains("no such file or directory"), "{errors}");
}

fn path_of_nobody(folder: &Path) -> String {
    folder.join("nobody.sock").to_str().unwrap().to_owned()
}
